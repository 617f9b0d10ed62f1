// What taps and keys mean: the moves that they make, as text. Knows no DOM.

import {GAMES, nameOf, played} from "./piles.js"
import {homeward, moveText, movesFrom, safeMove} from "./legal_moves.js"
import {DOWN, RULES, byKey} from "./rules.mjs"

export class Hand {
	picked = null // {key, size}: the cards that go with the next tap; with a key, size is null, and as many go as fit
	auto = true // whether a tapped card goes to its best place at once
	hints = {} // the newest hint, by the boards on its way
	isOn = () => true // whether the player may move cards

	// `say` shows a sentence, and `changed` what is picked.
	constructor(racer, say, changed) {
		Object.assign(this, {racer, say, changed})
	}

	get game() {
		return this.racer.game
	}

	get piles() {
		return byKey(RULES[this.game], this.racer.piles)
	}

	kind(key) {
		return key === "0" ? "foundation" : GAMES[this.game].piles.find(pile => pile.key === key)?.what
	}

	act(action) {
		this.pick(null)
		this.racer.act(action)
	}

	pick(picked) {
		this.picked = picked
		this.changed()
	}

	// Useful moves of a pile, the best first: a foundation, a card, a fan, an empty column, a cell.
	useful(key, size) {
		const {piles} = this
		const use = ({to}) => ({foundation: 3, fan: 1, cell: -1})[this.kind(to)] ?? (piles[to].length ? 2 : 0)
		const isNull = ({from, to, size}) => to !== "0" && !piles[to].length && piles[from].length === size && this.kind(from) === this.kind(to)
		return this.moves(key, size)
			.filter(each => !isNull(each))
			.map(each => ({...each, use: use(each)}))
			.sort((a, b) => b.use - a.use || b.size - a.size)
	}

	// The piles that take what is picked.
	targets() {
		if (!this.picked || this.racer.awaits) return []
		const {key, size} = this.picked
		return this.moves(key, size).flatMap(({to}) => this.keysOf(to))
	}

	// The piles that a key means: 0 is all foundations.
	keysOf(key) {
		return key === "0" ? RULES[this.game].foundations : [key]
	}

	// The moves of a pile, perhaps only those of so many cards.
	moves(key, size) {
		const all = this.keysOf(key).flatMap(from => movesFrom(this.game, this.racer.piles, from))
		return size ? all.filter(each => each.size === size) : all
	}

	// How many cards follow the pointer that pulls at one of them.
	lift(key, size) {
		if (!this.isOn()) return 0
		if (this.kind(key) !== "column") size = 1
		const cards = this.piles[key].slice(-size)
		if (this.kind(key) === "stock" || cards.some(card => card & DOWN)) return 0
		this.pick(cards.length ? {key, size} : null)
		return cards.length
	}

	drop(key) {
		if (key && this.picked) this.move(this.picked, key)
		else this.pick(null)
	}

	// Two taps on a card that does not go away with the first one send all safe cards to the foundations.
	taps(key, size, isSecond) {
		this.say("")
		if (!this.isOn()) return
		const {next} = this.racer
		if (isSecond && this.tapped === next) {
			this.pick(null)
			return this.collect(false, false)
		}
		this.tapped = next
		this.tap(key, size)
	}

	// A tap on a pile. `size` is the number of cards from the tapped one to the top; null is as many as can be moved.
	tap(key, size) {
		if (this.kind(key) === "stock") return this.stock()
		if (this.racer.awaits && size === null) return (this.later = () => this.tap(key, size))
		size ??= this.piles[key].length && this.largest(key)
		const card = this.piles[key].at(-size)
		if (this.racer.awaits) return (this.later = () => this.piles[key].at(-size) === card && this.tap(key, size))
		const {picked} = this
		if (picked && picked.key !== key) return this.move(picked, key)
		if (picked) return picked.size === size || !picked.size ? this.pick(null) : this.pick({key, size})
		if (!size) return this.say("This place is empty. Tap a card first.")
		if (this.kind(key) !== "column") size = 1
		const all = this.useful(key, size)
		const best = all.filter(each => each.use === all[0].use)
		if (this.auto && all.length && (best.length === 1 || all[0].use < 1)) return this.act(best[0].move)
		if (all.length) return this.pick({key, size})
		if (card & DOWN) return this.say("This card lies face down.")
		if (this.kind(key) === "column" && size > 1 && !this.moves(key, size).length) return this.tap(key, this.largest(key) < size ? this.largest(key) : 1)
		this.say(`No pile takes ${nameOf(card)}${size > 1 ? " and the cards on it" : ""}.`)
	}

