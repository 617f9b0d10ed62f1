// Hashes, and the words of a deal (DEALS.md).

const utf8 = new TextEncoder()
export const canHash = Boolean(globalThis.crypto?.subtle)
export const unhex = text => Uint8Array.from(text.match(/../g) ?? [], digits => parseInt(digits, 16))
export const join = parts => Uint8Array.from(parts.flatMap(part => [...(typeof part === "string" ? utf8.encode(part) : part)]))

export async function sha256(...parts) {
	return new Uint8Array(await crypto.subtle.digest("SHA-256", join(parts)))
}

// Four words that are the same for all who race on the same cards. Empty if this browser cannot hash.
export async function dealWords(commitment, shares) {
	if (!canHash) return ""
	const hash = await sha256("samedeal words v1\n", commitment, ...shares.flatMap(({seat, share}) => [[seat], share]))
	const word = at => {
		const bits = (hash[at] << 8) | hash[at + 1]
		const [consonant, vowel] = [place => "bdfghjklmnprstvz"[(bits >> place) & 15], place => "aiou"[(bits >> place) & 3]]
		return consonant(12) + vowel(10) + consonant(6) + vowel(4) + consonant(0)
	}
	return [0, 2, 4, 6].map(word).join(" ")
}
