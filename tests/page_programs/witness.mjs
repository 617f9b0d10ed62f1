// What the page keeps of its race, asks for and believes, with a connection that the test holds.

import {appendFileSync} from "node:fs"

for (const [module, more] of [["deep_check.js", "verdict.js"], ["witness.js", "evidence.js"]])
	appendFileSync(new URL(module, import.meta.url), `\nexport * from "./${more}"\n`) // their bundles have it too
const kept = {}
const memory = {
	get: key => kept[key] ?? null,
	set: (key, value) => (value === null ? delete kept[key] : (kept[key] = value))
}
globalThis.location = {href: "http://x.test/k7", search: "", host: "x.test", pathname: "/k7"}
globalThis.localStorage = {getItem: memory.get, setItem: memory.set, removeItem: key => memory.set(key, null)}
globalThis.document = {documentElement: {classList: {toggle() {}}}, getElementById: () => null, addEventListener() {}}
globalThis.addEventListener = () => {}
globalThis.isSecureContext = true
globalThis.setInterval = () => 0
class Socket {
	static OPEN = 1
	readyState = 1
	constructor() {
		globalThis.socket = this
	}
	send() {}
	close() {}
}
globalThis.WebSocket = Socket
const {Witness} = await import("./witness.js")
const {enteredRoom, here, want, wantedIn} = await import("./here.js")
const {Link} = await import("./link.js")
const {decode, encode} = await import("./msgpack.js")
const {unhex} = await import("./hash.js")

const pause = () => new Promise(resolve => setTimeout(resolve, 5))
const told = []
const screen = {showStatus() {}, status() {}, receive: message => told.push(message), message: each => told.push(each)}
const message = text => decode(unhex(text).buffer)
const hears = fields => socket.onmessage({data: encode(fields).buffer})

function seated(witness, id, revision) {
	witness.asks("player", "k7", {}, "p1", "ana")
	witness.sends({type: "join", id, room: "k7"}, id)
	witness.receives({type: "joined", to: id, room: "k7", seat: 1, generation: 1, revision}, id)
}

export async function readWithoutConnection() {
	const {readRace} = await import("./deep_check.js")
	const link = new Link(screen, here, "ana", "k7")
	socket.readyState = 3
	const [without, refused] = [() => link.ask(), () => Promise.reject({code: "no_room", message: "No."})]
	const answers = [without, without, refused]
	const {faults} = await readRace({ask: () => answers.shift()()}, "k7", {}, () => {})
	return faults
}

export async function faultsWithoutRecord() {
	const [{Reading}, {rowSentence}] = await Promise.all([import("./verdict.js"), import("./row_sentence.js")])
	return new Reading({}).faults.map(rowSentence)
}

export function unansweredMove() {
	const sent = []
	let now = 1e12
	performance.now = () => now
	document.hidden = false
	Socket.prototype.send = data => sent.push(decode(data.buffer).type)
	const link = new Link(screen, here, "ana", "k7")
	const pass = seconds => {
		for (let second = 0; second < seconds; second++) {
			now += 1000
			link.check()
		}
		return [link.waiting || 0, sent.splice(0).join(" "), link.retry ? "lost" : ""]
	}
	Object.assign(link, {live: true, welcomed: now})
	const found = [pass(3)]
	link.ask("act", {revision: 0, action: "draw"}).catch(() => {})
	found.push(pass(1), pass(1), pass(3))
	hears({type: "pong", to: 2, time: 0})
	return [...found, pass(1), pass(5), link.live, pass(1)]
}

export async function answersWithoutName() {
	const link = new Link(screen, here, "ana", "k7")
	const answered = []
	const act = link.ask("act", {id: 50, revision: 0, action: "draw"})
	act.then(({type}) => answered.push(type), ({message}) => answered.push(message))
	for (const fields of [{type: "acked"}, {type: "refused", code: "malformed", message: "No."}]) {
		hears({to: -1, ...fields})
		await pause()
	}
	return answered
}

export async function notices() {
	new Link(screen, here, "ana", "k7")
	for (const code of ["not_fair", "said"]) hears({type: "notice", message: "Fair.", code})
	await pause()
	return told.map(({message}) => message)
}

export function racerWhoWatches() {
	const witness = new Witness(memory)
	seated(witness, 1, 0)
	witness.evidence.begun = {start: 5, racers: []}
	witness.asks("spectator", "k7", {}, "p1", "ana")
	witness.sends({type: "watch", id: 2, room: "k7"}, 2)
	witness.receives({type: "watching", to: 2, room: "k7", delay: 0}, 3)
	return witness.evidence.role
}

export function spectatorOfStates(states) {
	const witness = new Witness(memory)
	witness.asks("spectator", "k7", {}, "p9", "sue")
	return states.map((state, id) => {
		witness.sends({type: "watch", id, room: "k7"}, id)
		witness.receives({type: "watching", to: id, room: "k7", delay: 15}, id)
		witness.receives(message(state), id)
		return [Object.keys(witness.evidence.found), witness.evidence.commitment]
	})
}

export const racersOfStates = states =>
	states.map((state, id) => {
		const witness = new Witness(memory)
		seated(witness, id, -1)
		witness.receives(message(state), id)
		witness.close()
		return [Object.keys(witness.evidence.found), witness.evidence.results.length]
	})

export function wantedUntilEntered() {
	want("k7", {round: 0})
	enteredRoom("other")
	const before = wantedIn("k7")
	enteredRoom("k7")
	return [before, wantedIn("k7")]
}

export async function rematch(state) {
	const {rematchOf} = await import("./race_state.js")
	return rematchOf(message(state))
}

async function judging(terms) {
	globalThis.matchMedia = () => ({matches: false})
	performance.getEntriesByType = () => [{type: "navigate"}]
	const {RaceScreen} = await import("./race_screen.js")
	const witness = new Witness(memory)
	witness.evidence.plus(["asked", "spectator", "k7", {}]).plus(["shown", terms, "", null])
	const on = {reads() {}}
	const link = {witness, ask: async () => (on.reads(), Promise.reject({code: "no_room", message: "No."}))}
	const shown = []
	const screen = {link, room: "k7", credentials: {}, showVerdict: ({kind}) => shown.push(kind)}
	return {witness, on, shown, judge: () => RaceScreen.prototype.judge.call(screen)}
}

export async function judgedAgain(terms) {
	const {witness, shown, judge} = await judging(terms)
	await judge()
	await judge()
	witness.evidence.plus(["boardwatched", "p1", 1, "", 1, 0, 5])
	await judge()
	return shown
}

export async function judgedTooLate(terms) {
	const {witness, on, shown, judge} = await judging(terms)
	on.reads = () => witness.asks("spectator", "k8", {}, "p9", "sue") ?? (witness.evidence = witness.next)
	await judge()
	return [shown, Object.keys(witness.evidence.found)]
}

export const contradictsTerms = states =>
	states.map((state, id) => {
		const witness = new Witness(memory)
		seated(witness, id, -1)
		witness.receives(message(state), id)
		witness.close()
		return "contradicting_terms" in witness.evidence.found
	})
