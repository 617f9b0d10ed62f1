// What evidence learns from the player's requests and from the messages of the server. Times are local ones, in
// milliseconds since any moment.

import {boardHash} from "./board_hash.js"
import {areDoors, dealHash, isDeal, isIn, placeText, same} from "./evidence.js"
import {agrees, isDraw} from "./own_draws.js"
import {GAMES, HIDDEN} from "./piles.js"
import {kindOf, openingOf} from "./race_hashes.js"
import {hex, join} from "./hash.js"

const ABSENT_AFTER = 50_000 // ms without a connection, after which a race may have ended without the player
const ORDER = ["", "open", "countdown", "racing", "finished", "closed"]
export const BY_RULES = /^(illegal|cannot_undo|malformed)$/ // refusals of actions that the rules of the game forbid
const IN_TERMS = ["room", "round", "game", "deal", "private", "tide", "window"]
const COUNTED = ["foundation_cards", "moves", "undos", "acted_at", "last_progress_at", "finished_at", "began_at"]

// A request is about to be sent.
export function noteSent(known, {type, id, ...request}, now) {
	if (type === "hello") {
		known.wasThere = false
		known.waiting = new Map([[id, [type, now]]]) // what was asked on other connections is never answered
		const away = now - known.heardAt
		const isNoted = known.results.length || known.absent.has(0)
		if (!isNoted && !(away > 0 && away < ABSENT_AFTER)) known.plus(["gone", 0, "away"])
		return
	}
	if (!known.waiting.has(id)) known.waiting.set(id, [type, now]) // an action that is sent again was first sent then
	const {clock} = known
	const low = clock.isKnown ? Math.round(now + clock.low) : 0
	if (type === "act" && !known.sent.has(id)) known.plus(["sent", id, request.revision, request.action, low])
	else if (type === "begin" && known.askedAt === null) known.plus(["begin", low])
	else if (type === "leave" && known.window && known.phase !== "open") return // who leaves comes back
	else if (/resign|leave|stuck/.test(type)) known.plus(["own", type, latest(known, now)])
}

// The latest that the server's clock can have, or 0 if it is not known.
const latest = ({clock}, now) => (clock.isKnown ? Math.round(now + clock.high) : 0)

// A message of the server has arrived.
export function noteReceived(known, message, now) {
	known.heardAt = now
	if (!("to" in message)) return SHOWN[message.type]?.(known, message, now)
	const [type, at] = known.waiting.get(message.to) ?? []
	const isFinal = /acked|refused/.test(message.type) && !(message.code === "rate_limited" && message.retry_after > 0)
	if (!type || (type === "act" && !isFinal)) return
	known.waiting.delete(message.to)
	const both = `${type} ${message.type}`
	if (both === "hello welcome") welcomed(known, message)
	else if (both === "ping pong") {
		known.clock.isFixed &&= isTimed(known, now)
		if (!known.mistimed.set) known.timed("set", known.clock.setBy(at, now, message.time))
		known.clock.exchanged(at, now, message.time)
	} else if (both === "join joined") joined(known, message, now)
	else if (both === "join refused") removed(known, message, now)
	else if (both === "watch watching") {
		if (known.role === "spectator") Object.assign(known, {delay: message.delay, expected: null})
		known.findingIf(message.room !== known.room, "other_room")
	} else if (both === "begin begun") showBeginning(known, message.time, now)
	else if (both === "act acked") {
		known.plus(["acked", message.to, message.time, hex(message.hash), message.may_undo ?? true])
		known.timed("misdated", known.clock.misdated(at, now, message.time)).timed("late", known.clock.late(at, now))
		known.clock.acted(at, now, message.time)
	} else if (type === "act") known.plus(["denied", message.to, message.code, latest(known, now)])
}

// Whether the player's clock may run in a window. For days, the clocks of two machines do not agree.
const isTimed = ({window, askedAt, beganAt, clock, terms}, now) =>
	!window || (beganAt === null ? askedAt !== null : now + clock.low < beganAt + 1000 * terms.options.limit)

// The player's clock began then.
function showBeginning(known, time, now) {
	if (known.beganAt !== null) return known.findingIf(time !== known.beganAt, "other_start")
	known.plus(["began", time]).timed("misdated", known.clock.dated(known.askedAt ?? 0, now, time))
}

