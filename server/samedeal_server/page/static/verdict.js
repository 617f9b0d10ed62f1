// The verdict on a race: whether what the player was shown is what the proof and the record of the race say. Nothing is
// fair by default: what is missing makes the race not fully checked, and what contradicts makes it not fair.

import {boardHash} from "./board_hash.js"
import {NotCheckable, checkAnswers, checkLimits, openDeal} from "./deal.js"
import {Evidence, dealHash, same} from "./evidence.js"
import {rowSentence} from "./row_sentence.js"
import {isDescribed, kindOf, resultWords, termsHash} from "./race_hashes.js"
import {BY_RULES, beginning, lostOf, shareOf} from "./observation.js"
import {acted, checkRecord, isBlocked, masked} from "./record.js"
import {hasMissed} from "./own_draws.js"
import {demand} from "./terms.mjs"
import {hex, unhex} from "./hash.js"

const IDLE = 240_000 // ms without an action, after which a race may end without a racer
const DRIFT = 1000 // ms by which the client's idea of the server's clock may be wrong
const TOLERANCE = 100 // ms by which clocks may drift during a race
const PATIENCE = 10_000 // ms for which an action may stay without an answer
const TITLES = {
	fair: "Fair: nobody could choose the deal, it can be won, and all is as you saw it.",
	checked: "Checked: the deal was set before the start, and all is as you saw it.",
	late: "Checked: you came after the start, and all is as you saw it.",
	unsure: "Not fully checked:",
	wrong: "NOT fair:"
}

// What was read after a race: the record, or the row and its detail that say why there is none. `second` is the digest of the
// record as it was read once more, and `answers` are the solver's for all candidates, or null. `givenUp` is how many earlier
// races on this server ended before their start although the player had revealed a share: a server may give up rooms until
// it likes a deal. `isPart` says that the record may have one of several players, as a program keeps it.
export class Reading {
	constructor({record = null, fault = ["no_record"], second = "", answers = null, givenUp = 0, isPart = false}) {
		Object.assign(this, {record, fault, second, answers, givenUp, isPart})
		this.faults = [...this.recordFaults()]
		if (record && !this.faults.length) this.faults = [...this.searchFaults()]
	}

	// Yields the rows about the record alone.
	*recordFaults() {
		const {record, fault, second} = this
		if (!record) return yield fault
		if (second && second !== record.digest) yield ["changed_record"]
		try {
			const opened = openDeal(record)
			this.proof = record.proof ? opened : null
			if (this.proof) checkLimits(record.terms, opened)
			demand(this.isPart || record.players.length === record.entrants, "It lacks players.")
			this.plays = checkRecord(record, opened.piles)
		} catch (wrong) {
			yield faultOf(wrong)
		}
	}

	// Yields the rows about the search for the deal.
	*searchFaults() {
		const {proof, record, answers} = this
		if (!proof || !isDescribed(record.terms)) return // another row says that the search cannot be repeated
		if (answers?.length !== proof.candidate + 1) return yield ["not_repeated"]
		try {
			checkAnswers(proof, answers)
		} catch (wrong) {
			yield [wrong instanceof NotCheckable ? "not_checkable" : "not_first", wrong.message]
		}
	}

	// Whether a player had these counts at any time.
	had(seat, shown) {
		this.counts ??= new Map()
		if (!this.counts.has(seat)) {
			const player = this.record.players.find(each => each.seat === seat)
			let [before, gainedAt] = [0, 0]
			const all = (this.plays.get(seat) ?? []).map(({cards, moves, undos, isWon}, i) => {
				const at = i ? beganAt(this.record, player) + player.actions[i - 1].time : 0
				if (cards !== before) [before, gainedAt] = [cards, at]
				return String([cards, moves, undos, at, gainedAt, isWon ? at : 0, player.began])
			})
			this.counts.set(seat, new Set(all))
		}
		return this.counts.get(seat).has(String([...shown, 0].slice(0, 7))) // older facts have no beginnings
	}
}

