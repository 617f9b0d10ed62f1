// Deals the cards of a race from what the server has revealed, and checks it, as DEALS.md says.

import {DOWN, FACE, GAMES, HIDDEN, onFoundations, played} from "./piles.js"
import {GAMES as RULES, deal, shuffle} from "./rules.mjs"
import {sha256, unhex} from "./words.js"

export const isHash = async (expected, ...parts) => String(await sha256(...parts)) === String(expected)

const number32 = n => [n >>> 24, n >>> 16, n >>> 8, n] // low bytes

// The piles as dealt, with all faces. Cards that lie face down have DOWN.
function dealt(game, stream) {
	const all = deal(RULES[game], shuffle(GAMES[game].decks, stream))
	all.stock.reverse()
	return GAMES[game].piles.map(({key}) => all[key])
}

export const field = (text, name) => text.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1] ?? ""

// The cards of a candidate for a winnable or daily deal, the first one to be dealt first.
export const candidateCards = async (mix, number, decks) => shuffle(decks, await candidateStream(mix, number, decks))

async function candidateStream(mix, number, decks) {
	const seed = await sha256("samedeal candidate v2\n", mix, number32(number))
	const stream = []
	for (let n = 0; n < 32; n++) stream.push(...(await sha256("samedeal order v2\n", [decks], seed, number32(n))))
	return stream
}

const NUMBER = "(?:0|[1-9]\\d{0,8})"
const HASH = "[0-9a-f]{64}"
const PROOF = new RegExp(
	`^samedeal deal 3\nroom: (?<room>.+)\ngame: (?<game>.+)\nsolver: (?<solver>${NUMBER})\nbudget: (?<budget>[1-9]\\d{0,8})\n` +
		`(?:least: (?<least>[2-9]|[1-9]\\d{1,8})\n)?commitment: (?<commitment>${HASH})\n` +
		`(?:public: (?<name>.+)\n|secret: (?<secret>${HASH})\ndraw: (?<draw>[1-5])\n` +
		`(?<lost>(?:lost: [1-5] ${NUMBER} (?:left|kicked|silent) .+\n)*)(?<seats>(?:seat: ${NUMBER} ${HASH} ${HASH} .+\n)+))` +
		`candidate: (?<candidate>${NUMBER})\nline: (?<line>.+)\n?$`
)

// Return the values of a proof, or null if it is not written as DEALS.md says.
function readProof(text) {
	const values = PROOF.exec(text)?.groups
	if (!values) return null
	const [draw, candidate] = [Number(values.draw ?? 0), Number(values.candidate)]
	const lost = Array.from((values.lost ?? "").matchAll(/^lost: (\d) (\d+) (\S+) (.+)$/gm), ([, draw, seat, reason, name]) => {
		return {draw: Number(draw), seat: Number(seat), reason, name}
	})
	const shares = Array.from((values.seats ?? "").matchAll(/^seat: (\d+) (\S+) (\S+) (.+)$/gm), ([, seat, hash, share, name]) => {
		return {seat: Number(seat), name, commitment: unhex(hash), share: unhex(share)}
	})
	return {...values, draw, candidate, lost, shares}
}

// Whether the seats rise, the draws of the lost seats rise too, and each draw before the last one lost a seat.
function isInOrder({draw, lost, shares}) {
	const rises = ({seat}, i) => seat < 256 && seat > (shares[i - 1]?.seat ?? 0)
	const follows = (each, i) => each.draw >= (lost[i - 1]?.draw ?? 1) && each.draw <= draw && each.seat > 0 && each.seat < 256
	const before = Array.from({length: draw - 1}, (_, i) => i + 1)
	return shares.every(rises) && lost.every(follows) && before.every(number => lost.some(each => each.draw === number))
}

// Seats as texts, to compare them.
const inText = (seats, ...names) => JSON.stringify(seats.map(seat => names.map(name => String(seat[name]))))
const COMMITTED = ["seat", "name", "commitment"]

