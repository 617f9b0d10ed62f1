// The moves that the rules allow on a board.

import {DOWN} from "./piles.js"
import {RULES, byKey, targetOf} from "./rules.mjs"

// All legal moves.
export function allMoves(game, piles) {
	const rules = RULES[game]
	const draw = rules.stock && targetOf(rules, byKey(rules, piles), rules.stock) ? [rules.stock] : []
	return [...movesFrom(game, piles), ...draw]
}

// The legal transfers from a pile, or from all of them.
export function movesFrom(game, piles, from) {
	const rules = RULES[game]
	const all = byKey(rules, piles)
	const targets = ["0", ...Object.keys(rules.onto)]
	const sources = from ? [from] : rules.keys.filter(key => key !== "stock")
	return sources.flatMap(source => {
		const cards = [...all[source]].reverse()
		const end = cards.findIndex((card, i) => i && (card & DOWN || !rules.columns.includes(source) || !rules.lift(cards[i - 1], card)))
		return cards.slice(0, end < 0 ? cards.length : end).flatMap((_, i) => {
			const size = i ? ` x${i + 1}` : ""
			return targets.map(target => `${source} ${target}${size}`).filter(move => targetOf(rules, all, move))
		})
	})
}
