// The connection to the server. It reconnects by itself, and says why while it cannot.

import { decode, encode } from "./msgpack.js";

const SUBPROTOCOL = "samedeal.v1";
const SILENCE = 10_000; // ms without a message, after which the page sends a ping
const LONGEST_WAIT = 15_000; // ms between two attempts to connect
const MISFIT = "This page and the server do not understand each other. Reload the page.";
const FATAL = { 1002: MISFIT, 1007: MISFIT, 1009: MISFIT, 4000: MISFIT, 4001: MISFIT, 4006: "You are banned from this server." };

const base = new URL(".", location.href);
export const address = base.href.replace(/^http/, "ws").replace(/\/$/, "");

export class Refused extends Error {
	constructor({ code, message, retry_after }) {
		super(message);
		this.code = code;
		this.retryAfter = retry_after;
	}
}

export class Link {
	// `on` has the functions welcome(), message(message) and status(live, sentence).
	constructor(on) {
		this.on = on;
		this.attempts = 0;
		this.neverOpened = 0;
		this.offset = 0;
		this.bestTrip = Infinity;
		this.session = remember("session");
		setInterval(() => this.check(), 2500);
		addEventListener("online", () => this.hurry());
		document.addEventListener("visibilitychange", () => document.hidden || (this.check(), this.hurry()));
		this.connect();
	}

	now() {
		return Date.now() + this.offset;
	}

	connect() {
		clearTimeout(this.retry);
		this.retry = 0;
		this.answers = new Map();
		this.nextId = 1;
		this.heard = Date.now();
		this.pinged = 0;
		this.welcomed = 0;
		let opened = false;
		const socket = (this.socket = new WebSocket(address + "/", SUBPROTOCOL));
		socket.binaryType = "arraybuffer";
		socket.onopen = () => {
			opened = true;
			this.neverOpened = 0;
			if (socket.protocol !== SUBPROTOCOL) return; // the server closes with 4000
			this.hello();
		};
		socket.onmessage = ({ data }) => this.receive(data);
		socket.onclose = ({ code }) => this.lost(code, opened);
	}

	async hello() {
		try {
			const hello = { name: "spectator", client: "samedeal page", session: this.session };
			const welcome = await this.ask("hello", hello);
			this.session = remember("session", welcome.session);
			this.welcomed = Date.now();
			this.on.status(true, "");
			this.ping();
			this.on.welcome();
		} catch (error) {
			if (error.code === "no_session") {
				this.session = "";
				this.hello();
			} else if (error.code === "banned") this.stop(error.message);
			else if (error instanceof Refused) this.lost(0, true, error.message, 1000 * error.retryAfter);
		}
	}

	// Send a request. The promise is fulfilled with its answer, and rejected with Refused or when the connection is lost.
	ask(type, fields = {}) {
		return new Promise((resolve, reject) => {
			if (this.socket.readyState !== WebSocket.OPEN) return reject(new Error("not connected"));
			const id = this.nextId++;
			this.answers.set(id, { resolve, reject });
			this.socket.send(encode({ type, id, ...fields }));
		});
	}

	receive(data) {
		this.heard = Date.now();
		let message;
		try {
			message = decode(data);
		} catch {
			return this.lost(0, true, "The server sent something that this page cannot read.");
		}
		if (!("to" in message)) return this.on.message(message);
		const id = message.to < 0 ? Math.min(...this.answers.keys()) : message.to;
		const waiting = this.answers.get(id);
		this.answers.delete(id);
		if (message.type === "refused") waiting.reject(new Refused(message));
		else waiting.resolve(message);
	}

	async ping() {
		const sent = (this.pinged = Date.now());
		try {
			const { time } = await this.ask("ping");
			const trip = Date.now() - sent;
			this.pinged = 0;
			if (trip > this.bestTrip) return;
			this.bestTrip = trip;
			this.offset = time - (sent + trip / 2);
		} catch {
			// the connection is lost
		}
	}

	// Notice a connection that is dead without a word, as after a laptop has slept.
	check() {
		if (this.retry || this.stopped) return;
		const now = Date.now();
		if (this.pinged && now - this.pinged > SILENCE) this.lost(0, true);
		else if (!this.pinged && this.welcomed && now - this.heard > SILENCE) this.ping();
		else if (!this.welcomed && now - this.heard > 2 * SILENCE) this.lost(0, false);
	}

	hurry() {
		if (this.retry && !this.stopped) this.connect();
	}

	stop(sentence) {
		this.stopped = true;
		this.drop();
		this.on.status(false, sentence);
	}

	drop() {
		const socket = this.socket;
		socket.onopen = socket.onmessage = socket.onclose = null;
		socket.close();
		for (const { reject } of this.answers.values()) reject(new Error("the connection was lost"));
		this.answers.clear();
		clearTimeout(this.retry);
	}

	lost(code, opened, sentence = "", wait = 0) {
		if (this.stopped) return;
		if (FATAL[code]) return this.stop(FATAL[code]);
		this.drop();
		if (this.welcomed && Date.now() - this.welcomed > LONGEST_WAIT) this.attempts = 0;
		if (code === 1012 && this.attempts === 0) wait = wait || 100;
		if (code === 4005) wait = 60_000;
		const usual = Math.min(LONGEST_WAIT, 400 * 2 ** this.attempts++) * (0.5 + Math.random());
		this.retry = setTimeout(() => this.connect(), wait || usual);
		this.on.status(false, sentence || "The connection is lost. Reconnecting.");
		if (!opened && ++this.neverOpened > 1) this.diagnose();
	}

	// Tell a server that is away from a network that lets pages through, but no WebSockets.
	async diagnose() {
		const busy = "The server is full or busy. Trying again.";
		const blocked = "Something between this browser and the server blocks WebSockets, perhaps a proxy. Trying again.";
		const sentence = await fetch(base, { method: "HEAD", cache: "no-store" }).then(
			({ status }) => (status === 503 || status === 429 ? busy : blocked),
			() => "The server cannot be reached. Trying again.",
		);
		if (this.retry && !this.welcomed) this.on.status(false, sentence);
	}
}

// Storage may be forbidden, as in a frame.
export function remember(key, value, store = "sessionStorage") {
	try {
		if (value !== undefined) window[store].setItem(`samedeal.${key}`, value);
		return window[store].getItem(`samedeal.${key}`) || "";
	} catch {
		return value || "";
	}
}
