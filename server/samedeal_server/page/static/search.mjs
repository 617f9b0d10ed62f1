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
	const isBuried = (each, at, cards) => cards.slice(0, at).some(under => rank(under) < rank(each))
	const countBuried = cards => cards.filter(isBuried).length
	function columnCost(pile) {
		const cards = cardsOf(pile)
		let cost = (cards.length ? column : 0) + card * cards.length + buried * countBuried(cards)
		cost += hidden * cards.filter(each => each & DOWN).length
		for (let at = 1; at < cards.length; at++) {
			const [under, each] = [cards[at - 1], cards[at]]
			if ((under | each) & DOWN || !game.sequence(each, under))
				cost += broken + (game.build(turnUp(each), turnUp(under)) ? 0 : misfit)
		}
		return cost
	}
	function sideCost(packed) {
		const {fans, reserve, stock} = unpack(packed)
		const inStock = game.stock === "deal" ? top(stock) : Math.max(0, stock.length - 1)
		const ofFans = fans.map(fan => card * fan.length + buried_in_fan * countBuried(cardsOf(fan)))
		return side_card * (reserve.length + inStock) + ofFans.reduce((sum, cost) => sum + cost, 0)
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
		this.next = [this.playSafe(states.start)]
	}

	// Continues the search. Returns its answer, or undefined if there is none after so many states in all.
	run(limit) {
		while (this.reached.size <= limit) {
			for (const [tops, side, columns] of this.next) {
				if (!this.states.keepsPlaces(side)) columns.sort()
				const key = keyOf([tops, side, columns])
				if (this.reached.has(key)) continue
				this.reached.set(key, this.from)
				const cost = columns.reduce((sum, column) => sum + this.costs.column(column), this.costs.side(side))
				if (cost < this.least) Object.assign(this, {least: cost, nearest: key}) // the first of those with the lowest costs
				if (side === this.states.emptySide && !columns.some(Boolean)) return "won"
				const part = this.costs.byStock ? side.at(-1) : ""
				if (!this.bucketsOf.has(part)) this.bucketsOf.set(part, new Buckets())
				this.bucketsOf.get(part).add([tops, side, columns, key], cost)
			}
			const {postpones} = this.states
			const next = this.take()
			const state = next ?? this.postponed.pop()
			if (!state) return "unwinnable"
			if (next && postpones) this.postponed.push(state)
			this.from = state[3]
			this.next = this.children(state, next && postpones)
		}
	}

	// Returns the keys of the states that lead to the one with a key.
	pathTo(key) {
		const path = []
		for (; key; key = this.reached.get(key)) path.unshift(key)
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

	// Plays all safe cards of a state to foundations.
	playSafe([tops, side, columns]) {
		const {safe, safeFromFan, takes} = this.states.tops(tops)
		if (!safe.length && !safeFromFan.length) return [tops, side, [...columns]]
		const at = columns.findIndex(column => safe.includes(top(column)))
		if (at >= 0) {
			const [[card, left]] = this.states.groups(columns[at])
			return this.playSafe([takes[card], side, columns.with(at, left)])
		}
		const {fromReserve, fromFans} = this.states.side(side)
		const isSafe = ([card]) => safe.includes(card)
		const [card, after] = fromReserve.find(isSafe) ?? fromFans.find(([card]) => safeFromFan.includes(card)) ?? []
		return card ? this.playSafe([takes[card], after, columns]) : [tops, side, [...columns]]
	}

	// Returns the states after each move, perhaps without the postponed moves. Only the first empty column is used,
	// unless columns keep their places.
	children([tops, side, columns], withoutPostponed) {
		const {states} = this
		const found = []
		const [fromTops, fromSide, keepsPlaces] = [states.tops(tops), states.side(side), states.keepsPlaces(side)]
		const [most, mostToEmpty] = states.mostTogether(fromSide, columns)
		const takers = [] // for each card, the columns that take it
		for (const [at, column] of columns.entries())
			for (const card of column ? states.fitting(top(column)) : []) (takers[card] ??= []).push(at)
		const empty = [...columns.keys()].filter(at => !columns[at]).slice(0, keepsPlaces ? columns.length : 1)
		for (const card of empty.length ? states.onEmpty : []) (takers[card] ??= []).push(...empty)
		for (const [at, column] of columns.entries()) {
			if (!column) continue
			const groups = states.groups(column)
			const [card, left] = groups[states.takes - 1] ?? []
			if (fromTops.takes[card]) found.push(this.playSafe([fromTops.takes[card], side, columns.with(at, left)]))
			for (const after of states.takesSide ? states.sidesWith(side + column.at(-1)) : [])
				found.push(this.playSafe([tops, after, columns.with(at, groups[0][1])]))
			for (const [card, left, group] of groups)
				for (const to of takers[card] ?? []) {
					if (to === at || !(left || columns[to] || keepsPlaces)) continue
					if (group.length > (columns[to] ? most : mostToEmpty)) continue
					const divides = withoutPostponed && group !== groups.at(-1)[2]
					if (divides && !(columns[to] && states.continues(card, top(columns[to])))) continue
					const child = [tops, side, columns.with(at, left).with(to, columns[to] + group)]
					found.push(fromTops.safe.includes(top(left)) ? this.playSafe(child) : child)
				}
		}
		for (const [card, after] of fromSide.gives) {
			if (fromTops.takes[card] && states.takes === 1)
				found.push(this.playSafe([fromTops.takes[card], after, columns]))
			for (const to of takers[card] ?? []) {
				const child = [tops, after, columns.with(to, columns[to] + text([card]))]
				found.push(fromSide.fromFans.length ? this.playSafe(child) : child)
			}
		}
		for (const after of fromSide.shifts) found.push(this.playSafe([tops, after, columns]))
		for (const [card, after] of withoutPostponed ? [] : fromTops.gives)
			if (!states.tops(after).safe.includes(card))
				for (const to of takers[card] ?? [])
					found.push([after, side, columns.with(to, columns[to] + text([card]))])
		const row = (column, at) => column + text(fromSide.row.slice(at, at + 1))
		const mayDeal = fromSide.row.length && (states.fillsColumns || columns.every(Boolean))
		if (mayDeal) found.push([tops, fromSide.afterRow, columns.map(row)])
		return found
	}
}

// Returns the answer about a board, and the number of states that all searches reached. For a hint, it also returns the
// states that lead to a win, or to the one that looks best to the first search.
export function solve(name, piles, budget, isHint) {
	const game = RULES[name]
	const states = statesOf(game, piles)
	const searches = game.search.map(costs => new Search(states, costsOf(game, costs)))
	const count = () => searches.reduce((sum, each) => sum + each.reached.size, 0)
	for (let limit = FIRST_LIMIT; ; limit *= 2)
		for (const search of searches) {
			const answer = search.run(Math.min(limit, budget - count() + search.reached.size))
			const outcome = count() > budget ? "undecided" : answer
			const path = () => (outcome === "won" ? search.pathTo([...search.reached.keys()].at(-1)) : searches[0].pathTo(searches[0].nearest))
			if (outcome) return {outcome, states: count(), ...(isHint && {path: path(), stateOf: states.stateOf})}
		}
}
