// The page's model of a racer against a scripted server, and what taps and keys mean.

import {boardHash} from "./board_hash.js"
import {Hand} from "./hand.js"
import {sha256} from "./hash.js"
import {isStuck} from "./legal_moves.js"
import {GAMES, played} from "./piles.js"
import {Racer} from "./racer.js"

const settle = () => new Promise(resolve => setTimeout(resolve, 5))
const bytes = value => Uint8Array.from(value)

async function run(steps) {
	const game = "klondike"
	const [sent, told, waiting] = [[], [], []]
	const lost = (_, __, wait) => told.push(`later ${wait / 1000}`)
	const witness = {evidence: {sent: new Map()}}
	const ask = (type, {...fields}) =>
		new Promise((resolve, reject) => {
			sent.push([type, fields])
			waiting.push({resolve, reject, ...fields})
		})
	const link = {nextId: 1, socket: {}, lost, witness, ask}
	const kept = steps[0][0] === "kept" ? {"seat friday": JSON.stringify(steps.shift()[1])} : {}
	const stored = {get: name => kept[name] ?? null, set: (name, value) => (kept[name] = value)}
	const racer = new Racer(link, "friday", stored, {changed: () => {}, refused: message => told.push(message)})
	racer.rule = "free"
	if (steps[0][0] === "board") racer.entered = link.socket
	for (const [what, more] of steps) {
		if (what === "enter") racer.enter().catch(({code}) => told.push(code ?? "lost"))
		const board = {game, moves: 0, undos: 0, head: [], may_undo: false, ...more, piles: more?.piles?.map(bytes)}
		if (what === "board") racer.receiveBoard(board)
		if (what === "act") racer.act(more)
		if (what === "answer") {
			const {resolve, action} = waiting.shift()
			const after = action && played(game, racer.board.piles, action, more.seen)
			resolve({receipt: [7], time: 5, hash: after && boardHash(game, after), ...more})
		}
		if (what === "refuse") waiting.shift().reject({retry_after: 0, revision: -1, message: more.code, ...more})
		if (what === "cut") link.socket = {}
		if (what === "cut") for (const {reject} of waiting.splice(0)) reject(new Error("lost"))
		await settle()
	}
	const requests = sent.map(([type, {passphrase, room, receipt, ...fields}]) => [type, fields])
	const {board, pending, awaits, piles} = racer
	const claim = board && racer.stuckClaim
	const shown = {revision: board?.revision, pending: pending.length, awaits, piles}
	const {newest} = JSON.parse(kept["seat friday"] ?? "{}")
	return {...shown, requests, told, newest, stuck: Boolean(claim) && isStuck(claim)}
}

export async function runs(all) {
	const found = []
	for (const steps of all) found.push(await run(steps))
	return found
}

export const hashes = sizes => sizes.map(size => Array.from(sha256(new Uint8Array(size).fill(7))))

export const hands = all =>
	all.map(({game, cards, steps, auto}) => {
		const [made, said] = [[], []]
		const piles = GAMES[game].piles.map(({key}) => cards[key] ?? [])
		const act = function (action) {
			made.push(action)
			this.next++
			this.piles = played(game, this.piles, action) ?? this.piles
		}
		const hand = new Hand({game, piles, awaits: false, next: 0, act}, sentence => sentence && said.push(sentence), () => {})
		hand.auto = auto
		for (const [what, ...more] of steps)
			what === "press" ? hand.press(more[0], () => made.push("undo")) : hand[what](...more)
		return {made, picked: hand.picked, said, targets: hand.targets()}
	})
