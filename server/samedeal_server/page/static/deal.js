// Checks that a race was dealt from the seed that the server had committed to, as DEALS.md says.

import { DOWN, FACE, GAMES, HIDDEN, kind } from "./boards.js";

const ascii = new TextEncoder();
const MASK = (1n << 64n) - 1n;
const ROTATIONS = [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14].map(BigInt);
const rotate = (lane, by) => ((lane << by) | (lane >> (64n - by))) & MASK;

function keccak(a) {
	let register = 1;
	for (let round = 0; round < 24; round++) {
		const c = [0, 1, 2, 3, 4].map((x) => a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]);
		for (let i = 0; i < 25; i++) a[i] ^= c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1n);
		const b = [];
		for (let x = 0; x < 5; x++)
			for (let y = 0; y < 5; y++) b[y + 5 * ((2 * x + 3 * y) % 5)] = rotate(a[x + 5 * y], ROTATIONS[x + 5 * y]);
		for (let i = 0; i < 25; i++) {
			const row = i - (i % 5);
			a[i] = b[i] ^ (~b[row + ((i + 1) % 5)] & MASK & b[row + ((i + 2) % 5)]);
		}
		for (let j = 0; j < 7; j++) {
			if (register & 1) a[0] ^= 1n << BigInt((1 << j) - 1);
			register = (register << 1) ^ (register >> 7 ? 0x171 : 0);
		}
	}
}

// The output of SHAKE-256, byte by byte. `input` is shorter than a block.
function* shake256(input) {
	const rate = 136;
	const block = new Uint8Array(rate);
	block.set(input);
	block[input.length] ^= 0x1f;
	block[rate - 1] ^= 0x80;
	const view = new DataView(block.buffer);
	const state = Array.from({ length: 25 }, (_, i) => (8 * i < rate ? view.getBigUint64(8 * i, true) : 0n));
	for (;;) {
		keccak(state);
		for (let i = 0; i < rate; i++) yield Number((state[i >> 3] >> BigInt(8 * (i & 7))) & 255n);
	}
}

export function shuffled(seed, decks) {
	const deck = [];
	for (let n = 0; n < decks; n++)
		for (let suit = 0; suit < 4; suit++) for (let rank = 1; rank <= 13; rank++) deck.push((suit << 4) | rank);
	const stream = shake256(Uint8Array.from([...ascii.encode("samedeal order v1\n"), decks, ...seed]));
	for (let last = deck.length - 1; last > 0; last--) {
		const choices = last + 1;
		const fair = 256 - (256 % choices);
		let byte;
		do byte = stream.next().value;
		while (byte >= fair);
		const other = byte % choices;
		[deck[last], deck[other]] = [deck[other], deck[last]];
	}
	return deck;
}

const LAYOUTS = {
	athena: { column: () => 4 },
	steve: { column: (i) => i + 1 },
	phoenix: { column: () => 6, reserve: () => 1 },
	"ace-of-hearts": { column: (i) => i + 1 },
	willow: { column: (i) => i + 1, fan: () => 6 },
};

// The piles as dealt, with all faces. Cards that lie face down have DOWN.
export function dealt(game, order) {
	const { keys } = GAMES[game];
	const piles = keys.map(() => []);
	let next = 0;
	for (const part of ["column", "fan", "reserve"]) {
		const places = [...keys.keys()].filter((i) => kind(game, keys[i]) === part);
		const size = LAYOUTS[game][part] || (() => 0);
		for (let row = 0; places.some((_, i) => size(i) > row); row++)
			places.forEach((place, i) => {
				if (size(i) > row) piles[place].push(order[next++] | (game === "athena" && row % 2 === 0 ? DOWN : 0));
			});
	}
	const stock = keys.indexOf("stock");
	if (stock >= 0) piles[stock] = order.slice(next).reverse().map((card) => card | DOWN);
	return piles;
}

// Whether a board can have come from a deal. Cards never seen still lie where they were dealt, and all others are known.
function comesFrom(piles, start) {
	const counts = new Map();
	const count = (card, by) => counts.set(card & FACE, (counts.get(card & FACE) || 0) + by);
	start.flat().forEach((card) => count(card, 1));
	piles.forEach((pile, i) => pile.forEach((card, depth) => count(card === HIDDEN ? start[i][depth] ?? 0 : card, -1)));
	return [...counts.values()].every((left) => left === 0);
}

function isStart(piles, start) {
	return piles.every(
		(pile, i) => pile.length === start[i].length && pile.every((card, j) => card === (start[i][j] & DOWN ? HIDDEN : start[i][j])),
	);
}

const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

async function sha256(label, bytes) {
	const data = Uint8Array.from([...ascii.encode(label), ...bytes]);
	return new Uint8Array(await crypto.subtle.digest("SHA-256", data));
}

// Check a finished race. Return steps with a sentence and `ok`: true, false, or null if this browser cannot check it.
// `boards` are the newest piles of the players, and `starts` those of revision 0 that this page has seen.
export async function checkDeal({ game, deal, seed }, commitment, boards, starts) {
	const steps = [];
	if (globalThis.crypto?.subtle) {
		const committed = same(await sha256("samedeal commitment v1\n", seed), commitment);
		steps.push([committed, "The revealed seed is the one to which the server had committed."]);
		if (deal !== "random") {
			const named = same(await sha256("samedeal seed v1\n", ascii.encode(deal)), seed);
			steps.push([named, `The seed belongs to the public deal ${deal}.`]);
		}
	} else steps.push([null, "Over plain http a browser cannot check the seed against the commitment. Over https it can."]);
	if (GAMES[game]) {
		const start = dealt(game, shuffled(seed, GAMES[game].decks));
		const ok = boards.every((piles) => comesFrom(piles, start)) && starts.every((piles) => isStart(piles, start));
		if (boards.length) steps.push([ok, `The cards on ${boards.length === 1 ? "the board" : `all ${boards.length} boards`} were dealt from the seed.`]);
	}
	return steps.map(([ok, sentence]) => ({ ok, sentence }));
}
