// Repeats the search for a deal. It can take minutes, so it runs in a worker.

import {candidateCards} from "./deal.js"
import {RULES, deal} from "./rules.mjs"
import {solve} from "./search.mjs"

// Return what the solver says about all candidates up to the dealt one. `tell` is called before each of them.
export function searchAnswers({game, mix, candidate, budget}, tell) {
	const rules = RULES[game]
	return Array.from({length: candidate + 1}, (_, number) => {
		tell({number: number + 1, count: candidate + 1})
		return solve(game, deal(rules, candidateCards(mix, number, rules.decks)), budget)
	})
}

if (!globalThis.document) globalThis.onmessage = ({data}) => {
	try {
		postMessage({answers: searchAnswers(data, message => postMessage(message))})
	} catch {
		postMessage({answers: null}) // it needs more memory than this browser has
	}
}
