// The chart of progress: cards on the foundations over time, a line for each player.

import {clock, svg} from "./dom.js"

const CHART_WIDTH = 320
const CHART_HEIGHT = 130
const LEFT = 24
const BOTTOM = 18

const label = (x, y, text) => svg("text", {x, y, class: "axis"}, text)

// Return the chart of some rows of a race. `style` gives the attributes of a player's line.
export function chart(rows, {room, progress, cards}, style) {
	const now = Math.max(...rows.map(({board, progressAt}) => Math.max(board?.time ?? 0, progressAt)))
	const end = Math.max(room.finished_at ? 1 : 60_000, now - room.starts)
	const x = time => Math.round(10 * (LEFT + (Math.max(0, time - room.starts) / end) * (CHART_WIDTH - LEFT - 4))) / 10
	const y = count => CHART_HEIGHT - BOTTOM - (count / cards) * (CHART_HEIGHT - BOTTOM - 6)
	const grid = [0, cards / 2, cards].flatMap(count => [
		svg("line", {x1: LEFT, x2: CHART_WIDTH - 4, y1: y(count), y2: y(count), class: "grid"}),
		label(LEFT - 4, y(count) + 4, count)
	])
	const lines = rows.map(row => {
		const points = (progress.get(row.player) ?? []).filter(([time]) => time <= now)
		const steps = points.map(([time, count], i) => `${i ? `H${x(time)}V` : `M${x(time)} `}${y(count).toFixed(1)}`)
		return svg("path", {...style(row), d: steps.length ? `${steps.join("")}H${x(now)}` : ""})
	})
	const attributes = {viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`, class: "chart", role: "img", "aria-label": "Progress over time"}
	return svg("svg", attributes, ...grid, label(CHART_WIDTH - 4, CHART_HEIGHT - 3, clock(end)), ...lines)
}
