// Deals, legal moves, laws and the search, as the page has them.

import {openDeal, searchAnswers} from "./deal.js"
import {unhex} from "./hash.js"
import {hint} from "./hints.js"
import {isStuck, movesFrom, safeMove} from "./legal_moves.js"
import {example, onFoundations} from "./piles.js"
import {commitmentOf, termsHash} from "./race_hashes.js"
import {RULES, byKey} from "./rules.mjs"
import {solve} from "./search.mjs"

export const moves = boards => boards.map(([game, piles]) => movesFrom(game, piles).map(({move}) => move).sort())

export const collected = boards => boards.map(([game, piles]) => safeMove(game, piles) ?? "None")

export const laws = boards =>
	boards.map(([game, piles, asksStuck, states]) => {
		const {moves, isLost = false} = hint({game, piles, states})
		const stuck = asksStuck && isStuck({game, piles, most: onFoundations(game, piles)})
		return [safeMove(game, piles) ?? "None", moves, isLost, stuck]
	})

export const examples = games => games.map(example)

export async function candidates(given) {
	const told = []
	const search = {...given, mix: unhex(given.mix)}
	return [await searchAnswers(search, message => told.push(message)), told]
}

export const plays = games =>
	games.map(([game, seed, boards]) => {
		const terms = {game, deal: "random", text: ""}
		const commitment = commitmentOf(termsHash(""), unhex(seed))
		const piles = openDeal({terms, commitment, seed: unhex(seed)}).piles.map(pile => pile.map(card => card & 127))
		const all = byKey(RULES[game], piles)
		const answer = solve(game, {...all, stock: [...all.stock].reverse()}, 4500)
		return [piles, answer, moves(boards.map(each => [game, each]))]
	})
