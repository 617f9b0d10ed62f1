// The list of rooms, and of finished races.

import {title} from "./piles.js"
import {byId, clock, copyLine, dealName, element, setText} from "./dom.js"
import {address, to} from "./link.js"

const PHASES = ["racing", "countdown", "open"] // as listed; all others come last

export class Lobby {
	constructor() {
		setText(byId("title"), "Races")
		setText(byId("facts"), "Everyone plays the same cards. The first to finish wins.")
		this.none = element("p")
		this.rooms = element("ul", {class: "rooms"})
		this.records = element("ul", {class: "rooms"})
		const open = element("section", {class: "box"}, element("h2", {}, "Open a room from a terminal"), copyLine(`samedeal new ${address}`))
		const file = element("p", {}, element("a", {href: to("replay")}, "Replay a record from a file"))
		byId("main").replaceChildren(this.none, this.rooms, open, element("h2", {}, "Finished races"), this.records, file)
		setInterval(() => document.hidden || this.enter(), 5000)
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
			show(this.rooms, lines.map(roomLine))
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

// Replace only the lines that have changed, so that a link keeps the focus.
function show(list, lines) {
	for (const [i, line] of lines.entries()) {
		const [item, old] = [element("li", {}, line), list.children[i]]
		if (!old) list.append(item)
		else if (!old.isEqualNode(item)) old.replaceWith(item)
	}
	while (list.children.length > lines.length) list.lastChild.remove()
}

function line(path, room, phase, game, ...facts) {
	const texts = [title(game), facts.filter(Boolean).join(" · ")].map(text => element("span", {}, text))
	return element(path ? "a" : "div", {href: path && to(path), class: "box room"}, element("strong", {}, room), phase, ...texts)
}

function roomLine({room, game, deal, phase, players, seats, private: isPrivate, spectators, delay}) {
	const state = element("em", {class: phase}, phase)
	const watching = !spectators ? "no spectators" : delay ? `shown ${delay} s late` : "shown live"
	const path = spectators && encodeURIComponent(room)
	return line(path, room, state, game, `${players} of ${seats} players`, dealName(deal), isPrivate && "private", watching)
}

function recordLine({race, room, game, deal, started, players, winner, time}) {
	const day = element("em", {}, new Date(started).toLocaleString([], {dateStyle: "medium", timeStyle: "short"}))
	const count = `${players} ${players === 1 ? "player" : "players"}`
	const won = time ? `${winner} won in ${clock(time)}` : "nobody finished"
	return line(`replay?race=${encodeURIComponent(race)}`, room, day, game, count, dealName(deal), won)
}
