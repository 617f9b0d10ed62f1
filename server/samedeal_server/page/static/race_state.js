// What the page knows about the race that it shows: the room, the boards, how they came about, and the news.

import {clock, counted, dayOf, stored, timeOfWeek} from "./dom.js"
import {GAMES, onFoundations, played} from "./piles.js"
import {RULES} from "./rules.mjs"

const QUIET = 4000 // ms between two sentences about the lead
export const CLOSE = 10 // cards to go, from which a racer is close to the finish
const TENS = ["", "ten", "twenty", "thirty", "forty"]
const SEATS = 16 // of a room whose host has not said another number

// The players whose names this browser does not show.
const muted = new Set(stored.get("muted")?.split(" "))

export function mute(player) {
	if (!muted.delete(player)) muted.add(player)
	stored.set("muted", [...muted].join(" "))
}

// A room with what is shown instead of the names of others: of muted ones, and what the operator wants. The own name stays,
// since hashes cover it.
export function named(room, me) {
	const shown = new Map()
	for (const {player, name, seat, shown: other} of room.players)
		if (player !== me) shown.set(name, muted.has(player) ? `Player ${seat}` : other)
	const all = ["players", "standings", "table", "lost"].map(part => [part, room[part].map(line => ({...line, name: shown.get(line.name) || line.name}))])
	return {...room, ...Object.fromEntries(all)}
}

export class Race {
	room = null
	told = null // the newest shares of a joint deal: {room, draw, shares}
	boards = new Map() // by player: {revision, piles, moves, time, count, progressAt, finishedAt}
	progress = new Map() // by player: [[time, cards], ...]
	feed = new RaceFeed()
	isLive = false // whether the page has a seat: then it has no boards of others, but all counts at once

	// If no player is the same, all have left, or this is a later room with the same code. From a room whose only player goes
	// on to another one, nothing is kept.
	setRoom(room) {
		const before = this.room?.players.map(each => each.player) ?? []
		const isSame = this.room?.room === room.room && room.players.some(({player}) => before.includes(player))
		if (!isSame) Object.assign(this, new Race(), {isLive: this.isLive, told: this.isTold ? this.told : null})
		Object.assign(this, {room, isTold: false})
		if (this.isLive) this.follow(room.tallies)
	}

	// All shares of a joint deal are known. They come before the first state that goes with them.
	setShares(told) {
		Object.assign(this, {told, isTold: true})
	}

	// The shares that decided the deal, once they are known.
	get shares() {
		const {room, told} = this
		return told && told.room === room.room && told.draw === room.draw && room.phase !== "open" ? told.shares : []
	}

	// What has changed in the counts of the player in a seat, as racers get it.
	count({seat, ...changes}) {
		const player = this.room?.players.find(each => each.seat === seat)?.player
		const known = this.room?.tallies.find(tally => tally.player === player)
		if (known) this.follow([Object.assign(known, changes)])
	}

	// The counts of a racer whose board is known.
	countBoard(player, {piles, moves, time}) {
		const tally = this.room?.tallies.find(each => each.player === player)
		if (!tally || !time) return
		const cards = onFoundations(this.room.game, piles)
		const progress = cards !== tally.foundation_cards && {last_progress_at: time, finished_at: cards === this.cards ? time : 0}
		this.follow([Object.assign(tally, {foundation_cards: cards, moves}, progress)])
	}

	follow(tallies) {
		const {starts} = this.room
		for (const {player, foundation_cards: count, last_progress_at: time} of tallies) {
			const points = this.progress.get(player) ?? [[starts, 0]]
			if (starts && count >= 0 && points.at(-1)[1] !== count) points.push([Math.max(time || starts, points.at(-1)[0]), count])
			if (starts) this.progress.set(player, points)
		}
	}

	get isKnownGame() {
		return Boolean(this.room) && Object.hasOwn(GAMES, this.room.game)
	}

	get cards() {
		return 52 * GAMES[this.room.game].decks
	}

	// The steps to the finish: complete suits, or a thirteenth of the cards each.
	get steps() {
		return RULES[this.room.game].takes > 1 ? this.cards / RULES[this.room.game].takes : 13
	}

	showBoard({player, piles, reached = [], ...board}) {
		if (piles.length !== GAMES[this.room?.game]?.piles.length) return
		piles = piles.map(pile => [...pile])
		const {starts} = this.room
		if (reached.length) this.progress.set(player, [[starts, 0], ...reached.map((after, i) => [starts + after, i + 1])])
		this.setBoard(player, {...board, piles})
	}

	// Return false in doubt: the page then asks for whole boards.
	showMove({player, revision, action, seen, time}) {
		const board = this.boards.get(player)
		const piles = revision === board?.revision + 1 && played(this.room.game, board.piles, action, seen)
		if (piles) this.setBoard(player, {...board, revision, piles, moves: board.moves + 1, time})
		return Boolean(piles)
	}

