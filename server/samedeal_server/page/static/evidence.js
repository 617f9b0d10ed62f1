// A client's evidence of its own race: what the player did, and what the server showed. It only grows. The role of the
// player is what the player did, not what the server says.
//
// A fact is an array: its kind and its values, as a line of JSON has them. Hashes and shares are written as digits.

import {dealWords, hasProof, isDescribed, kindOf, termsHash, termsOf} from "./race_hashes.js"
import {ROWS} from "./rows.mjs"
import {RaceClock} from "./race_clock.js"
import {hex, sha256, unhex} from "./hash.js"
import {USUAL, UnknownTerms} from "./terms.mjs"

const MOST_LENGTH = 1_000_000 // of the facts of a race as text: later ones that have no end are dropped, and the verdict says so
const ENDLESS = /counted|watched|mistimed|dealt|result|gone|back|sat|named/ // what a server can add, and not the player
const CAUSES = {loss: ["lost_data", "changed_record"], window: ["other_window", "new_session"]}

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)
export const isIn = (list, value) => list.some(each => same(each, value))

// The hash of a revealed deal.
export const dealHash = (seed, proof) => hex(sha256(seed, proof))

export const placeText = ([seat, name]) => `${seat} ${name}`

export class Evidence {
	role = "player"
	room = ""
	wanted = {} // what the player asked for: {options, line, game, tide, round, private, again, window}
	player = ""
	called = "" // the player's name on the server
	name = "" // that of the seat, which the operator may change until the countdown
	isNamed = false // whether it cannot change any more
	seat = 0
	places = [] // all seats that the player had, with the name there
	bot = false
	today = "1970-01-01" // by the clock of this machine
	generation = 0
	termsText = ""
	terms = null // also if this release does not understand them
	digest = ""
	commitment = ""
	shares = {} // by draw
	draws = [] // {number, seats, share}, those in which the player has revealed a share
	lost = [] // [draw, seat, reason, name]
	drawn = null // {draw, shares: [[seat, name, promise, share]]}
	isOut = false
	outAfter = -1 // draws in which the player had revealed a share when the seat was lost the last time
	begun = null // {start, racers: [[player, seat, name, bot]], earlier: players to whom the same deal was dealt before}
	ends = 0 // when the window closes, as the server says
	drawing = [] // of a window, by draw: [seats, whether the player was there and is not among them]
	askedAt = null // when the player asked to begin in a window, or 0 if that is unknown
	beganAt = null
	dealt = [] // {revision, cards, moves, undos, mayUndo}
	sent = new Map() // by id: {id, revision, action, time}
	acks = [] // {revision, time, action, cards, mayUndo}
	denied = [] // {id, revision, action, code, ended}: by then on the server's clock, or 0
	own = new Set()
	gaveUpAt = 0 // by the server's clock, or 0
	isKicked = false
	stuck = new Set()
	resigned = new Set()
	absent = new Set([0]) // seats, and 0 while this client has not seen the race go on
	results = [] // {end, lines, deal}
	table = null
	found = {} // by row of the table of verdicts: [detail, times]
	counts = new Map() // of racers, by seat: [cards, moves, undos, time of the action, of the gain, of the finish, of the beginning]
	boards = [] // of racers, that somebody saw who watches: [player, revision, cards, moves, undos, time]
	moves = [] // [player, revision, action, seen, time]
	mistimed = {} // how often and by how much the server's times were wrong: {misdated, late, dealt, set}
	size = 0
	fresh = [] // facts that are not kept yet: from here on, nothing is
	event = -1
	heardAt = 0
	phase = ""
	cameFrom = 0 // the seat before the player came back, until a state says more
	wasThere = false // whether this connection is older than the closing of the doors
	expected = null // the players of the newest countdown: [seat, name, bot]
	delay = null // of the boards for spectators, as the server said it
	clock = new RaceClock()
	waiting = new Map() // by id: [type of the request, time]
	tallies = new Map() // by seat

	// The evidence that consists of kept facts.
	static of(facts) {
		const evidence = new Evidence()
		for (const fact of facts) evidence.plus(fact)
		const phase = evidence.results.length ? "finished" : evidence.begun ? "racing" : ""
		return Object.assign(evidence, {phase, fresh: []})
	}

