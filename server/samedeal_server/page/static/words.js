// Hashes, and the words of a deal (DEALS.md).

const utf8 = new TextEncoder()
export const unhex = text => Uint8Array.from(text.match(/../g) ?? [], digits => parseInt(digits, 16))
export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")
export const join = parts => Uint8Array.from(parts.flatMap(part => [...(typeof part === "string" ? utf8.encode(part) : part)]))

export async function sha256(...parts) {
	const bytes = join(parts)
	if (globalThis.crypto?.subtle) return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
	return (await import("./hash.js")).sha256(bytes) // a page that came over plain http
}

// Four words that are the same for all who race on the same cards.
export async function dealWords(commitment, shares) {
	const hash = await sha256("samedeal words v1\n", commitment, ...shares.flatMap(({seat, share}) => [[seat], share]))
	const word = at => {
		const bits = (hash[at] << 8) | hash[at + 1]
		const [consonant, vowel] = [place => "bdfghjklmnprstvz"[(bits >> place) & 15], place => "aiou"[(bits >> place) & 3]]
		return consonant(12) + vowel(10) + consonant(6) + vowel(4) + consonant(0)
	}
	return [0, 2, 4, 6].map(word).join(" ")
}
