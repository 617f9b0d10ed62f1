// Encodes requests, which are maps of texts and numbers, as msgpack, and decodes messages.

const toUtf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", {fatal: true})
const NUMBERS = ["Float32", "Float64", "Uint8", "Uint16", "Uint32", "BigUint64", "Int8", "Int16", "Int32", "BigInt64"]

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
	const list = length => Array.from({length}, read)
	const map = length => Object.fromEntries(Array.from({length}, () => [read(), read()]))
	function number(kind) {
		const value = view[`get${kind}`](at)
		at += Number(kind.match(/\d+/)) / 8
		return Number(value)
	}
	const size = step => number(`Uint${8 << step}`)
	function read() {
		const tag = number("Uint8")
		if (tag < 0x80) return tag
		if (tag < 0x90) return map(tag & 15)
		if (tag < 0xa0) return list(tag & 15)
		if (tag < 0xc0) return text(tag & 31)
		if (tag >= 0xe0) return tag - 256
		if (tag === 0xc0) return null
		if (tag < 0xc4) return tag === 0xc3
		if (tag < 0xc7) return bytes(size(tag - 0xc4))
		if (tag < 0xd4) return number(NUMBERS[tag - 0xca])
		if (tag < 0xdc) return text(size(tag - 0xd9))
		return tag < 0xde ? list(size(tag - 0xdb)) : map(size(tag - 0xdd))
	}
	return read()
}
