// What the page knows about a race, and says of it; and what it keeps of a long one.

import {hex, unhex} from "./hash.js"
import {decode, encode} from "./msgpack.js"
import {GAMES} from "./piles.js"
import {NAMES as PROPOSED, nextName, proposedName} from "./names.js"
import {Race, RaceFeed, nearest, rematchText, resultOf, standing} from "./race_state.js"
import {Witness} from "./witness.js"

const NAMES = ["ana", "ben", "cid"]

export const read = packed => packed.map(hex => decode(unhex(hex).buffer))

export const written = values => values.map(value => hex(encode(value)))

export const writtenBytes = sizes => sizes.map(size => Array.from(encode(new Uint8Array(size))))

export const names = given => [PROPOSED, Array.from(given, proposedName)]

export const nextNames = given => given.map(nextName)

export const sent = () =>
	[undefined, () => 1, 1n, new Map(), Symbol(), 0.5].map(value => {
		try {
			encode([value])
			return "sent"
		} catch {
			return "refused"
		}
	})

export const progress = races =>
	races.map(boards => {
		const race = new Race()
		race.setRoom({players: [], game: "athena", starts: 1000, lost: []})
		const piles = GAMES.athena.piles.map(({key}) => (key === "01" ? [1, 2] : []))
		for (const board of boards) race.showBoard({player: "p", piles, moves: 9, ...board})
		return race.progress.get("p")
	})

export function shares(draws) {
	const race = new Race()
	race.setShares({room: "k7", draw: 1, shares: [1]})
	return draws.map(draw => {
		race.setRoom({room: "k7", players: [{player: "p1"}], phase: "countdown", draw})
		return race.shares
	})
}

export const rematches = rooms => {
	const players = NAMES.map((name, player) => ({name, player}))
	return rooms.map(([series, round, next, by]) => rematchText({players, options: {series}, round, next, next_by: by}, 0))
}

export const neighbours = all =>
	all.map(([own, most]) => {
		const rows = Array.from({length: 64}, (_, i) => ({player: i + 1}))
		return nearest(rows, own, most).map(({player}) => player)
	})

export const standings = all =>
	all.map(([own, ...counts]) => {
		const place = i => 1 + counts.findIndex(count => count === counts[i])
		const rows = counts.map((count, i) => ({player: i, name: NAMES[i], count, place: place(i)}))
		return standing(rows, own).join(", ")
	})

export const results = all =>
	all.map(([player, ...rows]) => {
		const usual = i => ({player: "ab"[i], name: NAMES[i], place: i + 1, finishedAt: 0})
		return resultOf(rows.map((row, i) => ({...usual(i), ...row})), {starts: 1000}, player)
	})

export function news(all) {
	const feed = new RaceFeed()
	const usual = {count: 0, finishedAt: 0, connected: true, place: 2}
	return all.map(([now, ...rows]) => {
		const ranking = rows.map((row, i) => ({...usual, player: "abc"[i], name: NAMES[i], ...row}))
		return feed.after(ranking, {room: {starts: 0}, cards: 52}, now, "b")
	})
}

export function keptCounts(given) {
	const [joined, state, joinedAgain, stateLater] = given.messages.map(packed => decode(unhex(packed).buffer))
	const kept = new Map()
	const stored = {
		get: name => kept.get(name) ?? null,
		set: (name, text) => (text === null ? kept.delete(name) : kept.set(name, text))
	}
	const seated = (answer, state) => {
		const witness = new Witness(stored)
		witness.asks("player", "k7", {}, "p1", "ana")
		witness.sends({type: "join", id: answer.to, room: "k7"}, 0)
		for (const message of [answer, state]) witness.receives(message, 0)
		return witness
	}
	const first = seated(joined, state)
	for (let moves = 1; moves <= given.moves; moves++) first.receives({type: "progressupdate", seat: 2, moves}, 0)
	first.close()
	const parts = [...kept.keys()].filter(name => /^race \d+ \d+$/.test(name))
	if (given.isLost) kept.delete(parts.at(-1))
	const {found, counts} = seated(joinedAgain, stateLater).evidence
	return [parts.length > 1, Object.keys(found), counts.get(2)?.length === given.moves]
}