	get window() {
		return this.terms?.window ?? 0
	}

	// Whether the window is open, so that the player may know only the own attempt.
	get isHidden() {
		return this.window > 0 && this.phase === "racing"
	}

	// Whether the player has resigned or left, or was removed, as far as this page knows.
	get hasGivenUp() {
		return this.own.has("resign") || this.own.has("leave") || this.isKicked
	}

	// The first row that contradicts, with its detail, or undefined.
	get contradiction() {
		const found = Object.entries(this.found).find(each => this.isWrong(each))
		return found && [found[0], found[1][0]]
	}

	// Whether a row contradicts, and no trouble that was found can cause what it is about.
	isWrong([row], found = this.found) {
		const [verdict, ...excuses] = ROWS[row]
		return verdict === "wrong" && !excuses.flatMap(trouble => CAUSES[trouble]).some(each => each in found)
	}

	// The words of the deal, or an empty text while they are not known.
	get words() {
		if (!this.terms || /^(|open)$/.test(this.phase)) return ""
		const isJoint = kindOf(this.terms.deal) === "winnable"
		if (isJoint && !this.drawn) return ""
		const seats = (isJoint ? this.drawn.shares : []).map(([seat, , promise, share]) => ({seat, commitment: unhex(promise), share: unhex(share)}))
		return dealWords(unhex(this.digest), unhex(this.commitment), seats)
	}

	// The draw with a number, or undefined if the player has revealed no share in it.
	draw(number) {
		return this.draws.find(each => each.number === number)
	}

	// The own seat has a name.
	atSeat(name) {
		const place = placeText([this.seat, name])
		if (!this.places.includes(place)) this.places.push(place)
		return Object.assign(this, {name})
	}

	plus(fact) {
		this.size += JSON.stringify(fact).length + 1
		const [kind, ...values] = fact
		if (this.size > MOST_LENGTH && ENDLESS.test(kind)) return this.finding("unfinished", "there was too much to keep")
		this.fresh.push(fact)
		ADDED[kind](this, ...values)
		return this
	}

	// Add what a row of the table is about. The first time is kept, others are counted.
	finding(row, detail = "") {
		if (this.found[row]) this.found[row][1]++
		else this.plus(["found", row, detail.slice(0, 200)])
		return this
	}

	findingIf(condition, row, detail) {
		return condition ? this.finding(row, detail) : this
	}

	// A time of the server is wrong by so many milliseconds, if that is more than 0.
	timed(what, by) {
		return by > 0 ? this.plus(["mistimed", what, Math.round(by)]) : this
	}
}

const ADDED = {
	asked: (known, role, room, wanted, bot = false, today = known.today) => Object.assign(known, {role, room, wanted, bot, today}),
	known: (known, player, name) => Object.assign(known, {player, called: name, name}),
	named: (known, name) => (name ? known.atSeat(name) : known).isNamed = Boolean(name),
	sat,
	out: known => Object.assign(known, {isOut: true, outAfter: known.draws.length}),
	shown: showTerms,
	share: (known, draw, share) => (known.shares[draw] = share),
	sealed: (known, number, seats) => known.draws.push({number, seats, share: known.shares[number]}),
	drawing: (known, draw, ...more) => (known.drawing[draw] = more),
	losses: (known, lost) => (known.lost = lost),
	drawn: (known, draw, shares) => (known.drawn = {draw, shares}),
	begun: (known, start, racers, earlier = []) => (known.begun = {start, racers, earlier}),
	begin: (known, askedAt) => Object.assign(known, {askedAt}),
	began: (known, beganAt) => Object.assign(known, {beganAt}),
	dealt: (known, revision, cards, moves, undos, mayUndo) => known.dealt.push({revision, cards, moves, undos, mayUndo}),
	sent: (known, id, revision, action, time) => known.sent.set(id, {id, revision, action, time}),
	acked: addAck,
	denied: (known, id, code, ended = 0) => known.sent.has(id) && known.denied.push({...known.sent.get(id), code, ended}),
	own(known, act, time = 0) {
		known.own.add(act)
		if (act !== "declarestuck") known.gaveUpAt ||= time
	},
	kicked(known, time = 0) {
		known.isKicked = true
		known.gaveUpAt ||= time
	},
	result: (known, end, lines, deal) => known.results.push({end, lines, deal}),
	counted(known, seat, ...more) {
		const all = known.counts.get(seat) ?? []
		known.counts.set(seat, [...all, more.map((by, i) => (all.at(-1)?.[i] ?? 0) + by)])
	},
	boardwatched: (known, ...board) => known.boards.push(board),
	movewatched: (known, ...move) => known.moves.push(move),
	mistimed(known, what, by) {
		const [times, sum] = known.mistimed[what] ?? [0, 0]
		known.mistimed[what] = [times + 1, sum + by]
	},
	back: (known, seat) => known.absent.delete(seat),
	gone: (known, seat, how) => known[how === "away" ? "absent" : how].add(seat),
	found: (known, row, detail) => (known.found[row] = [detail, 1])
}