	largest = key => Math.max(1, ...this.moves(key).map(each => each.size))

	// Move what is picked to a pile. If that is illegal, the server says why.
	move({key, size}, to) {
		const target = this.kind(to) === "foundation" || to === key ? "0" : to
		const all = this.moves(key, size).filter(each => each.to === target)
		const [best] = all.sort((a, b) => b.size - a.size)
		const from = this.keysOf(key).findLast(each => key !== "0" || this.piles[each].length)
		if (best || from) this.act(best?.move ?? moveText(from, target, size ?? 1))
		else this.pick(null)
	}

	stock() {
		const {stock} = RULES[this.game]
		if (!stock) return this.say("This game has no stock.")
		this.act(stock) // as long as a card is awaited, only the server knows whether it is legal
	}

	// Send everything to the foundations that is safe there. If nothing is, the next press sends everything that fits.
	collect(all = this.warnedAt === this.racer.next, isPress = true) {
		const {awaits, game, piles, next} = this.racer
		if (awaits) return (this.later = () => this.collect(all, false))
		const [fits] = homeward(game, piles)
		const move = safeMove(game, piles) ?? (all && fits?.move)
		if (move) {
			this.act(move)
			return this.collect(all, false)
		}
		if (!isPress) return
		this.warnedAt = next
		this.say(fits ? "You may still need the cards that fit. Collect again to send them all." : "No card fits on a foundation now.")
	}

	// Show a hint. It is kept as long as it is followed, and another one comes from `find`, as hints.js has it.
	async hint(find) {
		const {awaits, game, piles} = this.racer
		if (awaits || this.looks) return
		if (!this.hints[piles]) {
			this.looks = true
			const {moves, isLost} = (await find({game, piles})) ?? {moves: []}
			Object.assign(this, {looks: false, hints: {[piles]: {isLost}}})
			let now = piles
			for (const move of moves) {
				this.hints[now] = {move, isLost}
				now = played(game, now, move)
			}
			if (this.racer.piles !== piles) return
		}
		const {move, isLost} = this.hints[piles]
		const lost = isLost ? "This can no longer be won. " : ""
		if (!move) return this.say(lost || "No useful move found.")
		const {from: key, to, size} = movesFrom(game, piles).find(each => each.move === move) ?? {}
		if (!to) return this.say(`${lost}Try the stock.`)
		this.pick({key, size})
		const under = to !== "0" && this.piles[to].at(-1)
		this.say(`${lost}Try ${nameOf(this.piles[key].at(-size))} on ${to === "0" ? "a foundation" : under ? nameOf(under) : "the empty place"}.`)
	}

	// A key as in the terminal client. Return whether it means anything.
	press(key, undo) {
		const {picked} = this
		if (key === "Escape") this.pick(null)
		else if (key === " ") this.stock()
		else if (key === "x") this.collect()
		else if (key === "z" || key === "Backspace") undo()
		else if (key === "Enter" && picked) {
			const [best] = this.useful(picked.key, picked.size)
			if (best) this.act(best.move)
		} else if (picked && "-+=".includes(key)) {
			const sizes = [...new Set(this.moves(picked.key).map(each => each.size))].sort((a, b) => a - b)
			const now = sizes.indexOf(picked.size ?? sizes.at(-1))
			this.pick({...picked, size: sizes[now + (key === "-" ? -1 : 1)] ?? sizes[now]})
		} else if (key.length === 1 && this.kind(key) && this.kind(key) !== "stock") {
			if (this.racer.awaits) this.later = () => this.press(key, undo)
			else if (picked) this.move(picked, key)
			else if (key !== "0" && !this.piles[key].length) this.say("This pile is empty. Start with another one.")
			else this.pick({key, size: null})
		} else return false
		return true
	}

	// The board has changed: what is picked may have gone, and what was tapped too early comes now.
	follow() {
		const {picked, later} = this
		if (picked && picked.key !== "0" && this.piles[picked.key].length < (picked.size ?? 1)) this.picked = null
		if (this.racer.awaits) return
		this.later = null
		later?.()
	}
}