// When a player's clock began.
const beganAt = ({start}, {began}) => began || start

// The row about an error in a record, and its detail.
export const faultOf = error => [error instanceof NotCheckable ? "not_checkable" : "bad_record", error.message]

// Return the verdict on a race that is over: its kind and sentence, the rows that were found with their details (those that
// decide first), a sentence about the clock, and the words of the result.
export function verdict(evidence, reading) {
	const found = new Map()
	const seen = Object.entries(evidence.found).map(([row, [detail]]) => [row, detail])
	for (const [row, detail = ""] of [...seen, ...rowsOf(evidence, reading)]) if (!found.has(row)) found.set(row, detail)
	const isOfAll = evidence.role === "player" && nobodyCouldChoose(evidence)
	const kind = isOfAll ? "fair" : "checked"
	return {...judged(evidence, found, reading, kind, sentenceOf(evidence, reading, kind)), clock: clockSentence(evidence)}
}

// The verdict that follows from rows. `kind` and `sentence` are those of a race without any.
function judged(evidence, found, {record}, kind, sentence) {
	const isWrong = row => evidence.isWrong(row, Object.fromEntries(found))
	const rows = [...found].sort((a, b) => isWrong(b) - isWrong(a))
	if (rows.length) {
		kind = isWrong(rows[0]) ? "wrong" : "unsure"
		sentence = `${TITLES[kind]} ${rowSentence(rows[0])}`
	}
	return {kind, sentence, rows, clock: "", words: record ? resultWords(unhex(record.digest)) : ""}
}

// All players drew the deal, or it is that of the day, anywhere on earth.
function nobodyCouldChoose({terms, today}) {
	const [kind, date] = terms?.deal.split(" ") ?? []
	return kind === "winnable" || (kind === "daily" && Math.abs(Date.parse(date) - Date.parse(today)) <= 86_400_000)
}

// The verdict on a record alone, which may be a part of it with one player.
export const recordVerdict = reading =>
	judged(new Evidence(), reading.faults, reading, "checked", `Checked: the deal, every move${reading.isPart ? " of this player" : ""} and the results fit together.`)

