// A race with a window as the player p1 sees it.

import {stored} from "./dom.js"
import {unhex} from "./hash.js"
import {decode} from "./msgpack.js"
import {ownRace, shifted} from "./own_race.js"
import {GAMES} from "./piles.js"
import {Race} from "./race_state.js"

const read = hex => decode(unhex(hex).buffer)

// What is shown of a state at each of some times, and which windows wait for the player.
export const shown = all =>
	all.map(([state, now]) => {
		const {phase, starts, ends, left, changes, players} = ownRace(read(state), "p1", now)
		return [phase, starts, ends, left ?? null, changes ?? null, players.map(each => each.name), JSON.parse(stored.get("windows") ?? "{}")]
	})

// The ranking after the end, and the progress of each player, whose boards have these numbers of cards at these times.
export function results([state, now, boards]) {
	const race = new Race()
	race.isLive = true
	race.setRoom(ownRace(read(state), "p1", now))
	for (const [player, count, time, reached] of boards) {
		const piles = GAMES[race.room.game].piles.map(({key}) => (key === "01" ? Array.from({length: count}, (_, i) => i + 1) : []))
		race.showBoard(shifted({player, piles, time, reached, revision: 9, moves: 9}, race.room))
	}
	return race.ranking().map(({player, place, finishedAt}) => [player, place, finishedAt, race.progress.get(player)])
}
