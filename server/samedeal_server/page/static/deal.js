// Deals the cards of a race from what its record says, and checks the deal, as DEALS.md says.

import {hex, sha256, unhex} from "./hash.js"
import {dealt, seedCards} from "./dealing.js"
import {onFoundations, played} from "./piles.js"
import {MAX_DRAWS, commitmentOf, hasProof, isDescribed, openingOf, publicSecret, shareHash, termsHash} from "./race_hashes.js"
import {RULES, deal, shuffle} from "./rules.mjs"
import {solve} from "./search.mjs"
import {SOLVER, demand} from "./terms.mjs"

const PROOF_VERSION = "5"
const HIGHEST_CANDIDATE = 999

// What only another release can check.
export class NotCheckable extends Error {}

const number32 = n => [n >>> 24, n >>> 16, n >>> 8, n] // low bytes

// The cards of a candidate for a winnable or daily deal.
export function candidateCards(mix, number, decks) {
	const seed = sha256("samedeal candidate v2\n", mix, number32(number))
	const stream = Array.from({length: 32}, (_, n) => [...sha256("samedeal order v2\n", [decks], seed, number32(n))])
	return shuffle(decks, stream.flat())
}

export const NAME = "[^\\s\\p{Cc}]+(?: [^\\s\\p{Cc}]+)*"
const NUMBER = "(?:0|[1-9]\\d{0,8})"
const HASH = "[0-9a-f]{64}"
const DRAW = "(?:[1-9]|1\\d|20)"
const PROOF = new RegExp(
	`^samedeal deal ${PROOF_VERSION}\nroom: (?<room>(?!-)[a-z0-9-]{1,24})(?<!-)\ngame: (?<game>.+)\nsolver: (?<solver>${NUMBER})\nbudget: (?<budget>[1-9]\\d{0,8})\n` +
		`(?:least: (?<least>[2-9]|[1-9]\\d{1,8})\n)?terms: (?<terms>${HASH})\ncommitment: (?<commitment>${HASH})\n` +
		`(?:public: (?<name>.+)\n|secret: (?<secret>${HASH})\ndraw: (?<draw>${DRAW})\n` +
		`(?<lost>(?:lost: ${DRAW} ${NUMBER} (?:left|kicked|silent) ${NAME}\n)*)(?<seats>(?:seat: ${NUMBER} ${HASH} ${HASH} ${NAME}\n)+))` +
		`candidate: (?<candidate>${NUMBER})\nline: (?<line>.+)\n$`,
	"u"
)

const lostIn = text =>
	Array.from(text.matchAll(/^\w+: (\d+) (\d+) ([a-z]+) (.+)$/gm), ([, draw, seat, reason, name]) =>
		({draw: Number(draw), seat: Number(seat), reason, name}))

const sharesIn = text =>
	Array.from(text.matchAll(/^seat: (\d+) (\S+) (\S+) (.+)$/gm), ([, seat, hash, share, name]) =>
		({seat: Number(seat), name, commitment: unhex(hash), share: unhex(share)}))

// Return the values of a proof, or null if it is not written as DEALS.md says. `name` is that of a public deal, or "".
// Such a deal has no draw and no shares, and its secret is its mix.
export function readProof(text) {
	const values = PROOF.exec(text)?.groups
	if (!values) return null
	const {room, game, name = "", line, secret, lost = "", seats = ""} = values
	const [solver, budget, candidate] = [values.solver, values.budget, values.candidate].map(Number)
	const [least, draw] = [values.least ?? 1, values.draw ?? 0].map(Number)
	const [terms, commitment] = [values.terms, values.commitment].map(unhex)
	return Object.freeze({
		...{room, game, name, solver, budget, least, terms, commitment, draw, candidate},
		secret: name ? publicSecret(name) : unhex(secret),
		lost: Object.freeze(lostIn(lost)),
		shares: Object.freeze(sharesIn(seats)),
		line: Object.freeze(line.split(", "))
	})
}

// Whether the seats and the draws of the lost seats rise, and each draw before the last one lost a seat or was skipped.
function isInOrder({draw, lost, shares}) {
	const isSeat = ({seat}) => seat > 0 && seat < 256
	const rises = (each, i, all) => isSeat(each) && each.seat > (all[i - 1]?.seat ?? 0)
	const follows = (each, i, all) => isSeat(each) && each.draw >= (all[i - 1]?.draw ?? 1) && each.draw <= draw
	const isSkipped = each => openingOf(each) < openingOf(draw) && openingOf(each) === openingOf(each - 1)
	const isKnown = (_, i) => lost.some(each => each.draw === i + 1) || isSkipped(i + 1)
	return shares.every(rises) && lost.every(follows) && Array.from({length: draw - 1}).every(isKnown)
}