function removed(known, {code}, now) {
	if (code === "kicked" && !known.isKicked) known.plus(["kicked", latest(known, now)])
}

function welcomed(known, {player, name}) {
	const {player: before, called, seat, isOut} = known
	if (player === before && ((seat && !isOut) || name === called)) return (known.called = name) // the seat keeps its name
	known.plus(["known", player, name])
	if (before && player !== before) known.finding("new_session").plus(["out"])
}

function joined(known, {room, seat, generation, revision}, now) {
	known.clock.enteredAt = now
	known.expected = null
	if (room !== known.room) return known.finding("other_room")
	if (known.seat && !known.isOut) {
		known.findingIf(seat !== known.seat && known.begun, "other_identity")
		known.findingIf(generation <= known.generation, "lost_data")
	}
	const mayBe = known.seat && !(known.window && known.askedAt === null)
	const newest = mayBe ? Math.max(known.acks.length, ...[...known.sent.values()].map(each => each.revision + 1)) : -1
	known.findingIf(revision > -1 && revision < (known.acks.at(-1)?.revision ?? 0), "lost_data")
	known.cameFrom = known.seat
	known.findingIf(revision > newest, "other_window").plus(["sat", seat, generation])
}

const SHOWN = {
	roomstate: showState,
	drawn: showDrawn,
	boardstate: showDealt,
	progressupdate: showCounts,
	delayedboard(known, {player, revision, piles, moves, undos, time, reached = []}) {
		known.findingIf(known.isHidden, "told_early").plus(["boardwatched", player, revision, cardsOf(known, piles), moves, undos, time, reached])
	},
	delayedmove(known, {player, revision, action, seen, time}) {
		known.findingIf(known.isHidden, "told_early").plus(["movewatched", player, revision, action, hex(seen), time])
	},
	notice: removed
}

// What the line of a result has of a beginning, if it has one: older facts have none.
export const beginning = time => (time ? [time] : [])

const isCard = byte => byte === HIDDEN || (byte < 128 && (byte & 15) > 0 && (byte & 15) < 14)

// The hash of the piles of a board, or an empty text if the game has no such board.
function cardsOf({terms}, piles) {
	if (!terms) return ""
	const {game} = terms
	const cards = piles.flatMap(pile => [...pile])
	const isBoard = piles.length === GAMES[game].piles.length && cards.length <= 52 * GAMES[game].decks && cards.every(isCard)
	return isBoard ? hex(boardHash(game, piles)) : ""
}

function showState(known, state, now) {
	if (state.room !== known.room) return known.finding("other_room")
	checkTerms(known, state)
	if (known.window && state.phase === "countdown" && state.starts) state = {...state, phase: "racing"} // so each may begin
	const {event, phase, players, tallies} = state
	const isOpenAgain = phase === "open" && known.phase === "countdown" && !(known.window && known.drawn)
	const wentBack = ORDER.indexOf(phase) < ORDER.indexOf(known.phase) && !isOpenAgain
	Object.assign(known, {phase, wasThere: known.wasThere || phase === "open"})
	known.findingIf((event < known.event && !known.isHidden) || wentBack, "lost_data")
	known.event = Math.max(event, known.event)
	if (known.window) showWindow(known, state)
	known.findingIf(players.some(({player, shown}) => shown && player !== known.player), "replaced_name")
	const hasBegun = /racing|finished/.test(phase) || (phase === "closed" && known.begun)
	if (phase === "countdown" || hasBegun) showPlayers(known, state)
	else if (phase === "open") known.expected = null
	showLosses(known, state)
	if (known.role === "player") showOwnSeat(known, state)
	if (hasBegun) showRace(known, state)
	const seats = new Map(players.map(each => [each.player, each.seat]))
	const areAll = same(tallies.map(each => each.player).sort(), [...seats.keys()].sort())
	known.findingIf(!areAll || seats.size < players.length, "other_players")
	for (const tally of tallies) if (seats.has(tally.player)) showTally(known, seats.get(tally.player), tally, now)
	showTable(known, state)
	showResult(known, state)
}

