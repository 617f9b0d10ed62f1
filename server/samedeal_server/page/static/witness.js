// What the page does with the evidence of its race: it keeps it in the browser, and answers draws by it. Facts are kept
// before a request leaves, and before a message is shown. Races have numbers, and of each, parts of the facts as text. Their
// list tells how many parts a race has, so that a lost one is noticed.

import {Evidence} from "./evidence.js"
import {noteReceived, noteSent} from "./observation.js"
import {answerTo, wantedShare} from "./own_draws.js"
import {RaceClock} from "./race_clock.js"
import {hex} from "./hash.js"

const MOST_RACES = 20 // of which facts are kept
const MOST_PARTS = 500 // of all races: browsers keep some five million characters
const PART = 4000 // characters of facts that are written together
const ALONE = 10_000 // ms after which another tab that has written nothing may be gone

const randomShare = () => crypto.getRandomValues(new Uint8Array(32))

// The races of which facts are kept, the oldest first: [number, room, player, number of parts].
const racesIn = stored => JSON.parse(stored.get("races") ?? "[]")

// Keep a text, and nothing older if the browser has no room for it.
function put(stored, name, text) {
	stored.set(name, null)
	stored.set(name, text)
}

// The kept facts of a race. One tab at a time writes them.
class RaceFile {
	constructor(stored, number) {
		Object.assign(this, {stored, number, tab: String(Math.random()), facts: []})
	}

	get lockName() {
		return `race ${this.number} is written`
	}

	// The parts of the text that are there.
	parts() {
		const parts = []
		for (let part; (part = this.stored.get(`race ${this.number} ${parts.length}`));) parts.push(part)
		return parts
	}

	lock() {
		const [tab, time] = (this.stored.get(this.lockName) ?? "").split(" ")
		if (tab && tab !== this.tab && Date.now() - time < ALONE) return false
		const parts = this.parts()
		if (tab !== this.tab) Object.assign(this, {part: Math.max(0, parts.length - 1), text: parts.at(-1) ?? ""})
		this.stored.set(this.lockName, `${this.tab} ${Date.now()}`)
		return true
	}

	// Facts that another tab keeps this one from writing are written later.
	append(facts) {
		this.facts.push(...facts)
		if (!this.lock()) return
		if (this.text.length > PART) this.beginPart()
		this.text += this.facts.splice(0).map(fact => `${JSON.stringify(fact)}\n`).join("")
		put(this.stored, `race ${this.number} ${this.part}`, this.text)
	}

	beginPart() {
		Object.assign(this, {part: this.part + 1, text: ""})
		const races = racesIn(this.stored).map(race => (race[0] === this.number ? [...race.slice(0, 3), this.part + 1] : race))
		put(this.stored, "races", JSON.stringify(races))
	}

	read() {
		const facts = []
		try {
			const parts = this.parts()
			for (const line of parts.join("").trimEnd().split("\n")) facts.push(JSON.parse(line))
			if (racesIn(this.stored).some(([number, , , size]) => number === this.number && size === parts.length)) return Evidence.of(facts)
		} catch {} // so the facts before are all that there is
		return Evidence.of(facts).finding("unfinished", "what was kept is damaged")
	}

	close() {
		if (this.lock()) this.stored.set(this.lockName, null)
	}

	remove() {
		this.parts().forEach((_, part) => this.stored.set(`race ${this.number} ${part}`, null))
	}
}

// Whether a room still has the race of the evidence. Only the results tell it from the next one with the same public deal.
function hasRaceOf({termsText, commitment, results}, {terms, commitment: shown, phase}) {
	const isNext = results.length && /open|countdown/.test(phase)
	return terms === termsText && hex(shown) === commitment && !isNext
}

export class Witness {
	evidence = new Evidence()
	file = null
	next = null // the evidence of a race that the player asks to enter
	fresh = null // the same, until the room shows whether the evidence that there is is of its race
	hasResumed = false
	isShut = false // another tab keeps the facts

	// `stored` has get(name) and set(name, value).
	constructor(stored, newShare = randomShare, bot = false) {
		Object.assign(this, {stored, newShare, bot})
	}

	// The player asks to enter a room. The evidence of it begins with the answer. A racer who watches the others stays a racer.
	asks(role, room, wanted, player, name) {
		const {evidence} = this
		if (role === "spectator" && evidence.role === "player" && evidence.room === room && evidence.begun) return
		this.next = this.asked(role, room, wanted, player, name)
	}

	asked(role, room, wanted, player, name) {
		const today = new Date().toISOString().slice(0, 10)
		const asked = new Evidence().plus(["asked", role, room, wanted, this.bot, today]).plus(["known", player, name])
		return Object.assign(asked, {clock: Object.assign(new RaceClock(), this.evidence.clock, {isFixed: false})})
	}

