// Encodes requests, maps of texts and numbers below 65536, as msgpack, and decodes messages.

const toUtf8 = new TextEncoder();
const fromUtf8 = new TextDecoder("utf-8", { fatal: true });

export function encode(value) {
	const out = [];
	write(out, value);
	return Uint8Array.from(out);
}

function write(out, value) {
	if (typeof value === "number") out.push(0xcd, value >> 8, value & 255);
	else if (typeof value === "string") {
		const bytes = toUtf8.encode(value);
		out.push(0xda, bytes.length >> 8, bytes.length & 255, ...bytes);
	} else {
		const fields = Object.entries(value);
		out.push(0x80 | fields.length);
		for (const part of fields.flat()) write(out, part);
	}
}

export function decode(buffer) {
	const reader = new Reader(buffer);
	const value = reader.read();
	if (reader.at !== buffer.byteLength) throw new Error("there are bytes after the end of a message");
	return value;
}

class Reader {
	constructor(buffer) {
		this.buffer = buffer;
		this.view = new DataView(buffer);
		this.at = 0;
	}

	number(method, size) {
		const value = this.view[method](this.at);
		this.at += size;
		return Number(value);
	}

	bytes(length) {
		const start = this.at;
		this.at += length;
		if (this.at > this.buffer.byteLength) throw new Error("a message was cut off");
		return new Uint8Array(this.buffer, start, length);
	}

	list(length) {
		const items = [];
		for (let i = 0; i < length; i++) items.push(this.read());
		return items;
	}

	map(length) {
		const fields = new Map();
		for (let i = 0; i < length; i++) fields.set(this.read(), this.read());
		return Object.fromEntries(fields);
	}

	read() {
		const tag = this.number("getUint8", 1);
		if (tag < 0x80) return tag;
		if (tag < 0x90) return this.map(tag & 15);
		if (tag < 0xa0) return this.list(tag & 15);
		if (tag < 0xc0) return fromUtf8.decode(this.bytes(tag & 31));
		if (tag >= 0xe0) return tag - 256;
		const size = (first) => this.number(["getUint8", "getUint16", "getUint32"][tag - first], 1 << (tag - first));
		switch (tag) {
			case 0xc0: return null;
			case 0xc2: return false;
			case 0xc3: return true;
			case 0xc4: case 0xc5: case 0xc6: return this.bytes(size(0xc4));
			case 0xcb: return this.number("getFloat64", 8);
			case 0xcc: case 0xcd: case 0xce: return size(0xcc);
			case 0xcf: return this.number("getBigUint64", 8);
			case 0xd0: case 0xd1: case 0xd2: case 0xd3:
				return this.number(["getInt8", "getInt16", "getInt32", "getBigInt64"][tag - 0xd0], 1 << (tag - 0xd0));
			case 0xd9: case 0xda: case 0xdb: return fromUtf8.decode(this.bytes(size(0xd9)));
			case 0xdc: case 0xdd: return this.list(size(0xdb));
			case 0xde: case 0xdf: return this.map(size(0xdd));
			default: throw new Error(`a message has an unknown type ${tag}`);
		}
	}
}
