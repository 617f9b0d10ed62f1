// A racer's own play: the acknowledged board, the actions that the server has not answered, and what it takes to come
// back. Knows no DOM. PROTOCOL.md says what a client may do.

import {boardHash} from "./board_hash.js"
import {GAMES, onFoundations, played} from "./piles.js"

// The newest acknowledged revision, how it came about, and its receipt. In a race with a window, when the player has begun.
const NOTHING = {newest: -1, history: [], receipt: [], begun: null}

export class Racer {
	// `stored` keeps what recovers moves in the room, by name, and `on` has the functions changed() and refused(message). Then
	// set the `rule` for undo by each room state.
	constructor(link, room, stored, on) {
		Object.assign(this, {link, room, stored, on, pending: [], board: null, isLost: false, past: [], piles: null, rule: "off"})
		Object.assign(this, NOTHING, JSON.parse(stored.get((this.place = `seat ${room}`)) ?? "{}"))
	}

	// Take the seat, or come back to it. Throws a refusal.
	async enter(passphrase = "") {
		const {link} = this
		const {socket} = link
		clearTimeout(this.retrying)
		const revision = this.isLost ? -1 : (this.board?.revision ?? -1)
		Object.assign(this, {passphrase, retrying: 0})
		const joined = await link.ask("join", {room: this.room, passphrase, revision})
		link.nextId = Math.max(link.nextId, ...[...link.witness.evidence.sent.keys()].map(id => id + 1)) // of an earlier run
		this.room = joined.room
		await this.recover(joined.revision)
		this.entered = socket
		this.sendAll() // again, with the same ids
		return joined
	}

	// Send actions, unless they have to wait until the player is back, or until an earlier one is sent again.
	sendAll(all = this.pending) {
		if (!this.retrying && this.entered === this.link.socket) for (const pending of all) this.send(pending)
	}

	// Ask for the whole board. Until it comes, nobody knows on which one an action would be made.
	async resync() {
		this.isLost = true
		await this.link.ask("join", {room: this.room, passphrase: this.passphrase, revision: -1}).catch(({code}) => code && (this.isLost = false))
	}

	// Begin in a race with a window. Who has begun gets the first answer again, also from a server that has lost the attempt.
	async begin() {
		const {time, receipt} = await this.link.ask("begin", this.begun ? {...this.begun, receipt: Uint8Array.from(this.begun.receipt)} : {})
		this.keep({begun: {time, receipt: [...receipt]}})
	}

	// Give the server back acknowledged actions that it has lost. Without a board it has also lost that the player has begun.
	async recover(revision) {
		const isLost = revision < 0
		const from = Math.max(revision, 0)
		const lost = this.newest - from
		const mayAct = lost > 0 && lost <= this.history.length
		if (this.recovering || !(isLost ? this.begun : mayAct)) return
		this.recovering = true
		try {
			if (isLost) await this.begin()
			if (mayAct) await this.link.ask("recover", {revision: from, actions: this.history.slice(-lost), receipt: Uint8Array.from(this.receipt)})
		} catch ({code, retry_after, message}) {
			this.recovering = false
			if (!code) return
			if (retry_after || code === "unavailable") return this.link.lost(0, "The server is busy. Reconnecting.", 1000 * retry_after || 1)
			this.keep(NOTHING)
			this.on.refused(`The server has lost some of your moves, and does not take them back. ${message}`)
		}
		this.recovering = false
		if (mayAct && this.board?.revision !== this.newest) await this.resync()
	}

	keep(kept) {
		const {newest, history, receipt, begun} = Object.assign(this, kept)
		this.stored.set(this.place, JSON.stringify({newest, history, receipt, begun}))
	}

	receiveBoard({revision, game, piles, moves, undos, may_undo: mayUndo}) {
		this.isLost = false
		const awaited = this.pending.map(pending => pending.revision)
		const comes = this.board && Array.from({length: revision - this.board.revision}, (_, i) => this.board.revision + i)
		if (comes?.length && comes.every(each => awaited.includes(each))) return // the answers will lead there
		this.game = game
		this.past = []
		this.fromDeal = revision === 0
		this.pending = this.pending.filter(pending => pending.revision >= revision)
		this.board = {revision, piles: piles.map(pile => [...pile]), moves, undos, mayUndo}
		if (revision < this.newest) this.recover(revision)
		this.predict()
	}

