// Reads records, and compares one with the heads that the server has sent (RECORDS.md, The chain).

import {isHash} from "./deal.js"
import {sha256} from "./hash.js"
import {GAMES} from "./piles.js"
import {unhex} from "./words.js"

const VERSION = 2 // of records
const DELAYS = [0, 400, 1000, 3000, 6000] // ms; the server may still be writing the record
const KEPT = "The record has every move of yours that the server had acknowledged."
const CHANGED = "The record has your moves and times as the server had acknowledged them."
const NO_RECORD = "The server gave no record to compare with your moves."

// Return the record of a race as a file. Throws a refusal. All parts come from the race of the first one.
export async function fetchRecord(link, race, credentials) {
	const texts = []
	for (let parts = 1; texts.length < parts;) {
		const answer = await link.ask("readrecord", {race, part: texts.length, ...credentials})
		texts.push(answer.text)
		;({parts, race} = answer)
	}
	return new Blob(texts)
}

async function read(link, race) {
	for (const delay of DELAYS) {
		await new Promise(resolve => setTimeout(resolve, delay))
		try {
			return (await fetchRecord(link, race)).text()
		} catch {
			// asked again
		}
	}
	return ""
}

const field = (text, name) => text.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1] ?? ""

// The actions in a part of a record.
const actionsIn = text =>
	Array.from(text.matchAll(/^(\d+)\.(\d{3}) \w{6} (.+)$/gm), ([, seconds, ms, action]) => ({time: Number(seconds + ms), action}))

const head16 = (...parts) => sha256(...parts).slice(0, 16)

// Return a step of the check of a race. `kept` is the newest head of the player in a seat.
export async function checkChain(link, room, seat, kept, broken) {
	const text = await read(link, room)
	if (broken) return [false, CHANGED]
	if (!text || !kept) return [null, NO_RECORD]
	const [agreed] = /^room: [^]*?^commitment: .*\n/m.exec(text) ?? [""]
	const block = text.split("\n\n").find(each => each.startsWith(`player: ${seat} `)) ?? ""
	const who = /^player: .*\n(?:bot: yes\n)?/.exec(`${block}\n`)?.[0] ?? ""
	let head = head16("samedeal chain 1\n", head16("samedeal terms 1\n", agreed), who)
	let revision = 0
	for (const {time, action} of actionsIn(block)) {
		if (revision === kept.revision) break
		head = head16("samedeal action 1\n", head, `${++revision} ${time} ${action}\n`)
	}
	return [revision === kept.revision && String(head) === String(kept.hash), KEPT]
}

export function demand(condition, sentence) {
	if (!condition) throw new Error(sentence)
}

// Return the race of a record, or throw an Error that says what is wrong. Its digest holds; `samedeal verify` checks the rest.
export function readRecord(bytes) {
	const text = bytes.length <= 1_000_000 ? new TextDecoder().decode(bytes) : ""
	const version = Number(/^samedeal record (\d+)\n/.exec(text)?.[1])
	demand(version, "This file is not the record of a race.")
	demand(version <= VERSION, `This record has version ${version}, which is newer than this page. Open it on a newer server.`)
	demand(version === VERSION, "This record is too old for this page.")
	const end = text.lastIndexOf("\ndigest: ") + 1
	demand(end && text.endsWith("\n"), "This record is cut off: its last line is missing.")
	const digest = unhex(field(text.slice(end), "digest"))
	demand(isHash(digest, text.slice(0, end)), "This record is damaged: its digest does not fit the lines above it.")

	const [head, ...blocks] = text.slice(0, end).trimEnd().split("\n\n")
	const [room, game, deal] = ["room", "game", "deal"].map(name => field(head, name))
	const [seed, commitment] = ["seed", "commitment"].map(name => unhex(field(head, name)))
	const [start, stop] = ["start", "end"].map(name => Date.parse(field(head, name)))
	const proof = [...head.matchAll(/^proof: (.*)$/gm)].map(([, line]) => line).join("\n")
	const players = blocks.map(readPlayer)
	const isKnown = Object.hasOwn(GAMES, game) && isHash(unhex(field(head, "rules")), `samedeal rules 1\n${game}\n`, rulesOf(GAMES[game]))
	demand(isKnown, `This page does not know the game “${game}”, or has other rules for it. Open the record on its own server.`)
	const seats = new Set(players.map(({seat}) => seat)).size
	const fits = seats && seats <= 16 && seats === blocks.length && players.every(({name}) => name)
	demand(fits && stop >= start, "This record is not as it should be.")
	return {room, game, deal, seed, commitment, proof, players, length: stop - start}
}

// The rules of a game as JSON (RECORDS.md, The rules).
const rulesOf = ({decks, suits, stock, rows}) => JSON.stringify({decks, suits, stock, piles: rows.map(({place, ...row}) => row)})

function readPlayer(block) {
	const [, player, name] = /^player: (\d+) (.+)/.exec(block) ?? []
	const [place, foundation_cards] = ["place", "cards"].map(tag => Number(field(block, tag)))
	const [bot, resigned] = ["bot", "resigned"].map(tag => field(block, tag) === "yes")
	const time = Number(field(block, "time").replace(".", ""))
	return {player, seat: Number(player), name, bot, actions: actionsIn(block), end: {player, place, foundation_cards, time, resigned}}
}
