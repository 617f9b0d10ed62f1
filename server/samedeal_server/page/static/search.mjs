// The solver (DEALS.md, The solver), for the page for browsers and for check.mjs --deep. Ported from samedeal.solver:
// it gives the same answers after the same numbers of states. It keeps states, and hints.js finds the moves between them.

import {RULES, DOWN, rank, turnUp} from "./rules.mjs"
import {cardsOf, remember, statesOf, text, top, unpack} from "./states.mjs"

const FIRST_LIMIT = 1000 // the states that each search reaches before the next one takes its turn

// The costs of a state, one choice for each search of a game (games.json). The state with the lowest costs is searched
// next. card: a card in a column or fan; side_card: a card elsewhere; buried: a card above a lower one in a column;
// buried_in_fan: the same in a fan; broken: a card that does not continue the sequence below it; misfit: a card that
// does not even fit there; hidden: a card that lies face down; column: a column with cards. If by_stock is 1, states
// take turns by the size of the stock.
//
// Returns functions from a column and from a side to their costs.
function costsOf(game, costs) {
	const {card, side_card, buried = 0, buried_in_fan = 0, broken = 0, misfit = 0, hidden = 0, column = 0, by_stock = 0} = costs
	const isBuried = (each, below) => below.some(other => rank(other) < rank(each))
	function inColumn(each, below) {
		const last = below.at(-1)
		const isBroken = last && ((last | each) & DOWN || !game.sequence(each, last))
		const ofBroken = isBroken ? broken + misfit * !game.build(turnUp(each), turnUp(last)) : 0
		return card + buried * isBuried(each, below) + hidden * (each >= DOWN) + ofBroken
	}
	const inFan = (each, below) => card + buried_in_fan * isBuried(each, below)
	const sum = (pile, costOf) => cardsOf(pile).reduce((sum, each, at, cards) => sum + costOf(each, cards.slice(0, at)), 0)
	const columnCost = pile => (pile ? column : 0) + sum(pile, inColumn)
	function sideCost(packed) {
		const {fans, reserve, stock} = unpack(packed)
		const inStock = game.stock === "deal" ? top(stock) : Math.max(0, stock.length - 1)
		return fans.reduce((cost, fan) => cost + sum(fan, inFan), side_card * (reserve.length + inStock))
	}
	return {column: remember(columnCost), side: remember(sideCost), byStock: by_stock > 0 && game.stock === "deal"}
}

// States by their costs. Of those with the lowest costs, the newest is taken first.
class Buckets {
	buckets = []
	lowest = 0

	add(state, cost) {
		(this.buckets[cost] ??= []).push(state)
		this.lowest = Math.min(this.lowest, cost)
	}

	take() {
		while (!this.buckets[this.lowest]?.length) if (++this.lowest >= this.buckets.length) return
		return this.buckets[this.lowest].pop()
	}
}

// The state in one string.
export const keyOf = ([tops, side, columns]) => [tops, side, ...columns].join("\xfd")

// A search: best first. Moves off a foundation, and moves that divide a run, are postponed until nothing else is left.
class Search {
	constructor(states, costs) {
		Object.assign(this, {states, costs, reached: new Map(), bucketsOf: new Map(), turn: 0, postponed: [], least: Infinity})
		this.next = [states.start]
	}

	// Continues the search. Returns its answer, or undefined if there is none after so many states in all.
	run(limit) {
		while (this.reached.size <= limit) {
			for (const child of this.next) {
				const [tops, side, columns] = this.settle(child)
				if (!this.states.keepsPlaces(side)) columns.sort()
				const key = keyOf([tops, side, columns])
				if (this.reached.has(key)) continue
				this.reached.set(key, this.from)
				const cost = columns.reduce((sum, column) => sum + this.costs.column(column), this.costs.side(side))
				const isWon = side === this.states.emptySide && !columns.some(Boolean)
				if (isWon || cost < this.least) Object.assign(this, {least: cost, nearest: key}) // the first one of the lowest costs
				if (isWon) return "won"
				const part = this.costs.byStock ? side.at(-1) : ""
				if (!this.bucketsOf.has(part)) this.bucketsOf.set(part, new Buckets())
				this.bucketsOf.get(part).add([tops, side, columns, key], cost)
			}
			const next = this.take()
			const state = next ?? this.postponed.pop()
			if (!state) return "unwinnable"
			const postpones = next && this.states.postpones
			if (postpones) this.postponed.push(state)
			this.from = state[3]
			this.next = this.children(state, postpones)
		}
	}

	// Returns the keys of the states that lead to a win, or to the state with the lowest costs.
	path() {
		const path = []
		for (let key = this.nearest; key; key = this.reached.get(key)) path.unshift(key)
		return path
	}

