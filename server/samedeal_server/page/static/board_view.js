// Draws boards as SVG. A card is drawn once and keeps its element. Whatever happens to it is a transform of this element.

import {element, setAttribute, setText, svg} from "./dom.js"
import {FACE, GAMES, HIDDEN, rankText, suit} from "./piles.js"
import {DOWN} from "./rules.mjs"

export const WIDTH = 46
export const HEIGHT = 64
const STEP_X = 51
const STEP_Y = 69
export const STRIP = 26 // the part of a covered card that shows, if there is room
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
const rectangle = attributes => svg("rect", {width: WIDTH, height: HEIGHT, rx: 5, ...attributes})

// Where the piles of a game lie: the size of the table, and for each pile its corner and the room below it.
export function flat(game) {
	const {height, piles} = GAMES[game]
	const places = piles.map(({what, key, x, y}) => ({what, key, x: x * STEP_X, y: y * STEP_Y, room: (height - y - 1) * STEP_Y}))
	return {width: Math.max(...places.map(each => each.x)) + STEP_X + 7, height: height * STEP_Y + 7, places}
}

export class BoardView {
	constructor(game) {
		const {piles} = GAMES[game]
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
		const outlines = places.filter(({what}) => !isSpread(what)).map(({x, y}) => rectangle({x, y, class: "outline"}))
		const {x, y} = places.find(each => each.what === "stock") ?? {x: 0, y: 0}
		setAttribute(this.count, "x", x + WIDTH / 2)
		setAttribute(this.count, "y", y + HEIGHT / 2 + 8)
		const ground = svg("svg", {width, height, "aria-hidden": "true"}, ...outlines)
		const label = svg("svg", {width, height, "aria-hidden": "true"}, this.count)
		this.element.replaceChildren(ground, this.cards, label)
		Object.assign(this.element.style, {width: `${width}px`, height: `${height}px`})
	}

	// Show piles, of which only those that have changed are touched. A card keeps the element at its place, or takes that
	// of the same card in another pile, or of a hidden card.
	show(piles, animated) {
		const changed = this.places.flatMap((place, i) => {
			const codes = String(piles[i])
			if (codes === this.shown[i] && this.words.children[i].firstChild) return []
			this.shown[i] = codes
			setText(this.words.children[i], inWords(place, piles[i]))
			if (place.what === "stock") setText(this.count, String(piles[i].length || ""))
			return [{place, old: this.drawn[i], cards: (this.drawn[i] = layOut(place, piles[i]))}]
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
		for (const {old, cards} of changed) {
			cards.forEach(card => draw(card, moves))
			// New cards of a pile are painted over all others, and so are the cards that lie on them.
			const first = cards.findIndex(({element}, depth) => element !== old[depth]?.element)
			if (first >= 0) this.cards.append(...cards.slice(first).map(each => each.element))
		}
		for (const {element} of left) element.remove()
	}
}

// How large rank and suit are, so that they fit in the strip that shows. Few sizes, so that cards are seldom drawn again.
const size = strip => [1, 0.8, 0.65, 0.5].find(size => size * STRIP <= strip + 1) ?? 0.4

function layOut({key, what, x, y, room, aside = 0}, pile) {
	const top = pile.length - 1
	const step = isSpread(what) ? Math.min(STRIP, room / Math.max(1, top)) : 0
	return pile.map((code, depth) => {
		const apart = what === "waste" ? Math.max(0, depth - Math.max(0, top - 2)) : 0 // the last three
		const under = aside ? 0 : apart * STRIP + depth * step
		return {code, face: code & FACE, key, left: x + apart * aside, top: y + under, size: size(step || STRIP)}
	})
}

function draw(card, animated) {
	const {code, key, before, left, top, size} = card
	const element = (card.element = before?.element ?? svg("svg"))
	if (before?.code !== code || before.size !== size) {
		element.replaceChildren(rectangle(), ...(code === HIDDEN ? [] : face(code, size)))
		element.setAttribute("class", `card suit${suit(code)}${code & DOWN ? " down" : ""}`)
		element.dataset.card = code
	}
	if (before?.key !== key) element.dataset.pile = key
	if (before?.left !== left || before.top !== top) Object.assign(element.style, {left: `${left}px`, top: `${top}px`})
	const turns = before?.code & DOWN && !(code & DOWN) ? " scaleX(0)" : ""
	if (animated && before && (turns || before.key !== key))
		element.animate([{transform: `translate(${before.left - left}px, ${before.top - top}px)${turns}`}, {transform: "none"}], {duration: 240, easing: "ease-out"})
}

function face(code, size) {
	const squeezed = /[AQK0]/.test(rankText(code)) && {textLength: 25 * size, lengthAdjust: "spacingAndGlyphs"}
	const [base, high] = /[JQ]/.test(rankText(code)) ? [20.6, 27] : [25.3, 33] // in many fonts, J and Q reach below the line
	const corner = [
		svg("text", {x: 1, y: base * size, "font-size": high * size, class: "rank", ...squeezed}, rankText(code)),
		symbol(code, 27 * size, 5 * size, 18 * size)
	]
	return code & DOWN ? corner : [...corner, symbol(code, 11, 32, 25)]
}

function symbol(code, x, y, size) {
	const scaled = SHAPES[suit(code)].replace(/-?[\d.]+/g, number => ((number * size) / 24).toFixed(1))
	return svg("path", {d: scaled.replace(/M(\S+) ([\d.]+)/, (_, left, top) => `M${x + Number(left)} ${y + Number(top)}`)})
}

// A pile in words, for screen readers. Of a foundation, the top card says all.
export function inWords({what, key}, pile) {
	const up = pile.filter(card => !(card & DOWN)).map(card => `${rankText(card)} of ${SUITS[suit(card)]}`)
	const down = pile.length - up.length
	const cards = [down && `${down} face down`, ...up.slice(what === "foundation" ? -1 : 0)].filter(Boolean)
	return `${what === key ? "" : what} ${key}: ${cards.join(", ") || "empty"}`
}
