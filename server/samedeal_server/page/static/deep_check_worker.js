// The deep check of a winnable or daily deal: the line keeps to the rules, and the solver wins no earlier candidate.
// It can take minutes, so it runs in a worker.

import {candidateCards, dealt} from "./deal.js"
import {onFoundations, played} from "./piles.js"
import {RULES, byKey, deal as board, targetOf} from "./rules.mjs"
import {SOLVER, solve} from "./search.mjs"

const HIGHEST_CANDIDATE = 999
const spelt = number => number.toLocaleString("en")

// Return whether a deal is the one that the solver finds (null if that cannot be checked), and the reason if it is not.
// `tell` is called before each candidate.
export function checkSearch({game, deal, solver, limits, mix, candidate, line}, tell) {
	const {decks, states} = RULES[game]
	const wanted = states[/^(daily|again)/.test(deal) ? "daily" : deal.split(" ").at(-1)]
	if (solver !== SOLVER) return {ok: null, reason: `That needs version ${solver} of the solver, and this page has version ${SOLVER}.`}
	if (String(limits) !== String(wanted)) {
		const [least, most] = limits.map(spelt)
		return {ok: null, reason: `The server looked for one that is won with ${least} to ${most} positions. No Samedeal does that for such a deal.`}
	}
	if (candidate > HIGHEST_CANDIDATE) return {ok: null, reason: `The proof names candidate ${spelt(candidate)}, and no Samedeal looks that far.`}
	const rules = RULES[game]
	const cards = number => candidateCards(mix, number, decks)
	let piles = dealt(game, cards(candidate))
	for (const move of line) {
		if (!targetOf(rules, byKey(rules, piles), move)) return {ok: false, reason: "The winning line breaks the rules of the game."}
		piles = played(game, piles, move)
	}
	if (onFoundations(game, piles) < 52 * decks) return {ok: false, reason: "The winning line does not win."}
	for (let number = 0; number <= candidate; number++) {
		tell({number: number + 1, count: candidate + 1})
		const {outcome, states} = solve(game, board(rules, cards(number)), limits[1])
		const isWon = outcome === "won" && states >= limits[0]
		if (isWon && number < candidate) return {ok: false, reason: "It can win an earlier one."}
		if (!isWon && number === candidate) return {ok: false, reason: "It cannot win this one as it should."}
	}
	return {ok: true, reason: ""}
}

if (!globalThis.document) globalThis.onmessage = ({data}) => {
	try {
		postMessage(checkSearch(data, message => postMessage(message)))
	} catch {
		postMessage({ok: null, reason: "It needs more memory than this browser has."})
	}
}
