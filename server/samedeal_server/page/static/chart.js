// The chart of progress: cards on the foundations over time, a line for each player.

import {clock, svg} from "./dom.js"

const WIDTH = 320
const HEIGHT = 130
const LEFT = 24
const BOTTOM = 18

// `colour` gives the colour of a row, and `chosen` has the players whose lines are thick.
export function chart(rows, {room, progress, cards}, colour, chosen) {
	const now = Math.max(...rows.map(({board}) => board?.time ?? 0))
	const end = Math.max(60_000, now - room.starts)
	const x = time => LEFT + (Math.max(0, time - room.starts) / end) * (WIDTH - LEFT - 4)
	const y = count => HEIGHT - BOTTOM - (count / cards) * (HEIGHT - BOTTOM - 6)
	const label = (x, y, text) => svg("text", {x, y, class: "axis"}, text)
	const grid = [0, cards / 2, cards].flatMap(count => [
		svg("line", {x1: LEFT, x2: WIDTH - 4, y1: y(count), y2: y(count), class: "grid"}),
		label(LEFT - 4, y(count) + 4, count)
	])
	const lines = rows.map(row => {
		const points = (progress.get(row.player) ?? []).filter(([time]) => time <= now)
		const steps = points.map(([time, count], i) => `${i ? `H${x(time)}V` : `M${x(time)} `}${y(count)}`)
		const d = steps.length ? `${steps.join("")}H${x(now)}` : ""
		return svg("path", {d, class: chosen.includes(row.player) ? "line chosen" : "line", stroke: colour(row)})
	})
	const attributes = {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": "Progress over time"}
	return svg("svg", attributes, ...grid, label(WIDTH - 4, HEIGHT - 3, clock(end)), ...lines)
}
