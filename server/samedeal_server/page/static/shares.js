// The racer's shares of a joint deal: when to commit to a share, when to reveal it, and when not to. PROTOCOL.md,
// "What a client checks", has the rules.

import {sha256} from "./hash.js"
import {hex, promises, unhex} from "./words.js"

const MAX_DRAWS = 5
const PROBLEMS = {
	own: "The server shows a promise in your name that this page has not made.",
	seats: "The server changed the players of the draw, or their promises, after you had revealed your random number.",
	skipped: "The server wants your random number for a draw that does not follow the last one.",
	nobody: "The server draws the deal again, although nobody has lost a seat.",
	earlier: "The server went back to an earlier draw of the deal. It may have lost data, or it liked that deal better.",
	shares: "The server drew the deal from other random numbers than those that were promised.",
	denied: "The server says that you did not answer in time when the deal was drawn. But you did, and it had confirmed that.",
	room: "The room was opened again with another deal. This page takes no part in its draw."
}
const NOTES_LOST = "This browser has lost its notes of the draw, so that it cannot tell whether your random number is in the deal."
const OWN = "Your random number is in the deal, together with exactly the promises that this page saw before."

const asText = (...all) => JSON.stringify(promises(...all).map(({seat, name, commitment}) => [seat, name, hex(commitment)]))
const places = seats => JSON.parse(seats).map(([seat, name]) => `${seat} ${name}`)

export class Shares {
	// `store` keeps what survives a reload: the shares by draw, the draws in which one was revealed, and what went wrong.
	constructor(store) {
		this.store = store
		this.kept = {shares: {}, revealed: [], stay: 0, ...store.get()}
	}

	change(changes) {
		Object.assign(this.kept, changes)
		this.store.set(this.kept)
	}

	wrong(problem) {
		this.kept.problem ?? this.change({problem})
		return null
	}

	// Return the request with which a racer has to answer a state of the room, or null.
	answer(room, player) {
		const {phase, players, draw, lost, shares, rooms, elsewhere} = room
		const commitment = hex(room.commitment)
		if (this.commitment && this.commitment !== commitment) return this.wrong("room")
		this.commitment = commitment
		if (this.kept.commitment !== commitment) this.kept = {shares: {}, revealed: [], stay: 0, commitment}
		const seat = players.find(each => each.player === player)
		const isSealed = players.every(each => each.share_commitment.length)
		const {revealed} = this.kept
		const last = revealed.at(-1)
		if (seat && (phase === "open" || (phase === "countdown" && !shares.length && !isSealed))) this.present = true
		if (last && phase === "open" && this.kept.stay < revealed.length) this.change({stay: revealed.length})
		for (const {draw, seat, name, reason} of lost)
			if (reason === "silent" && revealed.some(each => each.draw === draw && each.confirmed && each.place === `${seat} ${name}`)) this.wrong("denied")
		if (!draw || !seat) return null
		if (shares.length) {
			if (!/countdown|racing/.test(phase)) return null
			if (!last) return this.present ? this.wrong("shares") : null
			const shown = asText(rooms, shares)
			const isIn = shares.some(({share}) => hex(share) === last.share)
			return last.draw !== draw || shown !== last.seats || !isIn ? this.wrong("shares") : null
		}
		if (phase !== "countdown") return null
		if (draw > MAX_DRAWS) return this.wrong("skipped")
		if (last && (draw < last.draw || (draw === last.draw && !isSealed))) return this.wrong("earlier")
		if (!this.kept.shares[draw]) {
			const share = hex(crypto.getRandomValues(new Uint8Array(32)))
			this.change({shares: {...this.kept.shares, [draw]: share}})
		}
		const share = unhex(this.kept.shares[draw])
		const own = sha256("samedeal share v3\n", `${room.room}\n${seat.name}\n${draw}\n`, share)
		if (!isSealed) return {type: "commitshare", draw, commitment: own}
		if (hex(seat.share_commitment) !== hex(own)) return this.wrong("own")
		const gone = elsewhere.length ? [...elsewhere, ...lost] : [] // the deal is drawn again because of other rooms
		return this.reveal({draw, seats: asText(rooms, players), share: hex(share), place: `${seat.seat} ${seat.name}`}, gone)
	}

	// A share is revealed for one list of seats, and in another draw only if somebody has lost a seat.
	reveal(draw, gone) {
		const {revealed, stay} = this.kept
		const known = revealed.find(each => each.draw === draw.draw)
		if (known && known.seats !== draw.seats) return this.wrong("seats")
		const last = revealed.at(-1)
		if (!known && last && revealed.length > stay) {
			let next = last.draw + !gone.length
			while (gone.some(each => each.draw === next)) next++
			if (draw.draw <= last.draw || draw.draw > next) return this.wrong("skipped")
			const [before, now] = [places(last.seats), places(draw.seats)]
			const isElsewhere = gone.some(each => each.draw === last.draw && before.includes(`0 ${each.room}`))
			if (now.length >= before.length + isElsewhere || !now.every(place => before.includes(place))) return this.wrong("nobody")
		}
		if (!known) this.change({revealed: [...revealed, draw]})
		return {type: "revealshare", draw: draw.draw, share: unhex(draw.share)}
	}

	// The server has accepted the share of a draw.
	confirmed(draw) {
		const {revealed} = this.kept
		if (revealed.some(each => each.draw === draw && !each.confirmed))
			this.change({revealed: revealed.map(each => (each.draw === draw ? {...each, confirmed: true} : each))})
	}

	// The step that the check of the deal has more than for spectators.
	get step() {
		const {problem, revealed} = this.kept
		return problem ? [false, PROBLEMS[problem]] : revealed.length ? [true, OWN] : [null, NOTES_LOST]
	}
}
