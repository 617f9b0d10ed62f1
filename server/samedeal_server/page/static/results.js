// Other races of the same players or with the same deal: the table of a series, an earlier race whose deal was dealt again,
// and a result to send to others.

import {clock, copyLine, dealName, element} from "./dom.js"
import {to} from "./here.js"
import {title} from "./piles.js"
import {byProgress} from "./race_state.js"

const row = (cells, tag = "td") => element("tr", {}, ...cells.map(cell => element(tag, {}, cell)))
const table = (caption, ...rows) => element("table", {}, element("caption", {}, caption), ...rows)

const BARS = "▁▂▃▄▅▆▇█"
const COUNT = 12

// The table of a series, which of its races this one is, and links to the races before.
export function seriesTable({options: {series}, round, standings, table: places, rooms_before: before = []}) {
	const number = (round % series) + 1
	const winners = places.filter(each => each.place === 1).map(each => each.name)
	const title = standings.length && number === series ? `${winners.join(" and ")} won the series` : `Race ${number} of ${series}`
	const lines = places.map(({place, name, points, time}) => row([place, name, points, clock(time)]))
	const replays = before.map((room, i) => element("a", {href: to(`replay?race=${room}`)}, `Replay race ${i + 1}`))
	return [
		table(title, lines.length ? row(["Place", "Player", "Points", "Time"], "th") : "", ...lines),
		element("p", {class: "controls"}, ...replays)
	]
}

// A button that opens the sheet of the system for sharing, if it has one.
export const shareButton = (label, data, attributes) =>
	navigator.share ? element("button", {...attributes, onclick: () => navigator.share(data).catch(() => {})}, label) : ""

// The result of a player in three lines: the race, how it went, without a word about the cards, and the link to its replay.
export function shareResult({room, cards, progress}, {player, final}) {
	const {game, deal, starts, standings, tide, finished_at: end} = room
	const length = final.time || end - starts
	const height = n => {
		const [, count = 0] = progress.get(player)?.findLast(([time]) => time - starts <= (length * n) / COUNT) ?? []
		return Math.floor((count * (BARS.length - 1)) / cards)
	}
	const bars = Array.from({length: COUNT}, (_, i) => BARS[height(i + 1)]).join("")
	const result = final.time ? clock(final.time) : `${final.foundation_cards} of ${cards} cards`
	const race = tide ? `race of ${new Date(tide).toISOString().slice(11, 16)} UTC` : dealName(deal)
	const among = standings.length > 1 ? `, place ${final.place} of ${standings.length}` : ""
	const link = new URL(to(`replay?race=${room.room}`), location.href).href
	const text = `Samedeal: ${title(game)}, ${race}\n${bars} ${result}${among}\n${link}`
	const line = copyLine(text)
	line.firstChild.style.whiteSpace = "pre-line"
	return [element("h2", {}, "Send your result"), line, shareButton("Share the result", {text})]
}

// The rows of a race, with the players of the earlier race whose deal was dealt again, as they stood this long after their
// start.
export function among(rows, {starts, earlier}, after) {
	const past = earlier.map(({name, time, reached}, i) => {
		const times = reached.filter(at => at <= after)
		const finishedAt = time && time <= after ? starts + time : 0
		return {player: `earlier ${i}`, name: `${name} (earlier)`, seat: 255 - i, count: times.length, finishedAt, progressAt: starts + (times.at(-1) ?? 0), connected: true}
	})
	return [...rows, ...past].sort(byProgress).map((each, i) => ({...each, place: i + 1}))
}

// The results of all of them.
export function earlierTable({room, cards}, {name, player, final}) {
	const own = {name, player, count: final.foundation_cards, finishedAt: final.time && room.starts + final.time, progressAt: 0}
	const lines = among([own], room, Infinity).map(({place, name, finishedAt, count}) =>
		row([place, name, finishedAt ? clock(finishedAt - room.starts) : `${count} of ${cards} cards`])
	)
	return table("Among those who had this deal before", ...lines)
}
