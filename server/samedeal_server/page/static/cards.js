// Draws boards as SVG. A card keeps its element, so that a move can be shown as a movement.

import {svg} from "./dom.js"
import {DOWN, FACE, GAMES, HIDDEN, cardName, kind, pileName, rank, suit} from "./boards.js"

const WIDTH = 46
const HEIGHT = 64
const STEP_X = 51
const STEP_Y = 69
const STRIP = 26 // the part of a covered card that shows, if there is room
const still = matchMedia("(prefers-reduced-motion: reduce)")

// The size of a table and the places of piles to the right of the columns, in cards.
const TABLES = {
	athena: {columns: 9.2, rows: 4, foundation: i => [7.2 + (i % 2), i >> 1], stock: () => [7.2, 2.15], waste: () => [8.2, 2.15]},
	steve: {columns: 11.2, rows: 4.6, foundation: i => [8.2 + (i % 3), Math.floor(i / 3)], stock: () => [10.2, 2]},
	phoenix: {columns: 10.2, rows: 5.15, foundation: i => [6.2 + i, 0], reserve: i => [6.2 + (i % 4), 1.15 + (i >> 2)]},
	"ace-of-hearts": {columns: 8.2, rows: 4.2, foundation: () => [7.2, 0], stock: () => [7.2, 1.15]},
	willow: {columns: 11.2, rows: 4, foundation: i => [7.2 + i, 0], fan: i => [7.2 + i, 1.15]}
}
const SPREAD = ["column", "fan"]

const rectangle = attributes => svg("rect", {width: WIDTH, height: HEIGHT, rx: 5, ...attributes})

export function tableSize(game) {
	const table = TABLES[game]
	return [table.columns * STEP_X - 5 + 12, table.rows * STEP_Y - 5 + 12]
}

export class BoardView {
	constructor(game) {
		this.game = game
		const [width, height] = tableSize(game)
		this.cards = svg("g")
		this.counts = svg("g")
		this.places = this.layOut()
		const outlines = svg("g")
		for (const {what, x, y} of this.places) if (!SPREAD.includes(what)) outlines.append(rectangle({x, y, class: "place"}))
		this.element = svg("svg", {viewBox: `-6 -6 ${width} ${height}`, role: "img", class: "table"}, outlines, this.cards, this.counts)
		this.drawn = new Map() // from a card of the model to its element and place
	}

	layOut() {
		const table = TABLES[this.game]
		const counts = {}
		return GAMES[this.game].keys.map(key => {
			const what = kind(this.game, key)
			const i = (counts[what] = (counts[what] ?? -1) + 1)
			const [column, row] = what === "column" ? [i, 0] : table[what](i)
			return {key, what, x: column * STEP_X, y: row * STEP_Y, room: (table.rows - row) * STEP_Y - 5 - HEIGHT}
		})
	}

	// Show piles. Cards are objects with a `code` and an `id` that is kept while the card is followed.
	show(piles, animated) {
		const before = this.drawn
		this.drawn = new Map()
		const changed = [] // cards that moved, and those above them, which must be painted after them
		this.counts.replaceChildren()
		for (const [i, {key, what, x, y, room}] of this.places.entries()) {
			const pile = piles[i]
			const top = pile.length - 1
			const step = SPREAD.includes(what) ? Math.min(STRIP, room / Math.max(1, top)) : 0
			let above = false
			pile.forEach((card, depth) => {
				const under = what === "waste" ? STRIP * Math.max(0, depth - Math.max(0, top - 2)) : depth * step
				const old = before.get(card.id)
				const entry = {element: old?.element ?? svg("g"), code: old?.code, x, y: y + under, key, came: old && old.key !== key}
				if (entry.code !== card.code) draw(entry, card.code)
				entry.element.dataset.pile = key
				entry.element.classList.toggle("buried", !SPREAD.includes(what) && top - depth > (what === "waste" ? 3 : 1))
				this.drawn.set(card.id, entry)
				above ||= !old || entry.came || old.y !== entry.y
				if (above) changed.push([entry, old])
				before.delete(card.id)
			})
			const middle = {x: x + WIDTH / 2, y: y + HEIGHT / 2 + 8, class: "count"}
			if (what === "stock" && pile.length) this.counts.append(svg("text", middle, String(pile.length)))
		}
		for (const {element} of before.values()) element.remove()
		const came = new Set(changed.filter(([{came}]) => came).map(([{key}]) => key))
		changed.sort(([a], [b]) => came.has(a.key) - came.has(b.key)) // piles that cards have come to are painted last
		for (const [entry, old] of changed) {
			const to = `translate(${entry.x}px, ${entry.y}px)`
			entry.element.style.transform = to
			this.cards.append(entry.element)
			if (!old || !animated || still.matches || document.hidden) continue
			const from = `translate(${old.x}px, ${old.y}px)`
			if (from !== to) entry.element.animate([{transform: from}, {transform: to}], {duration: 240, easing: "ease-out"})
		}
	}
}

function draw(entry, code) {
	entry.code = code
	const {element} = entry
	const isDown = code & DOWN
	element.setAttribute("class", `card suit${suit(code)}${isDown ? " down" : ""}`)
	element.dataset.card = code
	element.replaceChildren(rectangle())
	if (code === HIDDEN) return
	const isTen = rank(code) === "10"
	const use = (x, y, size) => svg("use", {href: `#suit${suit(code)}`, x, y, width: size, height: size})
	element.append(svg("text", {x: 3, y: 20, class: isTen ? "rank ten" : "rank"}, rank(code)), use(isTen ? 28 : 26, 4, 16))
	if (!isDown) element.append(use(11, 31, 25))
}

// A board in words, also for screen readers.
export function inWords(game, piles) {
	return GAMES[game].keys
		.map((key, i) => [key, piles[i].map(card => card.code)])
		.filter(([, pile]) => pile.length)
		.map(([key, pile]) => {
			const name = pileName(game, key)
			const what = kind(game, key)
			if (what === "stock") return `${name}: ${pile.length} cards`
			if (what === "foundation" || what === "waste") return `${name}: ${cardName(pile.at(-1) & FACE)} on top, ${pile.length} cards`
			const down = pile.filter(code => code & DOWN).length
			const up = pile.filter(code => !(code & DOWN)).map(cardName)
			return `${name}: ${[...(down ? [`${down} face down`] : []), ...up].join(", ")}`
		})
}
