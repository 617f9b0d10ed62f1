// Proves that a player is stuck.

import {movesFrom} from "./legal_moves.js"
import {GAMES, onFoundations, played} from "./piles.js"
import {RULES, byKey, targetOf} from "./rules.mjs"

const MOST_TRIED = 4000 // moves

// Whether provably no moves from these piles lead to more than `most` cards on the foundations, or turn a card up. False
// in doubt.
export function isStuck({game, piles, most}) {
	const rules = RULES[game]
	const [reached, known] = [[piles], new Set()]
	let tried = 0
	for (const piles of reached) {
		const all = byKey(rules, piles)
		const moves = movesFrom(game, piles)
		if (rules.stock && targetOf(rules, all, rules.stock)) moves.push(rules.stock)
		tried += moves.length
		if (tried > MOST_TRIED || onFoundations(game, piles) > most) return false
		for (const move of moves) {
			const after = played(game, piles, move)
			if (!after || onFoundations(game, after) > most || move === "deal") return false
			const key = JSON.stringify([rules.columns.map(column => byKey(rules, after)[column].join()).sort(), after.slice(rules.columns.length)])
			if (!known.has(key)) {
				known.add(key)
				reached.push(after)
			}
		}
	}
	return most < 52 * GAMES[game].decks
}
