// The states of search.mjs, and what the rules allow with their parts. Ported from samedeal.solver.states.
//
// A state has the tops of the foundations, the side (all cards that are neither in a column nor on a foundation), and
// the columns. Tops, side and each column are strings with a character for each card, the deepest card first.

import {DECK, DOWN, rank, safeCards, turnUp} from "./rules.mjs"

const [PART, FAN] = ["\xfe", "\xff"] // they divide the parts of a side, and the fans

export const text = cards => String.fromCharCode(...cards)
export const cardsOf = pile => Array.from(pile, each => each.charCodeAt(0))
export const top = pile => pile.charCodeAt(pile.length - 1)
const sorted = pile => [...pile].sort().join("")

// Returns a function that computes each of its answers once.
export function remember(answer) {
	const known = new Map()
	return question => {
		if (!known.has(question)) known.set(question, answer(question))
		return known.get(question)
	}
}

// A side in one string, and its parts: the fans, the reserve, and what is left of the stock.
// Of a stock that is drawn, that is what drawable() returns. Of a stock dealt in rows, it is the number of its cards.
const pack = (fans, reserve, stock) => [fans.filter(Boolean).sort().join(FAN), reserve, stock].join(PART)
export function unpack(side) {
	const [fans, reserve, stock] = side.split(PART)
	return {fans: fans ? fans.split(FAN) : [], reserve, stock}
}

// What can still be drawn from the cards of a waste and a stock, `by` cards at a time. The waste has the first `drawn`
// cards. If these are all of them, or a multiple of `by`, draws bring up the same cards as with an empty waste.
// Without redeals, only the cards from the top of the waste on can still be drawn.
function drawable(cards, drawn, {drawn: by, redeals}) {
	const isAtStart = drawn === cards.length || drawn % by === 0
	return text([isAtStart && redeals ? 0 : drawn]) + cards
}

// Returns the cards that draws can bring to the top of the waste, each with the stock after it was taken.
function drawnCards(stock, game) {
	const [drawn, cards] = [stock.charCodeAt(0), stock.slice(1)]
	const {drawn: by, redeals} = game
	const numbers = new Set()
	for (const first of [drawn || by, redeals ? by : cards.length]) {
		for (let number = first; number < cards.length; number += by) numbers.add(number)
		if (cards) numbers.add(cards.length)
	}
	return Array.from(numbers, number => {
		const left = cards.slice(0, number - 1) + cards.slice(number)
		return [cards.charCodeAt(number - 1), drawable(left, number - 1, game)]
	})
}