	// Returns the next state, from the buckets whose turn it is, or undefined if all are empty.
	take() {
		const all = [...this.bucketsOf.values()]
		for (const _ of all) {
			this.turn = (this.turn + 1) % all.length
			const state = all[this.turn].take()
			if (state) return state
		}
	}

	// Plays all safe cards of a state to foundations, and cards from cells onto runs.
	settle(state) {
		const [tops, side, columns] = state
		const {safe, safeFromFan, takes} = this.states.tops(tops)
		const at = columns.findIndex(column => safe.includes(top(column)))
		if (at >= 0) {
			const [[card, left]] = this.states.groups(columns[at])
			return this.settle([takes[card], side, columns.with(at, left)])
		}
		const {fromReserve, fromFans} = this.states.side(side)
		for (const [card, after] of this.states.game.settles === "runs" ? fromReserve : []) {
			const to = columns.findIndex(column => top(column) === card + 1)
			if (to >= 0) return this.settle([tops, after, columns.with(to, columns[to] + text([card]))])
		}
		const [card, after] = fromReserve.find(([card]) => safe.includes(card)) ?? fromFans.find(([card]) => safeFromFan.includes(card)) ?? []
		return card ? this.settle([takes[card], after, columns]) : state
	}

	// Returns the states after each move, perhaps without the postponed moves. Only the first empty column is used,
	// unless columns keep their places.
	children([tops, side, columns], withoutPostponed) {
		const {states, states: {game}} = this
		const found = []
		const [fromTops, fromSide, keepsPlaces] = [states.tops(tops), states.side(side), states.keepsPlaces(side)]
		const takers = [] // for each card, the columns that take it
		for (const [at, column] of columns.entries())
			for (const card of column ? states.fitting(top(column)) : []) (takers[card] ??= []).push(at)
		const empty = [...columns.keys()].filter(at => !columns[at])
		for (const card of empty.length ? states.onEmpty : [])
			(takers[card] ??= []).push(...empty.slice(0, keepsPlaces ? empty.length : 1))
		// how many cards can be moved together to a column
		const most = to => game.needsPlaces ? (fromSide.freeCells + 1) * 2 ** (game.columnsAreFree && empty.length - !columns[to]) : Infinity
		for (const [at, column] of columns.entries()) {
			if (!column) continue
			const groups = states.groups(column)
			const [card, left] = groups[game.takes - 1] ?? []
			if (fromTops.takes[card]) found.push([fromTops.takes[card], side, columns.with(at, left)])
			const [, others, cards] = groups.at(game.settles === "runs" ? -1 : 0)
			let sides = states.takesSide ? [side] : []
			for (const card of cards) sides = sides.flatMap(side => states.sidesWith(side + card))
			for (const after of sides) found.push([tops, after, columns.with(at, others)])
			for (const [card, left, group] of groups)
				for (const to of takers[card] ?? []) {
					if (to === at || group.length > most(to) || !(left || columns[to] || keepsPlaces)) continue
					const divides = withoutPostponed && group !== groups.at(-1)[2]
					if (divides && !(columns[to] && game.lift(card, top(columns[to])))) continue
					found.push([tops, side, columns.with(at, left).with(to, columns[to] + group)])
				}
		}
		for (const [card, after] of fromSide.gives) {
			if (fromTops.takes[card] && game.takes === 1) found.push([fromTops.takes[card], after, columns])
			for (const to of takers[card] ?? []) found.push([tops, after, columns.with(to, columns[to] + text([card]))])
		}
		for (const after of fromSide.shifts) found.push([tops, after, columns])
		for (const [card, after] of withoutPostponed ? [] : fromTops.gives)
			for (const to of takers[card] ?? []) found.push([after, side, columns.with(to, columns[to] + text([card]))])
		const row = (column, at) => column + text(fromSide.row.slice(at, at + 1))
		const mayDeal = fromSide.row.length && (!game.needsFull || columns.every(Boolean))
		if (mayDeal) found.push([tops, fromSide.afterRow, columns.map(row)])
		return found
	}
}

// Returns the answer about a board, the number of states that all searches reached, and the states that lead to a win, or
// to the one that looks best to the first search.
export function solve(name, piles, budget) {
	const game = RULES[name]
	const states = statesOf(game, piles)
	const searches = game.search.map(costs => new Search(states, costsOf(game, costs)))
	const count = () => searches.reduce((sum, each) => sum + each.reached.size, 0)
	for (let limit = FIRST_LIMIT; ; limit *= 2)
		for (const search of searches) {
			const answer = search.run(Math.min(limit, budget - count() + search.reached.size))
			const outcome = count() > budget ? "undecided" : answer
			if (outcome) return {outcome, states: count(), path: (outcome === "won" ? search : searches[0]).path()}
		}
}
