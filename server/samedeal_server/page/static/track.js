// The track of a race: the lanes of the racers, and the own place.

import {still} from "./board_view.js"
import {byId, clock, setText} from "./dom.js"
import {laneOf} from "./lanes.js"
import {byProgress, end, nearest, standing} from "./race_state.js"

const FEW = 4 // lanes on a phone
const MANY = 16 // lanes on a large screen
const LAST = 10 // cards to go, from which the track says so
const SPOKEN = 20_000 // ms between two places that are read out
const large = matchMedia("(min-width: 1000px) and (min-height: 481px)")

export class Track {
	lanes = new Map() // by player
	spokenAt = -SPOKEN

	constructor() {
		large.onchange = () => this.last && this.show(...this.last)
	}

	// Show the rows of a race, of which the player `me` has one. `colour` returns that of a row.
	show(rows, me, {cards, steps, room}, colour) {
		this.last = arguments
		const shown = nearest(rows, me, large.matches ? MANY : FEW)
		for (const [player, {item}] of this.lanes)
			if (!rows.some(row => row.player === player)) {
				item.remove()
				this.lanes.delete(player)
			}
		for (const row of rows) {
			const lane = this.lanes.get(row.player) ?? this.add(row, row.player === me, colour(row))
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

	add({player, name, bot}, isOwn, colour) {
		const lane = laneOf(name, bot, isOwn, colour)
		this.lanes.set(player, lane)
		byId("lanes").append(lane.item)
		return lane
	}
}

// Let a lane follow its racer. Its marker pulses with each move, also where the count stands still.
function follow(lane, row, cards, room) {
	const {item, place, marker, count} = lane
	const {count: home, moves, stuck, gone} = row
	const {time, resigned} = end(row, room)
	const left = cards - home
	const state = time ? clock(time) : resigned ? "resigned" : gone ? "away" : stuck ? "stuck" : left <= LAST ? `${left} to go` : String(home)
	setText(place, String(row.place))
	setText(count, state)
	item.classList.toggle("gone", Boolean(gone || resigned))
	item.classList.toggle("last", left <= LAST && !time)
	if (lane.home !== home) item.style.setProperty("--done", home / cards)
	if (moves > lane.moves && !still.matches) marker.animate([{scale: 1.5}, {scale: 1}], {duration: 350, easing: "ease-out"})
	Object.assign(lane, {home, moves})
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