// When the window closes, who draws the deal, and what is told early.
function showWindow(known, {ends, doors_close_at: doors, event, players, draw, drawing, lost, opens = []}) {
	const {seat, name, terms} = known
	const isTimed = areDoors(doors, known.ends, known.window, lost.length > 0, opens.length > 0 && terms.options.series > 1)
	known.findingIf(ends !== known.ends || !isTimed, "other_limit")
	const isTold = event || players.some(each => each.player !== known.player && (each.resigned || each.stuck || each.away))
	known.findingIf(known.isHidden && isTold, "told_early")
	const before = known.drawing[draw]
	if (before) known.findingIf(drawing.length && !same(drawing, before[0]), "other_drawn")
	else if (drawing.length && isDraw(known, draw)) {
		const isLost = lost.some(each => each.seat === seat && each.name === name && openingOf(each.draw) === openingOf(draw))
		known.plus(["drawing", draw, drawing, known.wasThere && !drawing.includes(seat) && !isLost])
	}
}

function checkTerms(known, state) {
	const commitment = hex(state.commitment)
	if (known.termsText) {
		known.findingIf(state.terms !== known.termsText, "changed_terms")
		known.findingIf(commitment !== known.commitment, "changed_commitment")
	} else {
		const isBefore = /open|countdown/.test(state.phase)
		known.plus(["shown", state.terms, commitment, state.standings.length ? null : state.table, isBefore, state.window ? state.ends : 0])
	}
	const {terms, termsText} = known
	if (!terms || termsText !== state.terms) return
	const raced = terms.round % terms.options.series
	known.findingIf(state.rooms_before.length !== raced || (known.table?.length && !raced), "other_table")
	const wanted = kindOf(terms.deal) === "again" ? "winnable" : terms.deal
	const options = isDeal(state.options.deal, wanted) ? {...state.options, deal: terms.deal} : state.options
	const fits = IN_TERMS.every(name => (state[name] ?? 0) === terms[name]) && Object.keys(terms.options).every(name => same(options[name], terms.options[name]))
	known.findingIf(!fits, "contradicting_terms")
}

// A state of the countdown or of the race, which nobody joins any more.
function showPlayers(known, {phase, players, starts}) {
	known.clock.isFixed ||= known.clock.isKnown
	const places = players.map(each => [each.seat, each.name, each.bot])
	if (!known.begun) {
		const isNew = place => !isIn(known.expected, place)
		known.findingIf(phase !== "countdown" && known.expected && places.some(isNew), "other_players")
		known.expected = places
	}
	if (!known.terms) return
	const {deal, options} = known.terms
	const isAgain = kindOf(deal) === "again"
	known.findingIf(isAgain && places.length !== 1, "not_alone")
	const isFull = !isAgain && places.length > options.players
	const admitsHouse = !options.hosted || known.terms.round > 0 // a race that the server has opened, or a rematch of one
	const hasBots = !options.bots && players.some(({bot, house}) => bot && !(house && admitsHouse))
	const isEarly = phase !== "countdown" && starts < options.start_at
	const isDelayed = (known.delay ?? options.delay) !== options.delay
	known.findingIf(isFull || hasBots || isEarly || isDelayed, "contradicting_terms")
}

export const lostOf = each => [each.draw, each.seat, each.reason, each.name]

function showLosses(known, state) {
	const lost = state.lost.map(lostOf)
	const before = known.lost
	if (!same(lost, before)) known.findingIf(!before.every(each => isIn(lost, each)), "lost_data").plus(["losses", lost])
	if (known.role !== "player") return
	const own = lost.filter(([, seat, , name]) => known.places.includes(placeText([seat, name])))
	for (const [draw, , reason] of own) if (reason === "silent" && known.draw(draw)) known.finding("unheard")
	comeBack(known, state, own.filter(each => !isIn(before, each)))
}

// After the first state since the player came back, with the losses of the player's seats meanwhile. Only another program of
// the player can have left, or was kicked. A seat that was freed before any draw is no loss.
function comeBack(known, {players}, losses) {
	const {cameFrom, seat, generation} = known
	known.cameFrom = 0
	if (!cameFrom || known.isOut || !players.some(each => each.player === known.player)) return
	if (losses.length) {
		known.findingIf(losses.some(([, , reason]) => reason !== "silent"), "other_window")
		known.plus(["out"]).plus(["sat", seat, generation])
	} else known.findingIf(cameFrom !== seat && known.draws.length, "lost_data")
}

