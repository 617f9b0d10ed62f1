// Proves that a player is stuck.

import {allMoves} from "./legal_moves.js"
import {GAMES, onFoundations, played} from "./piles.js"
import {RULES, byKey} from "./rules.mjs"

const MOST_TRIED = 4000 // moves

// Whether provably no moves from these piles lead to more than `most` cards on the foundations, or turn a card up. False
// in doubt.
export function isStuck({game, piles, most}) {
	const {columns} = RULES[game]
	const [reached, known] = [[piles], new Set()]
	let tried = 0
	for (const piles of reached) {
		const moves = allMoves(game, piles)
		tried += moves.length
		if (tried > MOST_TRIED || onFoundations(game, piles) > most) return false
		for (const move of moves) {
			const after = played(game, piles, move)
			if (!after || onFoundations(game, after) > most || move === "deal") return false
			const key = JSON.stringify([columns.map(column => byKey(RULES[game], after)[column].join()).sort(), after.slice(columns.length)])
			if (!known.has(key)) {
				known.add(key)
				reached.push(after)
			}
		}
	}
	return most < 52 * GAMES[game].decks
}