function sat(known, shown, generation) {
	const seat = known.begun && known.seat ? known.seat : shown
	known.places.push(placeText([seat, known.name]))
	Object.assign(known, {seat, generation, isNamed: known.isNamed && !known.isOut, isOut: false})
}

function showTerms(known, text, commitment, table, isBefore = true, ends = 0) {
	Object.assign(known, {termsText: text, commitment, table, cameLate: !isBefore, ends})
	try {
		known.terms = termsOf(text)
	} catch (error) {
		return error instanceof UnknownTerms ? known.finding("unknown_terms", error.message) : known.finding("contradicting_terms")
	}
	const {terms, room, wanted} = known
	known.digest = hex(termsHash(text))
	const difference = differenceOf(wanted, terms, ends)
	known.findingIf(terms.room !== room, "other_room").findingIf(difference, "other_request", difference)
	known.findingIf(hasProof(terms.deal) && !isDescribed(terms), "other_description")
}

// Whether the doors of a window may close then. The host opens them again only after draws were lost.
export const areDoors = (at, ends, window, isAgain) => at === ends - 750 * window || (isAgain && at > ends - 750 * window && at <= ends)

// Whether a deal is the one that was asked for: a daily one has got its date.
export const isDeal = (asked, deal) =>
	asked === deal || (asked === "daily" && deal.startsWith("daily ")) || (/^#?\d+$/.test(asked) && deal === `#${Number(asked.replace("#", ""))}`)

// In what a race differs from what the player asked for, in a word, or an empty text.
function differenceOf({options, line, game = "", tide = 0, round = -1, private: isPrivate = "", again = false, window = 0}, terms, ends) {
	const given = terms.options
	if (options) {
		if (again ? kindOf(terms.deal) !== "again" : !isDeal(options.deal ?? USUAL.deal, terms.deal)) return "deal"
		const asked = {...USUAL, ...options, deal: given.deal, ...(window && {bots: false})}
		const changed = Object.keys(given).find(name => !same(asked[name], given[name]))
		if (changed) return changed.replaceAll("_", " ")
	}
	const pairs = [
		["game", line?.game ?? game, terms.game],
		["tide", tide || options ? tide : "", terms.tide],
		["round", Math.max(round, 0), round >= 0 ? terms.round : 0],
		["rule for who may enter", isPrivate, terms.private],
		["window", game || options ? window : "", terms.window],
		...(line ? [["deal", line.deal, terms.deal], ["number of seats", line.seats, given.players], ["delay", line.delay, given.delay]] : []),
		...(line ? [["rule for bots", line.bots, given.bots], ["rule for spectators", line.closes ? "" : line.spectators, given.spectators]] : []),
		["window", !line || (terms.window ? line.closes === ends || areDoors(line.closes, ends, terms.window, true) : !line.closes), true]
	]
	return pairs.find(([, own, shown]) => own !== "" && own !== shown)?.[0] ?? ""
}

function addAck(known, id, time, cards, mayUndo) {
	const sent = known.sent.get(id)
	if (!sent) return
	const ack = {revision: sent.revision + 1, time, action: sent.action, cards, mayUndo}
	if (isIn(known.acks, ack)) return
	if (ack.revision <= (known.acks.at(-1)?.revision ?? -Infinity)) {
		known.findingIf(!known.found.lost_data, "other_action", `Action ${ack.revision} was confirmed twice.`)
		known.acks = known.acks.filter(each => each.revision < ack.revision)
	}
	known.acks.push(ack)
}
