// The players of the earlier race whose deal was dealt again, among whom the player races.

import {clock, element} from "./dom.js"

const order = (a, b) => (a.finishedAt || Infinity) - (b.finishedAt || Infinity) || b.count - a.count || a.progressAt - b.progressAt

// The rows of a race, with those players as they stood this long after their start.
export function among(rows, {starts, earlier}, after) {
	const past = earlier.map(({name, time, reached}, i) => {
		const times = reached.filter(at => at <= after)
		const finishedAt = time && time <= after ? starts + time : 0
		return {player: `earlier ${i}`, name: `${name}, earlier`, seat: 255 - i, count: times.length, finishedAt, progressAt: starts + (times.at(-1) ?? 0), connected: true}
	})
	return [...rows, ...past].sort(order).map((row, i) => ({...row, place: i + 1}))
}

// The results of all of them.
export function earlierTable({room, cards}, {name, player, final}) {
	const own = {name, player, count: final.foundation_cards, finishedAt: final.time && room.starts + final.time, progressAt: 0}
	const lines = among([own], room, Infinity).map(row => {
		const cells = [row.place, row.name, row.finishedAt ? clock(row.finishedAt - room.starts) : `${row.count} of ${cards} cards`]
		return element("tr", {}, ...cells.map(cell => element("td", {}, `${cell}`)))
	})
	return element("table", {}, element("caption", {}, "Among those who had this deal before"), ...lines)
}
