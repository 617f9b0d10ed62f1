// Boards as PROTOCOL.md describes them: piles of cards, and what moves do to them.

import {DESCRIBED} from "./games.mjs"
import {DECK, DOWN, RULES, byKey, rank, targetOf, textOf} from "./rules.mjs"

// The piles of a game in order, each with its place on the table: the corner, in cards.
const pilesAt = ({kind, keys, place: {x = 0, y = 0, in_row = 16}}) =>
	keys.split(" ").map((key, i) => ({what: kind, key, x: x + (i % in_row), y: y + Math.floor(i / in_row)}))

export const GAMES = Object.fromEntries(
	Object.entries(DESCRIBED).map(([name, game]) => [name, {...game, piles: game.piles.flatMap(pilesAt)}])
)

export const HIDDEN = 0xc0
export const UNSEEN = 0xc0 // the bits of a card that the player has not seen yet
export const FACE = 0x3f

export const rankText = card => textOf(card)[0].replace("T", "10")
export const suit = card => (card >> 4) & 3
export const nameOf = code => rankText(code) + "♣♦♥♠"[suit(code)]
export const title = game => GAMES[game]?.title ?? game

export const onFoundations = (game, piles) => piles.filter((_, i) => GAMES[game].piles[i].what === "foundation").flat().length

// Return the piles after a move, or null if the move is illegal, or in doubt. `seen` are the hidden cards that it turns up.
export function played(game, piles, action, seen = []) {
	const rules = RULES[game]
	const after = piles.map(pile => [...pile])
	const at = byKey(rules, after)
	const target = targetOf(rules, at, action)
	if (!target) return null
	const faces = [...seen]
	const turnUp = card => (card === HIDDEN ? faces.shift() : card & FACE)
	const {stock, w: waste} = at
	if (target !== "stock") {
		const [from, , count = "x1"] = action.split(" ")
		const source = at[from]
		at[target].push(...source.splice(-count.slice(1)))
		if (source.at(-1) & DOWN) source.push(turnUp(source.pop()))
	} else if (stock.length) {
		const row = action === "draw" ? Array(rules.drawn).fill("w") : rules.columns
		for (const key of row) if (stock.length) at[key].push(turnUp(stock.pop()))
	} else while (waste.length) stock.push(waste.pop() | DOWN)
	return faces.length || after.flat().includes(undefined) ? null : after
}

// An example of how columns are built: a card, one that goes on it, and one that is much like that, but does not. A game whose
// columns take no cards has none.
export function example(game) {
	const {build, suits} = RULES[game]
	const all = DECK.map(card => 16 * suits[card >> 4] + rank(card))
	const under = all.find(card => rank(card) === 9 && suit(card) === 3)
	const goes = all.find(card => build(card, under))
	const distance = card => Math.abs(rank(card) - rank(goes))
	const [not] = all.filter(card => card !== under && !build(card, under)).sort((a, b) => distance(a) - distance(b))
	return goes && [under, goes, not]
}
