// Replays a race from its record, which RECORDS.md describes: the screen of a race, with a slider instead of a connection.

import {openDeal} from "./deal.js"
import {searched} from "./deep_check.js"
import {byId, clock, element, forTerminals, setText} from "./dom.js"
import {rowSentence} from "./row_sentence.js"
import {Race} from "./race_state.js"
import {dealWords, termsHash} from "./race_hashes.js"
import {LARGEST, fetchRecord, playsOf, readRecord} from "./record.js"
import {RaceScreen} from "./race_screen.js"
import {Reading, recordVerdict} from "./verdict.js"

const LINE = "line" // in place of the id of a player: the winning line

export class ReplayScreen extends RaceScreen {
	// `race` is the id of a race, or the code of its room. It is empty if a file is to be opened.
	constructor(race) {
		super(race || "Replay")
		byId("replay").hidden = false
		byId("play").onclick = () => this.play(!this.timer)
		byId("time").oninput = ({target}) => this.seek(target.valueAsNumber)
		addEventListener("dragover", event => event.preventDefault())
		addEventListener("drop", event => {
			event.preventDefault()
			this.open(event.dataTransfer.files[0])
		})
		if (!race) this.askFile("")
	}

	askFile(wrong) {
		this.say(element("span", {role: "alert"}, wrong))
		byId("message").prepend(byId("open").content.cloneNode(true))
		byId("message").onchange = ({target}) => this.open(target.files?.[0])
	}

	// Read the record from the server.
	async enter() {
		try {
			const text = await fetchRecord(this.link, this.room, this.credentials)
			this.link.stop("")
			this.open(new Blob([text]))
		} catch (refused) {
			this.refuse(refused)
		}
	}

	async open(file) {
		if (!file) return
		this.play(false)
		byId("race").hidden = true
		try {
			this.load(readRecord(await file.slice(0, 4 * LARGEST).text()))
		} catch (error) {
			return this.askFile(error.message)
		}
		this.say("")
		const name = `${this.room}.txt`
		const save = element("a", {href: URL.createObjectURL(file), download: name}, "Save the record")
		byId("join").replaceChildren(save, forTerminals(`samedeal verify ${name}`))
		this.seek(0)
	}

	// Make all moves once, and keep the boards.
	load(record) {
		const {terms, commitment, start, end} = record
		const shown = {...record, ...terms, terms: terms.text}
		const {piles, line, lost = [], draw = 0, shares} = openDeal(record)
		const [race, length] = [new Race(), terms.window ? 1000 * terms.options.limit : end - start]
		const players = record.players.map(({seat, name, bot, actions, cards, ...more}) => {
			const player = String(seat)
			return {player, seat, name, bot, actions, end: {...more, player, foundation_cards: cards}}
		})
		race.setRoom({...shown, players, length, options: {}, draw, lost, starts: 0, tallies: [], standings: [], phase: "racing"})
		const way = line.map((action, n) => ({action, time: ((n + 1) * length) / line.length}))
		const all = line.length ? [...players, {player: LINE, name: "Winning line", actions: way}] : players
		this.histories = all.map(player => [player.player, boardsOf(race, record, player, piles)])
		for (const shown of this.shown.values()) shown.game = "" // forces redraw
		Object.assign(this, {race, room: terms.room})
		setText(byId("title"), terms.room)
		byId("time").max = length
		this.check(record)
		setText(byId("words"), dealWords(termsHash(terms.text), commitment, shares))
	}

	async check(record) {
		const {race} = this
		const tell = sentence => race === this.race && this.showVerdict({kind: "checking", sentence})
		tell("Checking the record")
		const found = recordVerdict(new Reading({record, isPart: record.players.length < record.entrants, answers: record.proof && (await searched(record, tell))}))
		if (race === this.race) this.showVerdict({...found, rows: found.rows.map(rowSentence)})
	}

	seek(at) {
		const {room} = this.race
		const isOver = at >= room.length
		this.at = Math.min(at, room.length)
		for (const [player, history] of this.histories) this.race.boards.set(player, history.findLast(board => board.time <= this.at))
		Object.assign(room, isOver ? {phase: "finished", standings: room.players.map(each => each.end)} : {phase: "racing", standings: []})
		Object.assign(byId("time"), {value: this.at, ariaValueText: clock(this.at)})
		if (isOver) this.play(false)
		if (!this.timer) this.chartedAt = this.orderedAt = undefined
		this.show()
	}

	play(on) {
		clearInterval(this.timer)
		this.timer = 0
		setText(byId("play"), on ? "Pause" : "Play")
		if (!on) return
		if (this.at === this.race.room.length) this.seek(0)
		this.timer = setInterval(() => this.seek(this.at + 100 * byId("speed").value), 100)
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
		setText(byId("status"), this.race.room ? "" : this.link.sentence)
	}

	showRoom() {}
}

// Return the boards to which a player's actions lead. Throws an Error if an action is not allowed.
function boardsOf(race, record, player, piles) {
	return playsOf(record, player, piles).map(({piles, moves}, revision) => {
		race.setBoard(player.player, {piles, moves, revision, time: player.actions[revision - 1]?.time ?? 0})
		return race.boards.get(player.player)
	})
}
