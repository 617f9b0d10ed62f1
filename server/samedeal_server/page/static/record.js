// Reads records, and plays their races again (RECORDS.md).

import {NAME, NotCheckable, isRemoved} from "./deal.js"
import {allMoves} from "./legal_moves.js"
import {FACE, HIDDEN, GAMES, UNSEEN, onFoundations, played} from "./piles.js"
import {firstHead, nextHead, termsHash, termsOf} from "./race_hashes.js"
import {hex, sha256, unhex} from "./hash.js"
import {demand} from "./terms.mjs"

const VERSION = 3 // of records
const YEAR_10000 = 253_402_300_800_000 // the first that needs more than four digits
export const LARGEST = 1_100_000 // characters

// Return the text of the record of a race. Throws a refusal. All parts come from the race of the first one.
export async function fetchRecord(link, race, credentials) {
	const texts = []
	for (let parts = 1; texts.length < parts;) {
		const answer = await link.ask("readrecord", {race, part: texts.length, ...credentials})
		texts.push(answer.text)
		;({parts, race} = answer)
		demand(answer.text.length && texts.length < LARGEST, "The server sent no record.")
	}
	return new Blob(texts).text()
}

const field = (text, name) => text.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1] ?? ""

// Return the values of a record, or throw an Error that says what is wrong. All hashes of the text hold.
export function readRecord(text) {
	const version = Number(/^samedeal record (\d+)\n/.exec(text)?.[1])
	demand(version && text.length <= LARGEST, "This file is not the record of a race.")
	const what = version > VERSION ? "newer than this page. Open it on a newer server" : "too old for this page"
	demand(version === VERSION, `This record has version ${version}, which is ${what}.`, NotCheckable)
	const end = text.lastIndexOf("\ndigest: ") + 1
	demand(end && text.endsWith("\n"), "This record is cut off.")
	const digest = field(text.slice(end), "digest")
	demand(digest === hex(sha256(text.slice(0, end))), "This record is damaged.")

	const [head, ...blocks] = text.slice(0, end).trimEnd().split("\n\n")
	const terms = termsOf(/^room: [^]*?(?=^terms: )/m.exec(head)?.[0] ?? "")
	const [seed, commitment] = ["seed", "commitment"].map(name => unhex(field(head, name)))
	const [start, stop] = ["start", "end"].map(name => Date.parse(field(head, name)))
	const entrants = Number(field(head, "players"))
	const proof = [...head.matchAll(/^proof: (.*)$/gm)].map(([, line]) => `${line}\n`).join("")
	const players = Object.freeze(blocks.map(readPlayer))
	const record = Object.freeze({terms, commitment, start, end: stop, entrants, seed, proof, players, digest})
	const isInOrder = players.every(({seat}, i) => seat > (players[i - 1]?.seat ?? 0) && seat <= 64)
	const areSome = entrants <= 64 && [1, entrants].includes(players.length) && new Set(players.map(each => each.name)).size === players.length
	const areTimes = start >= 0 && stop >= 0 && Math.max(start, stop) < YEAR_10000
	demand(isInOrder && areSome && areTimes && text.slice(0, end) === textOf(record), "This record is not as it should be.")
	return record
}

const PLAYER = new RegExp(`^player: (\\d+) (${NAME})$`, "mu")

// `time` is that of the finish in milliseconds, or 0.
function readPlayer(block) {
	const [, seat, name] = PLAYER.exec(block) ?? []
	const [place, cards] = ["place", "cards"].map(tag => Number(field(block, tag)))
	const [bot, resigned] = ["bot", "resigned"].map(tag => field(block, tag) === "yes")
	const time = Number(field(block, "time").replace(".", ""))
	const began = Date.parse(field(block, "began")) || 0 // in a window
	const first = isRemoved({seat, name}) && unhex(field(block, "chain")) // from which the other hashes still follow
	const actions = Array.from(block.matchAll(/^(\d{1,6})\.(\d{3}) \w{6} (.+)$/gm), ([, seconds, ms, action]) => ({time: Number(seconds + ms), action}))
	return Object.freeze({seat: Number(seat), name, bot, began, place, cards, time, resigned, first, actions: Object.freeze(actions)})
}

// The heads of a player's chain, before the first action and after each.
function headsOf({terms, start}, player) {
	const heads = [player.first || firstHead(termsHash(terms.text), player.began || start, player)]
	for (const [i, {time, action}] of player.actions.entries()) heads.push(nextHead(heads[i], i + 1, time, action))
	return heads.map(hex)
}

const seconds = time => `${Math.floor(time / 1000)}.${String(time % 1000).padStart(3, "0")}`

