// Draws boards. A card is an SVG with a face, is drawn once and keeps its element. Whatever happens to it is a transform of
// this element.

import {element, setAttribute, setText, svg} from "./dom.js"
import {FACE, GAMES, HIDDEN, rankText, suit} from "./piles.js"
import {COURTS} from "./courts.mjs"
import {DOWN, rank} from "./rules.mjs"

export const WIDTH = 46
export const HEIGHT = 64
const STEP_X = 51
const STEP_Y = 69
export const STRIP = 22 // the part of a covered card that shows on a phone, if there is room
// How faces are drawn on boards of at least so many pixels a unit: the strip of a covered card that shows, the size and the
// base line of the rank, the width of A, Q, K and 10, and the place and size of the suit beside it.
const FORMS = [
	{from: 1.5, strip: 16.5, font: 14, base: 13, wide: 13, beside: [17.5, 3, 10], hasPips: true},
	{from: 0.75, strip: STRIP, font: 23, base: 19.5, wide: 18, beside: [21, 5, 14]},
	{from: 0, strip: 26, font: 33, base: 25.3, wide: 25, beside: [27, 5, 18]}
]
// The rows of the symbols on number cards, from 0 to 4: those at both sides, and those in the middle.
const PIPS = {
	2: [[], [0, 4]],
	3: [[], [0, 2, 4]],
	4: [[0, 4], []],
	5: [[0, 4], [2]],
	6: [[0, 2, 4], []],
	7: [[0, 2, 4], [1]],
	8: [[0, 2, 4], [1, 3]],
	9: [[0, 4 / 3, 8 / 3, 4], [2]],
	10: [[0, 4 / 3, 8 / 3, 4], [2 / 3, 10 / 3]]
}
const APART = 40 // ms between two moves whose cards fly one after the other
const FALLING = 48 // cards that fall for who has won
const COURT_CARDS = [61, 45, 29, 13, 60, 44] // kings and queens
const SUITS = ["clubs", "diamonds", "hearts", "spades"]
// The shapes of the suits, 24 by 24. After the first point all numbers are relative, so that they can be scaled as text:
// to a browser, a transform costs more than a shape.
const CIRCLE = "c2.65 0 4.8 2.15 4.8 4.8c0 2.65 -2.15 4.8 -4.8 4.8c-2.65 0 -4.8 -2.15 -4.8 -4.8c0 -2.65 2.15 -4.8 4.8 -4.8z"
const SHAPES = [
	`M12 1.6${CIRCLE}m-5.2 7.6${CIRCLE}m10.4 0${CIRCLE}m-5.2 .8l3 12.6h-6z`,
	"M12 1l8.5 11l-8.5 11l-8.5 -11z",
	"M12 22c-7 -6 -10 -9.5 -10 -13.5c0 -3.5 2.5 -5.5 5 -5.5c2 0 4 1.2 5 3.5c1 -2.3 3 -3.5 5 -3.5c2.5 0 5 2 5 5.5c0 4 -3 7.5 -10 13.5z",
	"M12 1c-6 6 -9.5 9 -9.5 13c0 3 2.3 5 4.7 5c1.5 0 2.8 -.7 3.6 -1.8l-1.8 5.3h6l-1.8 -5.3c.8 1.1 2.1 1.8 3.6 1.8c2.4 0 4.7 -2 4.7 -5c0 -4 -3.5 -7 -9.5 -13z"
]
export const still = matchMedia("(prefers-reduced-motion: reduce)")

export const isSpread = what => what === "column" || what === "fan"

// Where the piles of a game lie: the size of the table, and for each pile its corner and the room below it.
export function flat(game) {
	const {height, piles} = GAMES[game]
	const places = piles.map(({what, key, x, y}) => ({what, key, x: x * STEP_X, y: y * STEP_Y, room: (height - y - 1) * STEP_Y}))
	return {width: Math.max(...places.map(each => each.x)) + STEP_X + 7, height: height * STEP_Y + 7, places}
}

// Show boards in a place with so many pixels a unit.
export function scaleBoards(place, scale, {width, height}, views) {
	place.style.setProperty("--scale", scale)
	place.style.setProperty("--width", `${width * scale}px`)
	place.style.setProperty("--height", `${height * scale}px`)
	for (const view of views) view.setScale(scale)
}

export class BoardView {
	next = 0 // when the next cards fly at the earliest

	constructor(game) {
		const {piles, decks, suits} = GAMES[game]
		const foundations = piles.flatMap(({what}, i) => (what === "foundation" ? [i] : []))
		this.signed = decks === 1 && suits === foundations.length ? foundations : [] // empty ones have the suits that are left
		this.form = FORMS.at(-1)
		this.drawn = piles.map(() => []) // by pile: the cards, each with its element
		this.cards = element("div", {"aria-hidden": "true"})
		this.count = svg("text", {class: "left"})
		this.element = element("div", {class: "table"})
		this.words = element("ul", {class: "heard"}, ...piles.map(() => element("li")))
		this.arrange(flat(game))
	}