	sends(request, now) {
		const {next} = this
		if (next && /^(join|watch)$/.test(request.type) && request.room === next.room) return noteSent(next, request, now)
		noteSent(this.evidence, request, now)
		this.write()
	}

	receives(message, now) {
		const {next, evidence} = this
		if (next?.waiting.has(message.to)) {
			if (/^(joined|watching)$/.test(message.type)) this.enter(next, message, now)
			else noteReceived(next, message, now)
			return
		}
		const isBack = message.type === "watching" && evidence.termsText && evidence.waiting.has(message.to)
		if (isBack && evidence.role === "spectator") {
			const {role, room, player, called, waiting} = evidence
			this.fresh = Object.assign(this.asked(role, room, {}, player, called), {waiting: new Map(waiting)}) // it may be open anew
		}
		if (message.type === "roomstate") this.choose(message)
		else if (this.fresh) noteReceived(this.fresh, message, now)
		this.hasResumed = message.type === "joined" || (this.hasResumed && message.type !== "roomstate")
		noteReceived(this.evidence, message, now)
		this.write()
	}

	// Begin with the evidence of another room, or go on with what was kept of the same race.
	enter(asked, message, now) {
		const {room, player, role} = asked
		const waiting = new Map([...this.evidence.waiting, ...asked.waiting]) // answers to both still arrive
		const clock = Object.assign(new RaceClock(), this.evidence.clock, {isFixed: false})
		Object.assign(asked, {waiting, clock})
		this.close()
		const file = role === "player" ? this.reopen(room, player) : null
		Object.assign(this, {file, evidence: asked, next: null, fresh: null})
		if (file) {
			this.evidence = Object.assign(file.read(), {waiting: new Map(waiting), clock})
			if (!file.lock()) this.evidence.finding("other_window")
			noteReceived(this.evidence, message, now)
			this.fresh = asked
		}
		noteReceived(asked, message, now)
	}

	// Go on with the evidence that there is only if the room still has its race.
	choose(state) {
		const {fresh, evidence} = this
		this.fresh = null
		if (!fresh || hasRaceOf(evidence, state)) return
		this.close()
		this.evidence = fresh
	}

	// Whether the room was opened anew while the page had no connection.
	isOtherRace(state) {
		const {evidence, fresh, hasResumed} = this
		return hasResumed && state.room === evidence.room && evidence.termsText && !fresh && !hasRaceOf(evidence, state)
	}

	// Return the request that a draw waits for, or null. What it needs is kept. As long as another tab keeps the facts, no
	// share is drawn.
	answer(state) {
		const {evidence} = this
		const draw = wantedShare(evidence, state)
		this.isShut = Boolean(draw && this.file && !this.file.lock())
		if (this.isShut) return null
		if (draw) evidence.plus(["share", draw, hex(this.newShare())])
		const request = answerTo(evidence, state)
		this.write()
		return request
	}

	// Another program of the player has taken over the seat.
	takenOver() {
		this.evidence.finding("other_window")
		this.write()
		this.close()
	}

	// What was found after the race.
	finds(rows) {
		for (const [row, detail] of rows) if (!this.evidence.found[row]) this.evidence.finding(row, detail)
		this.write()
	}

	write() {
		const {evidence} = this
		if (!evidence.fresh.length || !evidence.termsText) return
		if (evidence.role === "player") (this.file ??= this.create(evidence)).append(evidence.fresh)
		evidence.fresh = []
	}

	// How many earlier races did not begin with the player, who had revealed a share.
	get givenUp() {
		const others = racesIn(this.stored).filter(([number]) => this.file && number < this.file.number)
		const known = others.map(([number]) => new RaceFile(this.stored, number).read())
		return known.filter(({draws, begun, isOut}) => draws.length && (!begun || isOut)).length
	}

	create({room, player}) {
		const races = racesIn(this.stored)
		const number = (races.at(-1)?.[0] ?? 0) + 1
		const isFull = () => races.length >= MOST_RACES || races.reduce((sum, [, , , parts]) => sum + parts, 0) > MOST_PARTS
		while (isFull()) new RaceFile(this.stored, races.shift()[0]).remove()
		put(this.stored, "races", JSON.stringify([...races, [number, room, player, 1]]))
		return new RaceFile(this.stored, number)
	}

	// The newest race of a player in a room, whose seat the player has not lost or left, or null.
	reopen(room, player) {
		const [number] = racesIn(this.stored).findLast(race => race[1] === room && race[2] === player) ?? []
		const file = number && new RaceFile(this.stored, number)
		const {isOut, isKicked, own} = file ? file.read() : {isOut: true}
		return isOut || isKicked || own.has("leave") ? null : file
	}

	close() {
		this.file?.close()
		this.file = null
	}
}