function showOwnSeat(known, state) {
	const [seat, ...others] = state.players.filter(each => each.player === known.player)
	if (!seat) return loseSeat(known, state)
	showOwnName(known, seat.name, state.phase === "open")
	const isOwn = same([seat.seat, seat.name, seat.bot], [known.seat, known.name, known.bot])
	known.findingIf(!isOwn || others.length, "other_identity")
	known.findingIf(seat.resigned && !known.hasGivenUp, "resigned_for_you")
	known.findingIf(seat.stuck && !known.own.has("declarestuck"), "stuck_for_you")
}

// The operator may change the name of the own seat until the countdown, or the player's first share. A player who comes back
// gets another seat.
function showOwnName(known, name, isOpen) {
	if (isOpen && !Object.keys(known.shares).length) {
		if (known.isNamed) known.plus(["named", ""])
		known.atSeat(name)
	} else if (!known.isNamed) known.plus(["named", name])
}

// After a state without the player's seat.
function loseSeat(known, {phase, lost}) {
	if (known.isOut || known.own.has("leave") || known.isKicked || known.begun || /racing|finished/.test(phase)) return // or other racers than in the record
	const {reason} = lost.findLast(each => each.seat === known.seat && each.name === known.name) ?? {}
	known.findingIf((!reason || known.window) && phase === "countdown", "seat_vanished") // in a window, everybody keeps the seat
	known.findingIf(reason === "left", "said_left").plus(["out"])
}

// After a state of a race that has begun.
function showRace(known, {players, starts, ends, tallies, draw, earlier}) {
	const racers = players.map(each => [each.player, each.seat, each.name, each.bot]).sort(byText)
	const past = earlier.map(each => [each.name, each.foundation_cards, each.time, each.reached, each.started])
	if (!known.begun) known.plus(["begun", starts, racers, past])
	known.findingIf(starts !== known.begun?.start, "lost_data") // a race has one start; the record has it
	known.findingIf(!same(racers, known.begun?.racers), "other_players")
	known.findingIf(!same(past, known.begun?.earlier), "other_results")
	const {terms} = known
	if (terms) {
		const end = known.ends || starts + 1000 * terms.options.limit
		const isWon = terms.options.first_finish_ends && tallies.some(each => each.finished_at)
		known.findingIf(draw !== (known.drawn?.draw ?? 0), "other_drawn")
		const isLone = kindOf(terms.deal) === "daily" && players.filter(each => !each.bot).length === 1
		known.findingIf(past.length && !isLone && kindOf(terms.deal) !== "again", "other_results")
		known.findingIf(ends !== end && !(isWon && starts <= ends && ends < end), "other_limit")
	}
	known.findingIf(players.some(({seat, resigned}) => known.resigned.has(seat) && !resigned), "lost_data") // nobody can come back
	for (const {seat, stuck, resigned} of players) {
		if (stuck && !known.stuck.has(seat)) known.plus(["gone", seat, "stuck"])
		if (resigned && !known.resigned.has(seat)) known.plus(["gone", seat, "resigned"])
	}
	showConnection(known, 0, true)
}

// By code points. JavaScript compares halves of them.
const codes = text => hex(join([text]))
const byText = ([a], [b]) => (codes(a) < codes(b) ? -1 : a === b ? 0 : 1)

function showResult(known, {phase, standings, seed, proof, finished_at: end}) {
	if (phase !== "finished" && !standings.length && !seed.length && !proof && !end) return
	const lines = standings.map(each => [each.player, each.name, each.place, each.foundation_cards, each.time, each.moves, each.undos, each.resigned, each.bot, ...beginning(each.began_at)])
	const result = {end, lines, deal: dealHash(seed, proof)}
	if (isIn(known.results, result)) return
	known.findingIf(known.results.length && known.results[0].end !== end, "lost_data")
	known.plus(["result", end, lines, result.deal])
}

function showTable(known, {standings, table, finished_at: end, starts}) {
	const {series, limit} = known.terms?.options ?? {}
	const isSeries = known.table && series > 1 && standings.length
	const expected = isSeries ? withRace(known.table, standings, known.window ? 1000 * limit : end - starts) : known.table
	known.findingIf(known.table && !same(table.map(lineOf), expected.map(lineOf)), "other_table")
}