// Returns the first state of a board, and functions from the parts of a state to facts about them.
export function statesOf(game, piles) {
	const [draws, rows] = [game.stock === "draw", game.stock === "deal"]
	const emptySide = pack([], "", draws || rows ? "\0" : "")
	// Columns are alike, and are sorted, unless the stock still has rows that are dealt to them from left to right.
	const keepsPlaces = side => rows && side !== emptySide

	function stateOf(piles) {
		const all = keys => keys.map(key => text(piles[key]))
		const cards = text([...piles.w, ...piles.stock.map(turnUp)])
		const stock = draws ? drawable(cards, piles.w.length, game) : rows ? text([cards.length]) : ""
		const side = pack(all(game.fans), sorted(all([...game.reserve, ...game.cells]).join("")), stock)
		const columns = all(game.columns)
		const tops = text(game.foundations.map(key => piles[key].at(-1) ?? 0).sort((a, b) => a - b))
		return [tops, side, keepsPlaces(side) ? columns : columns.sort()]
	}

	// takes: for each card that fits, the tops after it; gives: cards that can leave, each with the tops after it.
	function topsFacts(tops) {
		const [safe, safeFromFan] = [false, true].map(isFan => (game.settles ? safeCards(game, cardsOf(tops), isFan) : []))
		const facts = {takes: [], gives: [], safe, safeFromFan}
		for (const [at, card] of cardsOf(tops).entries()) {
			const after = other => sorted(tops.slice(0, at) + text([other]) + tops.slice(at + 1))
			for (const taken of DECK.filter(each => game.foundation(each, card)))
				facts.takes[taken] ??= after(taken + 1 - game.takes)
			if (game.takesBack && card) facts.gives.push([card, after(rank(card) > 1 ? card - 1 : 0)])
		}
		return facts
	}

	// Returns the sides after a card was put on a fan or into a cell. The card is the last character of the question.
	function sidesWith(question) {
		const {fans, reserve, stock} = unpack(question.slice(0, -1))
		const card = question.at(-1)
		const taking = [...fans.entries()].filter(([, fan]) => game.fan(top(card), top(fan)))
		const sides = taking.map(([at, fan]) => pack([...fans.toSpliced(at, 1), fan + card], reserve, stock))
		return reserve.length < game.cells.length ? [...sides, pack(fans, sorted(reserve + card), stock)] : sides
	}

	// Returns the sides after moves within the side, such as from fan to fan.
	function shiftsOf({fans, reserve, stock}, gives) {
		if ([game.fans.length, game.reserve.length, game.cells.length, draws].filter(Boolean).length > 1)
			return gives.flatMap(([card, left]) => sidesWith(left + text([card])))
		const shifts = []
		for (const [at, fan] of fans.entries()) {
			const others = fans.toSpliced(at, 1)
			for (const [from, source] of others.entries())
				if (game.fan(top(source), top(fan)))
					shifts.push(pack([...others.toSpliced(from, 1), source.slice(0, -1), fan + source.at(-1)], reserve, stock))
		}
		return shifts
	}

	// gives: cards that can leave, each with the side after it; row: the next row of the stock; afterRow: the side after.
	function sideFacts(packed) {
		const {fans, reserve, stock} = unpack(packed)
		const fromReserve = cardsOf(reserve).map(card => [card, pack(fans, reserve.replace(text([card]), ""), stock)])
		const fromFans = fans.map((fan, at) => [top(fan), pack([...fans.toSpliced(at, 1), fan.slice(0, -1)], reserve, stock)])
		const fromStock = (draws ? drawnCards(stock, game) : []).map(([card, after]) => [card, pack(fans, reserve, after)])
		const gives = [...fromReserve, ...fromFans, ...fromStock]
		const shifts = shiftsOf({fans, reserve, stock}, gives)
		const freeCells = game.cells.length - reserve.length
		const left = rows ? piles.stock.slice(piles.stock.length - top(stock)).map(turnUp) : []
		const row = left.splice(0, game.columns.length)
		const afterRow = pack(fans, reserve, text([left.length]))
		return {fromReserve, fromFans, gives, shifts, freeCells, row, afterRow}
	}

	// The groups of a column that can be moved, the smallest first: the deepest card, the column without them, the cards.
	function groups(column) {
		const found = []
		for (let at = column.length - 1; at >= 0; at--) {
			const [card, above] = [column.charCodeAt(at), column.charCodeAt(at + 1)]
			if (above && (card & DOWN || !game.lift(above, card))) break
			const left = at ? column.slice(0, at - 1) + text([turnUp(column.charCodeAt(at - 1))]) : ""
			found.push([card, left, column.slice(at)])
		}
		return found
	}

	// The cards that can be put on a card, or on an empty column.
	const fitting = under => DECK.filter(card => game.build(card, under))
	const onEmpty = DECK.filter(game.base)

	// Whether the search postpones moves off a foundation, and moves that take a part of a run to another one.
	const isMixed = DECK.some(under => fitting(under).some(card => !game.sequence(card, under)))
	const postpones = game.takesBack || isMixed

	return {
		start: stateOf(piles),
		stateOf,
		takesSide: game.fans.length + game.cells.length > 0,
		game,
		tops: remember(topsFacts),
		side: remember(sideFacts),
		groups: remember(groups),
		sidesWith: remember(sidesWith),
		fitting: remember(fitting),
		emptySide,
		keepsPlaces,
		postpones,
		onEmpty,
	}
}
