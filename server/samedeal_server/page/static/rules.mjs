// How decks are shuffled and dealt (DEALS.md), and the rules of the games (RULES.md), for the page for browsers and for
// check.mjs. Written from these pages, without a look at the Python code.

import {DESCRIBED} from "./games.mjs"

// A card is 16 times its suit (clubs, diamonds, hearts, spades) plus its rank, and 64 more if it lies face down.
export const DOWN = 64
export const DECK = Array.from({length: 52}, (_, at) => 16 * Math.floor(at / 13) + (at % 13) + 1)
export const turnUp = card => card & ~DOWN
export const rank = card => card & 15
export const textOf = card => "A23456789TJQK"[rank(card) - 1] + "CDHS"[card >> 4]
const isRed = card => card > 16 && card < 48

// Whether a card goes on another one, or to an empty pile. Cards of one suit and adjacent ranks are adjacent numbers.
const never = () => false
const down = (card, under) => rank(card) === rank(under) - 1
const downInSuit = (card, under) => card === under - 1 && down(card, under)
const alternating = (card, under) => down(card, under) && isRed(card) !== isRed(under)
const BUILDS = {
	"not at all": never,
	"down by one in alternating colours": alternating,
	"down by one in any suit": down,
	"down by one in the same suit": downInSuit,
	"with cards of the same rank": (card, under) => rank(card) === rank(under),
	"up by one in the same suit": (card, under) => downInSuit(under, card),
	"up by one in any suit, an ace after a king": (card, under) => rank(card) === (rank(under) % 13) + 1,
}
const EMPTY = {
	nothing: never,
	"any card": () => true,
	"only a king": card => rank(card) === 13,
	"only an ace": card => rank(card) === 1,
	"only the ace of hearts": card => textOf(card) === "AH",
	"only a complete suit": card => rank(card) === 13,
}
// Whether a card may lie on another one in a group that is moved together.
const LIFTS = {
	nothing: never,
	"the top card": never,
	"runs in alternating colours": alternating,
	"runs in the same suit": downInSuit,
	"runs in any suit": down,
	"any face-up cards": () => true,
}
// What the stock does, and how many cards a draw turns up.
const STOCKS = {
	none: {},
	"draws of one": {stock: "draw", drawn: 1, redeals: true},
	"draws of one, without redeals": {stock: "draw", drawn: 1},
	"draws of three": {stock: "draw", drawn: 3, redeals: true},
	"draws of three, without redeals": {stock: "draw", drawn: 3},
	"dealt in rows": {stock: "deal"},
	"dealt in rows, with no empty column": {stock: "deal", needsFull: true},
}
// Whether a card is dealt face down, by its row and the number of cards of its pile. A game may also list how many are.
const FACES = {
	up: never,
	down: () => true,
	"down, up, down, up": row => row % 2 === 0,
	"only the top card up": (row, size) => row < size - 1,
	"the top five cards up": (row, size) => row < size - 5,
}
// Returns the least and the most states that the solver may need, for each kind of deal.
function statesOf(difficulty) {
	const {easy, medium} = difficulty ?? {}
	const some = {easy: [1, easy], medium: [easy + 1, medium], hard: [medium + 1, 100_000]}
	return {winnable: [1, 100_000], daily: [1, 100_000], ...(difficulty && some)}
}

// Returns the rules of a game that games.json describes: the pile of each card that is dealt, in order, whether it lies
// face down, and functions that say which cards fit.
function rulesOf({decks, suits, piles, stock, search, difficulty, safe, settles, deals_first}) {
	const row = kind => piles.find(each => each.kind === kind)
	const [columns, foundations, fans, reserve, cells] = ["column", "foundation", "fan", "reserve", "cell"].map(row)
	const dealt = []
	for (const {keys, sizes, faces} of new Set([foundations, ...piles]))
		for (let row = 0; row < Math.max(0, ...sizes); row++)
			for (const [at, key] of keys.split(" ").entries())
				if (row < sizes[at])
					dealt.push({key, isDown: Array.isArray(faces) ? row < faces[at] : FACES[faces](row, sizes[at])})
	const [together, limit] = columns.lift.split(", ")
	const keysOf = row => row?.keys.split(" ") ?? []
	const fits = row => (card, under) => under ? BUILDS[row.build](card, under) : EMPTY[row.empty](card)
	return {
		decks,
		suits: {1: [3, 3, 3, 3], 2: [3, 2, 2, 3], 4: [0, 1, 2, 3]}[suits], // what the suits of whole decks become
		search,
		states: statesOf(difficulty),
		...STOCKS[stock],
		dealt,
		base: EMPTY[columns.empty],
		build: BUILDS[columns.build],
		lift: LIFTS[together],
		sequence: together.startsWith("runs") ? LIFTS[together] : BUILDS[columns.build],
		fan: fans && fits(fans),
		foundation: fits(foundations),
		takesBack: foundations.lift !== "nothing",
		takes: foundations.empty === "only a complete suit" ? 13 : 1,
		keys: piles.flatMap(keysOf),
		columns: keysOf(columns),
		foundations: keysOf(foundations),
		fans: keysOf(fans),
		reserve: keysOf(reserve),
		cells: keysOf(cells),
		onto: Object.fromEntries([columns, fans, cells].flatMap(row => keysOf(row).map(key => [key, fits(row)]))),
		needsPlaces: limit === "as free places allow",
		columnsAreFree: columns.empty === "any card",
		safe,
		dealsFirst: deals_first,
		settles,
	}
}