const lineOf = each => [each.place, each.player, each.name, each.races, each.points, each.time, each.bot ?? false]

// The table of a series with the results of one more race (PROTOCOL.md, TableLine).
function withRace(table, standings, length) {
	const begun = standings.filter(each => each.began_at) // in a window
	const raced = begun.length ? begun : standings
	const totals = new Map(table.map(line => [line.player, {...line}]))
	for (const {player, name, place, time, bot} of raced) {
		const {races = 0, points = 0, time: total = 0} = totals.get(player) ?? {}
		const won = raced.reduce((sum, other) => sum + (place < other.place) + (place === other.place) / 2, -0.5)
		totals.set(player, {player, name, races: races + 1, points: points + won, time: total + (time || length), bot})
	}
	const all = [...totals.values()]
	const order = (a, b) => b.points - a.points || a.time - b.time
	for (const line of all) line.place = 1 + all.filter(other => order(other, line) < 0).length
	return all.sort((a, b) => order(a, b) || byText([a.name], [b.name]) || byText([a.player], [b.player]))
}

export const shareOf = each => [each.seat, each.name, hex(each.commitment), hex(each.share)]

function showDrawn(known, {room, draw, shares}) {
	if (room !== known.room) return known.finding("other_room")
	const all = shares.map(shareOf)
	const isLost = known.lost.some(([lostIn]) => lostIn === known.drawn?.draw)
	const isAgain = known.role === "spectator" && !known.begun && draw > known.drawn?.draw && isLost // of others, once all had left
	if (known.drawn && !isAgain) return known.findingIf(!same(known.drawn, {draw, shares: all}), "other_drawn")
	if (!all.every(([seat]) => seat > 0 && seat < 256)) return known.finding("other_shares")
	known.plus(["drawn", draw, all])
	known.findingIf(known.role === "player" && !known.isOut && !agrees(known, known.drawn), "other_shares")
}

function showDealt(known, {room, game, piles, hash, revision, moves, undos, may_undo: mayUndo = true}, now) {
	if (room !== known.room) return known.finding("other_room")
	if (known.role !== "player" || !known.termsText) return known.finding("other_board")
	if (!known.terms) return
	if (game !== known.terms.game) return known.finding("contradicting_terms")
	const cards = cardsOf(known, piles)
	const start = !known.dealt.length && (known.window ? known.beganAt : known.begun?.start)
	known.findingIf(cards !== hex(hash), "other_board").plus(["dealt", revision, cards, moves, undos, mayUndo])
	if (start) known.timed("dealt", known.clock.dealt(now, start))
}

function showCounts(known, {seat, type, ...changes}, now) {
	const before = known.tallies.get(seat)
	if (!before) return
	const tally = {...before, ...changes}
	showTally(known, seat, tally, now)
	if (tally.acted_at !== before.acted_at) known.timed("misdated", known.clock.ahead(now, tally.acted_at))
}

// Who is back after the end was gone at the end.
function showConnection(known, seat, isConnected) {
	if (isConnected === !known.absent.has(seat) || (isConnected && known.phase !== "racing")) return
	known.plus(isConnected ? ["back", seat] : ["gone", seat, "away"])
}

// While a window is open, nothing is told of others.
function showAttempt(known, seat, {connected, began_at: time}, counts, now) {
	if (seat !== known.seat) known.findingIf(known.isHidden && (connected || counts.some(Boolean)), "told_early")
	else if (time) showBeginning(known, time, now)
	else known.findingIf(known.beganAt, "lost_data")
}

function showTally(known, seat, tally, now) {
	known.tallies.set(seat, {...tally})
	const counts = COUNTED.map(name => Number(tally[name] ?? 0))
	if (known.window) showAttempt(known, seat, tally, counts, now)
	else if (seat !== known.seat) showConnection(known, seat, tally.connected) // a page knows when its own line was cut
	const before = known.counts.get(seat)?.at(-1) ?? COUNTED.map(() => 0)
	known.findingIf(counts[1] + counts[2] < before[1] + before[2], "lost_data")
	if (counts.some(Boolean) && !same(counts, before)) known.plus(["counted", seat, ...counts.map((each, i) => each - (before[i] ?? 0))])
}
