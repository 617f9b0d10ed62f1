// A finished race from its record: the screen of a race, with a slider instead of a connection.

import {openDeal} from "./deal.js"
import {byId, clock, copyLine, element, setText} from "./dom.js"
import {Race} from "./race.js"
import {readRecord} from "./record.js"
import {RaceScreen, forget} from "./screen.js"

const LINE = "line" // in place of the id of a player: the winning line

export class ReplayScreen extends RaceScreen {
	// `race` is the id of a race, or the code of its room. It is empty if a file is to be opened.
	constructor(race) {
		super(race || "Replay")
		this.parts = []
		this.button = element("button", {onclick: () => this.play(!this.timer)})
		const seek = () => this.seek(Number(this.slider.value))
		this.slider = element("input", {type: "range", step: "any", "aria-label": "Time", oninput: seek})
		const speeds = [1, 2, 4, 16, 64].map(times => element("option", {value: times}, `${times} ×`))
		this.speed = element("select", {"aria-label": "Speed"}, ...speeds)
		this.layout.firstChild.prepend(element("div", {class: "controls"}, this.button, this.slider, this.speed))
		addEventListener("dragover", event => event.preventDefault())
		addEventListener("drop", event => {
			event.preventDefault()
			this.openFile(event.dataTransfer.files[0])
		})
		if (!race) this.askFile("")
	}

	askFile(wrong) {
		const input = element("input", {type: "file", id: "file", onchange: () => this.openFile(input.files[0])})
		const label = element("label", {for: "file"}, "Open the record of a race, or drop its file here:")
		this.say(element("span", {role: "alert"}, wrong))
		this.message.prepend(element("form", {}, label, input))
	}

	async openFile(file) {
		if (file) this.open(new Uint8Array(await file.slice(0, 1_000_001).arrayBuffer()))
	}

	// Read the record from the server.
	async enter() {
		try {
			for (let parts = 1; this.parts.length < parts;) {
				const answer = await this.link.ask("readrecord", {race: this.room, part: this.parts.length, ...this.passphrase})
				this.parts.push(answer.text)
				this.room = answer.race
				parts = answer.parts
			}
		} catch (refused) {
			return this.refuse(refused)
		}
		this.link.stop("")
		this.open(new Uint8Array(await new Blob(this.parts).arrayBuffer()))
	}

	async open(bytes) {
		this.play(false)
		this.layout.hidden = true
		try {
			await this.load(await readRecord(bytes))
		} catch (error) {
			return this.askFile(error.message)
		}
		this.say("")
		const file = `${this.room}.txt`
		const save = element("a", {href: URL.createObjectURL(new Blob([bytes])), download: file}, "Save the record")
		this.join.replaceChildren(element("h2", {}, "Check every move in a terminal"), save, copyLine(`samedeal verify ${file}`))
		this.seek(0)
	}

	// Make all moves once, and keep the boards.
	async load(record) {
		const {piles, steps, line} = await openDeal(record, record.commitment)
		if (!piles) throw new Error("Over plain http, a browser cannot deal the cards of this race. Open this page over https.")
		const race = new Race()
		race.setRoom({...record, options: {}, starts: 0, tallies: [], standings: [], phase: "racing"})
		const pace = record.length / line.length
		const way = {player: LINE, actions: line.map((action, n) => ({action, at: pace * (n + 1)}))}
		this.histories = [...record.players, ...(line.length ? [way] : [])].map(player => [player.player, boardsOf(race, player, piles)])
		for (const shown of [this.tiles, this.rows]) forget(shown, [])
		this.race = race
		this.room = record.room
		setText(byId("title"), record.room)
		this.slider.max = record.length
		this.showDeal(steps)
	}

	seek(at) {
		const {room, boards} = this.race
		this.at = Math.min(at, room.length)
		for (const [player, history] of this.histories)
			boards.set(
				player,
				history.findLast(board => board.at <= this.at)
			)
		const isOver = this.at === room.length
		room.phase = isOver ? "finished" : "racing"
		room.standings = isOver ? room.players : []
		this.slider.value = this.at
		this.slider.setAttribute("aria-valuetext", clock(this.at))
		if (isOver) this.play(false)
		this.show()
	}

	play(on) {
		clearInterval(this.timer)
		this.timer = 0
		this.button.textContent = on ? "Pause" : "Play"
		if (!on) return
		if (this.at === this.race.room.length) this.seek(0)
		let last = Date.now()
		this.timer = setInterval(() => {
			const now = Date.now()
			this.seek(this.at + (now - last) * this.speed.value)
			last = now
		}, 100)
	}

	showTiles(rows) {
		const board = this.race.boards.get(LINE)
		super.showTiles(board ? [...rows, {player: LINE, name: "Winning line", seat: 99, board, count: board.count, connected: true}] : rows)
	}

	showClock() {
		if (this.race.room) setText(byId("clock"), `${clock(this.at)} of ${clock(this.race.room.length)}`)
	}

	showStatus() {
		setText(byId("status"), this.race.room ? "" : this.connection.sentence)
	}

	latest() {
		return this.at
	}

	checkDeal() {}
	showJoin() {}
	announce() {}
}

// Return the boards to which a player's actions lead. Throws an Error if an action cannot be made.
function boardsOf(race, {player, name, actions}, piles) {
	race.showBoard({player, piles, revision: 0, moves: 0, undos: 0, at: 0})
	const boards = [race.boards.get(player)]
	const past = []
	for (const {at, action} of actions) {
		const [now, revision] = [boards.at(-1), boards.length]
		const before = action === "undo" ? past.pop() : now
		if (before && before !== now) race.setBoard(player, {...before, revision, at, moves: now.moves, undos: now.undos + 1})
		else if (before && race.showMove({player, revision, action, at, seen: []})) past.push(now)
		else throw new Error(`This record is not of this deal: action ${revision} of ${name ?? "the winning line"} cannot be made.`)
		boards.push(race.boards.get(player))
	}
	return boards
}
