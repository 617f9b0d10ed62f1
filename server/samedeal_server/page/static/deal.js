// Deals the cards of a race from what the server has revealed, and checks it, as DEALS.md says.

import {DOWN, FACE, GAMES, HIDDEN, kind, onFoundations, played} from "./boards.js"
import {canHash, isHash, sha256, shake256, unhex} from "./hashes.js"

const number32 = n => [n >>> 24, n >>> 16, n >>> 8, n].map(byte => byte & 255)

function shuffled(decks, stream) {
	const deck = Array.from({length: 52 * decks}, (_, i) => (((i % 52) / 13) << 4) | ((i % 13) + 1))
	const bytes = stream[Symbol.iterator]()
	for (let last = deck.length - 1; last > 0; last--) {
		const choices = last + 1
		let byte
		do byte = bytes.next().value
		while (byte >= 256 - (256 % choices))
		const other = byte % choices
		;[deck[last], deck[other]] = [deck[other], deck[last]]
	}
	return deck
}

// How many cards are dealt to a pile.
const sizeOf = (game, part, i) => ({fan: 6, reserve: 1})[part] ?? {athena: 4, phoenix: 6}[game] ?? i + 1

// The piles as dealt, with all faces. Cards that lie face down have DOWN.
function dealt(game, stream) {
	const {keys, decks} = GAMES[game]
	const order = shuffled(decks, stream)
	const piles = keys.map(() => [])
	for (const part of ["column", "fan", "reserve"]) {
		const places = piles.filter((_, i) => kind(game, keys[i]) === part)
		for (let row = 0; places.some((_, i) => sizeOf(game, part, i) > row); row++)
			for (const [i, place] of places.entries())
				if (sizeOf(game, part, i) > row) place.push(order.shift() | (game === "athena" && row % 2 === 0 ? DOWN : 0))
	}
	const stock = keys.indexOf("stock")
	if (stock >= 0) piles[stock] = order.reverse().map(card => card | DOWN)
	return piles
}

export const field = (text, name) => text.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1] ?? ""

// Return the steps of the check, the piles as dealt, and the winning line of a joint deal.
// Each step has a sentence, and says whether it is so: true, false, or null if this browser cannot say.
export async function openDeal({room, game, deal, seed, proof, players = []}, commitment) {
	const {decks} = GAMES[game]
	if (!/^(winnable|daily)/.test(deal)) {
		const kept = await isHash(commitment, "samedeal commitment v1\n", seed)
		const steps = [[kept, "The revealed seed is the one to which the server had committed."]]
		if (deal !== "random") steps.push([await isHash(seed, "samedeal seed v1\n", deal), `The seed belongs to the public deal ${deal}.`])
		return {steps, piles: dealt(game, shake256("samedeal order v1\n", [decks], seed)), line: []}
	}
	if (!canHash) return {steps: [[null, "This deal can be checked."]], line: []}
	const name = field(proof, "public")
	const secret = name ? await sha256("samedeal public v2\n", `${name}\n`) : unhex(field(proof, "secret"))
	const terms = ["solver", "budget", "least"].map(term => field(proof, term)).filter(Boolean).map(term => `${term}\n`)
	const kept = await isHash(commitment, "samedeal commitment v2\n", `${room}\n${game}\n`, ...terms, secret)
	const seats = [...proof.matchAll(/^seat: (\d+) (\S{64}) (\S{64}) (.+)$/gm)]
		.map(([, seat, hash, share, name]) => ({seat: Number(seat), hash: unhex(hash), share: unhex(share), name}))
		.sort((a, b) => a.seat - b.seat)
	let shared = true
	for (const {hash, share, name} of seats) shared &&= await isHash(hash, "samedeal share v2\n", `${room}\n${name}\n`, share)
	for (const {seat, name, share_commitment: shown} of name ? [] : players)
		shared &&= seats.some(found => found.seat === seat && found.name === name && (!shown || String(shown) === String(found.hash)))
	const mix = name ? secret : await sha256("samedeal mix v2\n", secret, ...seats.flatMap(({seat, share}) => [[seat], share]))
	const candidate = await sha256("samedeal candidate v2\n", mix, number32(Number(field(proof, "candidate"))))
	const stream = []
	for (let n = 0; n < 32; n++) stream.push(...(await sha256("samedeal order v2\n", [decks], candidate, number32(n))))
	const piles = dealt(game, stream)
	const line = field(proof, "line").split(", ")
	const cards = piles.map(pile => pile.map(code => ({code})))
	const end = line.reduce((now, move) => now && played(game, now, move), cards)
	const won = [Boolean(end) && onFoundations(game, end) === 52 * decks, "The winning line brings all cards to the foundations."]
	if (name) return {steps: [[kept && name === deal, `The cards follow from the name of the public deal ${deal}.`], won], piles, line}
	const steps = [
		[kept && !deal.startsWith("daily"), "The server's secret is the one to which it had committed before it saw the players' shares."],
		[shared, "Each player's share is in the deal, and is the one to which that player had committed."],
		won
	]
	return {steps, piles, line}
}

// Whether a board can have come from a deal. Cards never seen still lie where they were dealt, and all others are known.
function comesFrom(piles, start) {
	const left = start.flat().map(card => card & FACE)
	const found = piles.every((pile, i) =>
		pile.every((card, depth) => {
			const at = left.indexOf((card === HIDDEN ? start[i][depth] : card) & FACE)
			return at >= 0 && left.splice(at, 1)
		})
	)
	return found && !left.length
}

const isStart = (piles, start) =>
	JSON.stringify(piles) === JSON.stringify(start.map(pile => pile.map(card => (card & DOWN ? HIDDEN : card))))

// Check a finished race. `boards` are the newest piles of the players, and `starts` those of revision 0 that were seen.
export async function checkDeal(room, commitment, boards, starts) {
	const {steps, piles} = await openDeal(room, commitment)
	const are = piles && boards.every(board => comesFrom(board, piles)) && starts.every(board => isStart(board, piles))
	const which = boards.length === 1 ? "the board" : `all ${boards.length} boards`
	return boards.length && piles ? [...steps, [are, `The cards on ${which} are those of this deal.`]] : steps
}
