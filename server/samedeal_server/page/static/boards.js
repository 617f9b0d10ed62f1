// Boards as PROTOCOL.md describes them: piles of cards, and what moves do to them. No rules of any game.

const columns = count => Array.from({length: count}, (_, i) => String(i + 1))
const foundations = count => columns(count).map(key => "0" + key)

export const GAMES = {
	athena: {title: "Athena", decks: 1, keys: [...columns(7), ...foundations(4), "stock", "w"]},
	steve: {title: "Steve", decks: 2, keys: [...columns(8), ...foundations(8), "stock"]},
	phoenix: {title: "Phoenix", decks: 1, keys: [...columns(6), ..."qwertyuiasdfghjk", ...foundations(4)]},
	"ace-of-hearts": {title: "Ace of Hearts", decks: 1, keys: [...columns(7), "01", "stock"]},
	willow: {title: "Willow", decks: 1, keys: [...columns(7), ..."qwer", ...foundations(4)]}
}

export const DOWN = 0x40
export const HIDDEN = 0xc0
export const FACE = 0x3f
const RANKS = ["", "A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]
const RANK_WORDS = {1: "ace", 11: "jack", 12: "queen", 13: "king"}
const SUIT_WORDS = ["clubs", "diamonds", "hearts", "spades"]

export const rank = card => RANKS[card & 15]
export const suit = card => (card >> 4) & 3

export function kind(game, key) {
	if (/^0\d$/.test(key)) return "foundation"
	if (/^\d$/.test(key)) return "column"
	if (key === "stock") return "stock"
	if (game === "athena") return "waste"
	return game === "phoenix" ? "reserve" : "fan"
}

export function pileName(game, key) {
	const word = kind(game, key)
	const name = word[0].toUpperCase() + word.slice(1)
	return word === "stock" || word === "waste" ? name : `${name} ${Number(key) || key}`
}

export function cardName(card) {
	return `${RANK_WORDS[card & 15] || rank(card)} of ${SUIT_WORDS[suit(card)]}`
}

export function onFoundations(game, piles) {
	return GAMES[game].keys.reduce((sum, key, at) => sum + (kind(game, key) === "foundation" ? piles[at].length : 0), 0)
}

// Return the piles after a move, or null in doubt. `piles` are arrays of objects with a `code`, which keep their identity.
export function played(game, piles, action, seen = []) {
	const after = piles.map(pile => [...pile])
	const faces = [...seen]
	const {keys} = GAMES[game]
	const at = key => after[keys.indexOf(key)]
	const turnUp = card => {
		const code = card.code === HIDDEN ? faces.shift() : card.code & FACE
		return code === undefined ? null : {...card, code}
	}
	const stock = at("stock")
	if (action === "draw" && stock) {
		const waste = at("w")
		if (!waste) return null
		if (stock.length) for (let i = 0; i < 3 && stock.length; i++) waste.push(turnUp(stock.pop()))
		else while (waste.length) stock.push({...waste.at(-1), code: (waste.pop().code & FACE) | DOWN})
	} else if (action === "deal" && stock) {
		for (const [i, key] of keys.entries()) if (kind(game, key) === "column" && stock.length) after[i].push(turnUp(stock.pop()))
	} else {
		const move = /^(0[1-8]|[1-8a-z]) ([0-8a-z])(?: x([1-9]\d?))?$/.exec(action)
		if (!move) return null
		const source = at(move[1])
		const count = Number(move[3] || 1)
		if (!source || source.length < count) return null
		const moved = source.splice(source.length - count)
		const target = move[2] === "0" ? foundationFor(game, after, moved[0].code) : at(move[2])
		if (!target) return null
		target.push(...moved)
		const top = source.at(-1)
		if (top && top.code & DOWN) source.push(turnUp(source.pop()))
	}
	return faces.length || after.flat().includes(null) ? null : after
}

// The foundation that takes a card, as far as the cards themselves show it.
function foundationFor(game, piles, card) {
	const found = piles.filter((_, i) => kind(game, GAMES[game].keys[i]) === "foundation")
	if (found.length === 1) return found[0]
	return found.find(pile => (pile.length ? pile.at(-1).code + 1 === card : (card & 15) === 1))
}
