// The connection to the server. It reconnects by itself, and says why while it cannot.

import {decode, encode} from "./msgpack.js"

const SUBPROTOCOL = "samedeal.v1"
const SILENCE = 10_000 // ms without a message before the page sends a ping
const MOVE_TIMEOUT = 2 // s without an answer to a move before it does so too, and says how long the player waits
const SLEPT = 2000 // ms by which the two clocks differ after a sleep
const ANSWER_TIMEOUT = 5000 // ms without an answer before it reconnects
const LONGEST_WAIT = 15_000 // ms between two attempts to connect
const SOON = 1000 // ms between two attempts while nobody answers, which cost nothing
const ofRules = ({type, code}) => type === "refused" && /^(illegal|cannot_undo)$/.test(code) // what needs no sender
const MISFIT = "This page and the server do not understand each other. Reload the page."
const OLD_CODE = "This link was used, or is older than ten minutes. Ask for another one on your other device."
const NO_CONNECTION = Object.assign(new Error("The connection is lost. Try again."), {isLost: true})

export class Link {
	live = false
	sentence = "Connecting." // why the connection is not live

	// `screen` comes later. It has the methods enter() and showStatus(), and may have receive(message), leaveOther() and
	// unseat(sentence). `place` has the address, what Hello says `about` the program, the session, and keep(name, value),
	// which keeps the session of whoever takes a seat, and so has a name. All racers of a room connect at the path that the
	// server names, so that a proxy can send them to the same node.
	constructor(screen, place, name = "", room = "") {
		Object.assign(this, place, {screen, name, room, notes: room ? [] : null, attempts: 0, offset: 0, nextId: 1})
		setInterval(() => this.check(), 1000)
		for (const event of ["online", "visibilitychange"]) addEventListener(event, () => this.hurry())
		addEventListener("pagehide", () => this.drop()) // so that a page that is left writes nothing that it has yet to hear
		addEventListener("pageshow", ({persisted}) => persisted && !this.stopped && this.connect())
		this.connect()
	}

	async tell(method, ...news) {
		const screen = await this.screen
		screen[method]?.(...news)
	}

	status(live, sentence = "") {
		Object.assign(this, {live, sentence})
		document.documentElement.classList.toggle("online", live)
		this.tell("showStatus")
	}

	// Tell the witness what is sent and received (its methods and their arguments). Until there is one, it is noted.
	note(method, ...news) {
		if (this.witness) this.witness[method](...news)
		else this.notes?.push([method, ...news])
	}

	listen(witness) {
		this.witness = witness
		for (const noted of this.notes?.splice(0) ?? []) this.note(...noted)
		return witness
	}

	// The time of the server. The clock of the device may be set at any time, so it has no part in this.
	now() {
		return performance.now() + this.offset
	}

	connect() {
		clearTimeout(this.retry)
		Object.assign(this, {retry: 0, answers: new Map(), heard: performance.now(), pinged: 0, opened: false, welcomed: 0})
		const home = this.room && this.attempts % 2 < 1 ? this.home || `/${this.name ? "r" : "w"}/${this.room}` : "/" // any node will do
		this.socket = new WebSocket(this.address + home, SUBPROTOCOL)
		this.socket.binaryType = "arraybuffer"
		this.socket.onopen = () => {
			this.opened = true
			this.hello()
		}
		this.socket.onmessage = ({data}) => this.receive(data)
		this.socket.onclose = ({code}) => this.lost(code)
	}

	async hello() {
		try {
			const sent = performance.now()
			const name = this.name || "spectator"
			const {session, player, time, tides = [], house, name: called} = await this.ask("hello", {...this.about, name, session: this.session})
			Object.assign(this, {session, player, tides, house, called, welcomed: performance.now()})
			if (this.name) this.keep("session", session)
			if (this.isMoving) this.keep("name", this.name)
			this.isMoving = false
			this.offset = time - (sent + this.welcomed) / 2
			this.status(true)
			this.tell("enter")
			this.ping() // for the witness
		} catch ({code, message, retry_after}) {
			const isUnknown = code === "no_session"
			const why = isUnknown ? this.isMoving && OLD_CODE : code === "malformed" && this.name && message
			if (isUnknown || why) {
				if (isUnknown) this.session = ""
				if (why) this.tell("unseat", why)
				if (why) this.name = ""
				this.hello()
			} else if (code === "banned") this.stop(message)
			else if (code) this.lost(0, message, 1000 * retry_after)
		}
	}

	// The seconds for which the oldest unanswered move has waited, or 0 while that is usual.
	get waiting() {
		const {at} = [...this.answers.values()].find(({type}) => type === "act") ?? {}
		const seconds = Math.floor((performance.now() - at) / 1000)
		return seconds >= MOVE_TIMEOUT && seconds
	}

	// Send a request, and return its answer. Throws a refusal, or an Error without a code if there is no connection.
	ask(type, {id = this.nextId++, ...fields} = {}) {
		return new Promise((resolve, reject) => {
			if (this.socket.readyState !== WebSocket.OPEN) return reject(NO_CONNECTION)
			this.answers.set(id, {resolve, reject, type, at: performance.now()})
			const request = {type, id, ...fields}
			this.note("sends", request, Math.round(performance.now()))
			this.socket.send(encode(request))
		})
	}

