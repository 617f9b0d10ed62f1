// Boards as PROTOCOL.md describes them: piles of cards, and what moves do to them. No rules of any game.

// Piles in a row, each with its place on the table: the corner, in cards.
const row = (what, keys, x = 0, y = 0) => keys.split(" ").map((key, i) => ({what, key, x: x + i, y}))
const game = (title, decks, height, ...rows) => ({title, decks, height, piles: rows.flat()})

const seven = row("column", "1 2 3 4 5 6 7")
const four = x => row("foundation", "01 02 03 04", x)
const squares = [row("foundation", "01 02", 7.2), row("foundation", "03 04", 7.2, 1)]
const eight = [row("foundation", "01 02 03", 8.2), row("foundation", "04 05 06", 8.2, 1), row("foundation", "07 08", 8.2, 2)]
const reserve = ["q w e r", "t y u i", "a s d f", "g h j k"].map((keys, i) => row("reserve", keys, 6.2, 1.15 + i))

export const GAMES = {
	athena: game("Athena", 1, 4, seven, ...squares, row("stock", "stock", 7.2, 2.15), row("waste", "w", 8.2, 2.15)),
	steve: game("Steve", 2, 4.6, row("column", "1 2 3 4 5 6 7 8"), ...eight, row("stock", "stock", 10.2, 2)),
	phoenix: game("Phoenix", 1, 5.15, row("column", "1 2 3 4 5 6"), ...reserve, four(6.2)),
	"ace-of-hearts": game("Ace of Hearts", 1, 4.2, seven, row("foundation", "01", 7.2), row("stock", "stock", 7.2, 1.15)),
	willow: game("Willow", 1, 4, seven, row("fan", "q w e r", 7.2, 1.15), four(7.2))
}

export const DOWN = 0x40
export const HIDDEN = 0xc0
export const FACE = 0x3f

export const rank = card => ["", "A", 2, 3, 4, 5, 6, 7, 8, 9, 10, "J", "Q", "K"][card & 15]
export const suit = card => (card >> 4) & 3
export const title = game => GAMES[game]?.title ?? game

export const pilesOf = (what, game, piles) => piles.filter((_, i) => GAMES[game].piles[i].what === what)
export const onFoundations = (game, piles) => pilesOf("foundation", game, piles).flat().length

// Return the piles after a move, or null in doubt. `seen` are the hidden cards that it turns up.
export function played(game, piles, action, seen = []) {
	const after = piles.map(pile => [...pile])
	const faces = [...seen]
	const at = name => after[GAMES[game].piles.findIndex(({key}) => key === name)]
	const turnUp = card => (card === HIDDEN ? faces.shift() : card & FACE)
	const [left, waste] = [at("stock"), at("w")]
	if (action === "draw" && waste) {
		if (left.length) for (let i = 0; i < 3 && left.length; i++) waste.push(turnUp(left.pop()))
		else while (waste.length) left.push(waste.pop() | DOWN)
	} else if (action === "deal" && left) {
		for (const column of pilesOf("column", game, after)) if (left.length) column.push(turnUp(left.pop()))
	} else {
		const [, from, to, size = 1] = /^(0[1-8]|[1-8a-z]) ([0-8a-z])(?: x([1-9]\d?))?$/.exec(action) ?? []
		const source = at(from)
		if (!source || source.length < size) return null
		const moved = source.splice(source.length - size)
		const target = to === "0" ? foundationFor(moved[0], pilesOf("foundation", game, after)) : at(to)
		if (!target) return null
		target.push(...moved)
		if (source.at(-1) & DOWN) source.push(turnUp(source.pop()))
	}
	return faces.length || after.flat().includes(undefined) ? null : after
}

// The foundation that takes a card, as far as the cards themselves show it.
function foundationFor(card, found) {
	if (found.length === 1) return found[0]
	return found.find(pile => (pile.length ? pile.at(-1) + 1 === card : (card & 15) === 1))
}
