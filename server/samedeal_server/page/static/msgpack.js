// Encodes requests, which are maps of texts and numbers, as msgpack, and decodes messages.

const toUtf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", {fatal: true})

export function encode(fields) {
	const out = [0x80 | Object.keys(fields).length]
	for (const part of Object.entries(fields).flat()) {
		if (typeof part === "number") out.push(0xce, part >> 24, part >> 16, part >> 8, part)
		else {
			const bytes = toUtf8.encode(part)
			out.push(0xda, bytes.length >> 8, bytes.length, ...bytes)
		}
	}
	return Uint8Array.from(out) // takes the low byte of each number
}

// Throws an error if the message is cut off.
export function decode(buffer) {
	const view = new DataView(buffer)
	let at = 0
	const bytes = length => new Uint8Array(buffer, (at += length) - length, length)
	const text = length => fromUtf8.decode(bytes(length))
	const number = (kind, size) => Number(view[`get${kind}`]((at += size) - size))
	const list = length => Array.from({length}, read)
	const map = length => Object.fromEntries(Array.from({length}, () => [read(), read()]))
	function read() {
		const tag = number("Uint8", 1)
		const size = first => number(["Uint8", "Uint16", "Uint32"][tag - first], 1 << (tag - first))
		if (tag < 0x80) return tag
		if (tag < 0x90) return map(tag & 15)
		if (tag < 0xa0) return list(tag & 15)
		if (tag < 0xc0) return text(tag & 31)
		if (tag >= 0xe0) return tag - 256
		if (tag === 0xc0) return null
		if (tag < 0xc4) return tag === 0xc3
		if (tag < 0xc7) return bytes(size(0xc4))
		if (tag === 0xcb) return number("Float64", 8)
		if (tag < 0xcf) return size(0xcc)
		if (tag === 0xcf) return number("BigUint64", 8)
		if (tag < 0xd3) return number(["Int8", "Int16", "Int32"][tag - 0xd0], 1 << (tag - 0xd0))
		if (tag === 0xd3) return number("BigInt64", 8)
		if (tag < 0xdc) return text(size(0xd9))
		return tag < 0xde ? list(size(0xdb)) : map(size(0xdd))
	}
	return read()
}
