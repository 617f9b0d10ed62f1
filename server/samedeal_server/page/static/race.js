// What the page knows about the race that it shows: the room, the boards, and how they came about.

import {FACE, GAMES, HIDDEN, onFoundations, played} from "./boards.js"

export class Race {
	constructor() {
		this.room = null
		this.commitment = null
		this.seats = null
		this.boards = new Map() // by player: {revision, piles, moves, undos, at, count, finishedAt}
		this.starts = [] // the piles of revision 0 that were seen
		this.progress = new Map() // by player: [[time, cards], ...]
		this.nextCard = 0
	}

	// After a lost connection the room may be another one of the same name.
	enter(room) {
		const before = this.room?.players.map(({player}) => player) ?? []
		if (!room.players.some(({player}) => before.includes(player))) Object.assign(this, new Race())
		this.setRoom(room)
	}

	setRoom(room) {
		this.commitment ??= room.commitment
		if (room.phase !== "finished" || !this.seats) this.seats = room.players // with the hashes that were seen before the shares
		this.room = room
	}

	get isKnownGame() {
		return Boolean(this.room) && Object.hasOwn(GAMES, this.room.game)
	}

	get cards() {
		return 52 * (GAMES[this.room.game]?.decks ?? 1)
	}

	showBoard({player, revision, piles, moves, undos, at}) {
		if (piles.length !== GAMES[this.room?.game]?.keys.length) return
		if (revision === 0 && this.starts.length < 16) this.starts.push(piles.map(pile => [...pile]))
		const old = this.boards.get(player)
		this.setBoard(player, {revision, piles: this.follow(old?.piles, piles), moves, undos, at})
	}

	// Return false in doubt: the page then asks for whole boards.
	showMove({player, revision, action, seen, at}) {
		const board = this.boards.get(player)
		if (!board || revision !== board.revision + 1) return false
		const piles = played(this.room.game, board.piles, action, seen)
		if (!piles) return false
		this.setBoard(player, {revision, piles, moves: board.moves + 1, undos: board.undos, at})
		return true
	}

	setBoard(player, board) {
		board.count = onFoundations(this.room.game, board.piles)
		this.boards.set(player, board)
		let points = this.progress.get(player)
		if (!points) this.progress.set(player, (points = [[board.revision ? board.at : this.room.starts, board.revision ? board.count : 0]]))
		while (points.length > 1 && points.at(-1)[0] > board.at) points.pop()
		if (points.at(-1)[1] !== board.count) points.push([board.at, board.count])
		board.progressAt = points.at(-1)[0]
		board.finishedAt = board.count === this.cards ? board.at : 0
	}

	// Give the cards of a new board the ids that they had on the old one, first those that lie where they lay.
	follow(old, piles) {
		const left = new Map(old?.flat().map(({id, code}) => [id, code & FACE]))
		const cards = piles.map((pile, i) =>
			[...pile].map((code, depth) => {
				const {id, code: was} = old?.[i][depth] ?? {}
				const stays = was === HIDDEN || code === HIDDEN || (was & FACE) === (code & FACE)
				return {code, id: stays && left.delete(id) ? id : -1}
			})
		)
		for (const card of cards.flat().filter(({id}) => id < 0)) {
			const [id] = [...left].find(([, face]) => face === (card.code & FACE)) ?? [this.nextCard++]
			left.delete(id)
			card.id = id
		}
		return cards
	}

	// The players in their order: by the final standings, or by what their boards show.
	ranking() {
		const {players, standings, tallies} = this.room
		const final = new Map(standings.map(standing => [standing.player, standing]))
		const connected = new Map(tallies.map(tally => [tally.player, tally.connected]))
		const rows = players.map(seat => {
			const board = this.boards.get(seat.player)
			const found = final.get(seat.player)
			const {count, moves, finishedAt, progressAt} = {count: 0, moves: 0, finishedAt: 0, progressAt: 0, ...board}
			return {
				...seat,
				...{board, finishedAt, progressAt, final: found, connected: connected.get(seat.player) ?? true},
				count: found?.foundation_cards ?? count,
				moves: found?.moves ?? moves
			}
		})
		const order = (a, b) =>
			a.final && b.final
				? a.final.place - b.final.place
				: (a.finishedAt || Infinity) - (b.finishedAt || Infinity) || b.count - a.count || a.progressAt - b.progressAt
		rows.sort((a, b) => order(a, b) || a.seat - b.seat)
		rows.forEach((row, i) => {
			row.place = row.final?.place ?? (i && order(rows[i - 1], row) === 0 ? rows[i - 1].place : i + 1)
		})
		return rows
	}
}
