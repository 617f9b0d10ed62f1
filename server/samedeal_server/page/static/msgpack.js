// Encodes values as msgpack, and decodes messages.

const toUtf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", {fatal: true})
const NUMBERS = ["Float32", "Float64", "Uint8", "Uint16", "Uint32", "BigUint64", "Int8", "Int16", "Int32", "BigInt64"]
const [FLOAT, UNSIGNED, SIGNED] = [1, 2, 6] // where the kinds begin, from a double on
const sizeOf = kind => Number(kind.match(/\d+/)) / 8

// Encode null, booleans, numbers, texts, Uint8Arrays, arrays and plain objects. Throws a TypeError for anything else.
export function encode(value) {
	const out = []
	const scratch = new DataView(new ArrayBuffer(8))
	const append = bytes => bytes.forEach(byte => out.push(byte)) // as arguments, they could be too many
	const put = (at, number) => {
		const kind = NUMBERS[at]
		scratch[`set${kind}`](0, kind.startsWith("Big") ? BigInt(number) : number)
		out.push(...new Uint8Array(scratch.buffer, 0, sizeOf(kind)))
	}
	// A short length is part of the tag. Lists and maps, of which 15 are short, have no length of one byte.
	const head = (length, short, most, tag) => {
		if (length <= most) return out.push(short | length)
		const step = length < 256 && most !== 15 ? 0 : length < 65536 ? 1 : 2
		out.push(tag + step)
		put(UNSIGNED + step, length)
	}
	const number = value => {
		if (value >= -32 && value < 128 && Number.isInteger(value)) return out.push(value & 255)
		const step = [8, 16, 32, 53].findIndex(bits => (value < 0 ? value >= -(2 ** (bits - (bits < 53))) : value < 2 ** bits))
		const at = !Number.isInteger(value) || step < 0 ? FLOAT : step + (value < 0 ? SIGNED : UNSIGNED)
		out.push(0xca + at)
		put(at, value)
	}
	const write = value => {
		if (typeof value === "number") number(value)
		else if (typeof value === "string") {
			const bytes = toUtf8.encode(value)
			head(bytes.length, 0xa0, 31, 0xd9)
			append(bytes)
		} else if (value === null) out.push(0xc0)
		else if (typeof value === "boolean") out.push(0xc2 + value)
		else if (value instanceof Uint8Array) {
			head(value.length, 0, -1, 0xc4)
			append(value)
		} else if (Array.isArray(value)) {
			head(value.length, 0x90, 15, 0xdb)
			value.forEach(write)
		} else if (value && Object.getPrototypeOf(value) === Object.prototype) {
			const entries = Object.entries(value)
			head(entries.length, 0x80, 15, 0xdd)
			for (const [key, each] of entries) {
				write(key)
				write(each)
			}
		} else throw new TypeError(`msgpack has nothing for ${String(value)}`)
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
		at += sizeOf(kind)
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