	// Lay the table out. The cards keep their elements, and show() moves them.
	arrange({width, height, places}) {
		this.places = places
		this.shown = places.map(() => "") // by pile: the codes of the cards as text
		const outlines = places.filter(({what}) => !isSpread(what)).map(({x, y}) => svg("rect", {x, y, width: WIDTH, height: HEIGHT, rx: 4, class: "outline"}))
		this.signs = this.signed.map(() => svg("path", {class: "sign"}))
		const {x, y} = places.find(each => each.what === "stock") ?? {x: 0, y: 0}
		setAttribute(this.count, "x", x + WIDTH / 2)
		setAttribute(this.count, "y", y + HEIGHT / 2 + 8)
		const ground = svg("svg", {width, height, "aria-hidden": "true"}, ...outlines, ...this.signs)
		const label = svg("svg", {width, height, "aria-hidden": "true"}, this.count)
		this.element.replaceChildren(ground, this.cards, label)
		Object.assign(this.element.style, {width: `${width}px`, height: `${height}px`})
	}

	// The board is shown with so many pixels a unit.
	setScale(scale) {
		const form = FORMS.find(({from}) => scale >= from)
		if (form === this.form) return
		this.form = form
		this.shown.fill("")
		if (this.piles) this.show(this.piles)
	}

	// Let cards that are on their way arrive at once.
	arrive() {
		for (const flight of this.cards.getAnimations({subtree: true})) if (!flight.animationName) flight.finish()
		this.next = 0
	}

	// Show piles, of which only those that have changed are touched. A card keeps the element at its place, or takes that
	// of the same card in another pile, or of a hidden card.
	show(piles, animated) {
		this.piles = piles
		const changed = this.places.flatMap((place, i) => {
			const codes = String(piles[i])
			if (codes === this.shown[i] && this.words.children[i].firstChild) return []
			this.shown[i] = codes
			setText(this.words.children[i], inWords(place, piles[i]))
			if (place.what === "stock") setText(this.count, String(piles[i].length || ""))
			return [{place, old: this.drawn[i], cards: (this.drawn[i] = layOut(place, piles[i], this.form))}]
		})
		const left = new Set(changed.flatMap(each => each.old))
		const take = (card, before) => {
			if (before) card.before = before
			left.delete(before)
		}
		const isAlike = (card, there) => there && (card.face === there.face || !card.face || !there.face)
		for (const {old, cards} of changed) cards.forEach((card, depth) => isAlike(card, old[depth]) && take(card, old[depth]))
		for (const fits of [(card, old) => card.face === old.face, (_, old) => !old.face])
			for (const card of changed.flatMap(each => each.cards))
				if (!card.before) take(card, [...left].find(old => fits(card, old)))
		const moves = animated && !still.matches && !document.hidden
		const now = performance.now()
		if (moves && changed[0]) this.next = Math.max(now, this.next + APART)
		for (const {old, cards} of changed) {
			cards.forEach(card => draw(card, moves, this.next - now))
			// New cards of a pile are painted over all others, and so are the cards that lie on them.
			const first = cards.findIndex(({element}, depth) => element !== old[depth]?.element)
			if (first >= 0) this.cards.append(...cards.slice(first).map(each => each.element))
		}
		for (const {element} of left) element.remove()
		const held = this.signed.map(i => piles[i][0]).filter(Boolean).map(suit)
		const missing = [3, 2, 1, 0].filter(each => !held.includes(each))
		this.signed.forEach((i, at) => {
			const {x, y} = this.places[i]
			setAttribute(this.signs[at], "d", piles[i].length ? "" : shape(missing.pop(), x + 13, y + 22, 20))
		})
	}
}

// How large rank and suit are, so that they fit in the strip that shows. Few sizes, so that cards are seldom drawn again.
const sizeIn = (strip, {strip: usual}) => [1, 0.8, 0.65, 0.5].find(size => size * usual <= strip + 1) ?? 0.4

function layOut({key, what, x, y, room, aside = 0}, pile, form) {
	const top = pile.length - 1
	const step = isSpread(what) ? Math.min(form.strip, room / Math.max(1, top)) : 0
	return pile.map((code, depth) => {
		const apart = what === "waste" ? Math.max(0, depth - Math.max(0, top - 2)) : 0 // the last three
		const under = aside ? 0 : apart * form.strip + depth * step
		return {code, face: code & FACE, key, left: x + apart * aside, top: y + under, size: sizeIn(step || form.strip, form), form}
	})
}

