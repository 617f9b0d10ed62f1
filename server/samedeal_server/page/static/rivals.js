// The race of those who have played a deal before, as lanes above a board to play alone.

import {still} from "./board_view.js"
import {clock, setText} from "./dom.js"
import {laneOf} from "./lanes.js"

const LIVELY = 12 // times as fast as it was, until the player joins in

export class Rivals {
	// `list` gets the lanes.
	constructor(list) {
		this.list = list
	}

	// Show the race of players, and of the one who plays now, to so many cards. Without players there are no lanes.
	open(players, cards) {
		Object.assign(this, {players, cards, since: performance.now(), isOn: false})
		this.lanes = players.map(({name, bot}, at) => laneOf(name || "Somebody", bot, false, `hsl(${200 + 137.5 * at} 75% 70%)`))
		if (players.length) this.lanes.push(laneOf("", false, true, "#f2b632"))
		this.list.replaceChildren(...this.lanes.map(each => each.item))
	}

	// The player has made the first move: from now on, time passes as it did.
	join() {
		if (!this.isOn) Object.assign(this, {isOn: true, since: performance.now()})
	}

	show(own) {
		const time = still.matches ? Infinity : (performance.now() - this.since) * (this.isOn ? 1 : LIVELY)
		const all = [...this.players, {time: 0, reached: Array(own).fill(0)}]
		this.lanes.forEach(({item, count}, i) => {
			const {time: finish, reached} = all[i]
			const home = reached.filter(each => each <= time).length
			item.style.setProperty("--done", home / this.cards)
			setText(count, finish && finish <= time ? clock(finish) : String(home))
		})
	}
}
