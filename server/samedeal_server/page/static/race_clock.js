// What a client can tell of the times that the server names, in milliseconds. Networks delay as well, so what it finds is
// neutral: no verdict depends on it.

const TOLERANCE = 100 // by which clocks may drift during a race
const SLOW = 1000 // longer than the fastest answer: then an answer is late

export class RaceClock {
	low = -Infinity // bounds of the difference between the server's clock and the local one, fixed once the countdown begins
	high = Infinity
	fastest = Infinity // round trip
	isFixed = false
	misdated = [0, 0] // how many answers the network does not explain, and the sum of the times
	late = [0, 0]
	dealtLate = 0 // the first board, after the start

	get isKnown() {
		return this.fastest < Infinity
	}

	// A ping was sent and answered at these local times.
	exchanged(sent, received, server) {
		this.fastest = Math.min(this.fastest, received - sent)
		if (this.isFixed) return
		const [low, high] = [Math.max(this.low, server - received), Math.min(this.high, server - sent)]
		Object.assign(this, low > high ? {low: server - received, high: server - sent} : {low, high}) // the server's clock was set
	}

	// An action was sent and answered at these local times, and dated by the server.
	answered(sent, received, server) {
		if (!this.isKnown) return
		this.misdated = counted(this.misdated, Math.max(sent + this.low - server, server - received - this.high) - TOLERANCE)
		this.late = counted(this.late, received - sent - this.fastest - SLOW)
	}

	// A message came at this local time, about an action of somebody that is dated by the server.
	told(received, server) {
		if (this.isKnown) this.misdated = counted(this.misdated, server - received - this.high - TOLERANCE)
	}

	// The first board came at this local time, in a race that began at `start`.
	dealt(received, start) {
		if (this.isKnown && start) this.dealtLate = Math.max(0, received + this.low - start - SLOW)
	}
}

const counted = ([times, total], amount) => (amount > 0 ? [times + 1, total + amount] : [times, total])