function draw(card, animated, delay) {
	const {code, key, before, left, top, size, form} = card
	const element = (card.element = before?.element ?? svg("svg"))
	if (before?.code !== code || before.size !== size || before.form !== form) {
		element.replaceChildren(...(code === HIDDEN ? [] : face(code, size, form)))
		element.setAttribute("class", `card suit${suit(code)}${code & DOWN ? " down" : ""}`)
		element.dataset.card = code
	}
	if (before?.key !== key) element.dataset.pile = key
	if (before?.left !== left || before.top !== top) Object.assign(element.style, {left: `${left}px`, top: `${top}px`})
	const turns = before?.code & DOWN && !(code & DOWN) ? " scaleX(0)" : ""
	if (animated && before && (turns || before.key !== key))
		element.animate([{transform: `translate(${before.left - left}px, ${before.top - top}px)${turns}`}, {transform: "none"}], {duration: 240, delay, fill: "backwards", easing: "ease-out"})
}

// The cards that fall in arcs for who has won, and stay where they have fallen. Without motion there are none.
export function falling() {
	return Array.from({length: still.matches ? 0 : FALLING}, (_, i) => {
		const [thrown, at] = [Math.floor(i / 24), i % 24]
		const height = Math.abs(Math.cos(at * 0.42)) * (1 - at / 40)
		const code = COURT_CARDS[Math.floor(i / 8)]
		const left = thrown ? 4 * at : 94 - 4 * at
		const card = svg("svg", {class: `card falls suit${suit(code)}`, "aria-hidden": "true"}, ...face(code, 1, FORMS[1]))
		Object.assign(card.style, {left: `${left}%`, top: `${86 - 80 * height}%`, animationDelay: `${25 * at + 700 * thrown}ms`})
		return card
	})
}

const path = (name, d) => svg("path", {class: name, d})

function face(code, size, {font, base, wide, beside, strip, hasPips}) {
	const [name, kind] = [rankText(code), suit(code)]
	const squeezed = /[AQK0]/.test(name) && {textLength: wide * size, lengthAdjust: "spacingAndGlyphs"}
	const small = font > 30 && /[JQ]/.test(name) ? 0.82 : 1 // in many fonts, J and Q reach below the line
	const text = {x: 2, y: base * size * small, "font-size": font * size * small, class: "rank", ...squeezed}
	const corner = [svg("text", text, name), path("", shape(kind, ...beside.map(each => each * size)))]
	if (code & DOWN) return corner
	if (COURTS[name]) return [...corner, ...portrait(name, (HEIGHT - strip) / 10.6)]
	const [sides, middle] = PIPS[rank(code)] ?? []
	if (!hasPips || !middle) return [...corner, path("", shape(kind, 9, 28, 28))]
	const pips = [...sides.flatMap(row => [[11, row], [35, row]]), ...middle.map(row => [23, row])]
	return [...corner, path("", pips.map(([x, row]) => shape(kind, x - 5.5, 17.5 + row * 8.3, 11)).join(""))]
}

// The shape of a suit as a path, at a place and in a size.
function shape(kind, x, y, size) {
	const scaled = SHAPES[kind].replace(/-?[\d.]+/g, number => ((number * size) / 24).toFixed(1))
	return scaled.replace(/M(\S+) ([\d.]+)/, (_, left, top) => `M${x + Number(left)} ${y + Number(top)}`)
}

// The portrait of a court card, a path for each colour. Its pixels have a size.
function portrait(name, size) {
	const runs = {}
	COURTS[name].split(" ").forEach((row, y) => {
		for (const {0: run, index} of row.matchAll(/([a-z])\1*/g)) {
			const [left, top, width] = [(WIDTH - 7 * size) / 2 + index * size, HEIGHT - (10.3 - y) * size, run.length * size]
			runs[run[0]] = `${runs[run[0]] ?? ""}M${left.toFixed(1)} ${top.toFixed(1)}h${width.toFixed(1)}v${size.toFixed(1)}h${(-width).toFixed(1)}z`
		}
	})
	return Object.entries(runs).map(([colour, d]) => path(`court ${colour}`, d))
}

// A pile in words, for screen readers. Of a foundation, the top card says all.
export function inWords({what, key}, pile) {
	const up = pile.filter(card => !(card & DOWN)).map(card => `${rankText(card)} of ${SUITS[suit(card)]}`)
	const down = pile.length - up.length
	const cards = [down && `${down} face down`, ...up.slice(what === "foundation" ? -1 : 0)].filter(Boolean)
	return `${what === key ? "" : `${what} `}${key}: ${cards.join(", ") || "empty"}`
}