export const RULES = Object.fromEntries(Object.entries(DESCRIBED).map(([name, game]) => [name, rulesOf(game)]))
const FOUNDATIONS = ["01", "02", "03", "04", "05", "06", "07", "08"] // most games leave some of them empty

// Returns the cards that can go to their foundations at once, from a fan or not, without losing a win. `tops` are those of
// the foundations, 0 of an empty one. samedeal.laws has the proof.
export function safeCards({decks, suits, safe}, tops, isFan) {
	const [otherColour, sameColour] = isFan ? [1, 1] : safe // how far foundations may be behind
	const heights = [0, 1, 2, 3].map(suit => {
		const ranks = tops.filter(card => card && card >> 4 === suit).map(rank)
		return ranks.length === decks * suits.filter(each => each === suit).length ? Math.min(13, ...ranks) : 0
	})
	// Of the suits, 1 and 2 are red.
	const isSafe = (height, suit) => height < 13 && heights.every((other, at) => at === suit || other > height - (at === 3 - suit ? sameColour : otherColour))
	return heights.flatMap((height, suit) => (isSafe(height, suit) ? [16 * suit + height + 1] : []))
}

// Shuffles new decks. The stream has bytes.
export function shuffle(decks, stream) {
	const cards = Array(decks).fill(DECK).flat()
	let choices = cards.length
	for (const byte of stream) {
		if (choices < 2) break
		if (byte >= 256 - (256 % choices)) continue
		const other = byte % choices--
		;[cards[choices], cards[other]] = [cards[other], cards[choices]]
	}
	return cards
}

// Returns the piles of a board by their keys. The list has them in the order of the game.
export function byKey(game, piles) {
	const all = ["stock", "w", ...FOUNDATIONS].map(key => [key, []])
	return Object.fromEntries([...all, ...game.keys.map((key, at) => [key, piles[at]])])
}

// Returns the piles of a new board by their keys. The first card of the stock leaves it first.
// If foundations get cards, these are the aces, and come before all others.
export function deal(game, deck) {
	const order = game.dealt[0].key === "01" ? [...deck].sort((card, other) => (rank(card) > 1) - (rank(other) > 1)) : deck
	const placeOf = at => game.dealt[at] ?? {key: "stock", isDown: true}
	const inSuit = card => 16 * game.suits[card >> 4] + rank(card)
	const cards = order.map((card, at) => inSuit(card) + (placeOf(at).isDown ? DOWN : 0))
	const pile = key => cards.filter((_, at) => placeOf(at).key === key)
	return byKey(game, game.keys.map(pile))
}

const TRANSFER = /^(0[1-8]|[1-9a-z]) [0-9a-z]( x([2-9]|[1-9]\d))?$/

// Returns the most cards that may go to a pile together. Only columns take several cards, as many as cells and other
// columns that are empty let them.
function roomAt(game, piles, to) {
	if (!game.columns.includes(to)) return 1
	if (!game.needsPlaces) return Infinity
	const isFree = key => key !== to && !piles[key].length
	const columns = game.columnsAreFree ? game.columns.filter(isFree).length : 0
	return (game.cells.filter(isFree).length + 1) * 2 ** columns
}

// Returns the pile to which a move takes cards, or undefined if the rules do not allow it. Of the stock, only its size
// counts.
export function targetOf(game, piles, move) {
	const {stock, w: waste} = piles
	if (move === "draw" || move === "deal") {
		const isReady = move === game.stock && !(game.needsFull && game.columns.some(key => !piles[key].length))
		return isReady && (stock.length || (game.redeals && waste.length)) ? "stock" : undefined
	}
	const [from, to, count = "x1"] = TRANSFER.test(move) ? move.split(" ") : []
	const size = Number(count.slice(1))
	const group = piles[from]?.slice(-size) ?? []
	const isRun = group.every((card, at) => card < DOWN && (at === 0 || game.lift(card, group[at - 1])))
	const fits = to === "0" ? game.foundation : game.onto[to]
	const target = (to === "0" ? FOUNDATIONS : [to]).find(key => fits?.(group[0], piles[key].at(-1)))
	const hasRoom = to === "0" ? size === game.takes : size <= roomAt(game, piles, to)
	const isColumn = key => game.columns.includes(key)
	const mayLeave = from >= "1" ? size < 2 || isColumn(from) : game.takesBack && isColumn(to)
	return target !== from && hasRoom && mayLeave && isRun && group.length === size && size ? target : undefined
}
