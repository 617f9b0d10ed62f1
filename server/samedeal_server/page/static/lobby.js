// The list of rooms, and of finished races.

import {GAMES, title} from "./piles.js"
import {byId, clock, counted, dealName, element, forTerminals, setText, showItems, timeLeft} from "./dom.js"
import {address, goTo, to, want} from "./here.js"

const OPEN_FOR = 300_000 // ms before the start of a tide, from which players can take seats
const LOST = "No room has this address. Choose one of these, or open your own."
const DAY = 86_400_000
const MINUTE = 60_000
const PHASES = ["racing", "countdown", "open"] // as listed; all others come last

export class Lobby {
	constructor() {
		setText(byId("title"), "Races")
		setText(byId("facts"), "Everyone plays the same cards. The first to finish wins.")
		byId("main").replaceChildren(byId("lobby").content)
		byId("file").href = to("replay")
		this.prepare(byId("new"))
		if (new URLSearchParams(location.search).has("lost")) byId("ways").prepend(element("p", {role: "alert"}, LOST))
		setInterval(() => document.hidden || this.enter(), 5000)
		setInterval(() => this.countDown(), 500)
	}

	// Show the next tide, if the server has tides, and let players in once it is open.
	countDown() {
		const now = this.link?.now()
		const next = this.link?.tides && nextTide(this.link.tides, now)
		if (!next) return
		this.next = next
		const [button, text] = byId("tide").children
		byId("tide").hidden = false
		button.disabled = next.start - now > OPEN_FOR
		setText(button, `Race at ${new Date(next.start).toLocaleTimeString([], {timeStyle: "short"})}`)
		setText(text, `everybody at once: ${title(next.game)} in ${timeLeft(next.start - now)}`)
	}

	async enter() {
		try {
			const {rooms} = await this.link.ask("listrooms")
			const {records} = await this.link.ask("listrecords")
			const isOver = ({phase}) => !PHASES.includes(phase)
			const lines = rooms.filter(room => !isOver(room) || !records.some(each => each.room === room.room))
			lines.sort((a, b) => isOver(a) - isOver(b) || PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase))
			setText(byId("none"), rooms.every(isOver) ? "No room is open." : "")
			showItems(byId("rooms"), lines.map(roomLine))
			showItems(byId("records"), records.map(recordLine))
		} catch {
			// tried again soon
		}
	}

	// Let players open a room with one tap. Its page then asks for a name, unless the player has given one before.
	prepare(form) {
		for (const [name, {title, lead}] of Object.entries(GAMES).sort(([, a], [, b]) => !a.known - !b.known))
			form.games.append(new Option(title, JSON.stringify([name]), lead, lead))
		form.querySelector("details").append(forTerminals(`samedeal new ${address}`))
		const enter = async (type, fields, wanted = fields) => {
			try {
				goTo((await this.link.ask(type, fields)).room, wanted)
			} catch ({message}) {
				setText(byId("why"), message)
			}
		}
		form.onsubmit = event => {
			event.preventDefault()
			const isSent = ({name, selectedIndex}) => selectedIndex || /games|deal/.test(name)
			const chosen = [...form.querySelectorAll("select")].filter(isSent)
			const options = Object.fromEntries(chosen.map(({name, value}) => [name, JSON.parse(value)]))
			enter("create", {options, room: form.room.value}, {options, round: 0, private: false})
		}
		byId("now").onclick = () => {
			const [chosen] = form.games.selectedOptions
			enter("racenow", chosen.defaultSelected ? {} : {game: JSON.parse(chosen.value)[0]})
		}
		byId("bots").onclick = () => {
			const games = JSON.parse(form.games.value)
			const {limit} = GAMES[games[0]]
			const options = {games, deal: "winnable", players: 4, start: "full", countdown: 2, ...(limit && {limit})}
			enter("create", {options, house: 3}, {options, round: 0, private: false})
		}
		byId("tide").firstElementChild.onclick = () => enter("racenow", {game: this.next.game, tide: this.next.start})
	}

	showStatus() {
		byId("bots").hidden = !this.link.house
		setText(byId("status"), this.link.sentence)
	}
}

// The next tide of a server, with its start and game.
function nextTide(tides, now) {
	const all = tides.map(({minute, game}) => ({start: now + ((MINUTE * minute - (now % DAY) + DAY) % DAY), game}))
	return all.sort((a, b) => a.start - b.start)[0]
}

function line(path, room, phase, game, facts, onclick) {
	const texts = [title(game), facts.filter(Boolean).join(" · ")].map(text => element("span", {}, text))
	return element("li", {}, element(path ? "a" : "div", {href: path && to(path), class: "box room", onclick}, element("strong", {}, room), phase, ...texts))
}

function roomLine(row) {
	const {room, game, deal, phase, players, seats, spectators, delay} = row
	const state = element("em", {class: phase}, phase)
	const watching = !spectators ? "no spectators" : delay ? `shown ${delay} s late` : "shown live"
	const path = spectators && encodeURIComponent(room)
	const facts = [`${players} of ${seats} players`, dealName(deal), watching]
	return line(path, room, state, game, facts, () => want(room, {line: row}))
}

function recordLine({race, room, game, deal, started, players, winner, time}) {
	const day = element("em", {}, new Date(started).toLocaleString([], {dateStyle: "medium", timeStyle: "short"}))
	const won = time ? `${winner} won in ${clock(time)}` : "nobody finished"
	return line(`replay?race=${encodeURIComponent(race)}`, room, day, game, [counted(players, "player"), dealName(deal), won])
}
