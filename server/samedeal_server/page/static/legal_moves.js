// The moves that the rules allow on a board, and the proof that none of them helps.

import {GAMES, onFoundations, played} from "./piles.js"
import {DOWN, RULES, byKey, safeCards, targetOf} from "./rules.mjs"

const MOST_TRIED = 4000 // moves of a proof
const LAST_ROUND = 39 // cards on the only foundation of a game before it

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

// The moves to foundations, whether they are safe or not.
export const homeward = (game, piles) => movesFrom(game, piles).filter(({to}) => to === "0")

// Return the first safe move to a foundation, if there is one (samedeal.laws.safe_cards).
export function safeMove(game, piles) {
	const rules = RULES[game]
	const all = byKey(rules, piles)
	const homes = rules.foundations.map(key => all[key])
	const isSafe = ({from}) => {
		if (!rules.safe || (rules.dealsFirst && all.stock[0]) || (from === "w" && rules.drawn > 1)) return false
		if (!homes[1]) return !homes[0][0] || homes[0].length >= LAST_ROUND
		return safeCards(rules, homes.map(pile => pile.at(-1)), rules.fans.includes(from)).includes(all[from].at(-1))
	}
	const wins = piles => {
		const [first] = homeward(game, piles)
		const after = first && played(game, piles, first.move)
		return after ? wins(after) : onFoundations(game, piles) === 52 * rules.decks
	}
	return homeward(game, piles).find(each => isSafe(each) || wins(piles))?.move
}

// Return the fewest moves that lead to more than `most` cards on the foundations, or turn a card up: none if provably no
// moves do, and null in doubt (samedeal.laws.stuck).
export function wayOn(game, piles, most) {
	const [reached, known] = [[[piles]], new Set()]
	const {piles: places} = GAMES[game]
	let tried = 0
	for (const [piles, ...line] of reached) {
		const moves = allMoves(game, piles).sort()
		tried += moves.length
		if (tried > MOST_TRIED || onFoundations(game, piles) > most) return null
		for (const move of moves) {
			const after = played(game, piles, move)
			if (!after || onFoundations(game, after) > most || move === "deal") return [...line, move]
			const key = after.map((pile, i) => `${/column|cell/.test(places[i].what) ? places[i].what : i} ${pile}`).sort().join()
			if (!known.has(key)) {
				known.add(key)
				reached.push([after, ...line, move])
			}
		}
	}
	return []
}

export const isStuck = ({game, piles, most}) => most < 52 * GAMES[game].decks && wayOn(game, piles, most)?.length === 0
