// Bytes as digits, and SHA-256 (FIPS 180-4). Browsers offer that too, but not over plain http, and only as a promise.

export const unhex = text => Uint8Array.from(text.match(/../g) ?? [], digits => parseInt(digits, 16))
export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")

const primes = []
for (let n = 2; n < 312; n++) if (primes.every(prime => n % prime)) primes.push(n)
const bits = (n, root) => ((n ** (1 / root) % 1) * 2 ** 32) | 0 // the first bits of the fraction of a root
const START = primes.slice(0, 8).map(prime => bits(prime, 2))
const ROUNDS = primes.map(prime => bits(prime, 3))
const rotate = (word, by) => (word >>> by) | (word << (32 - by))
const utf8 = new TextEncoder()

export function join(parts) {
	return Uint8Array.from(parts.flatMap(part => [...(typeof part === "string" ? utf8.encode(part) : part)]))
}

export function sha256(...parts) {
	const bytes = join(parts)
	const blocks = new Uint8Array(((bytes.length + 72) >> 6) << 6)
	blocks.set(bytes)
	blocks[bytes.length] = 0x80
	const view = new DataView(blocks.buffer)
	view.setUint32(blocks.length - 8, bytes.length / 2 ** 29)
	view.setUint32(blocks.length - 4, bytes.length << 3)
	let state = START
	for (let start = 0; start < blocks.length; start += 64) {
		const words = Array.from({length: 16}, (_, i) => view.getInt32(start + 4 * i))
		let now = state
		for (let i = 0; i < 64; i++) {
			if (i > 15) {
				const [x, y] = [words[i - 15], words[i - 2]]
				const [s, t] = [rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3), rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10)]
				words[i] = (words[i - 16] + s + words[i - 7] + t) | 0
			}
			const [a, b, c, d, e, f, g, h] = now
			const t1 = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0
			const t2 = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
			now = [(t1 + t2) | 0, a, b, c, (d + t1) | 0, e, f, g]
		}
		state = state.map((word, i) => (word + now[i]) | 0)
	}
	return Uint8Array.from({length: 32}, (_, i) => state[i >> 2] >> (24 - 8 * (i & 3)))
}
