// The hash of a board (PROTOCOL.md, "Hashes"): BLAKE2b (RFC 7693) with a key and a digest of 8 bytes.

const START = "6a09e667f3bcc908 bb67ae8584caa73b 3c6ef372fe94f82b a54ff53a5f1d36f1 510e527fade682d1 9b05688c2b3e6c1f 1f83d9abfb41bd6b 5be0cd19137e2179"
const IV = START.split(" ").map(word => BigInt(`0x${word}`))
const ORDERS = "0123456789abcdef ea489fd61c02b753 b8c052fdae367194 7931dcbe265a40f8 905724afe1bc683d 2c6a0b834d75fe19 c51fed4a0763928b db7ec13950f4862a 6fe9b308c2d714a5 a2847615fb9e3cd0"
	.split(" ")
	.map(order => Array.from(order, digit => parseInt(digit, 16)))
const MIXED = ["048c", "159d", "26ae", "37bf", "05af", "16bc", "278d", "349e"].map(four => Array.from(four, digit => parseInt(digit, 16)))
const rotate = (word, by) => BigInt.asUintN(64, (word >> by) | (word << (64n - by)))
const sum = (...words) => BigInt.asUintN(64, words.reduce((a, b) => a + b))

export function boardHash(game, piles) {
	const key = new TextEncoder().encode(game)
	const input = [...key, ...Array(128 - key.length).fill(0), ...piles.flatMap((pile, i) => (i ? [255, ...pile] : [...pile]))]
	const state = [...IV]
	state[0] ^= BigInt(0x01010008 ^ (key.length << 8))
	for (let at = 0; at < input.length; at += 128) {
		const block = new DataView(Uint8Array.from({length: 128}, (_, i) => input[at + i] ?? 0).buffer)
		const end = Math.min(input.length, at + 128)
		const v = [...state, ...IV]
		v[12] ^= BigInt(end)
		if (end === input.length) v[14] ^= 2n ** 64n - 1n
		for (let round = 0; round < 12; round++)
			for (const [i, [a, b, c, d]] of MIXED.entries()) {
				const [x, y] = [0, 1].map(n => block.getBigUint64(8 * ORDERS[round % 10][2 * i + n], true))
				v[a] = sum(v[a], v[b], x)
				v[d] = rotate(v[d] ^ v[a], 32n)
				v[c] = sum(v[c], v[d])
				v[b] = rotate(v[b] ^ v[c], 24n)
				v[a] = sum(v[a], v[b], y)
				v[d] = rotate(v[d] ^ v[a], 16n)
				v[c] = sum(v[c], v[d])
				v[b] = rotate(v[b] ^ v[c], 63n)
			}
		for (const i of state.keys()) state[i] ^= v[i] ^ v[i + 8]
	}
	const out = new DataView(new ArrayBuffer(8))
	out.setBigUint64(0, state[0], true)
	return new Uint8Array(out.buffer)
}
