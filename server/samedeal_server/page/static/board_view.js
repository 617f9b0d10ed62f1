// Draws boards as SVG. A card keeps its element, so that a move can be shown as a movement.

import {element, setText, svg} from "./dom.js"
import {DOWN, FACE, GAMES, HIDDEN, rank, suit} from "./piles.js"

const WIDTH = 46
const HEIGHT = 64
const STEP_X = 51
const STEP_Y = 69
const STRIP = 26 // the part of a covered card that shows, if there is room
const SUITS = ["clubs", "diamonds", "hearts", "spades"]
const still = matchMedia("(prefers-reduced-motion: reduce)")

const isSpread = what => what === "column" || what === "fan"
const rectangle = attributes => svg("rect", {width: WIDTH, height: HEIGHT, rx: 5, ...attributes})

export function tableSize(game) {
	const {height, piles} = GAMES[game]
	return [Math.max(...piles.map(({x}) => x + 1)) * STEP_X + 7, height * STEP_Y + 7]
}

export class BoardView {
	constructor(game) {
		const {height, piles} = GAMES[game]
		this.places = piles.map(({what, key, x, y}) => ({what, key, x: x * STEP_X, y: y * STEP_Y, room: (height - y - 1) * STEP_Y}))
		this.drawn = new Map() // by pile: its cards, each with its element and place
		this.cards = svg("g")
		const outlines = this.places.filter(({what}) => !isSpread(what)).map(({x, y}) => rectangle({x, y, class: "outline"}))
		const {x, y} = this.places.find(({what}) => what === "stock") ?? {x: 0, y: 0}
		this.count = svg("text", {x: x + WIDTH / 2, y: y + HEIGHT / 2 + 8, class: "left"})
		const viewBox = `-6 -6 ${tableSize(game).join(" ")}`
		this.element = svg("svg", {viewBox, "aria-hidden": "true", class: "table"}, ...outlines, this.cards, this.count)
		this.words = element("ul", {class: "heard"}, ...piles.map(() => element("li")))
	}

	// Show piles, and touch only those that have changed. A card takes the element at its place, or that of the same card
	// elsewhere, or of a hidden card.
	show(piles, animated) {
		const changed = this.places.filter(({key}, i) => String(piles[i]) !== this.drawn.get(key)?.piles)
		const left = changed.flatMap(({key}) => this.drawn.get(key)?.cards ?? [])
		const cards = changed.flatMap(place => layOut(place, piles[this.places.indexOf(place)]))
		const stays = (card, old) => card.place === old.place && (card.face === old.face || !card.face || !old.face)
		const moved = (card, old) => card.face === old.face
		const turnedUp = (card, old) => !old.face
		for (const fits of [stays, moved, turnedUp])
			for (const card of cards) {
				const found = card.before ? -1 : left.findIndex(old => fits(card, old))
				if (found >= 0) [card.before] = left.splice(found, 1)
			}
		const reached = new Set(cards.filter(({key, before}) => before && before.key !== key).map(({key}) => key))
		cards.sort((a, b) => reached.has(a.key) - reached.has(b.key)) // cards that move are painted over the others
		for (const {element} of left) element.remove()
		for (const card of cards) draw(card, animated && !still.matches && !document.hidden)
		this.cards.append(...cards.map(({element}) => element))
		for (const place of changed) {
			const i = this.places.indexOf(place)
			if (place.key === "stock") setText(this.count, String(piles[i].length || ""))
			setText(this.words.children[i], inWords(place, piles[i]))
			this.drawn.set(place.key, {piles: String(piles[i]), cards: cards.filter(({key}) => key === place.key)})
		}
	}
}

function layOut({key, what, x, y, room}, pile) {
	const top = pile.length - 1
	const step = isSpread(what) ? Math.min(STRIP, room / Math.max(1, top)) : 0
	return pile.map((code, depth) => {
		const under = what === "waste" ? STRIP * Math.max(0, depth - Math.max(0, top - 2)) : depth * step
		return {code, face: code & FACE, key, place: `${key} ${depth}`, at: `translate(${x}px, ${y + under}px)`}
	})
}

function draw(card, animated) {
	const {code, key, before, at} = card
	const element = (card.element = before?.element ?? svg("g"))
	if (before?.code !== code) {
		element.replaceChildren(rectangle(), ...(code === HIDDEN ? [] : face(code)))
		element.setAttribute("class", `card suit${suit(code)}${code & DOWN ? " down" : ""}`)
		element.dataset.card = code
	}
	if (before?.key !== key) element.dataset.pile = key
	if (before?.at !== at) element.style.transform = at
	if (animated && before && before.at !== at)
		element.animate([{transform: before.at}, {transform: at}], {duration: 240, easing: "ease-out"})
}

function face(code) {
	const symbol = (x, y, size) => svg("use", {href: `#suit${suit(code)}`, transform: `translate(${x} ${y}) scale(${size / 24})`})
	const corner = [svg("text", {x: 2, y: 20, class: "rank"}, rank(code)), symbol(28, 4, 16)]
	return code & DOWN ? corner : [...corner, symbol(11, 31, 25)]
}

// A pile in words, for screen readers. Of a foundation, the top card says all.
function inWords({what, key}, pile) {
	const up = pile.filter(card => !(card & DOWN)).map(card => `${rank(card)} of ${SUITS[suit(card)]}`)
	const down = pile.length - up.length
	const cards = [down && `${down} face down`, ...up.slice(what === "foundation" ? -1 : 0)].filter(Boolean)
	return `${what === key ? "" : what} ${key}: ${cards.join(", ") || "empty"}`
}
