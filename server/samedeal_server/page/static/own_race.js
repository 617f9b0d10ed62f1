// A race with a window, which each player begins at a time of their own, as it looks from the player's own start. Knows no
// DOM.

import {clock, stored, timeOfWeek} from "./dom.js"
import {opensByItself} from "./race_state.js"

const DOORS = 600_000 // ms before the next window of a series, in which others can take seats
const SOON = 1000 // ms after which the time that is left is shown again

// The room as a race that begins and ends with the player's own attempt: its phase is "waiting" before that, and "raced"
// after it. While the window is open, nothing depends on the attempts of others. `closes` is when it closes, and `changes`
// is when the race changes by itself.
export function ownRace(room, player, now) {
	const {phase, options, players, tallies, ends: closes} = room
	const isOwn = each => each.player === player
	const {began_at: began = 0, finished_at: finished} = tallies.find(isOwn) ?? {}
	const {resigned} = players.find(isOwn) ?? {}
	const limit = 1000 * options.limit
	if (/finished|closed/.test(phase)) {
		remember(room, false, players.some(isOwn), now)
		return fromOwnStart({...room, starts: began || room.starts}, limit)
	}
	const ends = Math.min(closes, began + limit)
	const isOver = resigned || (began && (finished || now >= ends))
	const state = phase !== "racing" ? phase : isOver ? "raced" : began ? "racing" : "waiting"
	const own = {...room, phase: state, closes, starts: began, tallies: tallies.map(each => (isOwn(each) ? each : {...each, connected: true}))}
	remember(room, state !== "raced", players.some(isOwn), now)
	if (state === "racing") return {...own, ends, players: players.filter(isOwn), changes: ends}
	return {
		...own,
		players: players.map(each => ({...each, away: false})),
		clock: phase === "open" ? `${opensByItself(room) ? "Opens" : "Doors close"} ${timeOfWeek(room.doors_close_at)}` : `Until ${timeOfWeek(closes)}`,
		left: state === "waiting" && clock(Math.min(limit, closes - now)),
		changes: state === "waiting" ? Math.max(now + SOON, closes - limit) : Infinity
	}
}

// A race that is over, as if everybody had begun at its start. `shifts` are the differences of the times by player.
function fromOwnStart(room, limit) {
	const {starts, tallies} = room
	const shifts = new Map(tallies.map(({player, began_at: began}) => [player, began && starts - began]))
	const moved = tally => {
		const after = time => time && time + shifts.get(tally.player)
		return {...tally, last_progress_at: after(tally.last_progress_at), finished_at: after(tally.finished_at)}
	}
	return {...room, shifts, finished_at: room.finished_at && starts + limit, tallies: tallies.map(moved)}
}

// A board or move of a player to watch, with its time as in the race that is shown.
export function shifted(message, race) {
	const by = message.player && race?.shifts?.get(message.player)
	return by ? {...message, time: message.time + by} : message
}

// Keep for the first screen in which windows the player has yet to race, and when they open and close: also in those that
// follow in a standing series.
function remember({room, ends, window, doors_close_at: doors, opens = [], rooms_before: [first = room] = []}, waits, hasSeat, now) {
	const place = opens.length ? `s/${first}` : room
	const all = JSON.parse(stored.get("windows") ?? "{}")
	const later = opens.map((at, i) => [at, Math.min(at + 1000 * window, (opens[i + 1] ?? Infinity) - DOORS)]).slice(1)
	all[place] = hasSeat ? [...(waits ? [[place === room ? 0 : doors, ends]] : []), ...later].filter(([, closes]) => closes > now) : []
	const kept = JSON.stringify(Object.fromEntries(Object.entries(all).filter(([, [one]]) => one)))
	if (kept !== stored.get("windows")) stored.set("windows", kept)
}