	receive(data) {
		if (this.pinged && this.welcomed) this.status(true)
		Object.assign(this, {heard: performance.now(), pinged: 0})
		let message
		try {
			message = decode(data)
			if ("message" in message && !ofRules(message)) message.message = `${message.code === "said" ? "Message from the operator" : "Server"}: ${message.message}`
			if (message.type === "roomstate" && this.witness?.isOtherRace(message)) return this.tell("leaveOther")
			this.note("receives", message, Math.round(performance.now()))
		} catch {
			return this.lost(0, MISFIT)
		}
		if (message.type === "joined" && !this.home && !this.socket.url.endsWith((this.home = message.path || ""))) {
			this.drop()
			return this.connect() // once for each room
		}
		if (!("to" in message)) return this.tell("receive", message)
		const isRefused = message.type === "refused"
		const id = isRefused && message.to < 0 ? Math.min(...this.answers.keys()) : message.to // it could not read a request
		const asked = this.answers.get(id)
		this.answers.delete(id)
		asked?.[isRefused ? "reject" : "resolve"](message)
	}

	// Notice a connection that ended without a close. A device that has slept may have stopped the clock of the page, but
	// not its own.
	check() {
		const now = performance.now()
		const drift = Date.now() - now
		const hasSlept = Math.abs(drift - (this.drift ?? drift)) > SLEPT
		this.drift = drift
		const isSilent = hasSlept || now - this.heard >= SILENCE
		if (this.retry || this.stopped || !(isSilent || this.pinged || this.waiting)) return
		if (!this.pinged) {
			this.pinged = now
			this.ping()
		} else if (now - this.pinged > ANSWER_TIMEOUT) this.lost(0)
		else if (isSilent && this.welcomed) this.status(false, "The server does not answer.")
	}

	// Say also whether the player looks. A connection that is lost is noticed elsewhere.
	ping() {
		const sent = performance.now()
		this.ask("ping", {away: document.hidden})
			.then(({time}) => (this.offset = time - (sent + performance.now()) / 2))
			.catch(() => {}) // the connection is lost
	}

	hurry() {
		if (!this.retry) {
			this.ping()
			this.check()
		} else if (!this.stopped && !document.hidden) this.connect()
	}

	stop(sentence) {
		this.stopped = true
		this.drop()
		this.status(false, sentence)
	}

	drop() {
		const {socket, answers} = this
		socket.onopen = socket.onmessage = socket.onclose = null
		socket.close()
		for (const {reject} of answers.values()) reject(NO_CONNECTION)
		answers.clear()
		clearTimeout(this.retry)
	}

	// Connect again with another name.
	rename(name) {
		this.drop()
		Object.assign(this, {name, attempts: 0, stopped: false}).connect()
	}

	lost(code, sentence = "The connection is lost. Reconnecting.", wait = 0) {
		if (this.stopped) return
		if (code === 4000 || code === 4001) return this.stop(MISFIT)
		// A request to join over the connection before may have come late, and taken the seat from this one.
		const isLate = this.lateJoin && performance.now() - this.lateJoin < 60_000
		this.lateJoin = [...this.answers.values()].some(each => each.type === "join") && performance.now()
		if (code === 4002 && !isLate) {
			this.note("takenOver")
			return this.stop(`${this.hasGivenCode ? "You play on another device now." : "Your seat is now used in another tab or program."} Reload the page to go on here.`)
		}
		if (code === 4006) return this.stop("You are banned from this server.")
		this.drop()
		if (this.welcomed && performance.now() - this.welcomed > LONGEST_WAIT) this.attempts = 0
		if (code === 4005) wait = 60_000
		const usual = Math.min(LONGEST_WAIT, 400 * 2 ** this.attempts++) * (0.5 + Math.random())
		this.retry = setTimeout(() => this.connect(), wait || usual)
		this.status(false, sentence)
		if (!this.opened && this.attempts > 1) this.diagnose()
	}

	// Say why no connection opens. A browser can connect to a server of another protocol only without naming one. With a
	// POST it names the origin of the page, as in a handshake, so that the server says whether it refuses the page.
	async diagnose() {
		const answer = await fetch(".", {method: "POST"}).catch(() => 0)
		if (!answer && this.retry) {
			clearTimeout(this.retry) // nothing is in the way of another try
			this.retry = setTimeout(() => this.connect(), SOON * (0.5 + Math.random()))
			return this.status(false, "The server cannot be reached. Trying again.")
		}
		const text = answer && (await answer.text())
		const socket = new WebSocket(this.address + "/")
		const {code, reason} = await new Promise(resolve => (socket.onclose = resolve))
		if (!this.retry || this.welcomed) return
		if (code === 4000 && !reason.includes(SUBPROTOCOL)) return this.stop(MISFIT)
		const isRefused = answer.status === 403 && /^text\/plain/.test(answer.headers.get("content-type"))
		const full = [429, 503].includes(answer.status) && "The server is full or busy. Trying again."
		const blocked = "Something between this browser and the server blocks WebSockets, perhaps a proxy. Trying again."
		this.status(false, isRefused ? text : full || blocked)
	}
}
