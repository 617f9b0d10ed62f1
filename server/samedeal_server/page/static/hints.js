// Hints, the same as those of samedeal.laws.hints: what to do on a board, judged by the cards that the player sees.

import {seedCards} from "./dealing.js"
import {allMoves, safeMove, wayOn} from "./legal_moves.js"
import {HIDDEN, onFoundations, played} from "./piles.js"
import {DOWN, RULES, byKey, rank, targetOf} from "./rules.mjs"
import {keyOf, solve} from "./search.mjs"
import {cardsOf, statesOf} from "./states.mjs"

// Returns the moves up to the first one that turns up an unseen card, none if no move is known to help, and whether the
// board is proven to be lost.
export function hint({game, piles, states = 20_000}) {
	const rules = RULES[game]
	// The first card of the stock leaves it first in a search.
	const forSearch = piles => ({...byKey(rules, piles), stock: byKey(rules, piles).stock.toReversed()})
	if (rules.dealsFirst && forSearch(piles).stock[0]) return {moves: ["deal"]}
	let [shown, now] = [piles, guessed(rules, piles)]
	const {outcome, path} = solve(game, forSearch(now), states)
	const {stateOf} = statesOf(rules, forSearch(now))
	const isLost = outcome === "unwinnable" && !piles.flat().includes(HIDDEN)
	const safe = outcome !== "won" && safeMove(game, piles)
	const moves = safe ? [safe] : []
	for (const key of safe ? [] : path)
		for (const move of shown ? step(key) : []) {
			if (shown) moves.push(move) // as long as no card is turned up
			;[now, shown] = [now, shown].map(each => each && played(game, each, move))
		}
	return {moves: moves[0] ? moves : (wayOn(game, piles, onFoundations(game, piles)) ?? []), isLost}

	// Returns the moves to the next state: draws, a move, and the moves that the search makes at once.
	function step(key) {
		for (let [piles, draws] = [now, []]; ; piles = played(game, piles, rules.stock), draws.push(rules.stock))
			for (const move of ["", ...allMoves(game, piles).sort()]) {
				const made = move ? [move] : []
				let after = move ? played(game, piles, move) : piles
				for (let next; (next = owed(key, after, made.at(-1))); after = played(game, after, next)) made.push(next)
				if (keyOf(stateOf(forSearch(after))) === key) return [...draws, ...made]
			}
	}

	// Returns a move that the search makes at once after the last one: of the next card of a run that goes to cells, of a
	// card that is home in a state, or from a cell onto a run.
	function owed(key, piles, last = "") {
		const all = byKey(rules, piles)
		const isHome = card => cardsOf(key.slice(0, rules.foundations.length)).some(top => top >> 4 === card >> 4 && top >= card)
		const moves = rules.keys.map(from => rules.settles && isHome(all[from].at(-1)) && `${from} 0`)
		const [from, to] = last.split(" ")
		const cells = rules.settles === "runs" ? rules.cells : []
		if (cells.includes(to) && rules.lift(all[to][0], all[from].at(-1))) moves.unshift(...cells.map(cell => `${from} ${cell}`))
		moves.push(...cells.flatMap(cell => rules.columns.map(to => all[to][0] && `${cell} ${to}`)))
		return moves.find(move => targetOf(rules, all, move))
	}
}

// Returns the piles with the cards that are not seen in the place of hidden ones, as they lie in one shuffled deck.
function guessed({decks, suits}, piles) {
	const cards = seedCards(new Uint8Array(32), decks).map(card => 16 * suits[card >> 4] + rank(card))
	for (const card of piles.flat()) if (card !== HIDDEN) cards.splice(cards.indexOf(card & 63), 1)
	return piles.map(pile => pile.map(card => (card === HIDDEN ? cards.pop() + DOWN : card)))
}
