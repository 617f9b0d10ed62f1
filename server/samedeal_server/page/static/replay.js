// Replays a race from its record, which RECORDS.md describes: the screen of a race, with a slider instead of a connection.

import {openDeal} from "./deal.js"
import {byId, clock, copyLine, element, setText} from "./dom.js"
import {Race} from "./race_state.js"
import {demand, fetchRecord, readRecord} from "./record.js"
import {RaceScreen} from "./race_screen.js"
import {dealWords} from "./words.js"

const LINE = "line" // in place of the id of a player: the winning line

export class ReplayScreen extends RaceScreen {
	// `race` is the id of a race, or the code of its room. It is empty if a file is to be opened.
	constructor(race) {
		super(race || "Replay")
		this.button = element("button", {onclick: () => this.play(!this.timer)})
		this.slider = element("input", {type: "range", step: "any", "aria-label": "Time"})
		this.slider.oninput = () => this.seek(Number(this.slider.value))
		const speeds = [1, 2, 4, 16, 64].map(times => element("option", {value: times}, `${times} ×`))
		this.speed = element("select", {"aria-label": "Speed"}, ...speeds)
		byId("tools").before(element("div", {class: "controls"}, this.button, this.slider, this.speed))
		addEventListener("dragover", event => event.preventDefault())
		addEventListener("drop", event => {
			event.preventDefault()
			this.open(event.dataTransfer.files[0])
		})
		if (!race) this.askFile("")
	}

	askFile(wrong) {
		const input = element("input", {type: "file", onchange: () => this.open(input.files[0])})
		const label = element("label", {}, "Open the record of a race, or drop its file here: ", input)
		this.say(element("span", {role: "alert"}, wrong))
		byId("message").prepend(label)
	}

	// Read the record from the server.
	async enter() {
		try {
			const file = await fetchRecord(this.link, this.room, this.credentials)
			this.link.stop("")
			this.open(file)
		} catch (refused) {
			this.refuse(refused)
		}
	}

	async open(file) {
		if (!file) return
		this.play(false)
		byId("race").hidden = true
		try {
			this.load(readRecord(new Uint8Array(await file.slice(0, 1_000_001).arrayBuffer())))
		} catch (error) {
			return this.askFile(error.message)
		}
		this.say("")
		const name = `${this.room}.txt`
		const save = element("a", {href: URL.createObjectURL(file), download: name}, "Save the record")
		byId("join").replaceChildren(element("h2", {}, "Check every move in a terminal"), save, copyLine(`samedeal verify ${name}`))
		this.seek(0)
	}

	// Make all moves once, and keep the boards.
	load(record) {
		const opened = openDeal(record, record.commitment)
		const {piles, line, steps} = opened
		demand(piles, steps[0][0] === null ? steps[0][1] : "The proof in this record is not as it should be.")
		const race = new Race()
		race.setRoom({...record, draw: 0, lost: [], shares: [], rooms: [], elsewhere: [], options: {}, starts: 0, tallies: [], standings: [], phase: "racing"})
		const way = line.map((action, n) => ({action, time: ((n + 1) * record.length) / line.length}))
		const players = line.length ? [...record.players, {player: LINE, name: "Winning line", actions: way}] : record.players
		this.histories = players.map(player => [player.player, boardsOf(race, player, piles)])
		for (const shown of this.shown.values()) shown.game = "" // forces redraw
		Object.assign(this, {race, room: record.room})
		setText(byId("title"), record.room)
		this.slider.max = record.length
		this.showDeal(opened, record.proof)
		setText(byId("words"), `Deal words: ${dealWords(record.commitment, opened.shares ?? [], record.room, opened.others)}`)
	}

	seek(at) {
		const {room, boards} = this.race
		const isOver = at >= room.length
		this.at = Math.min(at, room.length)
		for (const [player, history] of this.histories) boards.set(player, history.findLast(board => board.time <= this.at))
		Object.assign(room, isOver ? {phase: "finished", standings: room.players.map(({end}) => end)} : {phase: "racing", standings: []})
		this.slider.value = this.at
		this.slider.ariaValueText = clock(this.at)
		if (isOver) this.play(false)
		if (!this.timer) this.chartedAt = this.orderedAt = 0
		this.show()
	}

	play(on) {
		clearInterval(this.timer)
		this.timer = 0
		this.button.textContent = on ? "Pause" : "Play"
		if (!on) return
		if (this.at === this.race.room.length) this.seek(0)
		this.timer = setInterval(() => this.seek(this.at + 100 * this.speed.value), 100)
	}

	rows() {
		const board = this.race.boards.get(LINE)
		const line = {...board, board, player: LINE, name: "Winning line", seat: 99, connected: true, finishedAt: 0}
		return [...super.rows(), ...(board ? [line] : [])]
	}

	showClock() {
		const {room} = this.race
		if (room) setText(byId("clock"), `${clock(this.at)} of ${clock(room.length)}`)
	}

	showStatus() {
		setText(byId("status"), this.race.room ? "" : this.connection.sentence)
	}

	checkDeal() {}
	showDraw() {}
	showWords() {}
	showJoin() {}
	announce() {}
}

// Return the boards to which a player's actions lead. Throws an Error if an action cannot be made.
function boardsOf(race, {player, name, actions}, piles) {
	race.showBoard({player, piles, revision: 0, moves: 0, time: 0})
	const boards = [race.boards.get(player)]
	const past = []
	for (const {time, action} of actions) {
		const [now, revision] = [boards.at(-1), boards.length]
		if (action === "undo" && past.length) race.setBoard(player, {...past.pop(), revision, time, moves: now.moves})
		else if (race.showMove({player, revision, action, time})) past.push(now)
		else throw new Error(`This record is not of this deal: action ${revision} of ${name} cannot be made.`)
		boards.push(race.boards.get(player))
	}
	return boards
}
