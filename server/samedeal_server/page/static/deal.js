// Checks that a race was dealt from what had been committed to, as DEALS.md says.

import { DOWN, FACE, GAMES, HIDDEN, kind } from "./boards.js";

const encoder = new TextEncoder();
const MASK = (1n << 64n) - 1n;
const rotate = (lane, by) => ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & MASK;

function keccak(a) {
	let register = 1;
	for (let round = 0; round < 24; round++) {
		const c = [0, 1, 2, 3, 4].map((x) => a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]);
		for (let i = 0; i < 25; i++) a[i] ^= c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1);
		let [x, y, lane] = [1, 0, a[1]];
		for (let step = 1; step <= 24; step++) {
			[x, y] = [y, (2 * x + 3 * y) % 5];
			[lane, a[x + 5 * y]] = [a[x + 5 * y], rotate(lane, ((step * (step + 1)) / 2) % 64)];
		}
		for (let i = 0; i < 25; i += 5) {
			const row = a.slice(i, i + 5);
			row.forEach((own, x) => (a[i + x] = own ^ (~row[(x + 1) % 5] & MASK & row[(x + 2) % 5])));
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

function shuffled(stream, decks) {
	const deck = Array.from({ length: 52 * decks }, (_, i) => (((i % 52) / 13) << 4) | ((i % 13) + 1));
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

// How many cards are dealt to a pile.
const sizeOf = (game, part, i) => ({ fan: 6, reserve: 1 })[part] ?? { athena: 4, phoenix: 6 }[game] ?? i + 1;

// The piles as dealt, with all faces. Cards that lie face down have DOWN.
export function dealt(game, order) {
	const { keys } = GAMES[game];
	const piles = keys.map(() => []);
	let next = 0;
	for (const part of ["column", "fan", "reserve"]) {
		const places = [...keys.keys()].filter((i) => kind(game, keys[i]) === part);
		for (let row = 0; places.some((_, i) => sizeOf(game, part, i) > row); row++)
			places.forEach((place, i) => {
				if (sizeOf(game, part, i) > row) piles[place].push(order[next++] | (game === "athena" && row % 2 === 0 ? DOWN : 0));
			});
	}
	const stock = keys.indexOf("stock");
	if (stock >= 0) piles[stock] = order.slice(next).reverse().map((card) => card | DOWN);
	return piles;
}

// Whether a board can have come from a deal. Cards never seen still lie where they were dealt.
function comesFrom(piles, start) {
	const cards = piles.flatMap((pile, i) => pile.map((card, depth) => FACE & (card === HIDDEN ? start[i][depth] : card)));
	return same(cards.sort(), start.flat().map((card) => card & FACE).sort());
}

const isStart = (piles, start) => piles.every((pile, i) => same(pile, start[i].map((card) => (card & DOWN ? HIDDEN : card))));

const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

const joined = (...parts) => Uint8Array.from(parts.flatMap((part) => [...(part.trim ? encoder.encode(part) : part)]));
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", joined(...parts)));
const unhex = (text) => text.match(/../g).map((pair) => parseInt(pair, 16));

// Return whether the proof of a joint deal is what the server had committed to, and the bytes that shuffle its cards.
async function drawn({ room, game, proof }, commitment, decks) {
	const field = (name) => proof.match(`\n${name}: (.*)`)[1];
	const secret = unhex(field("secret"));
	const terms = `${room}\n${game}\n${field("solver")}\n${field("budget")}\n`;
	const committed = same(await sha256("samedeal commitment v2\n", terms, secret), commitment);
	const shares = [...proof.matchAll(/\nseat: (\d+) \w+ (\w+)/g)].flatMap(([, seat, share]) => [seat, ...unhex(share)]);
	const mix = await sha256("samedeal mix v2\n", secret, shares);
	const seed = await sha256("samedeal candidate v2\n", mix, [0, 0, field("candidate") >> 8, field("candidate")]);
	const blocks = [...Array(16).keys()].map((i) => sha256("samedeal order v2\n", [decks], seed, [0, 0, 0, i]));
	return [committed, joined(...(await Promise.all(blocks))).values()];
}

// Check a finished race. Return steps: true, false, or null if this browser cannot check it, and a sentence.
// `boards` are the newest piles of the players, and `starts` those of revision 0 that this page has seen.
export async function checkDeal(room, commitment, boards, starts) {
	const { game, deal, seed, proof } = room;
	const { decks } = GAMES[game] ?? {};
	const steps = [];
	let committed = null;
	let stream = proof ? null : shake256(joined("samedeal order v1\n", [decks], seed));
	if (!globalThis.crypto?.subtle) steps.push([null, "Over plain http a browser cannot check hashes. Over https it can."]);
	else {
		if (proof) [committed, stream] = await drawn(room, commitment, decks);
		else committed = same(await sha256("samedeal commitment v1\n", seed), commitment);
		steps.push([committed, "The server revealed what it had committed to."]);
		if (seed.length && deal !== "random") steps.push([same(await sha256("samedeal seed v1\n", deal), seed), `The seed is that of deal ${deal}.`]);
	}
	if (stream && boards.length) {
		const start = dealt(game, shuffled(stream, decks));
		const ok = boards.every((piles) => comesFrom(piles, start)) && starts.every((piles) => isStart(piles, start));
		const from = proof ? "it and the numbers of all players" : "it";
		steps.push([ok, `The cards on ${boards.length === 1 ? "the board" : `all ${boards.length} boards`} follow from ${from}.`]);
	}
	return steps;
}
