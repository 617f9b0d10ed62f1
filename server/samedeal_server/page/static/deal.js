// Deals the cards of a race from what the server has revealed, and checks it, as DEALS.md says.

import {DOWN, FACE, GAMES, HIDDEN, onFoundations, pilesOf, played} from "./piles.js"

const utf8 = new TextEncoder()
const canHash = Boolean(globalThis.crypto?.subtle)
export const unhex = text => Uint8Array.from(text.match(/../g) ?? [], digits => parseInt(digits, 16))
const join = parts => Uint8Array.from(parts.flatMap(part => [...(typeof part === "string" ? utf8.encode(part) : part)]))

async function sha256(...parts) {
	return new Uint8Array(await crypto.subtle.digest("SHA-256", join(parts)))
}

// Whether the hash of the parts is the expected one; null if this browser cannot say.
export async function isHash(expected, ...parts) {
	return canHash ? String(await sha256(...parts)) === String(expected) : null
}

function keccak(a) {
	const rotate = (lane, by) => BigInt.asUintN(64, (lane << BigInt(by)) | (lane >> BigInt(64 - by)))
	let register = 1
	for (let round = 0; round < 24; round++) {
		const c = [0, 1, 2, 3, 4].map(x => a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20])
		for (let i = 0; i < 25; i++) a[i] ^= c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1)
		let [x, y, lane] = [1, 0, a[1]]
		for (let step = 1; step <= 24; step++) {
			;[x, y] = [y, (2 * x + 3 * y) % 5]
			;[lane, a[x + 5 * y]] = [a[x + 5 * y], rotate(lane, ((step * (step + 1)) / 2) % 64)]
		}
		for (let i = 0; i < 25; i += 5) {
			const row = a.slice(i, i + 5)
			row.forEach((own, x) => (a[i + x] = own ^ (~row[(x + 1) % 5] & row[(x + 2) % 5])))
		}
		for (let j = 0; j < 7; j++) {
			if (register & 1) a[0] ^= 1n << BigInt((1 << j) - 1)
			register = (register << 1) ^ (register >> 7 ? 0x171 : 0)
		}
	}
}

// The output of SHAKE-256, byte by byte. The input is shorter than a block.
function* shake256(...parts) {
	const rate = 136
	const block = new Uint8Array(rate)
	block.set([...join(parts), 0x1f])
	block[rate - 1] ^= 0x80
	const view = new DataView(block.buffer)
	const state = Array.from({length: 25}, (_, i) => (8 * i < rate ? view.getBigUint64(8 * i, true) : 0n))
	for (;;) {
		keccak(state)
		for (let i = 0; i < rate; i++) yield Number((state[i >> 3] >> BigInt(8 * (i & 7))) & 255n)
	}
}

const number32 = n => [n >>> 24, n >>> 16, n >>> 8, n] // low bytes

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
const sizeOf = (game, what, i) => ({fan: 6, reserve: 1})[what] ?? {athena: 4, phoenix: 6}[game] ?? i + 1

// The piles as dealt, with all faces. Cards that lie face down have DOWN.
function dealt(game, stream) {
	const order = shuffled(GAMES[game].decks, stream)
	const piles = GAMES[game].piles.map(() => [])
	for (const what of ["column", "fan", "reserve"])
		for (let row = 0; row < 8; row++)
			for (const [i, pile] of pilesOf(what, game, piles).entries())
				if (row < sizeOf(game, what, i)) pile.push(order.shift() | (game === "athena" && row % 2 === 0 ? DOWN : 0))
	pilesOf("stock", game, piles)[0]?.push(...order.reverse().map(card => card | DOWN))
	return piles
}

export const field = (text, name) => text.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1] ?? ""

// Return the piles as dealt, the winning line of a joint deal, and the steps of the check:
// whether each is so (null if this browser cannot say), and a sentence.
export async function openDeal({room, game, deal, seed, proof, players = []}, commitment) {
	const {decks} = GAMES[game]
	const isDaily = deal.startsWith("daily")
	if (!isDaily && !deal.startsWith("winnable")) {
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
	const lines = [...proof.matchAll(/^seat: (\d+) (\S{64}) (\S{64}) (.+)$/gm)]
	const seats = lines.map(([, seat, hash, share, name]) => ({seat: Number(seat), hash: unhex(hash), share: unhex(share), name}))
	const hashes = await Promise.all(seats.map(({hash, share, name}) => isHash(hash, "samedeal share v2\n", `${room}\n${name}\n`, share)))
	const isIn = ({seat, name, share_commitment: shown}) =>
		seats.some(own => own.seat === seat && own.name === name && (!shown || String(shown) === String(own.hash)))
	const shared = hashes.every(Boolean) && players.every(isIn)
	const mix = name ? secret : await sha256("samedeal mix v2\n", secret, ...seats.flatMap(({seat, share}) => [[seat], share]))
	const candidate = await sha256("samedeal candidate v2\n", mix, number32(Number(field(proof, "candidate"))))
	const stream = []
	for (let n = 0; n < 32; n++) stream.push(...(await sha256("samedeal order v2\n", [decks], candidate, number32(n))))
	const piles = dealt(game, stream)
	const line = field(proof, "line").split(", ")
	const end = line.reduce((now, move) => now && played(game, now, move), piles)
	const steps = name
		? [[kept && name === deal, `The cards follow from the name of the public deal ${deal}.`]]
		: [
				[kept && !isDaily, "The server's secret is the one to which it had committed before it saw the players' shares."],
				[shared, "Each player's share is in the deal, and is the one to which that player had committed."]
			]
	steps.push([Boolean(end) && onFoundations(game, end) === 52 * decks, "The winning line brings all cards to the foundations."])
	return {steps, piles, line}
}

// The faces of a board. Cards that were never seen still lie where they were dealt.
const faces = (piles, start) =>
	String(piles.flatMap((pile, i) => pile.map((card, depth) => (card === HIDDEN ? start[i][depth] : card) & FACE)).sort())
const masked = piles => JSON.stringify(piles.map(pile => pile.map(card => (card & DOWN ? HIDDEN : card))))

// Check a finished race. `boards` are the newest piles of the players, and `starts` those of revision 0.
export async function checkDeal(room, commitment, boards, starts) {
	const {steps, piles} = await openDeal(room, commitment)
	if (!piles || !boards.length) return steps
	const isOf = board => faces(board, piles) === faces(piles, piles)
	const isStart = board => masked(board) === masked(piles)
	return [...steps, [boards.every(isOf) && starts.every(isStart), "The cards on all boards are those of this deal."]]
}
