// Hashes, and the words of a deal (DEALS.md).

import {sha256} from "./hash.js"

export const unhex = text => Uint8Array.from(text.match(/../g) ?? [], digits => parseInt(digits, 16))
export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")

// Hashes of the rooms that share a deal, in the order of their codes.
export const ofRooms = (label, rooms) => sha256(label, ...rooms.map(({room, digest}) => [`${room}\n`, digest]).sort().flat())

// All that was promised: the other rooms that share the deal, as seats 0, and the seats.
export const promises = (rooms, seats) =>
	[
		...rooms.map(({room, seal, digest}) => ({seat: 0, name: room, commitment: seal, share: digest})),
		...seats.map(each => ({...each, commitment: each.share_commitment ?? each.commitment}))
	].sort((a, b) => a.seat - b.seat)

export const digestOf = (label, first, shares, name = "share") => sha256(label, first, ...shares.flatMap(each => [[each.seat], each[name]]))

// Four words that are the same for all who race on the same cards, also in the other `rooms`.
export function dealWords(commitment, shares, room, rooms = []) {
	const digest = digestOf("samedeal words v1\n", commitment, shares)
	const hash = rooms.length ? ofRooms("samedeal tide words v1\n", [{room, digest}, ...rooms]) : digest
	const word = at => {
		const bits = (hash[at] << 8) | hash[at + 1]
		const [consonant, vowel] = [place => "bdfghjklmnprstvz"[(bits >> place) & 15], place => "aiou"[(bits >> place) & 3]]
		return consonant(12) + vowel(10) + consonant(6) + vowel(4) + consonant(0)
	}
	return [0, 2, 4, 6].map(word).join(" ")
}
