// The chart of progress: cards on the foundations over time, a line for each player.

import {svg} from "./dom.js"

const WIDTH = 320
const HEIGHT = 130
const LEFT = 24
const BOTTOM = 18

// `lines` is a list of {colour, points: [[ms since the start, cards], ...], chosen}.
export function chart(lines, until, cards) {
	const end = Math.max(60_000, until)
	const x = time => LEFT + (Math.max(0, time) / end) * (WIDTH - LEFT - 4)
	const y = count => HEIGHT - BOTTOM - (count / cards) * (HEIGHT - BOTTOM - 6)
	const grid = [0, cards / 2, cards].flatMap(count => [
		svg("line", {x1: LEFT, x2: WIDTH - 4, y1: y(count), y2: y(count), class: "grid"}),
		svg("text", {x: LEFT - 4, y: y(count) + 4, class: "axis end"}, String(count))
	])
	const minutes = Math.ceil(end / 60_000 / 5)
	for (let minute = 0; minute * 60_000 <= end; minute += minutes)
		grid.push(svg("text", {x: x(minute * 60_000), y: HEIGHT - 3, class: minute ? "axis end" : "axis"}, minute ? `${minute} min` : "0"))
	const paths = lines.map(({colour, points, chosen}) => {
		const steps = points.map(([time, count], i) => `${i ? `H${x(time)}V` : `M${x(time)} `}${y(count)}`).join("")
		const path = svg("path", {d: `${steps}H${x(until)}`, class: chosen ? "line chosen" : "line"})
		path.style.setProperty("--player", colour)
		return path
	})
	const attributes = {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": "Progress over time"}
	return svg("svg", attributes, ...grid, ...paths)
}
