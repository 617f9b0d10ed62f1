// Tides: the next one, and the table of all rooms of a tide or of a day.

import {GAMES, title} from "./piles.js"
import {byId, clock, counted, element, row, table} from "./dom.js"

export const OPEN_FOR = 300_000 // ms before the start, from which players can take seats
const DAY = 86_400_000
const MINUTE = 60_000

// The next tide of a server, with its start and game.
export function nextTide(tides, now) {
	const day = now - (now % DAY)
	const all = [day, day + DAY].flatMap(first => tides.map(({minute, game}) => ({start: first + MINUTE * minute, game})))
	return all.filter(({start}) => start > now).sort((a, b) => a.start - b.start)[0]
}

// A table that is followed while it is shown.
export class TideTable {
	lines = new Map() // by player
	element = element("div", {id: "tide"})

	constructor({link, race}) {
		const {game, tide} = race.room
		Object.assign(this, {link, game, tide, me: link.player, day: false})
		byId("standings").parentNode.after(this.element)
		setInterval(() => document.hidden || this.follow(), MINUTE / 2)
		this.follow()
	}

	follow() {
		this.link.ask("followtable", {game: this.game, tide: this.tide, day: this.day}).catch(() => {}) // asked again soon
	}

	// The place of a player in the table of the tide, if it is known.
	placeOf(player) {
		const line = this.day ? undefined : this.lines.get(player)
		const race = `tide of ${new Date(this.tide).toISOString().slice(11, 16)} UTC`
		return line && {place: line.place, of: line.bot ? this.bots : this.people, race}
	}

	receive({type, game, tide, day, people, bots, shown, lines}) {
		if (type !== "tidetable" || game !== this.game || tide !== this.tide || day !== this.day) return
		Object.assign(this, {people, bots})
		for (const line of lines) this.lines.set(line.player, line)
		const known = shown.map(player => this.lines.get(player)).filter(Boolean)
		this.lines = new Map(known.map(line => [line.player, line]))
		const when = new Date(tide).toLocaleString([], day ? {dateStyle: "medium", timeZone: "UTC"} : {dateStyle: "medium", timeStyle: "short"})
		const toggle = () => {
			this.day = !day
			this.lines.clear()
			this.follow()
		}
		const places = (isBot, count, who) => {
			const rows = known.filter(({bot = false}) => bot === isBot).map(line => this.row(line))
			const caption = `${day ? "All tides of" : "The tide of"} ${when}, ${title(game)}: ${counted(count, who)}`
			return rows.length ? table(caption, ...rows) : ""
		}
		const button = element("button", {onclick: toggle}, day ? "Table of this tide" : "Table of the day")
		this.element.replaceChildren(places(false, people, "player"), places(true, bots, "bot"), button)
	}

	row({player, name, place, time, foundation_cards: count, deal_place: among = 0, racing}) {
		const result = time ? clock(time) : `${count} of ${52 * GAMES[this.game].decks} cards`
		const cells = [place, name, result, among === place ? "" : `${among}. with the same cards`, racing ? "racing" : ""]
		return row(cells, {class: player === this.me ? "own" : ""})
	}
}