// The text of a record up to its digest.
function textOf(record) {
	const {terms, commitment, start, end, entrants, seed, proof, players} = record
	const utc = time => new Date(time).toISOString()
	const deal = proof ? proof.replace(/^/gm, "proof: ").slice(0, -7) : `seed: ${hex(seed)}\n`
	const blocks = players.map(player => {
		const {seat, name, bot, began, place, cards, time, resigned, actions} = player
		const heads = headsOf(record, player)
		const lines = actions.map((each, i) => `${seconds(each.time)} ${heads[i + 1].slice(0, 6)} ${each.action}\n`)
		const about = `player: ${seat} ${name}\n${bot ? "bot: yes\n" : ""}${began ? `began: ${utc(began)}\n` : ""}chain: ${heads[0]}\nplace: ${place}\ncards: ${cards}\n`
		const result = `${time ? `time: ${seconds(time)}\n` : ""}${resigned ? "resigned: yes\n" : ""}`
		return `\n${about}${result}${lines.join("")}head: ${heads.at(-1)}\n`
	})
	const top = `samedeal record 3\n${terms.text}terms: ${hex(termsHash(terms.text))}\ncommitment: ${hex(commitment)}\n`
	return `${top}start: ${utc(start)}\nend: ${utc(end)}\nplayers: ${entrants}\n${deal}${blocks.join("")}\n`
}

// What a player sees of the cards of a board.
const isHidden = card => (card & UNSEEN) === UNSEEN
export const masked = piles => piles.map(pile => pile.map(card => (isHidden(card) ? HIDDEN : card)))

// Return the plays of a player: before the first action, and after each. Throws an Error if an action is not allowed.
export function playsOf({terms: {game, options}}, {name, actions}, piles) {
	const plays = [{piles, moves: 0, undos: 0, seen: [], before: null}]
	const known = new Set() // the places of the cards that were turned up: such a card lies there until then
	for (const {action} of actions) {
		const play = acted(game, plays.at(-1), action, options.undo, known)
		demand(play, `${name} could not play ${action}.`)
		plays.push(play)
	}
	return plays.map(play => {
		const cards = onFoundations(game, play.piles)
		return {...play, cards, isWon: cards === 52 * GAMES[game].decks}
	})
}

// The play after an action, or null if it is not allowed.
export function acted(game, now, action, rule, known = new Set()) {
	const {piles, moves, undos, before} = now
	if (action === "undo") {
		if (!before || rule === "off" || (rule === "no-reveal" && before.reveals)) return null
		const seen = before.play.piles.map((pile, i) => pile.map((card, at) => (isHidden(card) && known.has(`${i} ${at}`) ? card & 127 : card)))
		return {piles: seen, moves, undos: undos + 1, seen: [], before: before.play.before}
	}
	const after = played(game, piles, action)
	if (!after) return null
	const turned = piles.flatMap((pile, i) => pile.map((card, at) => [card, i, at]).filter(([card, , at]) => isHidden(card) && after[i][at] !== card))
	for (const [, i, at] of turned) known.add(`${i} ${at}`)
	const seen = turned.map(([card]) => card & FACE).reverse()
	return {piles: after, moves: moves + 1, undos, seen, before: {play: now, reveals: seen.length > 0}}
}

// Whether a player has no legal move in a race without undo.
export const isBlocked = ({game, options}, {piles, isWon}) => options.undo === "off" && !isWon && !allMoves(game, piles).length

// Check every action of a record, and the results, as far as it has the players. `piles` are those of the deal. Return the plays by seat. Throws an Error.
export function checkRecord(record, piles) {
	const {terms, start, end, entrants, players} = record
	const {game, options} = terms
	demand(!players.some(isRemoved), "The operator removed a name from this record, so it can't be checked.", NotCheckable)
	demand(start <= end && end <= start + 1000 * (terms.window || options.limit), "The race can't have ended at that time.")
	const results = []
	const plays = new Map()
	for (const player of players) {
		const {seat, name, began, actions, cards, time, resigned} = player
		const isBegun = began ? start <= began && began <= end : !actions.length
		demand(terms.window ? isBegun : !began, `${name} can't have begun at that time.`)
		const own = playsOf(record, player, piles)
		plays.set(seat, own)
		const times = actions.map(action => action.time)
		const areTimes = times.every((at, i) => at >= (times[i - 1] ?? 0) && at < 1000 * options.limit && at <= end - (began || start))
		demand(areTimes, `An action of ${name} has a time that is not possible.`)
		demand(!own.slice(0, -1).some(play => play.isWon), `${name} had finished before the last action.`)
		const finish = own.at(-1).isWon && actions.length ? times.at(-1) : 0
		demand(own.at(-1).cards === cards && finish === time && !(finish && resigned), `The result of ${name} is another one.`)
		const progress = own.findLastIndex((play, i) => i && play.cards !== own[i - 1].cards)
		const score = finish || 1e9 * (105 - cards) + (times[progress - 1] ?? -1) // the lowest wins
		results.push({place: player.place, score: terms.window && !began ? Infinity : score})
	}
	for (const {place, score} of results)
		demand(players.length < entrants ? place <= entrants : place === 1 + results.filter(other => other.score < score).length, "The places are not those of the results.")
	return plays
}
