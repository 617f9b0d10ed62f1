// The track of a race: the lanes of the racers, and the own place.

import {still} from "./board_view.js"
import {byId, clock, setText} from "./dom.js"
import {laneOf} from "./lanes.js"
import {CLOSE, end, nearest, standing} from "./race_state.js"

const FEW = 4 // lanes on a phone
const MANY = 16 // lanes on a large screen
const SPOKEN = 20_000 // ms between two places that are read out
export const large = matchMedia("(min-width: 1000px) and (min-height: 481px)")

export class Track {
	lanes = new Map() // by player
	spokenAt = -SPOKEN

	constructor() {
		byId("lanes").replaceChildren()
	}

	// Show the rows of a race, of which the player `me` may have one. `colour` returns that of a row.
	show(rows, me, {cards, steps, room}, colour) {
		const shown = nearest(rows, me, large.matches ? MANY : FEW)
		for (const [player, {item}] of this.lanes) if (!rows.some(row => row.player === player)) item.remove()
		for (const row of rows) {
			const lane = this.lanes.get(row.player) ?? laneOf(row.name, row.bot, row.player === me, colour(row))
			if (!lane.item.isConnected) byId("lanes").append(lane.item)
			this.lanes.set(row.player, lane)
			const at = shown.indexOf(row)
			lane.item.hidden = at < 0
			if (at >= 0) lane.item.style.setProperty("--at", at)
			follow(lane, row, cards, room)
		}
		const {style} = byId("track")
		style.setProperty("--lanes", shown.length)
		style.setProperty("--steps", steps)
		byId("track").classList.toggle("some", shown.length < rows.length)
		setText(byId("others"), shown.length < rows.length ? `+${rows.length - shown.length}` : "")
		const [place, gap] = standing(rows, me)
		setText(byId("place"), place)
		setText(byId("gap"), gap)
		if (performance.now() - this.spokenAt < SPOKEN || !place) return
		setText(byId("spoken"), `${place}, ${gap}`)
		this.spokenAt = performance.now()
	}
}

// Let a lane follow its racer. Its marker pulses with each move, also where the count stands still.
function follow(lane, row, cards, room) {
	const {item, place, marker, count} = lane
	const {count: home, moves, stuck, gone} = row
	const {time, resigned} = end(row, room)
	const left = cards - home
	const state = time ? clock(time) : resigned ? "resigned" : gone ? "away" : stuck ? "stuck" : left <= CLOSE ? `${left} to go` : String(home)
	setText(place, String(row.place))
	setText(count, state)
	item.classList.toggle("gone", Boolean(gone || resigned))
	item.classList.toggle("last", left <= CLOSE && !time)
	if (lane.home !== home) item.style.setProperty("--done", home / cards)
	if (moves > lane.moves && !still.matches) marker.animate([{scale: 1.5}, {scale: 1}], {duration: 350, easing: "ease-out"})
	Object.assign(lane, {home, moves})
}
