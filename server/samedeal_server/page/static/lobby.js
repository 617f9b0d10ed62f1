// The list of rooms.

import {GAMES} from "./boards.js"
import {byId, clock, copyLine, dealName, element, setText} from "./dom.js"
import {address, to} from "./link.js"

const INTERVAL = 5000
const PHASES = {open: "Waiting for players", countdown: "Starting", racing: "Racing", finished: "Finished", closed: "Closed"}

export class Lobby {
	constructor() {
		setText(byId("title"), "Races")
		byId("facts").textContent = "Everyone plays the same cards. The first to finish wins."
		this.none = element("p", {}, "Loading the rooms.")
		this.rooms = element("ul", {class: "rooms"})
		this.records = element("ul", {class: "rooms records"})
		this.past = element("section", {hidden: true}, element("h2", {}, "Finished races"), this.records)
		const file = element("p", {}, element("a", {href: to("replay")}, "Replay a race from its record, a file"))
		const open = element("section", {class: "box"}, element("h2", {}, "Open a room from a terminal"), copyLine(`samedeal new ${address}`))
		byId("main").replaceChildren(this.none, this.rooms, open, this.past, file)
		setInterval(() => document.hidden || this.enter(), INTERVAL)
	}

	async enter() {
		try {
			const {rooms} = await this.link.ask("listrooms")
			setText(this.none, rooms.length ? "" : "No room is open right now. This list updates by itself.")
			show(this.rooms, rooms.map(roomLine))
			const {records} = await this.link.ask("listrecords")
			this.past.hidden = !records.length
			show(this.records, records.map(recordLine))
		} catch {
			// tried again soon
		}
	}

	receive() {}

	showStatus() {
		setText(byId("status"), this.connection.sentence)
	}
}

// Show lines in a list, unless they are there already.
function show(list, lines) {
	const items = lines.map(line => element("li", {}, line))
	if (items.length === list.children.length && items.every((item, i) => item.isEqualNode(list.children[i]))) return
	const focused = document.activeElement?.getAttribute("href")
	list.replaceChildren(...items)
	if (focused) [...list.querySelectorAll("a")].find(link => link.getAttribute("href") === focused)?.focus()
}

function line(href, room, phase, game, facts) {
	const title = GAMES[game]?.title ?? game
	const name = element("strong", {}, room)
	const small = element("small", {}, facts.filter(Boolean).join(" · "))
	const attributes = {href: href && to(href), class: "box room"}
	return element(href ? "a" : "div", attributes, name, phase, element("span", {class: "game"}, title), small)
}

function roomLine({room, game, deal, phase, players, seats, private: isPrivate, spectators, delay}) {
	const facts = [
		`${players} of ${seats} players`,
		dealName(deal),
		isPrivate && "private",
		spectators ? `shown ${delay} s late` : "no spectators"
	]
	return line(spectators && encodeURIComponent(room), room, element("span", {class: `phase ${phase}`}, PHASES[phase] ?? phase), game, facts)
}

function recordLine({race, room, game, deal, started, players, winner, time}) {
	const day = element("time", {class: "phase"}, new Date(started).toLocaleString([], {dateStyle: "medium", timeStyle: "short"}))
	const won = time ? `${winner} won in ${clock(time)}` : "nobody finished"
	return line(`replay?race=${encodeURIComponent(race)}`, room, day, game, [
		`${players} ${players === 1 ? "player" : "players"}`,
		dealName(deal),
		won
	])
}