const allOf = names => [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ")

function sentenceOf({lost, drawn, cameLate, window}, {givenUp}, kind) {
	const all = allOf(lost.map(([, , , name]) => name))
	const what = window ? "did not answer" : lost.length === 1 ? "lost the seat" : "lost their seats"
	const times = drawn ? new Set([...lost.map(([draw]) => draw), drawn.draw]).size : 0
	const draws = times > 1 ? ` The deal was drawn ${times} times; ${all} ${what}.` : ""
	const races = givenUp === 1 ? "1 race" : `${givenUp} races`
	const earlier = givenUp ? ` Before it, you took part in the draw of ${races} that did not begin with you.` : ""
	return TITLES[kind === "checked" && cameLate ? "late" : kind] + draws + earlier
}

// What is strange about the times of the race, or an empty text.
function clockSentence({mistimed: {misdated = [0], late = [0], set, dealt}}) {
	const seconds = time => `${(Math.round(time / 100) / 10).toFixed(1)} s`
	const parts = [[misdated, "dated wrongly"], [late, "answered late"]].map(([[times, total], what]) =>
		times ? `${times} action${times === 1 ? " was" : "s were"} ${what}, by ${seconds(total)} in all` : ""
	)
	if (set) parts.push(`the server's clock was set by ${seconds(set[1])}`)
	const all = [...parts, dealt ? `your cards came ${seconds(dealt[1])} after the start` : ""].filter(Boolean)
	return all.length ? `The clock: ${all.join("; ")}.` : ""
}

// Yields the rows that follow from the record, and those about what is missing.
function* rowsOf(evidence, reading) {
	if (evidence.isOut || (!evidence.begun && (evidence.isKicked || evidence.own.has("leave")))) return yield ["out_of_draw"]
	if (!evidence.termsText) yield ["unfinished", "the room never showed its terms"]
	if (!evidence.terms) return
	yield* missing(evidence)
	yield* reading.faults
	const {record} = reading
	if (!record || reading.faults.some(([row]) => /^(bad_record|not_checkable)$/.test(row))) return
	if (!reading.second) yield ["no_record", "The server gave it only once."]
	if (hex(termsHash(record.terms.text)) !== evidence.digest) yield ["other_record_terms"]
	if (hex(record.commitment) !== evidence.commitment) yield ["other_record_commitment"]
	yield* rowsOfDeal(evidence, reading)
	yield* rowsOfRace(evidence, reading)
	yield* rowsOfResults(evidence, reading)
	if (evidence.role === "player") yield* rowsOfOwn(evidence, reading)
	yield* rowsOfWatched(evidence, reading)
}

function* missing({results, role, dealt, window, askedAt, ends}) {
	if (!results.length) yield ["unfinished", "no results were shown"]
	const neverBegan = window && (askedAt === null || askedAt > ends - DRIFT)
	if (role === "player" && !dealt.length && !neverBegan) yield ["no_first_board"]
}

function* rowsOfDeal(evidence, {record, proof}) {
	const {results, drawn, lost, draws, role, drawing, window, begun, seat: own} = evidence
	if (results.some(each => each.deal !== dealHash(record.seed, record.proof))) yield ["other_deal"]
	const {draw, shares: all, lost: named} = proof ?? {draw: 0, shares: [], lost: []}
	const shares = all.map(shareOf)
	if (drawn && !same(drawn, {draw, shares})) yield ["other_drawn"]
	if (begun && !same(lost, named.map(lostOf))) yield ["other_lost"]
	if (draw < draws.at(-1)?.number) yield ["went_back"]
	const seats = shares.map(([seat]) => seat)
	const [shown, withoutMe] = drawing[draw] ?? []
	if (shown && !same(shown, seats)) yield ["other_drawn"]
	if (role !== "player" || kindOf(record.terms.deal) !== "winnable" || !hasMissed(evidence, draw)) return
	const row = !window || seats.includes(own) ? "missed_draw" : withoutMe ? "left_out" : "without_you"
	yield [row, allOf(shares.map(([, name]) => name))]
}

function* rowsOfRace(evidence, {record, plays}) {
	const {begun} = evidence
	if (!begun) return yield ["unfinished", "the race never began"]
	if (begun.start !== record.start) yield ["other_start"]
	if (evidence.window && record.end > evidence.ends) yield ["other_limit"]
	const shown = begun.racers.map(racer => racer.slice(1)).sort(([a], [b]) => a - b)
	if (!same(shown, record.players.map(({seat, name, bot}) => [seat, name, bot]))) yield ["other_players"]
	if (record.players.some(({seat, resigned}) => evidence.resigned.has(seat) && !resigned)) yield ["other_results"]
	const finishes = record.players.map(each => each.time).filter(Boolean)
	if (record.terms.options.first_finish_ends && record.end - record.start > Math.min(...finishes) + DRIFT) {
		yield ["unfinished", "the race went on after the first finish"]
	}
	if (!evidence.results.length || !endedEarly(evidence, record, plays)) return
	// who was away has not seen for how long, nor who else was
	yield evidence.absent.has(0) && !evidence.window ? ["unfinished", "the race ended early while you were away"] : ["ended_early"]
}

// Whether a race ended before its time for no reason that the client can see.
function endedEarly({stuck, absent, window, ends}, {terms, players, start, end}, plays) {
	const {limit, first_finish_ends: firstEnds, end_when_settled: settles} = terms.options
	const length = end - start
	if ((window ? end >= ends : length >= 1000 * limit) || (firstEnds && players.some(each => each.time))) return false
	const people = players.filter(({bot}) => !bot)
	const counted = settles && people.length ? people : players
	return !counted.every(({time, resigned, seat, actions, began}) => {
		const isDone = time || resigned || isBlocked(terms, plays.get(seat).at(-1)) || (settles && stuck.has(seat))
		if (window) return isDone || (began && began <= end - 1000 * limit) // nobody is waited for but those whose time is not up
		return isDone || length - (actions.at(-1)?.time ?? 0) >= IDLE || absent.has(seat)
	})
}

const seatsOf = ({begun}) => new Map(begun?.racers) // by the first two values of a racer

function* rowsOfResults(evidence, reading) {
	const {record} = reading
	const ids = new Map(evidence.begun?.racers.map(([player, seat]) => [seat, player]))
	const lines = record.players.map(({seat, name, place, cards, time, resigned, bot, began}) => {
		const {moves, undos} = reading.plays.get(seat).at(-1)
		return [ids.get(seat) ?? "", name, place, cards, time, moves, undos, resigned, bot, ...beginning(began)]
	})
	const sorted = all => all.map(each => JSON.stringify(each)).sort()
	for (const {end, lines: shown} of evidence.results) {
		const isInOrder = shown.every((line, i) => !i || line[2] >= shown[i - 1][2])
		if (end !== record.end || !isInOrder || !same(sorted(shown), sorted(lines))) yield ["other_results"]
	}
	for (const [seat, counts] of evidence.counts) {
		const {name = "nobody"} = record.players.find(player => player.seat === seat) ?? {}
		if (!counts.every(each => reading.had(seat, each))) yield ["other_counts", name]
	}
}

const cardsOn = ({game}, play) => (play.hash ??= hex(boardHash(game, masked(play.piles))))

// Yields rows about the player's own cards and actions.
function* rowsOfOwn(evidence, reading) {
	const {record} = reading
	const player = record.players.find(each => each.seat === evidence.seat && each.name === evidence.name)
	if (!player) return yield ["other_players"]
	if (player.began && evidence.askedAt === null) yield ["foreign_action", "You began."]
	const plays = reading.plays.get(player.seat)
	const isWrong = ({revision, mayUndo}) => mayUndo !== Boolean(acted(record.terms.game, plays[revision], "undo", record.terms.options.undo))
	for (const {revision, cards, moves, undos, mayUndo} of evidence.dealt) {
		const play = plays[revision]
		if (!play) {
			yield ["other_board", `The board after action ${revision} is not in the record.`]
			continue
		}
		if (cards !== cardsOn(record.terms, play)) yield [revision ? "other_board" : "other_cards", `That was after action ${revision}.`]
		if (moves !== play.moves || undos !== play.undos) yield ["other_board", `It counted your moves in another way after action ${revision}.`]
		if (isWrong({revision, mayUndo})) yield ["other_board", `It was wrong about undo after action ${revision}.`]
	}
	yield* rowsOfActions(evidence, record, player, plays, isWrong)
	yield* rowsOfRefusals(evidence, record, player, plays)
	if (player.resigned && !evidence.hasGivenUp) yield ["resigned_for_you"]
}

// By how many ms the server's clock was wrong in sum, so that what was when is not sure.
const clockError = ({misdated, set}) => (misdated?.[1] ?? 0) + (set?.[1] ?? 0)

function* rowsOfActions({acks, sent, denied, mistimed}, record, player, plays, isWrong) {
	const {terms} = record
	const {actions} = player
	const start = beganAt(record, player)
	for (const {revision, time, action, cards, mayUndo} of acks) {
		const made = actions[revision - 1]
		if (!made) yield ["other_action", `It lacks action ${revision}, ${action}.`]
		else if (start + made.time !== time || made.action !== action) yield ["other_action", `Action ${revision} was ${action}.`]
		else if (cardsOn(terms, plays[revision]) !== cards) yield ["other_board", `That was after action ${revision}.`]
		else if (action === "undo" && isWrong({revision, mayUndo})) yield ["other_board", `It was wrong about undo after action ${revision}.`]
		else continue
		break
	}
	for (const [i, {time, action}] of actions.entries()) {
		if (acks.some(({revision}) => revision === i + 1)) continue
		const known = [...sent.values()].findLast(each => each.revision === i && each.action === action)
		const isOpen = known?.time > start - PATIENCE && denied.every(({id}) => id !== known.id)
		const isDated = isOpen && known.time <= start + time + DRIFT && !clockError(mistimed)
		if (!known) yield ["foreign_action", `Action ${i + 1} is ${action}.`]
		else if (!isDated) yield ["unfinished", `your action ${i + 1} was never confirmed`]
		if (!isDated) break
	}
}

// Yields rows about an action that was refused for a false reason, and about the next one if it was never taken.
function* rowsOfRefusals({denied, sent, gaveUpAt, mistimed}, record, player, plays) {
	const {terms, end} = record
	const {actions} = player
	const left = (player.resigned && gaveUpAt) || end // what the record does not say ended nothing
	const until = Math.min(end, left, beganAt(record, player) + 1000 * terms.options.limit) - TOLERANCE + clockError(mistimed)
	for (const {id, revision, action, time} of sent.values()) {
		const {code, ended = time + PATIENCE} = denied.find(each => each.id === id) ?? {}
		const isForbidden = BY_RULES.test(code)
		if (isForbidden && plays[revision] && acted(terms.game, plays[revision], action, terms.options.undo)) yield ["refused_move", `It was ${action}.`]
		else if (!isForbidden && ended < until && (/^(not_racing|time_up|already_finished)$/.test(code) || revision === actions.length)) {
			yield ["unfinished", `the server did not take your action ${revision + 1}`]
		} else continue
		break
	}
}

// Yields rows about the boards that a spectator, or a racer who watched others, was shown.
function* rowsOfWatched(evidence, {record, plays}) {
	const {terms, players} = record
	const seats = seatsOf(evidence)
	const known = (id, revision) => {
		const player = players.find(each => each.seat === seats.get(id))
		const play = plays.get(player?.seat)?.[revision]
		return {name: player?.name ?? "nobody", play, made: player?.actions[revision - 1], start: player && beganAt(record, player)}
	}
	// When, since their start, the player's foundation cards last rose to 1, 2 and more.
	const reachedAt = (id, revision) => {
		const {seat, actions} = players.find(each => each.seat === seats.get(id))
		const rise = (reached, {time}, i) => {
			const {cards} = plays.get(seat)[i + 1]
			return [...reached.slice(0, cards), ...Array(Math.max(0, cards - reached.length)).fill(time)]
		}
		return actions.slice(0, revision).reduce(rise, [])
	}
	for (const [player, revision, cards, moves, undos, time, reached = []] of evidence.boards) {
		const {name, play, made, start} = known(player, revision)
		const isSo = play && same([moves, undos, time], [play.moves, play.undos, made ? start + made.time : time]) && cards === cardsOn(terms, play)
		if (!isSo || (reached.length && !same(reached, reachedAt(player, revision)))) yield ["other_watched", name]
	}
	for (const [player, revision, action, seen, time] of evidence.moves) {
		const {name, play, made, start} = known(player, revision)
		const isSo = play && made && action === made.action && seen === hex(play.seen) && time === start + made.time
		if (!isSo) yield ["other_watched", name]
	}
}

// What the verdict is built on, as lines.
export function factLines({role, drawn, acks}) {
	const names = drawn?.shares.map(([, name]) => name).join(", ")
	const lines = [
		drawn && `The deal follows from the random numbers of the server and of ${names}.`,
		role === "player" && `The record was compared with your ${acks.length} confirmed actions, and with each board that you saw.`
	]
	return lines.filter(Boolean)
}
