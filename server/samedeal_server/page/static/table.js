// The racer's own table: how it is laid out on a screen, and a button on each pile, for fingers, keys and screen readers.

import {HEIGHT, STRIP, WIDTH, flat, inWords, isSpread} from "./board_view.js"
import {element, setAttribute} from "./dom.js"
import {GAMES} from "./piles.js"

const STEP = 48 // px from a column to the next where the columns are alone in their row
const GAP = 5
const LEAST = 64 + 5 * STRIP // px for a column
const ROW = 9 // piles above the columns in one row; where there are more, foundations have a row of their own
const ASIDE = 14 // px between the cards of the waste
const KINDS = ["foundation", "cell", "reserve", "fan", "waste", "stock"]
const MOST = 2.4 // largest scale

// The piles above, and the columns below them in the whole width. `tall` is the height of the table by its width.
function upright(game, ratio) {
	const {piles} = GAMES[game]
	const columns = piles.filter(({what}) => what === "column")
	const others = KINDS.flatMap(kind => piles.filter(({what}) => what === kind))
	const across = columns.length * STEP - 2
	const slots = ({what}) => (what === "waste" ? 2 : 1)
	const count = row => row.reduce((sum, pile) => sum + slots(pile), 0)
	const [found, rest] = [others.filter(({what}) => what === "foundation"), others.filter(({what}) => what !== "foundation")]
	const chunks = Array.from({length: Math.ceil(rest.length / 8)}, (_, i) => rest.slice(8 * i, 8 * i + 8))
	const at = new Map()
	let y = 0
	for (const row of count(others) <= ROW ? [others] : [found, ...chunks]) {
		const step = Math.min(STEP, (across - WIDTH) / Math.max(1, count(row) - 1))
		const down = row.some(({what}) => what === "fan") ? 2 * STRIP : 0
		let [left, right] = [0, across - WIDTH]
		for (const pile of row.filter(({what}) => !/waste|stock/.test(what))) {
			at.set(pile.key, {x: left, y, room: down})
			left += step
		}
		for (const pile of row.filter(({what}) => /waste|stock/.test(what)).reverse()) {
			if (pile.what === "waste") right -= 2 * ASIDE
			at.set(pile.key, {x: right, y, room: 0, aside: ASIDE})
			right -= step
		}
		y += HEIGHT + GAP + down
	}
	const [width, least] = [across + 12, y + LEAST + 12]
	const height = Math.max(least, width * ratio)
	columns.forEach(({key}, i) => at.set(key, {x: i * STEP, y, room: height - 12 - y - HEIGHT}))
	return {width, height, least, places: piles.map(({what, key}) => ({what, key, ...at.get(key)}))}
}

// The layout with the largest cards in a room of so many pixels, and its scale.
export function layOut(game, wide, tall) {
	const scaleOf = ({width, height}, most = MOST) => Math.min(wide / width, tall / height, most)
	const [lying, {width, least}] = [flat(game), upright(game, 0)]
	const scale = scaleOf({width, height: least})
	if (scaleOf(lying) * 1.05 >= scale) return {layout: lying, scale: scaleOf(lying)}
	return {layout: upright(game, tall / scale / width), scale}
}

export class Table {
	// `tap` gets the key of a pile, and the number of cards from the tapped one to the top: null if a key chose the pile.
	constructor(view, game, tap) {
		this.view = view
		view.words.remove()
		this.buttons = GAMES[game].piles.map(({key}, i) => {
			const onclick = event => tap(key, event.detail ? this.sizeAt(i, event.offsetY) : null)
			return element("button", {class: "pile", "data-key": key, onclick})
		})
	}

	arrange(layout) {
		this.view.arrange(layout)
		const {places, element} = this.view
		places.forEach(({what, x, y, room, aside = 0}, i) => {
			const height = HEIGHT + (isSpread(what) ? room : what === "waste" && !aside ? 2 * STRIP : 0)
			const style = {left: `${x + 5}px`, top: `${y + 5}px`, width: `${WIDTH + 2 + (what === "waste" ? 2 * aside : 0)}px`, height: `${height + 2}px`}
			Object.assign(this.buttons[i].style, style)
		})
		element.append(...this.buttons)
	}

	sizeAt(i, offset) {
		const cards = this.view.drawn[i]
		const under = cards.findLastIndex(({top}) => top <= this.view.places[i].y + offset - 1)
		return isSpread(this.view.places[i].what) ? cards.length - Math.max(0, under) : Math.min(1, cards.length)
	}

	show(piles, {picked, targets, largest}, animated) {
		this.view.show(piles, animated)
		this.buttons.forEach((button, i) => {
			const {what, key, y} = this.view.places[i]
			const isPicked = picked && (picked.key === key || (picked.key === "0" && what === "foundation"))
			const takes = targets.includes(key)
			const first = isPicked && this.view.drawn[i].at(-(picked.size ?? largest(key)))
			button.classList.toggle("picked", Boolean(isPicked))
			button.classList.toggle("takes", takes)
			button.classList.toggle("empty", !piles[i].length)
			button.style.setProperty("--from", `${first ? first.top - y : 0}px`)
			button.style.setProperty("--top", `${(this.view.drawn[i].at(-1)?.top ?? y) - y}px`)
			const words = [inWords({what, key}, piles[i]), isPicked && "picked", takes && "takes what is picked"]
			setAttribute(button, "aria-label", words.filter(Boolean).join(", "))
		})
	}
}
