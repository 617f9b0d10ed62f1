// The connection to the server. It reconnects by itself, and says why while it cannot.

import {decode, encode} from "./msgpack.js"

const SUBPROTOCOL = "samedeal.v1"
const SILENCE = 10_000 // ms without a message, after which the page sends a ping
const LONGEST_WAIT = 15_000 // ms between two attempts to connect
const MISFIT = "This page and the server do not understand each other. Reload the page."
const FATAL = {1002: MISFIT, 1007: MISFIT, 1009: MISFIT, 4000: MISFIT, 4001: MISFIT, 4006: "You are banned from this server."}
const BLOCKED = "Something between this browser and the server blocks WebSockets, perhaps a proxy. Trying again."

export const isFrame = new URLSearchParams(location.search).has("embed")
export const to = path => (isFrame ? `${path}${path.includes("?") ? "&" : "?"}embed` : path) // a frame stays one
const base = new URL(".", location.href)
export const address = base.href.replace(/^http/, "ws").replace(/\/$/, "")

export class Refused extends Error {
	constructor({code, message, retry_after}) {
		super(message)
		this.code = code
		this.retryAfter = retry_after
	}
}

export class Link {
	// `on` has the functions welcome(), message(message) and status(live, sentence).
	constructor(on) {
		Object.assign(this, {on, attempts: 0, neverOpened: 0, offset: 0, bestTrip: Infinity, session: remember("session")})
		setInterval(() => this.check(), 2500)
		addEventListener("online", () => this.hurry())
		document.addEventListener("visibilitychange", () => document.hidden || (this.check(), this.hurry()))
		this.connect()
	}

	now() {
		return Date.now() + this.offset
	}

	connect() {
		clearTimeout(this.retry)
		Object.assign(this, {retry: 0, answers: new Map(), nextId: 1, heard: Date.now(), pinged: 0, welcomed: 0})
		let opened = false
		const socket = (this.socket = new WebSocket(address + "/", SUBPROTOCOL))
		socket.binaryType = "arraybuffer"
		socket.onopen = () => {
			opened = true
			this.neverOpened = 0
			if (socket.protocol === SUBPROTOCOL) this.hello() // otherwise the server closes with 4000
		}
		socket.onmessage = ({data}) => this.receive(data)
		socket.onclose = ({code}) => this.lost(code, opened)
	}

	async hello() {
		try {
			const {session} = await this.ask("hello", {name: "spectator", client: "samedeal page", session: this.session})
			this.session = remember("session", session)
			this.welcomed = Date.now()
			this.on.status(true, "")
			this.ping()
			this.on.welcome()
		} catch (error) {
			if (error.code === "no_session") {
				this.session = ""
				this.hello()
			} else if (error.code === "banned") this.stop(error.message)
			else if (error.code) this.lost(0, true, error.message, 1000 * error.retryAfter)
		}
	}

	// Send a request. The promise is fulfilled with its answer, and rejected with Refused or when the connection is lost.
	ask(type, fields = {}) {
		return new Promise((resolve, reject) => {
			if (this.socket.readyState !== WebSocket.OPEN) return reject(new Error("not connected"))
			const id = this.nextId++
			this.answers.set(id, {resolve, reject})
			this.socket.send(encode({type, id, ...fields}))
		})
	}

	receive(data) {
		this.heard = Date.now()
		let message
		try {
			message = decode(data)
		} catch {
			return this.lost(0, true, "The server sent something that this page cannot read.")
		}
		if (!("to" in message)) return this.on.message(message)
		const id = message.to < 0 ? Math.min(...this.answers.keys()) : message.to
		const {resolve, reject} = this.answers.get(id)
		this.answers.delete(id)
		if (message.type === "refused") reject(new Refused(message))
		else resolve(message)
	}

	async ping() {
		const sent = (this.pinged = Date.now())
		try {
			const {time} = await this.ask("ping")
			const trip = Date.now() - sent
			this.pinged = 0
			if (trip <= this.bestTrip) Object.assign(this, {bestTrip: trip, offset: time - (sent + trip / 2)})
		} catch {
			// the connection is lost
		}
	}

	// Notice a connection that is dead without a word, as after a laptop has slept.
	check() {
		if (this.retry || this.stopped) return
		const now = Date.now()
		const silent = now - this.heard
		if (this.pinged && now - this.pinged > SILENCE) this.lost(0, true)
		else if (!this.pinged && this.welcomed && silent > SILENCE) this.ping()
		else if (!this.welcomed && silent > 2 * SILENCE) this.lost(0, false)
	}

	hurry() {
		if (this.retry && !this.stopped) this.connect()
	}

	stop(sentence) {
		this.stopped = true
		this.drop()
		this.on.status(false, sentence)
	}

	drop() {
		const {socket} = this
		socket.onopen = socket.onmessage = socket.onclose = null
		socket.close()
		for (const {reject} of this.answers.values()) reject(new Error("the connection was lost"))
		this.answers.clear()
		clearTimeout(this.retry)
	}

	lost(code, opened, sentence = "The connection is lost. Reconnecting.", wait = 0) {
		if (this.stopped) return
		if (FATAL[code]) return this.stop(FATAL[code])
		this.drop()
		if (this.welcomed && Date.now() - this.welcomed > LONGEST_WAIT) this.attempts = 0
		if (code === 1012 && this.attempts === 0) wait = 100
		if (code === 4005) wait = 60_000
		const usual = Math.min(LONGEST_WAIT, 400 * 2 ** this.attempts++) * (0.5 + Math.random())
		this.retry = setTimeout(() => this.connect(), wait || usual)
		this.on.status(false, sentence)
		if (!opened && ++this.neverOpened > 1) this.diagnose()
	}

	// Tell a server that is away from a network that lets pages through, but no WebSockets.
	async diagnose() {
		const status = await fetch(base, {method: "HEAD", cache: "no-store"}).then(
			answer => answer.status,
			() => 0
		)
		if (!this.retry || this.welcomed) return
		const full = status === 503 || status === 429
		this.on.status(
			false,
			full ? "The server is full or busy. Trying again." : status ? BLOCKED : "The server cannot be reached. Trying again."
		)
	}
}

// Storage may be forbidden, as in a frame.
export function remember(key, value, store = "sessionStorage") {
	try {
		if (value !== undefined) window[store].setItem(`samedeal.${key}`, value)
		return window[store].getItem(`samedeal.${key}`) || ""
	} catch {
		return value || ""
	}
}
