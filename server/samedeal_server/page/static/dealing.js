// How cards are dealt from a seed, as DEALS.md says.

import {GAMES, UNSEEN} from "./piles.js"
import {publicSecret} from "./race_hashes.js"
import {DECK, DOWN, RULES, deal, shuffle} from "./rules.mjs"
import {shake256} from "./shake256.js"

// The piles as dealt, with all faces. Cards that lie face down are UNSEEN.
export function dealt(game, cards) {
	const all = deal(RULES[game], cards)
	all.stock.reverse()
	return GAMES[game].piles.map(({key}) => all[key].map(card => (card & DOWN ? card | UNSEEN : card)))
}

// The cards of a random or numbered deal, the first one to be dealt first.
export function seedCards(seed, decks) {
	const [, number] = /^ms (\d{1,7})\0+$/.exec(String.fromCharCode(...seed)) ?? []
	return number && decks === 1 ? microsoftCards(Number(number)) : shuffle(decks, shake256("samedeal order v1\n", [decks], seed))
}

// The cards as a numbered game of Microsoft's program deals them.
function microsoftCards(number) {
	const left = Array.from({length: 52}, (_, i) => 16 * (i % 4) + (i >> 2) + 1)
	return DECK.map(() => {
		number = (214013 * number + 2531011) % 2 ** 31
		const [at, last] = [(number >> 16) % left.length, left.length - 1]
		;[left[at], left[last]] = [left[last], left[at]]
		return left.pop()
	})
}

// The piles of a deal with a number.
export const numbered = (game, number) => dealt(game, seedCards(publicSecret(`#${number}`), RULES[game].decks))
