// A race of others, as lanes: of those who have played a deal before, above a board to play alone, and what happens here.

import {still} from "./board_view.js"
import {clock, setText} from "./dom.js"
import {laneOf} from "./lanes.js"

const LIVELY = 12 // times as fast as it was, until the player joins in

export class Rivals {
	lanes = []

	// `list` gets the lanes.
	constructor(list) {
		this.list = list
	}

	// Show the race of players to so many cards, and of the one who plays now if `isOwn`. Without players there are no lanes.
	open(players, cards, isOwn) {
		Object.assign(this, {players, cards, since: performance.now(), isOn: false})
		this.lanes = players.map(({name, bot}, at) => laneOf(name || "Somebody", bot, false, `hsl(${200 + 137.5 * at} 75% 70%)`))
		if (isOwn && players.length) this.lanes.push(laneOf("", false, true, "#f2b632"))
		this.list.replaceChildren(...this.lanes.map(each => each.item))
	}

	// The player has made the first move: from now on, time passes as it did.
	join() {
		if (!this.isOn) Object.assign(this, {isOn: true, since: performance.now()})
	}

	// Show where the players are now. Of a race that goes on, only the newest counts are known.
	show(own) {
		const time = still.matches ? Infinity : (performance.now() - this.since) * (this.isOn ? 1 : LIVELY)
		this.lanes.forEach(({item, count}, i) => {
			const {time: finish, reached, cards} = this.players[i] ?? {reached: [], cards: own}
			const home = reached.length ? reached.filter(each => each <= time).length : cards
			item.style.setProperty("--done", home / this.cards)
			setText(count, finish && home === this.cards ? clock(finish) : String(home))
		})
	}
}
