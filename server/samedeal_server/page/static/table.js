// The racer's own table: how it is laid out on a screen, and a button on each pile, for fingers, keys and screen readers.
// Cards also follow the pointer.

import {HEIGHT, STRIP, WIDTH, flat, inWords, isSpread, scaleBoards, still} from "./board_view.js"
import {counted, element, setAttribute} from "./dom.js"
import {GAMES} from "./piles.js"

const STEP = 48 // px from a column to the next where the columns are alone in their row
const GAP = 5
const COLUMN = 64 + 5 * STRIP // px for a column
const ROW = 9 // piles above the columns in one row; where there are more, foundations have a row of their own
const ASIDE = 20 // px at most between the cards of the waste
const KINDS = ["foundation", "cell", "reserve", "fan", "waste", "stock"]
const MOST = 2.8 // largest scale
const CLICK = 300 // ms after a tap in which its click comes
const TWICE = 400 // ms between two taps that are a pair
const SLACK = 6 // px that a tap may move where a drag can begin
const NEAR = 16 // px that it may move elsewhere
const COVERED = 0.15 * WIDTH * HEIGHT // area by which a card has to cover a pile

// The piles above, and the columns below them in the whole width. `tall` is the height of the table by its width.
function upright(game, ratio) {
	const {piles} = GAMES[game]
	const columns = piles.filter(each => each.what === "column")
	const others = KINDS.flatMap(kind => piles.filter(each => each.what === kind))
	const across = columns.length * STEP - 2
	const slots = ({what}) => (what === "waste" ? 2 : 1)
	const count = row => row.reduce((sum, pile) => sum + slots(pile), 0)
	const found = others.filter(each => each.what === "foundation")
	const rest = others.slice(found.length)
	const chunks = Array.from({length: Math.ceil(rest.length / 8)}, (_, i) => rest.slice(8 * i, 8 * i + 8))
	const at = new Map()
	let y = 0
	for (const row of count(others) <= ROW ? [others] : [found, ...chunks]) {
		const step = Math.min(STEP, (across - WIDTH) / Math.max(1, count(row) - 1))
		const down = row.some(each => each.what === "fan") ? 2 * STRIP : 0
		const aside = Math.min(ASIDE, step - 24)
		let right = across - WIDTH
		row.filter(({what}) => !/waste|stock/.test(what)).forEach(({key}, i) => at.set(key, {x: i * step, y, room: down}))
		for (const {what, key} of row.filter(({what}) => /waste|stock/.test(what)).reverse()) {
			if (what === "waste") right -= 2 * aside
			at.set(key, {x: right, y, room: 0, aside})
			right -= step
		}
		y += HEIGHT + GAP + down
	}
	const [width, least] = [across + 12, y + COLUMN + 12]
	const height = Math.max(least, width * ratio)
	columns.forEach(({key}, i) => at.set(key, {x: i * STEP, y, room: height - 12 - y - HEIGHT}))
	return {width, height, least, places: piles.map(({what, key}) => ({what, key, ...at.get(key)}))}
}

// The layout with the largest cards in a room of so many pixels, and its scale.
function layOut(game, wide, tall) {
	const scaleOf = ({width, height}, most = MOST) => Math.min(wide / width, tall / height, most)
	const [lying, {width, least}] = [flat(game), upright(game, 0)]
	const scale = scaleOf({width, height: least})
	if (scaleOf(lying) * 1.05 >= scale) return {layout: lying, scale: scaleOf(lying)}
	return {layout: upright(game, tall / scale / width), scale}
}

// Let a press of a pointer leave the focus on nothing, so that Enter and the space bar belong to the game after it.
export function unfocus(event) {
	event.preventDefault()
	document.activeElement.blur()
}

// Cards that follow the mouse or a finger, and glide to their places when they are let go.
class Drag {
	endedAt = -CLICK // when the pointer went up last
	lifted = [] // cards that are not in their places, each with its element and its corner

	// `hand` says how many cards follow, and takes them where they are let go. `tap` gets the key of a pile and a size.
	constructor(view, hand, tap) {
		Object.assign(this, {view, hand, tap})
		const release = event => {
			this.release(event)
			this.endedAt = performance.now()
		}
		Object.assign(view.element, {onpointerdown: () => view.arrive(), onpointermove: event => this.move(event), onpointerup: release, onpointercancel: release, onmousedown: unfocus})
	}

	// Put the cards back, as when the phone is turned.
	cancel() {
		if (this.held) this.release({type: "pointercancel", pointerId: this.held.pointerId})
	}

	press({button, clientX, clientY, pointerId, target}, index, size) {
		if (!button && !this.isOn) this.held = {index, size, clientX, clientY, pointerId, target}
	}

	move({clientX, clientY, pointerId}) {
		const {held, view} = this
		if (pointerId !== held?.pointerId) return
		const {index, size, target} = held
		const [x, y] = [clientX - held.clientX, clientY - held.clientY]
		if (!this.isOn) {
			if (held.isFixed || Math.hypot(x, y) < SLACK) return
			this.settle()
			const count = this.hand.lift(view.places[index].key, size)
			if (!count) return (held.isFixed = true)
			this.isOn = true
			this.lifted = view.drawn[index].slice(-count)
			target.setPointerCapture(pointerId)
		}
		const scale = view.element.getBoundingClientRect().width / view.element.offsetWidth
		this.shift = [x / scale, y / scale]
		for (const {element} of this.lifted) Object.assign(element.style, {translate: this.shift.map(each => `${each}px`).join(" "), zIndex: 1})
	}

