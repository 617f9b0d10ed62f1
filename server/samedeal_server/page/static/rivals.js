// The race of those who have played a deal before, as lanes above the board.

import {still} from "./board_view.js"
import {clock, element, setText} from "./dom.js"

const LIVELY = 12 // times as fast as it was, until the player joins in

const lane = (name, mark, bot, more) => {
	const who = element("span", {}, element("span", {class: "name"}, name), bot ? element("span", {class: "bot"}, "bot") : "")
	return element("li", {class: more}, who, element("i", {"aria-hidden": "true"}, element("s"), element("u", {}, mark)), element("b"))
}

export class Rivals {
	// `list` gets the lanes.
	constructor(list) {
		Object.assign(this, {list, players: []})
	}

	// Show the race of players, and of the one who plays now, to so many cards. Without players there are no lanes.
	open(players, cards) {
		Object.assign(this, {players, cards, since: performance.now(), isOn: false})
		const named = players.map(({name, bot}) => lane(name || "Somebody", (name || "?")[0].toUpperCase(), bot))
		this.list.replaceChildren(...(players.length ? [...named, lane("You", "★", false, "own")] : []))
		for (const [at, {style}] of [...this.list.children].entries()) style.setProperty("--player", `hsl(${200 + 137.5 * at} 75% 70%)`)
	}

	// The player has made the first move: from now on, time passes as it did.
	join() {
		if (!this.isOn) Object.assign(this, {isOn: true, since: performance.now()})
	}

	show(own) {
		const time = still.matches ? Infinity : (performance.now() - this.since) * (this.isOn ? 1 : LIVELY)
		;[...this.players, {time: 0, reached: Array(own).fill(0)}].forEach(({time: finish, reached}, i) => {
			const item = this.list.children[i]
			const count = reached.filter(each => each <= time).length
			if (!item) return
			item.style.setProperty("--done", count / this.cards)
			setText(item.lastChild, finish && finish <= time ? clock(finish) : String(count))
		})
	}
}
