// A racer's own play: the acknowledged board, the actions that the server has not answered, and what it takes to come
// back. Knows no DOM. PROTOCOL.md says what a client may do.

import {sha256} from "./hash.js"
import {DOWN, GAMES, onFoundations, played} from "./piles.js"
import {RULES, byKey, targetOf} from "./rules.mjs"

const RECOVERABLE = 200 // acknowledged actions, as many as one request to recover them may have
const MOST_TRIED = 4000 // moves, to prove that a player is stuck
const UNDECIDED = ["unavailable", "rate_limited", "draining"] // refusals after which the same request is sent again

const same = (one, other) => String(one) === String(other)

export const isLegal = (game, piles, move) => Boolean(targetOf(RULES[game], byKey(RULES[game], piles), move))

// The legal transfers from a pile, or from all of them.
export function movesFrom(game, piles, from) {
	const rules = RULES[game]
	const all = byKey(rules, piles)
	const targets = ["0", ...Object.keys(rules.onto)]
	const sources = from ? [from] : rules.keys.filter(key => key !== "stock")
	return sources.flatMap(source => {
		const cards = [...all[source]].reverse()
		const end = cards.findIndex((card, i) => i && (card & DOWN || !rules.columns.includes(source) || !rules.lift(cards[i - 1], card)))
		return cards.slice(0, end < 0 ? cards.length : end).flatMap((_, i) => {
			const size = i ? ` x${i + 1}` : ""
			return targets.map(target => `${source} ${target}${size}`).filter(move => targetOf(rules, all, move))
		})
	})
}

export class Racer {
	// `link` has ask() and nextId, `store` keeps {newest, history, head} of the room, and `on` has the functions changed(),
	// refused(message), and later(seconds), which reconnects.
	constructor(link, room, store, on) {
		Object.assign(this, {link, room, store, on, pending: [], board: null, past: [], piles: null, starts: 0})
		const {newest = -1, history = [], head} = store.get() // `head` is the newest head of the chain, and its revision
		Object.assign(this, {newest, history, head})
		this.broken = false // whether the server has rewritten an action
	}

	// Take the seat, or come back to it. Throws a refusal.
	async enter(passphrase = "") {
		const revision = this.board?.revision ?? -1
		this.passphrase = passphrase
		const joined = await this.link.ask("join", {room: this.room, passphrase, revision})
		this.room = joined.room
		if (joined.revision >= 0) await this.recover(joined.revision)
		for (const pending of this.pending) this.send(pending) // again, with the same ids
		return joined
	}

	// Ask for the whole board.
	async resync() {
		await this.link.ask("join", {room: this.room, passphrase: this.passphrase, revision: -1}).catch(() => {})
	}

	// Give the server back acknowledged actions that it has lost.
	async recover(revision) {
		const missing = this.history.slice(Math.max(0, this.history.length - (this.newest - revision)))
		if (revision >= this.newest || this.newest - revision > this.history.length || this.recovering) return
		this.recovering = true
		const actions = missing.map(({id, action, time}) => ({id, action, time}))
		try {
			await this.link.ask("recover", {revision, actions, receipt: Uint8Array.from(missing.at(-1).receipt)})
		} catch ({code, retry_after, message}) {
			this.recovering = false
			if (!code) return
			if (retry_after || code === "unavailable") return this.on.later(retry_after)
			this.forget()
			this.on.refused(`The server has lost some of your moves, and does not take them back. ${message}`)
		}
		this.recovering = false
		if (this.board?.revision !== this.newest) await this.resync()
	}

	forget() {
		Object.assign(this, {newest: -1, history: []})
		this.keep()
	}

	keep() {
		const {newest, history, head} = this
		this.store.set({newest, history, head})
	}

	receiveBoard(state) {
		const {revision, game, piles, moves, undos, head, may_undo: mayUndo} = state
		const awaited = this.pending.map(pending => pending.revision)
		const comes = this.board && Array.from({length: revision - this.board.revision}, (_, i) => this.board.revision + i)
		if (comes?.length && comes.every(each => awaited.includes(each))) return // the answers will lead there
		this.game = game
		this.past = []
		this.fromDeal = revision === 0
		this.pending = this.pending.filter(pending => pending.revision >= revision)
		this.board = {revision, piles: piles.map(pile => [...pile]), moves, undos, mayUndo}
		this.chain(known => {
			if (known?.revision === revision && !same(known.hash, head)) this.broken = true
			return {revision, hash: [...head]}
		})
		if (revision < this.newest) this.recover(revision)
		this.predict()
	}

