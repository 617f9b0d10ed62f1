// The list of rooms, and of finished races.

import {GAMES, title} from "./piles.js"
import {byId, clock, counted, dealName, element, forTerminals, setText, showItems, timeLeft} from "./dom.js"
import {address, goTo, isFrame, to, want} from "./link.js"
import {OPEN_FOR, nextTide} from "./tide.js"

// The options of a new room: for each, its values with their names, the first one the usual one.
const CHOICES = [
	["start", "Start", [["host", "I say so"], ["all-ready", "all ready"], ["full", "table full"]]],
	["players", "Seats", [8, 2, 3, 4, 6, 12, 16, 1].map(count => [count, count])],
	["limit", "Time", [15, 5, 10, 30, 60].map(minutes => [60 * minutes, `${minutes} minutes`])],
	["undo", "Undo", [["no-reveal", "not after a new card"], ["free", "every move"], ["off", "never"]]],
	["series", "Series", [[1, "one race"], ...[3, 5, 7].map(count => [count, `best of ${count}`])]],
	["hints", "Hints", [[false, "no"], [true, "yes"]]],
	["spectators", "Spectators", [[true, "yes"], [false, "no"]]]
]
const DEALS = [["winnable", "Fair deal"], ["random", "Any deal"], ["daily", "Today's deal"]]
const PHASES = ["racing", "countdown", "open"] // as listed; all others come last

export class Lobby {
	constructor() {
		setText(byId("title"), "Races")
		setText(byId("facts"), "Everyone plays the same cards. The first to finish wins.")
		this.none = element("p")
		this.rooms = element("ul", {class: "rooms"})
		this.records = element("ul", {class: "rooms"})
		const open = isFrame ? "" : this.form()
		const file = element("p", {}, element("a", {href: to("replay")}, "Replay a record from a file"))
		byId("main").replaceChildren(open, this.none, this.rooms, element("h2", {}, "Finished races"), this.records, file)
		setInterval(() => document.hidden || this.enter(), 5000)
		setInterval(() => this.countDown(), 500)
	}

	// Show the next tide, if the server has tides, and let players in once it is open.
	countDown() {
		const now = this.link?.now()
		const next = this.tide && this.link?.tides && nextTide(this.link.tides, now)
		if (!next) return
		this.tide.hidden = false
		this.tide.next = next
		const [button, text] = this.tide.children
		button.disabled = next.start - now > OPEN_FOR
		setText(button, `Race at ${new Date(next.start).toLocaleTimeString([], {timeStyle: "short"})}`)
		setText(text, `everybody at once: ${title(next.game)} in ${timeLeft(next.start - now)}`)
	}

	async enter() {
		try {
			const {rooms} = await this.link.ask("listrooms")
			const {records} = await this.link.ask("listrecords")
			const isOver = ({phase}) => !PHASES.includes(phase)
			const isListed = ({room}) => records.some(record => record.room === room)
			const lines = rooms.filter(room => !isOver(room) || !isListed(room))
			lines.sort((a, b) => isOver(a) - isOver(b) || PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase))
			setText(this.none, rooms.every(isOver) ? "No room is open." : "")
			showItems(this.rooms, lines.map(roomLine))
			showItems(this.records, records.map(recordLine))
		} catch {
			// tried again soon
		}
	}

	// Open a room with one tap. Its page then asks for a name, unless the player has given one before.
	form() {
		const select = (name, text, choices) => {
			return element("label", {}, `${text} `, element("select", {name}, ...choices.map(([, text]) => element("option", {}, text))))
		}
		const games = Object.entries(GAMES).map(([name, {title}]) => [name, title])
		const kinds = [["game", "Game", games], ["deal", "Deal", DEALS], ...CHOICES]
		const [game, deal, ...more] = kinds.map(kind => select(...kind))
		game.lastChild.selectedIndex = Math.max(0, Object.values(GAMES).findIndex(each => each.default))
		const code = element("label", {}, "Name of the room ", element("input", {name: "room", maxlength: 24, pattern: "[A-Za-z0-9](-?[A-Za-z0-9]+)*", placeholder: "any"}))
		const why = element("p", {role: "alert"})
		const enter = async (type, fields, wanted) => {
			try {
				goTo((await this.link.ask(type, fields)).room, wanted)
			} catch ({message}) {
				setText(why, message)
			}
		}
		const onsubmit = event => {
			event.preventDefault()
			const {elements} = event.target
			const chosen = ([name, , choices]) => choices[elements[name].selectedIndex][0]
			const [game, deal] = kinds.map(chosen)
			const unusual = CHOICES.filter(([name]) => elements[name].selectedIndex)
			const options = {games: [game], deal, ...Object.fromEntries(unusual.map(kind => [kind[0], chosen(kind)]))}
			enter("create", {options, room: elements.room.value}, {options, round: 0, private: false})
		}
		const race = wanted => enter("racenow", wanted, wanted)
		const enterTide = () => race({game: this.tide.next.game, tide: this.tide.next.start})
		this.tide = element("p", {id: "tide", class: "controls", hidden: true}, element("button", {onclick: enterTide}), element("span"))
		const now = element("p", {class: "controls"}, element("button", {class: "main", onclick: () => race({})}, "Race now"), "against the people who come, within a minute")
		const details = element("details", {class: "more"}, element("summary", {}, "More"), ...more, code, forTerminals(`samedeal new ${address}`))
		return element("section", {class: "box"}, now, this.tide, element("form", {class: "sit", onsubmit}, game, deal, element("button", {}, "Open a room"), why, details))
	}

	receive() {}

	showStatus() {
		setText(byId("status"), this.connection.sentence)
	}
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
