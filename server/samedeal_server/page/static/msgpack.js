// Encodes values as msgpack, and decodes messages.

const toUtf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", {fatal: true})
const NUMBERS = ["Float32", "Float64", "Uint8", "Uint16", "Uint32", "BigUint64", "Int8", "Int16", "Int32", "BigInt64"]

// Throws an error for what messages cannot have.
export function encode(value) {
	const out = []
	// A number in so many bytes, the highest first, after a tag.
	const number = (tag, size, n) => out.push(tag, ...Array.from({length: size}, (_, i) => Math.floor(n / 256 ** (size - 1 - i)) & 255))
	// A length: in the tag itself, or after one of the tags for 8, 16 and 32 bits.
	function length(n, fixed, most, tags) {
		if (n <= most) return out.push(fixed | n)
		const step = [0, 1, 2].find(each => tags[each] && n < 256 ** (1 << each))
		number(tags[step], 1 << step, n)
	}
	function integer(n) {
		if (n >= -32 && n < 128) return out.push(n & 255)
		const step = [0, 1, 2, 3].find(each => (n < 0 ? n >= -(2 ** ((8 << each) - 1)) : n < 256 ** (1 << each)))
		number((n < 0 ? 0xd0 : 0xcc) + step, 1 << step, n)
	}
	function write(part) {
		if (part === null) out.push(0xc0)
		else if (typeof part === "boolean") out.push(0xc2 + part)
		else if (Number.isSafeInteger(part)) integer(part)
		else if (typeof part === "number") out.push(0xcb, ...new Uint8Array(new Float64Array([part]).buffer).reverse())
		else if (typeof part === "string") {
			const bytes = toUtf8.encode(part)
			length(bytes.length, 0xa0, 31, [0xd9, 0xda, 0xdb])
			for (const byte of bytes) out.push(byte)
		} else if (part instanceof Uint8Array) {
			length(part.length, 0, -1, [0xc4, 0xc5, 0xc6])
			for (const byte of part) out.push(byte)
		} else if (Array.isArray(part)) {
			length(part.length, 0x90, 15, [0, 0xdc, 0xdd])
			part.forEach(write)
		} else if (part?.constructor === Object) {
			const entries = Object.entries(part)
			length(entries.length, 0x80, 15, [0, 0xde, 0xdf])
			entries.flat().forEach(write)
		} else throw new TypeError(`${typeof part} cannot be sent`)
	}
	write(value)
	return Uint8Array.from(out)
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