// Whether an operator removed the name of a player. Hashes that cover it cannot be checked any more.
export const isRemoved = ({seat, name}) => name === `removed by server ${seat}`

// Return the values of a proof that is right in itself, the mix of its candidates, the cards in their order, and the piles
// as dealt. Throws an Error that says what is wrong.
export function openProof(proof) {
	const {game, name, terms, commitment, secret, draw, shares, candidate, line} = proof
	const isPromised = hex(commitmentOf(terms, secret)) === hex(commitment)
	demand(isPromised, "The terms or the secret are not those that the server committed to.")
	for (const share of shares) {
		const isRight = isRemoved(share) || hex(shareHash(terms, commitment, share, draw, share.share)) === hex(share.commitment)
		demand(isRight, `The random number of ${share.name} is not the one that was promised.`)
	}
	demand(name || isInOrder(proof), "The seats of the proof are not in order.")
	const {decks} = RULES[game]
	const mix = name ? secret : sha256("samedeal mix v2\n", secret, ...shares.flatMap(({seat, share}) => [[seat], share]))
	const cards = candidateCards(mix, candidate, decks)
	const piles = dealt(game, cards)
	const end = line.reduce((now, move) => now && played(game, now, move), piles)
	demand(candidate <= HIGHEST_CANDIDATE && end && onFoundations(game, end) === 52 * decks, "The moves in the proof do not win the deal.")
	return {...proof, mix, cards, piles}
}

// Return the piles as dealt, and what openProof() returns if there is a proof. Throws an Error that says what is wrong.
export function openDeal({terms, commitment, seed, proof: text, players}) {
	const {room, game} = terms
	const hash = termsHash(terms.text)
	const secret = publicSecret(terms.deal)
	demand(hasProof(terms.deal) === Boolean(text), "Only a deal that can be won has a proof.")
	if (!text) {
		demand(hex(commitmentOf(hash, seed)) === hex(commitment), "The seed is not the one that the server committed to.")
		demand(!secret || hex(secret) === hex(seed), `This is not the seed of deal ${terms.deal}.`)
		return {piles: dealt(game, seedCards(seed, RULES[game].decks)), line: [], shares: []}
	}
	const version = /^samedeal deal (\d{1,9})\n/.exec(text)?.[1] ?? PROOF_VERSION
	demand(version === PROOF_VERSION, `The proof of the deal has version ${version}, and this page reads version ${PROOF_VERSION}.`, NotCheckable)
	const proof = readProof(text)
	demand(proof, "The proof of the deal is not written as it should be.")
	const isOwn = proof.room === room && proof.game === game && hex(proof.terms) === hex(hash) && hex(proof.commitment) === hex(commitment)
	demand(isOwn && proof.name === (secret ? terms.deal : ""), "The proof is that of another deal.")
	const opened = openProof(proof)
	const hasShare = ({seat, name}) => proof.shares.some(each => each.seat === seat && each.name === name)
	const areRacers = proof.shares.every(each => each.seat <= 64) && (terms.window || players.every(hasShare))
	demand(proof.name || areRacers, "The seats of the proof are not those of the race.")
	demand(terms.window || proof.draw <= MAX_DRAWS, "The deal was drawn too often.")
	return opened
}

// Check how many positions the solver was allowed. Throws an Error, or NotCheckable.
export function checkLimits(terms, {name, solver, least, budget}) {
	const wanted = RULES[terms.game].states[name ? "daily" : terms.deal.split(" ").at(-1)]
	const isUsual = String([least, budget]) === String(wanted) || solver !== SOLVER
	demand(isUsual, `The server looked for a deal that is won with ${least} to ${budget} positions.`, isDescribed(terms) ? Error : NotCheckable)
}

// Return what the solver says about all candidates up to the dealt one. `tell` is called before each of them.
export function searchAnswers({game, mix, candidate, budget}, tell) {
	const rules = RULES[game]
	return Array.from({length: candidate + 1}, (_, number) => {
		tell({number: number + 1, count: candidate + 1})
		return solve(game, deal(rules, candidateCards(mix, number, rules.decks)), budget)
	})
}

// Check what the solver says about the candidates up to the dealt one. Throws an Error, or NotCheckable.
export function checkAnswers({solver, game, least, budget, candidate}, answers) {
	const isKnown = Object.values(RULES[game].states).some(limits => String(limits) === String([least, budget]))
	demand(solver === SOLVER, `The deal was found by version ${solver} of the solver, and this page has version ${SOLVER}.`, NotCheckable)
	demand(isKnown, `The server looked for a deal that is won with ${least} to ${budget} positions. No Samedeal does.`, NotCheckable)
	for (const [number, {outcome, states}] of answers.entries()) {
		const isWon = outcome === "won" && states >= least
		demand(isWon === (number === candidate), `Candidate ${number} should ${isWon ? "" : "not "}have been dealt.`)
	}
}