	release({type, pointerId, clientX, clientY}) {
		const {held, view, lifted, shift} = this
		if (pointerId !== held?.pointerId) return
		this.held = null
		if (!this.isOn) {
			const isTap = type === "pointerup" && Math.hypot(clientX - held.clientX, clientY - held.clientY) < NEAR
			return isTap && this.tap(view.places[held.index].key, held.size)
		}
		this.isOn = false
		const [left, top] = [lifted[0].left + shift[0], lifted[0].top + shift[1]]
		const area = ({what, x, y, room}) => {
			const bottom = Math.min(y + HEIGHT + (isSpread(what) ? room : 0), top + HEIGHT)
			return Math.max(0, WIDTH - Math.abs(x - left)) * Math.max(0, bottom - Math.max(y, top))
		}
		const takes = ({key}) => view.element.querySelector(`.takes[data-key="${key}"]`)
		const covered = view.places.filter(place => area(place) > COVERED)
		const order = (a, b) => Boolean(takes(b)) - Boolean(takes(a)) || area(b) - area(a)
		const [over] = type === "pointerup" ? covered.sort(order) : []
		this.hand.drop(over === view.places[held.index] ? null : over?.key)
	}

	// Let the cards that were let go glide to where they belong now.
	settle() {
		if (this.isOn) return
		for (const {element, left, top} of this.lifted) {
			const [x, y] = [left + this.shift[0] - parseFloat(element.style.left), top + this.shift[1] - parseFloat(element.style.top)]
			for (const animation of element.getAnimations()) animation.cancel()
			const rest = () => (element.style.zIndex = "")
			element.style.translate = ""
			if (still.matches) rest()
			else Object.assign(element.animate([{translate: `${x}px ${y}px`}, {translate: "none"}], {duration: 200, easing: "ease-out"}), {onfinish: rest, oncancel: rest})
		}
		this.lifted = []
	}
}

export class Table {
	tapped = {key: "", at: -1000} // the last tap of a pointer

	// Taps tell the hand the key of a pile, the number of cards from the tapped one to the top, null if a key chose the pile,
	// and whether this is the second tap of two.
	constructor(view, game, hand) {
		Object.assign(this, {view, game, hand})
		// Taps are heard when the pointer goes up, because browsers send no click for a tap that follows a flick. The click
		// for the same tap comes after it, and those of screen readers come alone.
		const tap = (key, size) => {
			const now = performance.now()
			const isSecond = this.tapped.key === key && now - this.tapped.at < TWICE
			this.tapped = {key, at: now}
			hand.taps(key, size, isSecond)
		}
		this.drag = new Drag(view, hand, tap)
		view.words.remove()
		this.buttons = GAMES[game].piles.map(({key}, i) => {
			const sizeOf = event => this.sizeAt(i, event.offsetY)
			const onclick = event => {
				const isHeard = event.isTrusted && (event.pointerType || (event.detail && performance.now() - this.drag.endedAt < CLICK))
				if (!isHeard) hand.taps(key, event.detail ? sizeOf(event) : null)
			}
			return element("button", {class: "pile", "data-key": key, onclick, onpointerdown: event => this.drag.press(event, i, sizeOf(event))})
		})
	}

	// Make the table as large as it can be in a place with so many pixels.
	fit(place, wide, tall) {
		const {layout, scale} = layOut(this.game, wide, tall)
		scaleBoards(place, scale, layout, [this.view])
		if (JSON.stringify(layout) === this.layout) return
		this.layout = JSON.stringify(layout)
		this.arrange(layout)
		this.show(false)
	}

	arrange(layout) {
		this.drag.cancel()
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
		const under = cards.findLastIndex(each => each.top <= this.view.places[i].y + offset - 1)
		return isSpread(this.view.places[i].what) ? cards.length - Math.max(0, under) : Math.min(1, cards.length)
	}

	// Show the board of the hand. Cards that were let go stay where they are until the last move is answered.
	show(animated) {
		const {picked, largest, racer: {piles, awaits, unsure}} = this.hand
		const targets = this.hand.targets()
		this.view.show(piles, animated)
		this.view.drawn.forEach((cards, i) => cards.forEach(({element}, at) => element.classList.toggle("waiting", at >= cards.length - unsure[i])))
		if (!awaits) this.drag.settle()
		this.buttons.forEach((button, i) => {
			const {what, key, y} = this.view.places[i]
			const isPicked = picked && (picked.key === key || (picked.key === "0" && what === "foundation"))
			const takes = targets.includes(key)
			const size = isPicked && (picked.size ?? largest(key))
			const first = isPicked && this.view.drawn[i].at(-size)
			button.classList.toggle("picked", Boolean(isPicked))
			button.classList.toggle("takes", takes)
			button.classList.toggle("empty", isSpread(what) && !piles[i].length)
			button.style.setProperty("--from", `${first ? first.top - y : 0}px`)
			button.style.setProperty("--top", `${(this.view.drawn[i].at(-1)?.top ?? y) - y}px`)
			const words = [inWords({what, key}, piles[i]), isPicked && `${counted(size, "card")} picked`, takes && "takes what is picked"]
			setAttribute(button, "aria-label", words.filter(Boolean).join(", "))
		})
	}
}
