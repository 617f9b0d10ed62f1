// The chart of progress: cards on the foundations over time, a line for each player.

import {clock, setText, svg} from "./dom.js"

const CHART_WIDTH = 320
const CHART_HEIGHT = 130
const LEFT = 24
const BOTTOM = 18

const label = (x, y, text) => svg("text", {x, y, class: "axis"}, text)

export class Chart {
	constructor(cards) {
		this.y = count => CHART_HEIGHT - BOTTOM - (count / cards) * (CHART_HEIGHT - BOTTOM - 6)
		const grid = [0, cards / 2, cards].flatMap(count => [
			svg("line", {x1: LEFT, x2: CHART_WIDTH - 4, y1: this.y(count), y2: this.y(count), class: "grid"}),
			label(LEFT - 4, this.y(count) + 4, count)
		])
		this.end = label(CHART_WIDTH - 4, CHART_HEIGHT - 3, "")
		this.lines = new Map() // by player
		const attributes = {viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`, class: "chart", role: "img", "aria-label": "Progress over time"}
		this.element = svg("svg", attributes, ...grid, this.end)
	}

	// `chosen` has the players whose lines are thick, and `style` gives the attributes of a line.
	show(rows, {room, progress}, chosen, style) {
		const now = Math.max(...rows.map(({board, progressAt}) => Math.max(board?.time ?? 0, progressAt)))
		const end = Math.max(60_000, now - room.starts)
		const x = time => Math.round(10 * (LEFT + (Math.max(0, time - room.starts) / end) * (CHART_WIDTH - LEFT - 4))) / 10
		for (const [player, line] of this.lines)
			if (!rows.some(row => row.player === player)) {
				line.remove()
				this.lines.delete(player)
			}
		for (const row of rows) {
			const line = this.lines.get(row.player) ?? svg("path", style(row))
			if (!line.parentNode) this.element.append(line)
			this.lines.set(row.player, line)
			const points = (progress.get(row.player) ?? []).filter(([time]) => time <= now)
			const steps = points.map(([time, count], i) => `${i ? `H${x(time)}V` : `M${x(time)} `}${this.y(count).toFixed(1)}`)
			line.setAttribute("d", steps.length ? `${steps.join("")}H${x(now)}` : "")
			line.classList.toggle("chosen", chosen.includes(row.player))
		}
		setText(this.end, clock(end))
	}
}
