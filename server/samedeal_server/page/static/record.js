// Reads records of races, as RECORDS.md describes them. An error says what is wrong with a file.

import {GAMES} from "./boards.js"
import {field} from "./deal.js"
import {isHash, unhex} from "./hashes.js"

const VERSION = 2

function demand(condition, sentence) {
	if (!condition) throw new Error(sentence)
}

// Return the race of a record. Its digest holds; `samedeal verify` checks the rest.
export async function readRecord(bytes) {
	const text = bytes.length <= 1_000_000 ? new TextDecoder().decode(bytes) : ""
	const version = Number(/^samedeal record (\d+)\n/.exec(text)?.[1])
	demand(version, "This file is not the record of a race.")
	demand(version <= VERSION, `This record has version ${version}, which is newer than this page. Open it on a newer server.`)
	demand(version === VERSION, `This record has version ${version}, which this page no longer reads.`)
	const end = text.lastIndexOf("\ndigest: ") + 1
	demand(end && text.endsWith("\n"), "This record is cut off: its last line is missing.")
	const digest = unhex(field(text.slice(end), "digest"))
	demand((await isHash(digest, text.slice(0, end))) !== false, "This record is damaged: its digest does not fit the lines above it.")

	const [head, ...blocks] = text.slice(0, end).trimEnd().split("\n\n")
	const race = Object.fromEntries(["room", "game", "deal"].map(name => [name, field(head, name)]))
	race.length = Date.parse(field(head, "end")) - Date.parse(field(head, "start"))
	for (const name of ["seed", "commitment"]) race[name] = unhex(field(head, name))
	race.proof = [...head.matchAll(/^proof: (.*)$/gm)].map(([, line]) => line).join("\n")
	race.players = blocks.map(block => {
		const [, player, name] = /^player: (\d+) (.+)/.exec(block) ?? []
		const [place, cards] = ["place", "cards"].map(tag => Number(field(block, tag)))
		const [bot, resigned] = ["bot", "resigned"].map(tag => field(block, tag) === "yes")
		const time = Number(field(block, "time").replace(".", ""))
		const actions = [...block.matchAll(/^(\d+)\.(\d{3}) \w{6} (.+)$/gm)].map(([, s, ms, action]) => ({at: Number(s + ms), action}))
		return {player, seat: Number(player), name, bot, place, foundation_cards: cards, time, resigned, actions}
	})
	demand(Object.hasOwn(GAMES, race.game), `This page does not know the game “${race.game}”.`)
	const seats = new Set(race.players.map(({seat}) => seat)).size
	demand(
		race.length >= 0 && seats && seats <= 16 && seats === blocks.length && race.players.every(({name}) => name),
		"This record is not as it should be."
	)
	return race
}
