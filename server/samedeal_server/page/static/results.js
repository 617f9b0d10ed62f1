// What follows a race: the banner with its result, a result to send to others, and that of an earlier race whose deal was
// dealt again.

import {falling} from "./board_view.js"
import {clock, copyLine, counted, dealName, element, stored} from "./dom.js"
import {to} from "./here.js"
import {title} from "./piles.js"
import {among, didNotRace, end, goesOn, ordinal, resultOf, shortTime} from "./race_state.js"
import {row, table} from "./series.js"

// Keep the player's best time in each game. Return what there is to say about a time.
export function beaten({game}, time) {
	const best = `best ${game}`
	const before = Number(stored.get(best))
	if (!before || time < before) stored.set(best, time)
	return before > time ? `A new best, ${shortTime(before - time)} faster` : ""
}

// How the race went for a player. `record` is what there is to say about the time.
export function banner(rows, room, me, record, isNew) {
	const own = rows.find(each => each.player === me)
	const {time, resigned} = end(own, room)
	const count = own.final?.foundation_cards ?? own.count
	const winner = winnersOf(room)
	const result = winner ? `${winner} won the series` : resultOf(rows, room, me)
	const missed = didNotRace(own, room)
	const home = `${counted(count, "card")} home`
	const lines = [winner && resultOf(rows, room, me), missed && "You did not race", time && own.place > 1 ? `You finished in ${clock(time)}` : !time && (resigned ? `You resigned with ${home}` : count > 0 && `You have ${home}`), own.place === 1 && aheadOf(rows, room), record]
	const place = rows[1] && !missed && (time || room.phase === "finished") && count > 0 ? ordinal(own.place) : ""
	return onFelt(winner ? "♛" : place, result, lines, time, isNew)
}

// A result on felt, over which cards fall if the player has finished. Cards that fell before lie there.
export function onFelt(place, result, lines, hasFinished, isNew) {
	const below = lines.filter(Boolean).map(line => element("p", {}, line))
	const told = element("div", {role: "status"}, element("p", {class: "place"}, place), element("h2", {class: "result"}, result), ...below)
	return element("div", {class: isNew ? "banner" : "banner calm"}, ...(hasFinished ? falling() : []), told)
}

// Who won the series, once its last race is over.
function winnersOf(room) {
	const {options: {series}, standings, table} = room
	return series > 1 && standings.length && !goesOn(room) ? table.filter(each => each.place === 1).map(each => each.name).join(" and ") : ""
}

// By how much the first of a race is ahead of the second, if both have finished.
function aheadOf([first, second], room) {
	const by = second && end(second, room).time - end(first, room).time
	return by > 0 ? `${shortTime(by)} ahead of ${second.name}` : ""
}

const BARS = "▁▂▃▄▅▆▇█"
const COUNT = 12

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
	return copyLine(text, {text})
}

// The results of all who had the deal of a player.
export function earlierTable({room, cards}, {name, player, final}) {
	const own = {name, player, count: final.foundation_cards, finishedAt: final.time && room.starts + final.time, progressAt: 0}
	const lines = among([own], room, Infinity).map(({place, name, finishedAt, count}) =>
		row([place, name, finishedAt ? clock(finishedAt - room.starts) : `${count} of ${cards} cards`])
	)
	return table("Among those who had this deal before", ...lines)
}
