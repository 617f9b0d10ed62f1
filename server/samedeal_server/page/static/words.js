// Bytes as digits, and the words of a deal and of a result (DEALS.md).

import {sha256} from "./hash.js"

export const unhex = text => Uint8Array.from(text.match(/../g) ?? [], digits => parseInt(digits, 16))
export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")

// Four words that are the same for all who were shown the same terms, commitment and shares.
export const dealWords = (terms, commitment, shares) =>
	wordsOf(sha256("samedeal words 2\n", terms, commitment, ...shares.flatMap(({seat, commitment, share}) => [[seat], commitment, share])))

// Four words that are the same for all who read the same record of a race.
export const resultWords = digest => wordsOf(sha256("samedeal result words 1\n", digest))

function wordsOf(hash) {
	const word = at => {
		const bits = (hash[at] << 8) | hash[at + 1]
		const [consonant, vowel] = [place => "bdfghjklmnprstvz"[(bits >> place) & 15], place => "aiou"[(bits >> place) & 3]]
		return consonant(12) + vowel(10) + consonant(6) + vowel(4) + consonant(0)
	}
	return [0, 2, 4, 6].map(word).join(" ")
}
