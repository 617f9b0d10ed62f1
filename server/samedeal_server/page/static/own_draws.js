// The draws of a joint deal in which the player takes part: when to commit to a share, and when to reveal it. DEALS.md has
// the rules: once in a draw, for the seats that were shown before, and in another draw only if somebody has lost a seat.

import {placeText, same} from "./evidence.js"
import {MAX_DRAWS, openingOf, shareHash} from "./race_hashes.js"
import {hex, unhex} from "./hash.js"

// The draws that a race may have. Those of a window go on after its doors were opened again.
const MAX_OPENINGS = 4
export const isDraw = (known, draw) => draw > 0 && draw <= MAX_DRAWS * (known.window ? MAX_OPENINGS : 1)

// Whether the player revealed no share in a draw, nor in a later one.
export const hasMissed = ({draws}, draw) => draws.every(each => each.number < draw)

// Whether shares are those that were promised to the player, who may have missed the last draw.
export function agrees(known, {draw, shares}) {
	const own = known.draw(draw)
	if (!own) return hasMissed(known, draw)
	return same(shares.map(each => each.slice(0, 3)), own.seats) && shares.some(each => each[0] === known.seat && each[3] === own.share)
}

// Those who draw the deal: all, or in a race with a window those who were there.
const drawingIn = ({window}, {players, drawing}) => players.filter(({seat}) => !window || drawing.includes(seat))

const seatIn = (known, state) => known.role === "player" && !known.isOut && drawingIn(known, state).find(each => each.player === known.player)

// The number of the draw for which the player has to draw a share, or 0.
export function wantedShare(known, state) {
	const isAsked = state.room === known.room && state.phase === "countdown" && seatIn(known, state)
	return isAsked && isDraw(known, state.draw) && !known.shares[state.draw] ? state.draw : 0
}

// Return the request that the player has to send after a room state, or null. It is returned again for each state that
// waits for it, because the server may have lost it. After a contradiction, the player reveals nothing.
export function answerTo(known, state) {
	const {draw} = state
	const drawing = drawingIn(known, state)
	const seat = seatIn(known, state)
	const isDrawing = state.room === known.room && state.phase === "countdown" && !(known.drawn && !known.draw(draw))
	if (!seat || !isDrawing || !known.shares[draw] || !known.terms || known.contradiction) return null
	const share = unhex(known.shares[draw])
	const own = shareHash(unhex(known.digest), unhex(known.commitment), known, draw, share)
	if (!drawing.every(each => each.share_commitment.length)) return {type: "commitshare", draw, commitment: own}
	if (hex(seat.share_commitment) !== hex(own)) return null // another program of the player takes part, or the server lies
	const seats = drawing.map(each => [each.seat, each.name, hex(each.share_commitment)]).sort(inOrder)
	return reveals(known, draw, seats) && !known.contradiction ? {type: "revealshare", draw, share} : null
}

const inOrder = ([a, name], [b, other]) => a - b || (name < other ? -1 : 1)

// Whether the share of a draw may be revealed for these seats: not if the player has revealed for others, or later draws.
function reveals(known, number, seats) {
	const [earlier, last] = [known.draw(number), known.draws.at(-1)]
	if (earlier) return same([earlier.seats, earlier.share], [seats, known.shares[number]])
	if (last && number < last.number) return false
	const [before, now] = [last?.seats ?? [], seats].map(each => new Set(each.map(placeText)))
	const lost = new Set(known.lost.filter(([draw]) => draw >= last?.number).map(([, seat, , name]) => placeText([seat, name])))
	const isFewer = now.size < before.size && [...now].every(place => before.has(place))
	const isOfAll = isFewer && [...before].every(place => now.has(place) || lost.has(place))
	const out = known.lost.filter(([draw]) => draw >= last?.number && openingOf(draw) === openingOf(number)) // until the doors open again
	const isOfSome = [...lost].some(place => before.has(place)) && !out.some(([, seat, , name]) => now.has(placeText([seat, name])))
	const isNeeded = known.window ? isOfSome : isOfAll // in a window, who was away may come, and who was there may be away
	const isBack = known.outAfter === known.draws.length // a player who came back was not shown who else has gone
	known.findingIf(last && !isNeeded && !isBack, "no_seat_lost")
	if (!known.contradiction) known.plus(["sealed", number, seats])
	return true
}