	setBoard(player, board) {
		const count = onFoundations(this.room.game, board.piles)
		const {starts} = this.room
		const points = this.progress.get(player) ?? [[starts, 0]]
		while (points.length > 1 && points.at(-1)[0] > board.time) points.pop()
		if (points.at(-1)[1] !== count) points.push([board.time, count])
		this.progress.set(player, points)
		const finishedAt = count === this.cards ? board.time : 0
		this.boards.set(player, {...board, count, progressAt: points.at(-1)[0], finishedAt})
	}

	// The players in their order: by the final standings, or by what their boards show.
	ranking() {
		const {standings, tallies} = this.room
		const rows = this.room.players.map(seat => {
			const isOwn = each => each.player === seat.player
			const [board, final, tally] = [this.boards.get(seat.player), standings.find(isOwn), tallies.find(isOwn)]
			const {connected = true, foundation_cards: count, moves, finished_at: finishedAt, last_progress_at: progressAt} = tally ?? {}
			const live = this.isLive && tally && {count, moves, finishedAt, progressAt}
			const row = {count: 0, moves: 0, finishedAt: 0, progressAt: 0, ...board, ...live, ...seat, board, final, connected, gone: seat.away || !connected}
			return final ? {...row, count: final.foundation_cards, moves: final.moves ?? row.moves} : row
		})
		const order = (a, b) => (a.final && b.final ? a.final.place - b.final.place : byProgress(a, b))
		for (const row of rows) row.place = row.final?.place ?? 1 + rows.filter(other => order(other, row) < 0).length
		return rows.sort((a, b) => order(a, b) || a.seat - b.seat)
	}
}

// Whether the only player of a room goes on to the room `next`, with the deal of an earlier race. Otherwise that is a rematch.
export const namesOtherRoom = ({phase, next, starts, earlier, options}) =>
	next && !starts && !earlier.length && !options.hosted && /open|closed/.test(phase)

