// Encodes values as msgpack, and decodes messages.

const toUtf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", {fatal: true})
const NUMBERS = ["Float32", "Float64", "Uint8", "Uint16", "Uint32", "BigUint64", "Int8", "Int16", "Int32", "BigInt64"]
const sizeOf = kind => Number(kind.match(/\d+/)) / 8

// Encode null, booleans, whole numbers, texts, Uint8Arrays, arrays and plain objects. Throws an Error for anything else.
export function encode(value) {
	const out = []
	const append = bytes => bytes.forEach(byte => out.push(byte)) // as arguments, they could be too many
	// Short lengths and small numbers are part of the tag. All others take four and eight bytes.
	const put = (tag, numbers) => append([tag, ...new Uint8Array(numbers.buffer).reverse()])
	const head = (length, short, most, tag) => (length <= most ? out.push(short | length) : put(tag, Uint32Array.of(length)))
	const number = value => (-32 <= value && value < 128 && Number.isInteger(value) ? out.push(value & 255) : put(0xd3, BigInt64Array.of(BigInt(value))))
	const write = value => {
		if (typeof value === "number") number(value)
		else if (typeof value === "string") {
			const bytes = toUtf8.encode(value)
			head(bytes.length, 0xa0, 31, 0xdb)
			append(bytes)
		} else if (value === null) out.push(0xc0)
		else if (typeof value === "boolean") out.push(0xc2 + value)
		else if (value instanceof Uint8Array) {
			head(value.length, 0, -1, 0xc6)
			append(value)
		} else if (Array.isArray(value)) {
			head(value.length, 0x90, 15, 0xdd)
			value.forEach(write)
		} else if (value && Object.getPrototypeOf(value) === Object.prototype) {
			const entries = Object.entries(value)
			head(entries.length, 0x80, 15, 0xdf)
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
