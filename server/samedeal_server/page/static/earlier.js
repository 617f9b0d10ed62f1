// The players of the earlier race whose deal was dealt again, among whom the player races.

import {clock, row, table} from "./dom.js"
import {byProgress} from "./race_state.js"

// The rows of a race, with those players as they stood this long after their start.
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
