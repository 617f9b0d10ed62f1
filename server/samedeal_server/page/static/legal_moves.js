// The moves that the rules allow on a board, and the proof that none of them helps.

import {GAMES, onFoundations, played} from "./piles.js"
import {DOWN, RULES, byKey, targetOf} from "./rules.mjs"

const MOST_TRIED = 4000 // moves of a proof

export const moveText = (from, to, size) => `${from} ${to}${size > 1 ? ` x${size}` : ""}`

// All legal moves, as text.
export function allMoves(game, piles) {
	const rules = RULES[game]
	const draw = rules.stock && targetOf(rules, byKey(rules, piles), rules.stock) ? [rules.stock] : []
	return [...movesFrom(game, piles).map(each => each.move), ...draw]
}

// The legal transfers from a pile, or from all of them: {from, to, size, move}.
export function movesFrom(game, piles, from) {
	const rules = RULES[game]
	const all = byKey(rules, piles)
	const targets = ["0", ...Object.keys(rules.onto)]
	const sources = from ? [from] : rules.keys.filter(key => key !== "stock")
	return sources.flatMap(source => {
		const cards = [...all[source]].reverse()
		const end = cards.findIndex((card, i) => i && (card & DOWN || !rules.columns.includes(source) || !rules.lift(cards[i - 1], card)))
		const groups = cards.slice(0, end < 0 ? cards.length : end)
		const moves = groups.flatMap((_, i) => targets.map(to => ({from: source, to, size: i + 1, move: moveText(source, to, i + 1)})))
		return moves.filter(({move}) => targetOf(rules, all, move))
	})
}

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
			const key = JSON.stringify([after.slice(0, columns.length).map(String).sort(), after.slice(columns.length)])
			if (!known.has(key)) {
				known.add(key)
				reached.push(after)
			}
		}
	}
	return most < 52 * GAMES[game].decks
}
