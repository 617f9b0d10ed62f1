// A board to play alone. It needs no server, and nothing that is played on it counts.

import {BoardView} from "./board_view.js"
import {isOfGame, keepOneStop} from "./dom.js"
import {Hand} from "./hand.js"
import {HIDDEN, UNSEEN, onFoundations, played} from "./piles.js"
import {Table} from "./table.js"

export class Practice {
	awaits = false // as a Racer says it, for the hand and the table
	unsure = []

	// `place` gets the board, `say` shows a sentence, and `changed` is called after each change.
	constructor(place, say, changed) {
		Object.assign(this, {place, say, changed})
		this.hand = new Hand(this, say, () => this.table.show(true))
		this.hand.auto = true
		keepOneStop(place)
		addEventListener("keydown", event => this.press(event))
	}

	// Deal piles, whose faces are all known.
	deal(game, dealt) {
		const view = new BoardView(game)
		Object.assign(this, {game, dealt, past: [], table: new Table(view, game, this.hand)})
		this.hand.picked = null
		this.place.replaceChildren(view.element)
		this.changed()
	}

	// What the player sees.
	get piles() {
		return this.dealt.map(pile => pile.map(card => (card < UNSEEN ? card : HIDDEN)))
	}

	get next() {
		return this.past.length
	}

	get home() {
		return onFoundations(this.game, this.dealt)
	}

	act(action) {
		const after = action === "undo" ? this.past.at(-1) : played(this.game, this.dealt, action)
		if (!after) return this.say(action === "undo" ? "" : "This card can't go there.")
		if (action === "undo") this.past.pop()
		else this.past.push(this.dealt)
		this.dealt = after
		this.table.show(true)
		this.changed()
	}

	press(event) {
		if (!this.table || !isOfGame(event)) return
		this.say("")
		if (this.hand.press(event.key, () => this.hand.act("undo"))) event.preventDefault()
	}
}