	// What the player sees: the acknowledged board with all unanswered moves before the first that turns up a card.
	predict() {
		let {piles, revision} = this.board
		for (const {action} of this.pending) {
			const next = action !== "undo" && isLegal(this.game, piles, action) && played(this.game, piles, action)
			if (!next) break
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

	get mayUndo() {
		const {action} = this.pending.at(-1) ?? {}
		return Boolean(this.board) && (action ? action !== "undo" && !this.awaits : this.board.mayUndo)
	}

	act(action) {
		const pending = {id: this.link.nextId++, revision: this.next, action}
		this.pending.push(pending)
		this.predict()
		return this.send(pending)
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
		const {hash, time, receipt, seen, piles: whole, may_undo: mayUndo = true} = answer
		const isUndo = action === "undo"
		const piles = isUndo ? whole?.map(pile => [...pile]) : played(this.game, board.piles, action, seen)
		if (revision !== board.revision + 1 || !piles || !same(boardHash(this.game, piles), hash)) return this.resync()
		if (!isUndo) this.past.push({piles: board.piles, mayUndo: board.mayUndo})
		else if (!this.past.pop()) this.fromDeal = false
		this.board = {revision, piles, moves: board.moves + !isUndo, undos: board.undos + isUndo, mayUndo, time}
		this.history = [...(revision === this.newest + 1 ? this.history : []), {id, action, time, receipt: [...receipt]}].slice(-RECOVERABLE)
		this.newest = revision
		this.keep()
		this.chain(known => {
			const line = `${revision} ${Math.max(0, time - this.starts)} ${action}\n`
			const follows = known?.revision === revision - 1 && known.hash.length
			const head = follows && sha256("samedeal action 1\n", known.hash, line)
			return head && {revision, hash: [...head.slice(0, 16)]}
		})
		this.predict()
	}

	// Each head follows from the one before it (RECORDS.md, The chain). `next` returns the head after a known one.
	chain(next) {
		this.head = next(this.head) || undefined
		this.keep()
	}

	async refused(pending, {code, message, retry_after, revision}) {
		if (!this.pending.includes(pending) || code === "fault") return // the server closes, and the next connection sends it again
		if (code === "stale" && this.retrying) return
		if (UNDECIDED.includes(code)) {
			if (this.retrying) return
			this.retrying = true
			const all = this.pending
			setTimeout(async () => {
				await Promise.allSettled(all.filter(each => each !== pending).map(({answered}) => answered))
				this.retrying = false
				for (const each of this.pending) this.send(each)
			}, 1000 * (retry_after || 1))
			return
		}
		this.pending = this.pending.filter(each => each.revision < pending.revision)
		this.predict()
		this.on.refused(message, code)
		if (code === "stale" || (revision >= 0 && revision !== this.next)) this.resync()
	}

	// Whether provably no move and no undo adds a card to the foundations or turns one up. False in doubt.
	isStuck(undo) {
		const {game, past} = this
		let [first, at] = [this.board, past.length]
		while (at && first.mayUndo) first = past[--at]
		if (this.pending.length || (!at && !this.fromDeal && undo !== "off" && first.mayUndo)) return false
		const rules = RULES[game]
		const most = onFoundations(game, this.board.piles)
		const [reached, known] = [[first.piles], new Set()]
		let tried = 0
		for (const piles of reached) {
			const all = byKey(rules, piles)
			const moves = movesFrom(game, piles)
			if (rules.stock && targetOf(rules, all, rules.stock)) moves.push(rules.stock)
			tried += moves.length
			if (tried > MOST_TRIED || onFoundations(game, piles) > most) return false
			for (const move of moves) {
				const after = played(game, piles, move)
				if (!after || onFoundations(game, after) > most || move === "deal") return false
				const key = JSON.stringify([rules.columns.map(column => byKey(rules, after)[column].join()).sort(), after.slice(rules.columns.length)])
				if (!known.has(key)) {
					known.add(key)
					reached.push(after)
				}
			}
		}
		return most < 52 * GAMES[game].decks
	}
}

// BLAKE2b (RFC 7693) with a key and a digest of 8 bytes.
const START = "6a09e667f3bcc908 bb67ae8584caa73b 3c6ef372fe94f82b a54ff53a5f1d36f1 510e527fade682d1 9b05688c2b3e6c1f 1f83d9abfb41bd6b 5be0cd19137e2179"
const IV = START.split(" ").map(word => BigInt(`0x${word}`))
const digits = words => words.split(" ").map(word => Array.from(word, digit => parseInt(digit, 16)))
const ORDERS = digits("0123456789abcdef ea489fd61c02b753 b8c052fdae367194 7931dcbe265a40f8 905724afe1bc683d 2c6a0b834d75fe19 c51fed4a0763928b db7ec13950f4862a 6fe9b308c2d714a5 a2847615fb9e3cd0")
const MIXED = digits("048c 159d 26ae 37bf 05af 16bc 278d 349e")
const rotate = (word, by) => BigInt.asUintN(64, (word >> by) | (word << (64n - by)))
const sum = (...words) => BigInt.asUintN(64, words.reduce((a, b) => a + b))

// The hash of a board (PROTOCOL.md, Hashes).
export function boardHash(game, piles) {
	const key = new TextEncoder().encode(game)
	const input = [...key, ...Array(128 - key.length).fill(0), ...piles.flatMap((pile, i) => (i ? [255, ...pile] : [...pile]))]
	const state = [...IV]
	state[0] ^= BigInt(0x01010008 ^ (key.length << 8))
	for (let at = 0; at < input.length; at += 128) {
		const block = new BigUint64Array(Uint8Array.from({length: 128}, (_, i) => input[at + i]).buffer)
		const end = Math.min(input.length, at + 128)
		const v = [...state, ...IV]
		v[12] ^= BigInt(end)
		if (end === input.length) v[14] ^= 2n ** 64n - 1n
		for (let round = 0; round < 12; round++)
			for (const [i, [a, b, c, d]] of MIXED.entries())
				for (const [n, first, second] of [[0, 32n, 24n], [1, 16n, 63n]]) {
					v[a] = sum(v[a], v[b], block[ORDERS[round % 10][2 * i + n]])
					v[d] = rotate(v[d] ^ v[a], first)
					v[c] = sum(v[c], v[d])
					v[b] = rotate(v[b] ^ v[c], second)
				}
		for (const i of state.keys()) state[i] ^= v[i] ^ v[i + 8]
	}
	return new Uint8Array(BigUint64Array.of(state[0]).buffer)
}