// What a player wants who goes on to the rematch of a race.
export function rematchOf({round, deal, private: isPrivate, options, window}) {
	const number = Number(/^#(\d+)$/.exec(deal)?.[1] ?? -1)
	const isAgain = deal.startsWith("again")
	const next = number >= 0 ? `#${(number + 1) % 1e9}` : isAgain || deal.startsWith("daily") ? "winnable" : deal
	const start = isAgain || options.start === "at" ? "host" : options.start
	const players = isAgain ? SEATS : options.players
	return {options: {...options, deal: next, players, start, start_at: 0, hosted: true}, round: round + 1, private: isPrivate, window}
}

// The address of a room, or of the standing series that its race belongs to, to send to others.
export function linkOf({room, rooms_before: [first = room] = [], opens}) {
	const place = opens?.length ? `s/${first}` : location.pathname.split("/").pop()
	return location.origin + location.pathname.replace(/[^/]*$/, place)
}

// Whether the rematch of a race is the next race of its series.
export const goesOn = ({round, options: {series}}) => (round + 1) % series > 0
export const rematchName = room => (goesOn(room) ? "next race" : "rematch")

// What a button says to a player of a race that may have a rematch.
export function rematchText(room, me) {
	const {next, next_by: by, players} = room
	if (room.opens?.[1]) return `Next race: ${timeOfWeek(room.opens[1])}`
	const asker = players.find(({player}) => player === by && player !== me)
	if (!next) return goesOn(room) ? "Next race" : "Rematch"
	return asker ? `${asker.name} ${goesOn(room) ? "is ready for the next race" : "wants a rematch"}: join` : `The ${rematchName(room)} is open: join`
}

export const byProgress = (a, b) =>
	(a.finishedAt || Infinity) - (b.finishedAt || Infinity) || b.count - a.count || a.progressAt - b.progressAt

// The rows of a race, with the players of the earlier race whose deal was dealt again, as they stood this long after their
// start.
export function among(rows, {starts, earlier}, after) {
	if (!earlier.length) return rows
	const past = earlier.map(({name, time, reached, started}, i) => {
		const times = reached.filter(at => at <= after)
		const finishedAt = time && time <= after ? starts + time : 0
		return {player: `earlier ${i}`, name: `${name} (${started ? dayOf(started, starts) : "earlier"})`, seat: 255 - i, count: times.length, finishedAt, progressAt: starts + (times.at(-1) ?? 0), connected: true}
	})
	return [...rows, ...past].sort(byProgress).map((each, i) => ({...each, place: i + 1}))
}

export const ordinal = n => n + (/1[123]$/.test(n) ? "th" : {1: "st", 2: "nd", 3: "rd"}[n % 10] ?? "th")

// Return the player who is alone in the first place of several, or undefined before the first card.
export function leader(rows) {
	const first = rows.filter(each => each.place === 1)
	return first.length === 1 && rows[1] && first[0].count ? first[0] : undefined
}

// The place of a player in words, and the distance to the next rival. Both are empty before the first card, and alone.
export function standing(rows, player) {
	const at = rows.findIndex(each => each.player === player)
	if (at < 0 || !rows[1] || !rows[0].count) return ["", ""]
	const own = rows[at]
	const isFirst = own.place === 1
	const rival = isFirst ? rows.find(each => each !== own) : rows[at - 1]
	const gap = Math.abs(own.count - rival.count)
	return [`${ordinal(own.place)} of ${rows.length}`, gap ? `${counted(gap, "card")} ${isFirst ? "ahead of" : "behind"} ${rival.name}` : `level with ${rival.name}`]
}

// The news of a race, found by comparing the ranking with the one before it.
export class RaceFeed {
	before = null // by player
	leader = ""
	ledAt = -QUIET

	// Return what just happened, as sentences without full stops. The first ranking is no news. To the player `me`, the own
	// name is "You".
	after(all, {room, cards}, now, me) {
		const {before, phase} = this
		const rows = all.map(row => (row.player === me ? {...row, name: "You"} : row))
		this.before = new Map(rows.map(row => [row.player, {...row, ...end(row, room), left: cards - row.count}]))
		this.phase = room.phase
		const news = before ? [...this.before.values()].flatMap(row => newsOf(before.get(row.player), row, room.phase === phase)) : []
		const first = leader(rows)
		if (!before) this.leader = first?.player
		else if (now - this.ledAt >= QUIET) {
			const sentence = this.newLead(first) || passing(before, this.before, me)
			if (sentence) this.ledAt = now
			news.push(sentence)
		}
		if (room.phase !== phase) news.push({racing: "The race is on", finished: "The race is over"}[room.phase])
		return news.filter(Boolean)
	}

	newLead(first) {
		if (!first || first.player === this.leader) return ""
		this.leader = first.player
		const {time, resigned} = this.before.get(first.player)
		return time || resigned ? "" : `${first.name} took the lead`
	}
}

// Whom the player has passed since the ranking before, or who the player.
function passing(before, after, me) {
	const [was, is] = [before.get(me), after.get(me)]
	for (const {player, name, place} of was ? after.values() : []) {
		const old = before.get(player)?.place
		if (old < was.place && place > is.place) return `You passed ${name}`
		if (old > was.place && place < is.place) return `${name} passed you`
	}
	return ""
}

export const end = ({final, finishedAt, resigned}, {starts}) => ({
	time: final?.time || (finishedAt && finishedAt - starts),
	resigned: resigned || final?.resigned
})

function newsOf(before, {name, count, place, time, resigned, stuck, away, connected, left}, isSamePhase) {
	if (!before) return []
	const [has, is] = name === "You" ? ["have", "are"] : ["has", "is"]
	if (time) return before.time ? [] : [`${name} finished in ${clock(time)}, ${ordinal(place)}`]
	if (resigned) return before.resigned ? [] : [`${name} resigned at ${count}`]
	const tens = Math.floor(count / 10)
	return [
		stuck && !before.stuck && `${name} ${is} stuck at ${count}`,
		tens > Math.floor(before.count / 10) && left > CLOSE && `${name} ${has} ${(count === 10 * tens && TENS[tens]) || count} home`,
		left <= CLOSE && before.left > CLOSE && `${name} ${has} ${counted(left, "card")} to go`,
		name !== "You" && isSamePhase && away !== before.away && `${name} is ${away ? "away" : "back"}`,
		name !== "You" && connected !== before.connected && `${name} ${connected ? "is back" : "lost the connection"}`
	].filter(Boolean)
}

// A short time, such as "0.4 s", "12 s" and "1:12".
export const shortTime = ms => (ms < 60_000 ? `${(Math.max(ms, 100) / 1000).toFixed(ms < 10_000 ? 1 : 0)} s` : clock(ms))

// Whether nobody closes the doors of a race in a standing series: they were not opened again after a draw.
export const opensByItself = ({opens, draw}) => opens?.length > 0 && !draw

// Whether a player let a window pass.
export const didNotRace = ({final}, {window}) => window > 0 && final && !final.began_at

// The result of a race in a sentence, as the player reads it, or a spectator if there is none.
export function resultOf(rows, room, player) {
	const [first, second] = rows
	const own = rows.find(each => each.player === player)
	const timeOf = row => end(row, room).time
	const time = timeOf(first)
	if (!time) return `Nobody finished.${first.count && second?.place > 1 ? ` ${first === own ? "You were" : `${first.name} was`} closest.` : ""}`
	if (own && timeOf(own) && own.place === 1) return `You won in ${clock(time)}`
	const by = own && timeOf(own) - time
	if (by > 0) return `${first.name} won by ${shortTime(by)}`
	return `${first.name} won in ${clock(time)}`
}

// Of many racers, the first, those around a player, and then the leaders.
export function nearest(rows, player, most) {
	const at = rows.findIndex(row => row.player === player)
	const wanted = new Set([0, at - 1, at, at + 1, ...rows.keys()].filter(i => i in rows))
	const shown = [...wanted].slice(0, most)
	return rows.filter((_, i) => shown.includes(i))
}
