// The news of a race, found by comparing the ranking with the one before it. The terminal client tells the same news.

import {clock} from "./dom.js"

const QUIET = 4000 // ms between two sentences about the lead
const EARLY = 5 // cards on the foundations that somebody must have before it says much who leads
const CLOSE = 5 // cards to go

const ordinal = n => n + (/1[123]$/.test(n) ? "th" : {1: "st", 2: "nd", 3: "rd"}[n % 10] ?? "th")

// Return the player who is alone in the first place, or undefined as long as that says little.
export function leader(rows) {
	const first = rows.filter(({place}) => place === 1)
	return first.length === 1 && first[0].count >= EARLY ? first[0] : undefined
}

export class RaceFeed {
	before = null // by player
	leader = ""
	ledAt = 0

	// Return what just happened, as sentences without full stops. The first ranking is no news.
	after(rows, {room, cards}, now) {
		const {before} = this
		this.before = new Map(rows.map(row => [row.player, {...row, ...end(row, room), left: cards - row.count}]))
		const first = leader(rows)
		if (!before) {
			this.leader = first?.player
			return []
		}
		const news = [...this.before.values()].flatMap(row => newsOf(before.get(row.player), row))
		if (!first || first.player === this.leader || now - this.ledAt < QUIET) return news
		Object.assign(this, {leader: first.player, ledAt: now})
		const {time, resigned} = this.before.get(first.player)
		return time || resigned ? news : [...news, `${first.name} took the lead`]
	}
}

const end = ({final, finishedAt, resigned}, {starts}) => ({
	time: final?.time || (finishedAt && finishedAt - starts),
	resigned: resigned || final?.resigned
})

function newsOf(before, {name, count, place, time, resigned, stuck, connected, left}) {
	if (!before) return []
	if (time) return before.time ? [] : [`${name} finished in ${clock(time)}, ${ordinal(place)}`]
	if (resigned) return before.resigned ? [] : [`${name} resigned at ${count}`]
	return [
		stuck && !before.stuck && `${name} is stuck at ${count}`,
		left <= CLOSE && before.left > CLOSE && `${name} has ${left} card${left === 1 ? "" : "s"} to go`,
		connected !== before.connected && `${name} ${connected ? "is back" : "lost the connection"}`
	].filter(Boolean)
}