	// What the player sees: the acknowledged board with all unanswered moves before the first that turns up a card.
	predict() {
		let {piles, revision} = this.board
		this.awaited = ""
		for (const {action} of this.pending) {
			const next = action !== "undo" && played(this.game, piles, action)
			if (!next) {
				this.awaited = action
				break
			}
			piles = next
			revision++
		}
		this.awaits = revision < this.next
		this.piles = piles
		this.on.changed()
	}

	get next() {
		return (this.pending.at(-1)?.revision ?? this.board.revision - 1) + 1
	}

	// How many cards of each pile wait for an answer: those that have come there, and one where a card will be turned up.
	get unsure() {
		const from = /^(draw|deal)$/.test(this.awaited) ? "stock" : this.awaited.split(" ")[0]
		const more = (pile, i) => pile.length - this.board.piles[i].length
		return this.piles.map((pile, i) => Math.max(GAMES[this.game].piles[i].key === from, more(pile, i)))
	}

	get mayUndo() {
		const {action} = this.pending.at(-1) ?? {}
		return Boolean(this.board) && (action ? action !== "undo" && !this.awaits && this.rule !== "off" : this.board.mayUndo)
	}

	act(action) {
		if (this.isLost) return
		const pending = {id: this.link.nextId++, revision: this.next, action}
		this.pending.push(pending)
		this.predict()
		this.sendAll([pending])
	}

	async send(pending) {
		const {id, revision, action} = pending
		pending.answered = this.link.ask("act", {id, revision, action}).then(
			answer => this.acked(pending, answer),
			refusal => refusal.code && this.refused(pending, refusal) // without a code, the connection is lost
		)
		await pending.answered
	}

	acked(pending, answer) {
		this.pending = this.pending.filter(each => each !== pending)
		const {board} = this
		const {action, id} = pending
		const revision = pending.revision + 1
		if (revision <= board.revision) return this.predict()
		const {hash, time, receipt, seen, piles: whole, may_undo: mayUndoMore = true} = answer
		const isUndo = action === "undo"
		const mayUndo = isUndo ? mayUndoMore : this.rule === "free" || (this.rule === "no-reveal" && !seen?.length)
		const piles = isUndo ? whole?.map(pile => [...pile]) : played(this.game, board.piles, action, seen)
		if (revision !== board.revision + 1 || !piles || String(boardHash(this.game, piles)) !== String(hash)) return this.resync()
		if (!isUndo) this.past.push({piles: board.piles, mayUndo: board.mayUndo})
		else if (!this.past.pop()) this.fromDeal = false
		this.board = {revision, piles, moves: board.moves + !isUndo, undos: board.undos + isUndo, mayUndo, time}
		const before = revision === this.newest + 1 ? this.history : []
		// As many as one request to recover them may have.
		this.keep({newest: revision, history: [...before, {id, action, time}].slice(-200), receipt: [...receipt]})
		this.predict()
	}

	async refused(pending, {code, message, retry_after, revision}) {
		if (!this.pending.includes(pending) || code === "fault") return // the server closes, and the next connection sends it again
		const isUndecided = ["unavailable", "rate_limited", "draining"].includes(code) // so the same request is sent again
		if (this.retrying && (isUndecided || code === "stale")) return
		if (isUndecided) {
			if (code === "unavailable" && revision >= 0) this.on.refused(message) // nothing was saved
			const all = this.pending
			this.retrying = setTimeout(async () => {
				await Promise.allSettled(all.filter(each => each !== pending).map(each => each.answered))
				this.retrying = 0
				this.sendAll()
			}, 1000 * (retry_after || 1))
			return
		}
		this.pending = this.pending.filter(each => each.revision < pending.revision)
		this.predict()
		this.on.refused(message, code)
		if (code === "stale" || (revision >= 0 && revision !== this.next)) this.resync()
	}

	// What has to be proved if the player is stuck: that from the earliest board to which the player can come back, nothing
	// leads to more cards on the foundations. Null if that proves nothing.
	get stuckClaim() {
		const {game, past} = this
		let [first, at] = [this.board, past.length]
		while (at && first.mayUndo) first = past[--at]
		if (this.pending.length || (!at && !this.fromDeal && first.mayUndo)) return null
		return {game, piles: first.piles, most: onFoundations(game, this.board.piles)}
	}
}
