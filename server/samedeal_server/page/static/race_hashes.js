// The hashes of a race: of its terms, of shares, and of the chain of a player; and words for them (DEALS.md, RECORDS.md).

import {DESCRIBED} from "./games.mjs"
import {RULES} from "./rules.mjs"
import {descriptionText, readTerms, rulesText} from "./terms.mjs"
import {hex, join, sha256, unhex} from "./hash.js"

// Each time that the doors of a window are opened, there may be so many draws. The rest of those before is skipped.
export const MAX_DRAWS = 5
export const openingOf = draw => Math.floor((draw - 1) / MAX_DRAWS)

export const termsHash = text => sha256("samedeal terms 2\n", text)

const rulesHash = game => sha256(rulesText(game, DESCRIBED[game]))

export const descriptionHash = game => sha256("samedeal description 1\n", rulesHash(game), descriptionText(DESCRIBED[game]))

export const isDescribed = ({game, description}) => description === hex(descriptionHash(game))

// The kind of a deal: winnable, random, number, daily or again.
export const kindOf = deal => (deal.startsWith("#") ? "number" : deal.split(" ")[0])

export const hasProof = deal => /^(winnable|daily|again)/.test(deal)

// The secret of a deal that everybody can compute, or null.
export function publicSecret(deal) {
	if (deal.startsWith("ms ")) return join([deal.padEnd(32, "\0")])
	if (deal.startsWith("#")) return sha256("samedeal seed v1\n", deal)
	if (deal.startsWith("again ")) return unhex(deal.slice(6))
	return deal.startsWith("daily ") ? sha256("samedeal public v2\n", `${deal}\n`) : null
}

export const commitmentOf = (terms, secret) => sha256("samedeal commitment 3\n", terms, secret)

// Return the values of terms. Throws UnknownTerms, or an Error if no server of any release has written them.
export const termsOf = text => readTerms(text, RULES, game => hex(rulesHash(game)))

export const shareHash = (terms, commitment, {seat, name}, draw, share) =>
	sha256("samedeal share 4\n", terms, commitment, `${seat}\n${name}\n${draw}\n`, share)

export const firstHead = (terms, start, {seat, name, bot}) =>
	sha256("samedeal chain 2\n", terms, `start: ${new Date(start).toISOString()}\nplayer: ${seat} ${name}\n${bot ? "bot: yes\n" : ""}`)

export const nextHead = (head, revision, time, action) => sha256("samedeal action 2\n", head, `${revision} ${time} ${action}\n`)

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