// The step about the shares of a joint deal. `shown` is what the page was shown of the draw while it went on.
async function checkShares(room, proof, players, {sealed = {}, drawn} = {}) {
	const {draw, lost, shares} = proof
	const hashes = shares.map(({name, commitment, share}) =>
		isHash(commitment, "samedeal share v3\n", `${room}\n${name}\n${draw}\n`, share)
	)
	const isIn = ({seat, name}) => shares.some(own => own.seat === seat && own.name === name)
	const isWhole = (await Promise.all(hashes)).every(Boolean) && isInOrder(proof) && players.every(isIn)
	const isSealed = !sealed[draw] || inText(sealed[draw], ...COMMITTED) === inText(shares, ...COMMITTED)
	const isDrawn =
		!drawn ||
		(inText(drawn.lost, "draw", "seat", "reason", "name") === inText(lost, "draw", "seat", "reason", "name") &&
			inText(drawn.shares, ...COMMITTED, "share") === inText(shares, ...COMMITTED, "share"))
	const sentence = sealed[draw]
		? "The shares in the deal are exactly those to which this page saw the players commit."
		: drawn
			? "The shares in the deal are exactly those that this page was shown before the race ended."
			: "Each player's share is in the deal, and fits the hash that the proof has for it."
	return [isWhole && isSealed && isDrawn, sentence]
}

// Return the piles as dealt, the winning line of a joint deal, the search that the deep check repeats, and the steps of
// the check: whether each is so (null if this browser cannot say), and a sentence.
export async function openDeal({room, game, deal, seed, proof: text, players = []}, commitment, shown) {
	const {decks} = GAMES[game]
	const isDaily = /^(daily|again)/.test(deal)
	if (!isDaily && !deal.startsWith("winnable")) {
		const kept = await isHash(commitment, "samedeal commitment v1\n", seed)
		const steps = [[kept, "The revealed seed is the one to which the server had committed."]]
		if (deal !== "random") steps.push([await isHash(seed, "samedeal seed v1\n", deal), `The seed belongs to the public deal ${deal}.`])
		const {shake256} = await import("./shake256.js")
		return {steps, piles: dealt(game, shake256("samedeal order v1\n", [decks], seed)), line: []}
	}
	const version = /^samedeal deal (\d+)\n/.exec(text)?.[1]
	if (version && version !== "3")
		return {steps: [[null, `The proof of this deal has version ${version}, which this page cannot check.`]], line: []}
	const proof = readProof(text)
	if (!proof) return {steps: [[false, "The proof of this deal is complete, and is written as it should be."]], line: []}
	const {name, shares, candidate, solver, budget, least = "1"} = proof
	const secret = !name ? unhex(proof.secret) : name.startsWith("again ") ? unhex(name.slice(6)) : await sha256("samedeal public v2\n", `${name}\n`)
	const terms = [room, game, solver, budget, ...(proof.least ? [least] : [])].map(term => `${term}\n`)
	const promised = await isHash(commitment, "samedeal commitment v2\n", ...terms, secret)
	const isOwn = proof.room === room && proof.game === game && String(unhex(proof.commitment)) === String(commitment)
	const kept = promised && isOwn
	const mix = name ? secret : await sha256("samedeal mix v2\n", secret, ...shares.flatMap(({seat, share}) => [[seat], share]))
	const piles = dealt(game, await candidateStream(mix, candidate, decks))
	const line = proof.line.split(", ")
	const end = line.reduce((now, move) => now && played(game, now, move), piles)
	const before = shown?.sealed?.[proof.draw] ? " before any share was known" : ""
	const steps = name
		? [[kept && name === deal, `The cards follow from the name of the public deal ${deal.slice(0, 16)}.`]]
		: [
				[kept && !isDaily, `The server's secret is the one to which it had committed${before}.`],
				await checkShares(room, proof, players, shown)
			]
	steps.push([Boolean(end) && onFoundations(game, end) === 52 * decks, "The winning line brings all cards to the foundations."])
	const search = {game, deal, solver, limits: [Number(least), Number(budget)], mix, candidate, line}
	return {steps, piles, line, search, shares, draw: proof.draw, lost: proof.lost}
}

// The faces of a board. Cards that were never seen still lie where they were dealt.
const faces = (piles, start) =>
	String(piles.flatMap((pile, i) => pile.map((card, depth) => (card === HIDDEN ? start[i][depth] : card) & FACE)).sort())
const masked = piles => JSON.stringify(piles.map(pile => pile.map(card => (card & DOWN ? HIDDEN : card))))

// Check a finished race. `boards` are the newest piles of the players, and `starts` those of revision 0.
export async function checkDeal(room, commitment, boards, starts, shown) {
	const opened = await openDeal(room, commitment, shown)
	const {steps, piles} = opened
	if (!piles || !boards.length) return opened
	const isOf = board => faces(board, piles) === faces(piles, piles)
	const isStart = board => masked(board) === masked(piles)
	const all = boards.every(isOf) && starts.every(isStart)
	return {...opened, steps: [...steps, [all, "The cards on all boards are those of this deal."]]}
}
