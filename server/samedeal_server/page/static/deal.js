// Deals the cards of a race from what the server has revealed, and checks it, as DEALS.md says.

import {sha256} from "./hash.js"
import {DOWN, FACE, GAMES, HIDDEN, onFoundations, played} from "./piles.js"
import {RULES, deal, shuffle} from "./rules.mjs"
import {shake256} from "./shake256.js"
import {digestOf, ofRooms, promises, unhex} from "./words.js"

export const isHash = (expected, ...parts) => String(sha256(...parts)) === String(expected)

const number32 = n => [n >>> 24, n >>> 16, n >>> 8, n] // low bytes

// The piles as dealt, with all faces. Cards that lie face down have DOWN.
export function dealt(game, cards) {
	const all = deal(RULES[game], cards)
	all.stock.reverse()
	return GAMES[game].piles.map(({key}) => all[key])
}

// The cards of a candidate for a winnable or daily deal, the first one to be dealt first.
export function candidateCards(mix, number, decks) {
	const seed = sha256("samedeal candidate v2\n", mix, number32(number))
	const stream = []
	for (let n = 0; n < 32; n++) stream.push(...sha256("samedeal order v2\n", [decks], seed, number32(n)))
	return shuffle(decks, stream)
}

const NUMBER = "(?:0|[1-9]\\d{0,8})"
const HASH = "[0-9a-f]{64}"
const SEATS = `(?:seat: ${NUMBER} ${HASH} ${HASH} .+\n)+`
const GONE = `${NUMBER} (?:left|kicked|silent) .+\n`
const PROOF = new RegExp(
	`^samedeal deal [34]\nroom: (?<room>.+)\ngame: (?<game>.+)\nsolver: (?<solver>${NUMBER})\nbudget: (?<budget>[1-9]\\d{0,8})\n` +
		`(?:least: (?<least>[2-9]|[1-9]\\d{1,8})\n)?commitment: (?<commitment>${HASH})\n` +
		`(?:public: (?<name>.+)\n|secret: (?<secret>${HASH})\ndraw: (?<draw>[1-5])\n` +
		`(?<lost>(?:lost: [1-5] ${GONE})*)(?<seats>${SEATS}))candidate: (?<candidate>${NUMBER})\nline: (?<line>.+)\n` +
		`(?<tide>(?:elsewhere: [1-5] \\S+ ${GONE})*(?:tide: \\S+ ${HASH} ${HASH}\n${SEATS})*)$`
)

const lostIn = text =>
	Array.from(text.matchAll(/^\w+: (\d)(?: (\S+))?? (\d+) ([a-z]+) (.+)$/gm), ([, draw, room, seat, reason, name]) =>
		({draw: Number(draw), room, seat, reason, name}))

const sharesIn = text =>
	Array.from(text.matchAll(/^seat: (\d+) (\S+) (\S+) (.+)$/gm), ([, seat, hash, share, name]) =>
		({seat: Number(seat), name, commitment: unhex(hash), share: unhex(share)}))

// Another room that shares the deal, from its lines.
function readRoom(text) {
	const shares = sharesIn(text)
	const [room, ...values] = text.split(/\s/)
	const [commitment, secret] = values.map(unhex)
	const seal = digestOf("samedeal seal v1\n", commitment, shares, "commitment")
	return {room, commitment, secret, shares, seal, digest: digestOf("samedeal words v1\n", commitment, shares)}
}

// Return the values of a proof, or null if it is not written as DEALS.md says.
function readProof(text) {
	const values = PROOF.exec(`${text.trim()}\n`)?.groups
	if (!values) return null
	const [gone, ...blocks] = values.tide.split(/^tide: /m)
	return {
		...values,
		draw: Number(values.draw ?? 0),
		candidate: Number(values.candidate),
		lost: lostIn(values.lost ?? ""),
		shares: sharesIn(values.seats ?? ""),
		elsewhere: lostIn(gone),
		others: blocks.map(readRoom)
	}
}

// Whether the seats and the draws of the lost seats rise, and each draw before the last one lost a seat.
function isInOrder({draw, lost, shares, elsewhere, others}) {
	const rises = ({seat}, i, all) => seat < 256 && seat > (all[i - 1]?.seat ?? 0)
	const follows = (each, i, all) => each.draw >= (all[i - 1]?.draw ?? 1) && each.draw <= draw && each.seat > 0 && each.seat < 256
	return (
		[{shares}, ...others].every(({shares}) => shares.every(rises)) &&
		lost.every(follows) &&
		elsewhere.every(follows) &&
		new Set([...lost, ...elsewhere].map(each => each.draw)).add(draw).size === draw
	)
}

const inText = (seats, names) => JSON.stringify(seats.map(seat => names.map(name => `${seat[name]}`)))
const areSame = (one, other, ...names) => inText(one, names) === inText(other, names)
const COMMITTED = ["seat", "name", "commitment"]

