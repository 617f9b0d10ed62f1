// What a client can tell of the times that the server names, in milliseconds. Networks delay as well, so what it finds is
// neutral: no verdict depends on it.

const TOLERANCE = 100 // by which clocks may drift during a race
const SLOW = 1000 // longer than the fastest answer: then an answer is late

export class RaceClock {
	low = -Infinity // bounds of the difference between the server's clock and the local one: once the countdown begins, they only come closer
	high = Infinity
	fastest = Infinity // round trip
	isFixed = false
	enteredAt = 0 // local time at which the player came into the room, or came back

	get isKnown() {
		return this.fastest < Infinity
	}

	// A ping was sent and answered at these local times.
	exchanged(sent, received, server) {
		this.fastest = Math.min(this.fastest, received - sent)
		const [low, high] = [Math.max(this.low, server - received), Math.min(this.high, server - sent)]
		if (low <= high) Object.assign(this, {low, high})
		else if (!this.isFixed) Object.assign(this, {low: server - received, high: server - sent}) // the server's clock was set
	}

	// An action: before any ping was answered, its date bounds what a ping may tell.
	acted(sent, received, server) {
		if (this.isKnown) return
		this.exchanged(sent, received, server)
		Object.assign(this, {fastest: Infinity, isFixed: true})
	}

	// By how much the server's clock was set, if it told this time between these local times.
	setBy(sent, received, server) {
		const gap = Math.max(server - received - this.high, this.low - (server - sent)) - TOLERANCE
		return this.isFixed ? gap : 0
	}

	// These return by how many milliseconds a time is strange, or 0 or less. First the date of an action that was sent and
	// answered at these local times.
	misdated(sent, received, server) {
		return this.dated(sent + this.low, received, server)
	}

	// A date that was told at this local time, and should not be before the earliest.
	dated(earliest, received, server) {
		return Math.max(earliest - server - TOLERANCE, this.ahead(received, server))
	}

	// A date that is later than the local time at which it was told.
	ahead(received, server) {
		return server - received - this.high - TOLERANCE
	}

	// An answer that came later than the network explains.
	late(sent, received) {
		return received - sent - this.fastest - SLOW
	}

	// The first board, after the start or after the player had come into the room.
	dealt(received, start) {
		return received - Math.max(this.enteredAt, start - this.low) - SLOW
	}
}
