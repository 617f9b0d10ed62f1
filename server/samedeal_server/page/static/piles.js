// Boards as PROTOCOL.md describes them: piles of cards, and what moves do to them. Not which moves are legal.

import {DESCRIBED} from "./games.mjs"
import {RULES} from "./rules.mjs"

// The piles of a game in order, each with its place on the table: the corner, in cards.
const pilesAt = ({kind, keys, place: {x = 0, y = 0, in_row = 16}}) =>
	keys.split(" ").map((key, i) => ({what: kind, key, x: x + (i % in_row), y: y + Math.floor(i / in_row)}))

export const GAMES = Object.fromEntries(
	Object.entries(DESCRIBED).map(([name, game]) => [name, {...game, piles: game.piles.flatMap(pilesAt)}])
)

export const DOWN = 0x40
export const HIDDEN = 0xc0
export const UNSEEN = 0xc0 // the bits of a card that the player has not seen yet
export const FACE = 0x3f

export const rankText = card => ["", "A", 2, 3, 4, 5, 6, 7, 8, 9, 10, "J", "Q", "K"][card & 15]
export const suit = card => (card >> 4) & 3
export const title = game => GAMES[game]?.title ?? game

const pilesOf = (what, game, piles) => piles.filter((_, i) => GAMES[game].piles[i].what === what)
export const onFoundations = (game, piles) => pilesOf("foundation", game, piles).flat().length

// Return the piles after a move, or null in doubt. `seen` are the hidden cards that it turns up.
export function played(game, piles, action, seen = []) {
	const after = piles.map(pile => [...pile])
	const faces = [...seen]
	const at = name => after[GAMES[game].piles.findIndex(({key}) => key === name)]
	const turnUp = card => (card === HIDDEN ? faces.shift() : card & FACE)
	const [left, waste] = [at("stock"), at("w")]
	if (action === "draw" && waste) {
		if (left.length) for (let i = 0; i < RULES[game].drawn && left.length; i++) waste.push(turnUp(left.pop()))
		else while (waste.length) left.push(waste.pop() | DOWN)
	} else if (action === "deal" && left) {
		for (const column of pilesOf("column", game, after)) if (left.length) column.push(turnUp(left.pop()))
	} else {
		const [, from, to, size = 1] = /^(0[1-8]|[1-9a-z]) ([0-9a-z])(?: x([1-9]\d?))?$/.exec(action) ?? []
		const source = at(from)
		if (!source || source.length < size) return null
		const moved = source.splice(source.length - size)
		const target = to === "0" ? foundationFor(moved, pilesOf("foundation", game, after)) : at(to)
		if (!target) return null
		target.push(...moved)
		if (source.at(-1) & DOWN) source.push(turnUp(source.pop()))
	}
	return faces.length || after.flat().includes(undefined) ? null : after
}

// The foundation that takes a card or a complete suit, as far as the cards themselves show it.
function foundationFor([card, ...others], found) {
	if (found.length === 1) return found[0]
	if (others.length) return found.find(pile => !pile.length)
	return found.find(pile => (pile.length ? pile.at(-1) + 1 === card : (card & 15) === 1))
}
