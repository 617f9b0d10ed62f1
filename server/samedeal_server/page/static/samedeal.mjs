// A player for programs of others (JAVASCRIPT.md). With the modules of the page that it needs, it is served as one file.

import {allMoves} from "./legal_moves.js"
import {Link} from "./link.js"
import {Racer} from "./racer.js"
import {Witness} from "./witness.js"

export class Player {
	room = null // the newest RoomState, with the counts of all players

	// `on` has functions that are told of news: room(), board(), said(sentence), and status(sentence, isLive).
	constructor(address, {name, room = "", options = null, window = 0, passphrase = "", bot = true, stored = new Map()}, on = {}) {
		const witness = new Witness(stored, undefined, bot)
		Object.assign(this, {code: room, options: room ? null : options, window, passphrase, stored, on, witness})
		const place = {address, about: {client: "samedeal.mjs", bot}, session: stored.get("session") ?? "", keep: (key, value) => stored.set(key, value)}
		this.link = new Link(this, place, name, room)
		this.link.witness = witness
	}

	// The player's own seat in the room.
	get seat() {
		return this.room?.players.find(each => each.player === this.link.player)
	}

	// The board as the player sees it, once it is dealt: each pile has bytes of cards, the top one last.
	get piles() {
		return this.racer?.piles
	}

	get mayUndo() {
		return this.racer.mayUndo
	}

	// The legal moves. There are none while a card or the whole board is awaited.
	get moves() {
		const {game, piles, awaits, isLost} = this.racer ?? {}
		return piles && !awaits && !isLost ? allMoves(game, piles) : []
	}

	// Make a move, or undo one. It is sent until the server has answered, over as many connections as that takes.
	act(action) {
		this.racer.act(action)
	}

	// Begin the player's attempt in a race with a window.
	begin() {
		return this.racer.begin()
	}

	// Send another request, such as "ready", and return its answer. Throws what the server refuses.
	ask(type, fields) {
		return this.link.ask(type, fields)
	}

	// Disconnect. The seat stays the player's.
	close() {
		this.link.stop("")
	}

	async enter() {
		const {link, witness, on, stored} = this
		try {
			if (!this.code) this.code = (await link.ask("create", {options: this.options, window: this.window})).room
			link.room = this.code
			if (!this.racer) {
				witness.asks("player", this.code, this.options ? {options: this.options, window: this.window} : {}, link.player, link.called)
				const news = {changed: () => on.board?.(), refused: message => on.said?.(message)}
				this.racer = new Racer(link, this.code, stored, news)
			}
			await this.racer.enter(this.passphrase)
		} catch ({code, message, retry_after}) {
			if (retry_after) return link.lost(0, message, 1000 * retry_after)
			if (code) link.stop(message)
		}
	}

	receive(message) {
		const {racer, link, on} = this
		if (message.type === "roomstate") {
			this.room = message
			racer.rule = message.options.undo
			const {type, ...fields} = this.witness.answer(message) ?? {}
			if (type) link.ask(type, fields).catch(() => {}) // asked again with the next state
			const [row] = this.witness.evidence.contradiction ?? []
			if (row && row !== this.contradicted) on.said?.(`The server contradicts itself (${row}). It gets no share any more.`)
			this.contradicted = row
			on.room?.()
		} else if (message.type === "boardstate") racer.receiveBoard(message)
		else if (message.type === "progressupdate") {
			const {seat, type, ...changes} = message
			const {player} = this.room.players.find(each => each.seat === seat) ?? {}
			Object.assign(this.room.tallies.find(each => each.player === player) ?? {}, changes)
			on.room?.()
		} else if (message.type === "notice") on.said?.(message.message)
	}

	showStatus() {
		this.on.status?.(this.link.sentence, this.link.live)
	}

	unseat(sentence) {
		this.link.stop(sentence)
	}

	leaveOther() {
		this.link.stop("The room was opened anew, for another race.")
	}
}
