// Hashes of boards.

// BLAKE2b (RFC 7693) with a key and a digest of 8 bytes.
const IV = [2, 3, 5, 7, 11, 13, 17, 19].map(fractionOfRoot)
const digits = words => words.split(" ").map(word => Array.from(word, digit => parseInt(digit, 16)))
const ORDERS = digits("0123456789abcdef ea489fd61c02b753 b8c052fdae367194 7931dcbe265a40f8 905724afe1bc683d 2c6a0b834d75fe19 c51fed4a0763928b db7ec13950f4862a 6fe9b308c2d714a5 a2847615fb9e3cd0")
const MIXED = digits("048c 159d 26ae 37bf 05af 16bc 278d 349e")
const rotated = (word, by) => BigInt.asUintN(64, (word >> by) | (word << (64n - by)))
const sum = (...words) => BigInt.asUintN(64, words.reduce((a, b) => a + b))

// The first 64 bits of the fraction of a square root.
function fractionOfRoot(number) {
	let root = 0n
	for (let bit = 2n ** 66n; bit; bit /= 2n) if ((root + bit) ** 2n <= BigInt(number) << 128n) root += bit
	return BigInt.asUintN(64, root)
}

// The hash of a board (PROTOCOL.md, Hashes).
export function boardHash(game, piles) {
	const key = new TextEncoder().encode(game)
	const input = [...key, ...Array(128 - key.length).fill(0), ...piles.flatMap((pile, i) => (i ? [255, ...pile] : [...pile]))]
	const state = [...IV]
	state[0] ^= BigInt(0x01010008 ^ (key.length << 8))
	for (let at = 0; at < input.length; at += 128) {
		const block = new BigUint64Array(Uint8Array.from({length: 128}, (_, i) => input[at + i]).buffer)
		const end = Math.min(input.length, at + 128)
		const v = [...state, ...IV]
		v[12] ^= BigInt(end)
		if (end === input.length) v[14] ^= 2n ** 64n - 1n
		for (let round = 0; round < 12; round++)
			for (const [i, [a, b, c, d]] of MIXED.entries())
				for (const [n, first, second] of [[0, 32n, 24n], [1, 16n, 63n]]) {
					v[a] = sum(v[a], v[b], block[ORDERS[round % 10][2 * i + n]])
					v[d] = rotated(v[d] ^ v[a], first)
					v[c] = sum(v[c], v[d])
					v[b] = rotated(v[b] ^ v[c], second)
				}
		for (const i of state.keys()) state[i] ^= v[i] ^ v[i + 8]
	}
	return new Uint8Array(BigUint64Array.of(state[0]).buffer)
}