// The step about the shares of a joint deal. `shown` is what the page was shown of the draw while it went on.
function checkShares(room, proof, players, {sealed = {}, drawn} = {}) {
	const {draw, lost, shares, others} = proof
	const hashes = [{room, shares}, ...others].flatMap(({room, shares}) =>
		shares.map(({name, commitment, share}) => isHash(commitment, "samedeal share v3\n", `${room}\n${name}\n${draw}\n`, share))
	)
	const promised = promises(others, shares)
	const isIn = ({seat, name}) => shares.some(own => own.seat === seat && own.name === name)
	const isWhole = hashes.every(Boolean) && isInOrder(proof) && players.every(isIn)
	const isSealed = !sealed[draw] || areSame(promises(sealed[draw].rooms, sealed[draw].players), promised, ...COMMITTED)
	const isDrawn =
		!drawn ||
		(areSame(drawn.lost, lost, "draw", "seat", "reason", "name") &&
			areSame(promises(drawn.rooms, drawn.shares), promised, ...COMMITTED, "share"))
	const sentence = sealed[draw]
		? "The shares in the deal are exactly those to which this page saw the players commit."
		: drawn
			? "The shares in the deal are exactly those that this page was shown before the race ended."
			: "Each player's share is in the deal, and fits the hash that the proof has for it."
	return [isWhole && isSealed && isDrawn, sentence]
}

// Return the piles as dealt, the winning line of a joint deal, the search that the deep check repeats, and the steps of
// the check: whether each is so (null if this browser cannot say), and a sentence.
export function openDeal({room, game, deal, seed, proof: text, players = []}, commitment, shown) {
	const {decks} = GAMES[game]
	const isDaily = /^(daily|again)/.test(deal)
	if (!isDaily && !deal.startsWith("winnable")) {
		const kept = isHash(commitment, "samedeal commitment v1\n", seed)
		const steps = [[kept, "The revealed seed is the one to which the server had committed."]]
		if (deal !== "random") steps.push([isHash(seed, "samedeal seed v1\n", deal), `The seed belongs to the public deal ${deal}.`])
		return {steps, piles: dealt(game, shuffle(decks, shake256("samedeal order v1\n", [decks], seed))), line: []}
	}
	const version = /^samedeal deal (?![34]\n)(\d+)\n/.exec(text)?.[1]
	if (version)
		return {steps: [[null, `The proof of this deal has version ${version}, which this page cannot check.`]], line: []}
	const proof = readProof(text)
	if (!proof) return {steps: [[false, "The proof of this deal is complete, and is written as it should be."]], line: []}
	const {name, shares, others, candidate, solver, budget, least = "1"} = proof
	const secret = !name ? unhex(proof.secret) : name.startsWith("again ") ? unhex(name.slice(6)) : sha256("samedeal public v2\n", `${name}\n`)
	const terms = [game, solver, budget, ...(proof.least ? [least] : [])].map(term => `${term}\n`)
	const rooms = [{room, commitment, secret, shares}, ...others].map(each => ({...each}))
	let promised = true
	for (const each of rooms) {
		promised &&= isHash(each.commitment, "samedeal commitment v2\n", `${each.room}\n`, ...terms, each.secret)
		each.digest = digestOf("samedeal mix v2\n", each.secret, each.shares)
	}
	const isOwn = proof.room === room && proof.game === game && String(unhex(proof.commitment)) === String(commitment)
	const kept = promised && isOwn
	const mix = name ? secret : others.length ? ofRooms("samedeal tide v1\n", rooms) : rooms[0].digest
	const piles = dealt(game, candidateCards(mix, candidate, decks))
	const line = proof.line.split(", ")
	const end = line.reduce((now, move) => now && played(game, now, move), piles)
	const before = shown?.sealed?.[proof.draw] ? " before any share was known" : ""
	const steps = name
		? [[kept && name === deal, `The cards follow from the name of the public deal ${deal.slice(0, 16)}.`]]
		: [
				[kept && !isDaily, `The server's secret is the one to which it had committed${before}.`],
				checkShares(room, proof, players, shown)
			]
	steps.push([Boolean(end) && onFoundations(game, end) === 52 * decks, "The winning line brings all cards to the foundations."])
	const search = {game, deal, solver, limits: [Number(least), Number(budget)], mix, candidate, line}
	return {steps, piles, line, search, shares, others, draw: proof.draw, lost: [...proof.lost, ...proof.elsewhere]}
}

// The faces of a board. Cards that were never seen still lie where they were dealt.
const faces = (piles, start) =>
	String(piles.flatMap((pile, i) => pile.map((card, depth) => (card === HIDDEN ? start[i][depth] : card) & FACE)).sort())
const masked = piles => JSON.stringify(piles.map(pile => pile.map(card => (card & DOWN ? HIDDEN : card))))

// Check a finished race. `boards` are the newest piles of the players, and `starts` those of revision 0.
export function checkDeal(room, commitment, boards, starts, shown) {
	const opened = openDeal(room, commitment, shown)
	const {steps, piles} = opened
	if (!piles || !boards.length) return opened
	const isOf = board => faces(board, piles) === faces(piles, piles)
	const isStart = board => masked(board) === masked(piles)
	const all = boards.every(isOf) && starts.every(isStart)
	return {...opened, steps: [...steps, [all, "The cards on all boards are those of this deal."]]}
}
