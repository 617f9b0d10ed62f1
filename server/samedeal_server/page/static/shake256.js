// SHAKE-256, which shuffles random and numbered deals.

import {join} from "./hash.js"

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
export function* shake256(...parts) {
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
