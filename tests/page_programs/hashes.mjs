// Hashes and words of a race, and its terms, as the page reads them.

import {hex, unhex} from "./hash.js"
import {dealWords, descriptionHash, resultWords, termsHash, termsOf} from "./race_hashes.js"
import {UnknownTerms} from "./terms.mjs"

function read(text) {
	try {
		const {text: same, ...terms} = termsOf(text)
		return same === text && Object.isFrozen(terms.options) && terms
	} catch (error) {
		return error instanceof UnknownTerms ? "unknown" : error.constructor === Error ? "wrong" : error.stack
	}
}

export const terms = texts => texts.map(text => [hex(termsHash(text)), read(text)])

export const descriptions = games => games.map(game => hex(descriptionHash(game)))

const shareOf = ([seat, promise, share]) => ({seat, commitment: unhex(promise), share: unhex(share)})

export const words = deals =>
	deals.map(([terms, commitment, shares]) => [
		dealWords(unhex(terms), unhex(commitment), shares.map(shareOf)),
		resultWords(unhex(terms))
	])
