// Tables, and that of a series.

import {clock, element} from "./dom.js"
import {to} from "./here.js"

export const row = (cells, tag = "td") => element("tr", {}, ...cells.map(cell => element(tag, {}, cell)))
export const table = (caption, ...rows) => element("table", {}, element("caption", {}, caption), ...rows)

// The table of a series, which of its races this one is, and links to the races before.
export function seriesTable({options: {series}, round, table: places, rooms_before: before = []}) {
	if (series < 2) return []
	const title = `Race ${(round % series) + 1} of ${series}`
	const lines = places.map(({place, name, points, time}) => row([place, name, points, clock(time)]))
	const replays = before.map((room, i) => element("a", {href: to(`replay?race=${room}`)}, `Replay race ${i + 1}`))
	return [
		table(title, lines.length ? row(["Place", "Player", "Points", "Time"], "th") : "", ...lines),
		element("p", {class: "controls"}, ...replays)
	]
}
