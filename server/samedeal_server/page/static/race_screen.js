// The screen of a race: boards, standings, the chart, the check of the deal, and how to join.

import {title} from "./piles.js"
import {BoardView, flat, scaleBoards} from "./board_view.js"
import {chart} from "./chart.js"
import {byId, clock, dealName, element, forTerminals, keepOneStop, setAttribute, setText, showItems, stored, timeLeft, toggle} from "./dom.js"
import {address, enteredRoom, goTo, isFrame, to, want, wantedIn} from "./here.js"
import {proposedName} from "./names.js"
import {tellRules} from "./rule_picture.js"
import {MAX_DRAWS, dealWords, termsHash} from "./race_hashes.js"
import {Race, among, didNotRace, end, leader, mute, named, namesOtherRoom, rematchName, rematchOf, rematchText, resultOf} from "./race_state.js"
import {Track, large} from "./track.js"

const CAPTION = 30 // px, height of a tile without its board
const GAP = 6 // px between tiles
const LEAST = 340 // px, width of a board where boards scroll, if there is room
const BOARDS = 16 // at most on the screen
const EACH = 16 // ms between two drawings, for each board that is shown: sixteen follow at most four times a second
const GLIDING = 8 // boards at most whose cards glide: on more, they are small and many move at once
const SLOW = 1000 // ms between two changes of the chart
const CALM = 3000 // ms between two changes of the order of the boards
const small = matchMedia("(max-width: 760px), (max-height: 480px)") // screens on which the boards scroll
const TEXTS = ".place, .progress, .state, .count, .moves" // of a player, that change
const CLOSED = "This room is closed. Here is what it showed last."
const LAST = 30_000 // ms before the end, from which the clock warns
const BEGUN = 10_000 // ms after the start, for which the title of the page says so
const NEWS = 8 // that stay on the screen
const REASONS = {left: "left", kicked: "was removed", silent: "did not answer in time"}
export const PLAIN = "This page came over plain http: anybody on the way can see and change what it shows and checks."
const IN_APP = "This is the browser of another program, which may forget your seat. Open this page in your own browser."
const isInApp = () => /FBA[NV]|Instagram|Line\/|MicroMessenger|Snapchat|TikTok|musical_ly|; wv\)/.test(navigator.userAgent)
const OTHER_RACE = "This room was opened again, for another race. Take a seat to race in it."

const loadSeat = () => import("./seat.js").catch(loadAgain)
const span = (name, ...children) => element("span", {class: name}, ...children)
const colour = ({seat}) => `hsl(${80 + ((seat * 137.5) % 300)} 65% var(--tone))` // gold is the own colour
const bySeat = (a, b) => a.seat - b.seat
const pattern = ({seat}) => `pattern${seat % 4}` // tells players apart where their colours are not shown

export class RaceScreen {
	constructor(room) {
		this.room = room
		this.race = new Race()
		this.track = new Track()
		this.credentials = {}
		this.wanted = wantedIn(room)
		this.shown = new Map() // by player: the elements that show the player
		this.chosen = [] // the players, at most two, whose boards are shown large
		this.onPage = [] // the players whose boards are shown if none is chosen
		this.from = 0 // the first of them in their order
		this.made = {} // by part of the screen: the values from which it was made, as text
		this.name()
		byId("all").onclick = () => this.choose()
		byId("report").onclick = event => this.report(event)
		byId("retry").onclick = () => this.link.hurry()
		byId("next").onclick = () => this.turnTo(this.from + BOARDS)
		toggle(byId("follow"), "follow", true, follows => {
			this.follows = follows
			this.turnTo(this.from)
		})
		this.stops = ["boards", "standings"].map(id => keepOneStop(byId(id)))
		addEventListener("resize", () => this.fit())
		for (const size of [small, large]) size.onchange = () => this.ranked && this.show()
		const sizes = new ResizeObserver(() => requestAnimationFrame(() => this.fit())) // not at once: it changes sizes
		for (const part of [document.querySelector("header"), byId("message"), byId("race"), byId("boards").parentNode]) sizes.observe(part)
		addEventListener("keydown", ({key}) => key === "Escape" && this.chosen.length && this.choose())
		setInterval(() => this.tick(), 250)
	}

	name() {
		document.title = `${this.room} · Samedeal`
		setText(byId("title"), this.room)
	}

	// Take a seat in the room. A connection under this name opens while the scripts are on their way.
	sit(name) {
		if (this.sitting) return // two taps may come
		this.link?.rename(name)
		this.sitting = loadSeat().then(({Seat}) => (this.seat = new Seat(this, name)))
	}

	// Give up a seat that the server gave to the player in a room that was opened anew.
	leaveOther() {
		this.link.ask("leave").catch(() => {})
		this.unseat(OTHER_RACE)
	}

	// Go back to the seat that was lost because this page slept through a draw, if the room is open again.
	wake({phase, lost}) {
		if (phase !== "open" || !lost.some(each => each.name === this.sleeper && each.reason === "silent")) return
		this.sit(this.sleeper)
		this.sleeper = ""
	}

	// Watch instead, or look for another way to race.
	async unseat(sentence) {
		await this.sitting
		this.seat?.leave()
		Object.assign(this, {seat: null, sitting: null, why: sentence, asked: null, isIn: false})
		if (this.link.welcomed) this.enter()
	}

	async enter() {
		await this.sitting
		if (this.seat) return this.seat.enter()
		const {link} = this
		if (this.asked !== this.room) link.note("asks", "spectator", (this.asked = this.room), this.wanted, link.player, link.called)
		try {
			const {room} = await link.ask("watch", {room: this.room, ...this.credentials})
			Object.assign(this, {room, isIn: true})
			this.say("")
		} catch (refused) {
			this.refuse(refused)
		}
	}

	// Go on to the room in which the deal of an earlier race is dealt again, without a reload: a browser may keep nothing.
	async follow({room, next, options, private: isPrivate}) {
		await this.sitting
		if (this.room !== room) return // on the way already
		const {seat} = this
		seat?.leave()
		this.isIn = false
		this.room = this.link.room = next
		this.wanted = {options: {...options, players: 1, start: "full", start_at: 0}, private: isPrivate, again: true}
		want(next, this.wanted)
		this.name()
		history.replaceState(null, "", to(encodeURIComponent(next)))
		if (seat) this.seat = new seat.constructor(this, seat.name)
		this.enter()
	}

	refuse({code, message, retry_after}) {
		if (!code) return // the connection was lost
		if (code === "kicked") byId("race").hidden = this.isOut = true // the page gets no news of this room any more
		if (code === "racing" && !this.why && stored.get("name")) return this.sit(stored.get("name")) // a seat that a series has kept
		if (code === "bad_passphrase") return this.askPassphrase()
		if (code === "no_room" && this.race.room) this.say(this.closed ?? CLOSED)
		else if (code === "no_room" && !isFrame) location.replace("./?lost")
		else this.say(message, code === "no_spectators" && "join")
		if (code === "no_spectators" && isInApp()) byId("message").append(element("p", {class: "warning"}, IN_APP))
		// Who has a seat may not watch, but can come back to the seat.
		if (!isFrame && (code === "no_spectators" || code === "racing"))
			byId("message").append(this.nameForm(code === "racing" ? "Back to your seat" : "Take a seat"))
		if (retry_after) setTimeout(() => this.link.welcomed && this.enter(), 1000 * retry_after)
	}

	// A room with a window needs more scripts. Messages keep their order while they come.
	receive(message) {
		if (message.window) this.loading ??= import("./window.js").then(windows => (this.windows = windows), loadAgain)
		return this.loading ? this.loading.then(({shifted}) => this.take(shifted(message, this.race.room))) : this.take(message)
	}

	take(message) {
		const {race} = this
		if (message.room && message.room !== this.room) return // the witness knows
		if (message.type === "roomstate") {
			if (!this.isIn) return // what the page has kept of the race is not read yet
			enteredRoom(this.room)
			if (namesOtherRoom(message) && !this.link.witness?.evidence.contradiction) return this.follow(message)
		}
		this.seat?.receive(message)
		if (message.type === "roomstate") {
			this.wake(message)
			this.firstPhase ??= message.phase
			this.told = message
		} else if (message.type === "drawn") race.setShares(message)
		else if (message.type === "notice") {
			this.announce(message.message)
			if (/^(kicked|renamed)$/.test(message.code)) this.say(message.message)
			if (/^not_/.test(message.code)) this.closed = message.message
		} else if (message.type === "delayedboard") race.showBoard(message)
		else if (message.type === "delayedmove" && race.isKnownGame && !race.showMove(message) && !this.resyncing) {
			this.resyncing = setTimeout(() => (this.resyncing = 0), 3000)
			this.enter() // for whole boards
		}
		if (message.type === "roomstate" || this.told?.window) this.setRoom()
		if (!race.room || this.drawing) return
		this.drawing = true // once for all messages that arrive together
		setTimeout(() => this.show(), EACH * this.visible) // hidden pages get no animation frames
	}

	// Show the newest state of the room, and one with a window as a race that begins with the player.
	setRoom() {
		const room = named(this.told, this.link.player)
		this.race.setRoom(room.window ? this.windows.ownRace(room, this.link.player, this.link.now()) : room)
	}

	show() {
		const {race} = this
		const {game, deal, phase} = race.room
		this.drawing = false
		setText(byId("facts"), `${title(game)} · ${dealName(deal)}`)
		this.showClock()
		this.showStatus()
		if (!race.isKnownGame) return this.say(`This page does not know the game ${game}. Watch it in a terminal.`, "watch")
		byId("race").hidden = Boolean(this.isOut)
		const isEarly = /open|countdown|waiting|raced/.test(phase)
		byId("race").classList.toggle("open", isEarly)
		setText(byId("standings").parentNode.caption, isEarly ? "Players" : "Standings")
		const rows = (this.ranked = this.rows())
		this.showPlayers(rows)
		this.showLead(rows)
		this.showChart()
		this.showRoom(rows)
		this.seat?.show(rows)
	}

	// Whether a part of the screen has to be made again, because the values from which it is made have changed.
	isNew(part, ...values) {
		const before = this.made[part]
		this.made[part] = JSON.stringify(values)
		return this.made[part] !== before
	}

	// Show what a replay does not have.
	showRoom(rows) {
		const {room} = this.race
		const {phase, standings} = room
		const isOn = phase === "racing" && (this.seat || small.matches) // elsewhere, spectators have the standings beside the boards
		byId("track").hidden = !isOn
		if (isOn) this.track.show(among(rows, room, this.link.now() - room.starts), this.seat?.me, this.race, row => this.colourOf(row))
		this.showJoin()
		this.showDraw()
		this.showRules()
		this.showWords()
		const news = this.race.feed.after(rows, this.race, performance.now(), this.seat?.me)
		if (news.some(text => text.endsWith("took the lead"))) this.seat?.play("lead")
		this.announce(...news)
		if (/finished|closed/.test(phase) && standings.length && !isFrame) this.judge()
		if (phase === "closed") this.say(this.closed ?? CLOSED)
	}

	// Tell news, also screen readers. The newest come first.
	announce(...sentences) {
		for (const text of sentences) {
			const name = ["You", ...(this.ranked ?? []).map(each => each.name)].find(name => text.startsWith(`${name} `)) ?? ""
			byId("news").prepend(element("span", {}, element("strong", {}, name), text.slice(name.length)), " ")
		}
		while (byId("news").childNodes.length > 2 * NEWS) byId("news").lastChild.remove()
	}

	// Show what changes with time, and what was too new to be shown at once.
	tick() {
		if (this.told?.window && this.race.room.changes < this.link.now()) this.receive({})
		this.showClock()
		if (!this.ranked) return
		this.showStatus()
		this.seat?.lookForPerson().catch(() => {}) // it asks again
		this.order()
		this.showChart()
	}

	showChart() {
		const {race, ranked, chosen, onPage} = this
		const now = performance.now()
		byId("chart").hidden = !ranked.some(each => each.count)
		if (!race.progress.size || ranked === this.charted || now - this.chartedAt < SLOW) return
		Object.assign(this, {charted: ranked, chartedAt: now})
		const shown = ranked.filter(({player}) => onPage.includes(player) || chosen.includes(player))
		const isThick = ({player}) => chosen.includes(player)
		const style = row => ({class: `line ${pattern(row)}${isThick(row) ? " chosen" : ""}`, stroke: this.colourOf(row)})
		byId("chart").replaceChildren(chart(shown, race, style))
	}

	// Let the boards follow the order of the race, and find those of the page. They do not change their places each time
	// that two players pass each other.
	order() {
		const {ranked, shown} = this
		const now = performance.now()
		if (now - this.orderedAt < CALM) return
		this.orderedAt = ranked.length && ranked.every(each => each.board) ? now : undefined
		const inOrder = this.follows ? ranked : [...ranked].sort(bySeat)
		inOrder.forEach(({player}, i) => (shown.get(player).tile.style.order = i))
		if (this.from >= ranked.length) this.from = 0
		this.onPage = inOrder.slice(this.from, this.from + BOARDS).map(each => each.player)
	}

	// Show the page that begins with a board.
	turnTo(from) {
		Object.assign(this, {from, orderedAt: undefined})
		if (this.ranked) this.show()
	}

	// The number of boards on the screen.
	get visible() {
		return this.chosen.length || this.onPage.length
	}

	rows() {
		return this.race.ranking()
	}

	colourOf(row) {
		return this.seat && row.player === this.seat.me ? "var(--you)" : colour(row)
	}

	showPlayers(rows) {
		const {race} = this
		const {game, phase} = race.room
		const nameOf = player => rows.find(row => row.player === player)?.name
		this.chosen = this.chosen.filter(nameOf)
		byId("tools").hidden = !this.chosen.length
		byId("next").hidden = Boolean(this.chosen.length) || rows.length <= BOARDS
		for (const [player, shown] of this.shown)
			if (shown.game !== game || shown.name !== nameOf(player)) this.drop(player)
		for (const row of [...rows].sort(bySeat)) if (!this.shown.has(row.player)) this.add(row, game)
		this.order()
		for (const row of rows) {
			const {player, board, final, count, moves, connected, finishedAt} = row
			const shown = this.shown.get(player)
			const {tile, line, view} = shown
			const isChosen = this.chosen.includes(player)
			const hasRaced = !didNotRace(row, race.room) && (board || final || (race.isLive && race.room.starts))
			const numbers = hasRaced ? {place: row.place, count, moves, progress: `${count}/${race.cards}`} : {}
			const texts = {...numbers, state: stateOf(row, race.room)}
			for (const target of shown.texts) setText(target, String(texts[target.className] ?? ""))
			tile.classList.toggle("gone", !connected)
			tile.classList.toggle("won", Boolean(finishedAt))
			tile.hidden = !(this.chosen.length ? isChosen : this.onPage.includes(player))
			line.classList.toggle("chosen", isChosen)
			if (shown.count !== count) line.style.setProperty("--done", (shown.count = count) / race.cards)
			if (numbers.progress) setAttribute(tile, "aria-label", `${row.name}, place ${row.place}, ${count} of ${race.cards} cards`)
			if (!board || shown.board === board || tile.hidden) continue
			view.show(board.piles, shown.board && this.visible <= GLIDING)
			shown.board = board
			tile.dataset.revision = board.revision
		}
		const standings = byId("standings")
		rows.forEach(({player}, i) => {
			const [{line}, there] = [this.shown.get(player), standings.children[i]]
			if (there !== line) standings.insertBefore(line, there ?? null)
		})
		if (!this.isNew("layout", game, this.onPage.length, this.chosen, phase)) return // which hides boards
		this.fit()
		for (const check of this.stops) check()
	}

	add(row, game) {
		const {player, name, bot} = row
		const view = new BoardView(game)
		const cell = what => element("td", {class: what})
		const choose = {onclick: () => this.choose(player)}
		const button = () => element("button", {...choose, tabindex: -1}, span("name", name), bot ? span("bot", "bot") : "")
		const caption = element("header", {}, span("place"), button(), span("state"), span("progress"))
		const tile = element("article", {class: "tile", "data-player": player}, caption, view.words, element("div", {...choose, class: "felt"}, view.element))
		const tool = (text, title, onclick) => element("button", {tabindex: -1, title, onclick}, text)
		const isOther = "shown" in row && player !== this.link.player
		const tools = isOther ? [tool("⚑", "Report", event => this.report(event, player)), tool("⊘", "Mute", () => this.mute(player))] : []
		const head = element("th", {}, button(), span("state"), span("tools", ...tools))
		const line = element("tr", {}, cell("place"), head, cell("count"), cell("moves"))
		for (const part of [tile, line]) {
			part.style.setProperty("--player", this.colourOf(row))
			part.classList.add(pattern(row))
		}
		const texts = [...caption.querySelectorAll(TEXTS), ...line.querySelectorAll(TEXTS)]
		this.shown.set(player, {game, name, view, tile, line, texts})
		byId("boards").append(tile)
	}

	// Tell the operator of a player's name, or of that of the room.
	async report({target}, player = "") {
		const {message = "Reported"} = await this.link.ask("report", {player}).catch(refused => refused)
		setText(target, message)
	}

	// Hide the name of a player, or show it again.
	mute(player) {
		mute(player)
		this.setRoom()
		this.turnTo(this.from)
	}

	drop(player) {
		const {tile, line} = this.shown.get(player)
		tile.remove()
		line.remove()
		this.shown.delete(player)
	}

	// Show the board of a player large, beside the one that was chosen before. Choosing it again undoes that.
	choose(player) {
		if (this.seat) return // a racer sees one board
		const others = this.chosen.filter(other => other !== player)
		this.chosen = !player ? [] : others.length < this.chosen.length ? others : [...others, player].slice(-2)
		this.charted = null
		this.show()
	}

	// Make the boards as large as possible, and two side by side. On a small screen they scroll, and each fits.
	fit() {
		const boards = byId("boards")
		const count = this.visible
		if (!count || !this.race.isKnownGame) return
		if (this.seat?.fit()) return
		const {width, height} = flat(this.race.room.game)
		const scrolls = small.matches && !isFrame
		const tall = innerHeight - (scrolls ? 2 * CAPTION : boards.getBoundingClientRect().top + scrollY + 8)
		const sizes = Array.from({length: count}, (_, i) => {
			const down = scrolls ? 1 : Math.ceil(count / (i + 1))
			const high = (((Math.max(240, tall) - GAP * (down - 1)) / down - CAPTION) * width) / height
			const wide = (boards.clientWidth - GAP * i) / (i + 1)
			return Math.floor(Math.min(wide, high))
		})
		const best = Math.max(...sizes)
		const readable = sizes.findLastIndex(size => size >= LEAST)
		const columns = this.chosen[1] && sizes[1] > 0.7 * best ? 2 : 1 + Math.max(0, scrolls ? readable : sizes.indexOf(best))
		boards.style.setProperty("--columns", columns)
		scaleBoards(boards, sizes[columns - 1] / width, {width, height}, Array.from(this.shown.values(), each => each.view))
	}

	showJoin() {
		const {phase, next, players, options, opens} = this.race.room
		const isFull = phase === "open" && players.length >= options.players
		if (!this.isNew("join", this.room, phase, next, isFull, this.why, Boolean(this.seat), this.wantsNext)) return
		if (phase === "finished" && this.wantsNext && !next) this.link.ask("rematch").catch(() => {})
		const wanted = next && rematchOf(this.race.room)
		if (next && this.wantsNext) return goTo(next, wanted)
		const joins = next || phase === "open"
		const link = (path, text, onclick) => element("p", {}, element("a", {href: to(path), onclick}, text))
		const me = players.some(({player}) => player === this.link.player) && this.link.player
		const later = next ? rematchName(this.race.room) : "next race"
		const what = next && (me || !opens?.length) ? rematchText(this.race.room, me) : `Take a seat${phase === "open" ? "" : ` in the ${later}`}`
		byId(byId("race").matches(".open") ? "seat" : "deal").before(byId("join"))
		byId("join").replaceChildren(
			isFrame || this.seat || phase === "closed" ? "" : this.nameForm(what, isFull),
			next && !this.seat && !me ? link(encodeURIComponent(next), `Watch the ${later}`, () => want(next, wanted)) : "",
			phase === "finished" ? link(`replay?race=${this.room}`, "Replay this race") : "",
			this.seat || phase === "closed" ? "" : forTerminals(`samedeal ${joins ? "join" : "watch"} ${address} ${next || this.room}`)
		)
	}

	// Ask for a name, with which the player takes a seat here or in the next race.
	nameForm(what, isFull) {
		this.proposed ||= stored.get("name") || proposedName()
		const input = element("input", {value: this.proposed, required: true, maxlength: 40, autocomplete: "nickname", placeholder: "Your name", "aria-label": "Your name", onfocus: loadSeat})
		const onsubmit = event => {
			event.preventDefault()
			stored.set("name", (this.proposed = input.value))
			this.isNamed = true
			this.why = ""
			const {next, phase} = this.race.room ?? {}
			if (next) return goTo(next, rematchOf(this.race.room))
			if (!phase || phase === "open") return this.sit(input.value)
			this.wantsNext = true
			this.show()
		}
		if (this.wantsNext) return element("p", {role: "status"}, "You get a seat in the next race. Keep this page open.")
		if (isFull) return element("p", {role: "status"}, "All seats are taken. You can watch the race here, or ", element("a", {href: to("./")}, "open a room of your own"), ".")
		return element("form", {class: "sit", onsubmit}, element("p", {role: "alert"}, this.why || ""), input, element("button", {class: "main"}, what))
	}

	showClock() {
		const {room, boards} = this.race
		if (!room) return
		const now = this.link.now()
		const {delay, players, start_at: startAt} = room.options
		const opens = room.starts + 1000 * delay - now
		const texts = {
			open: startAt ? `Starts in ${timeLeft(startAt - now)}` : `Waiting for the start, ${room.players.length} of ${players} players`,
			countdown: `Starts in ${timeLeft(room.starts - now)}`,
			racing: `${timeLeft(room.ends - now)} left${boards.size || opens < 0 || this.seat ? "" : `, boards in ${timeLeft(opens)}`}`,
			finished: "Finished",
			closed: "Closed"
		}
		const text = room.clock || (texts[room.phase] ?? room.phase)
		setText(byId("clock"), text)
		const isLast = room.phase === "racing" && room.ends - now < LAST
		if (isLast && !byId("clock").matches(".last")) {
			this.announce(`${clock(LAST)} left`)
			this.seat?.play("last")
		}
		byId("clock").classList.toggle("last", isLast)
		const isNew = room.phase === "racing" && now - room.starts < BEGUN
		const heading = `${isNew ? "The race is on" : room.phase === "countdown" ? text : this.room} · Samedeal`
		if (document.title !== heading) document.title = heading
	}

	showStatus() {
		const {phase, options} = this.race.room ?? {}
		const isLate = !this.seat && options?.delay && /open|count|racing/.test(phase)
		const {live, sentence, waiting} = this.link
		setText(byId("status"), !live ? `No connection. ${sentence}` : waiting ? `Waiting ${waiting} s` : isLate ? `Boards ${options.delay} s late` : "")
		byId("retry").hidden = !this.link.retry
	}

	// Show how the draw of a joint deal goes, during the countdown.
	showDraw() {
		const {room, shares} = this.race
		const {phase, draw, lost, waits_for_host: waits} = room
		const lines = phase === "countdown" && draw && !waits ? [...lossLines(draw, lost, shares.length > 0), "Shuffling ..."] : []
		showItems(byId("draw"), lines.map(line => element("li", {}, line)))
	}

	// Say how the game is played, before the race. During the race, a button says it again.
	showRules() {
		const {game, phase} = this.race.room
		if (!this.isNew("rules", game, phase)) return
		const rules = byId("rules")
		tellRules(rules, game)
		rules.close()
		rules.toggleAttribute("open", /open|countdown|waiting/.test(phase))
		byId("how").onclick = () => rules.showModal()
	}

	showWords() {
		const {room, shares} = this.race
		const isFixed = room.deal.startsWith("winnable") ? shares.length : room.phase !== "open"
		if (!this.isNew("words", room.terms, room.commitment, isFixed, shares)) return
		const words = isFixed ? (this.seat ? this.seat.witness?.evidence.words : dealWords(termsHash(room.terms), room.commitment, shares)) : ""
		setText(byId("words"), words)
	}

	// Judge the race once it is over, and again whenever more is shown of its end.
	async judge() {
		const {judge} = await import("./judge.js").catch(() => ({}))
		if (judge) await judge(this)
		else this.showVerdict({kind: "unsure", sentence: "Not fully checked: this page cannot load its check. Reload the page."})
	}

	// Show a verdict in a sentence, and behind it what led to it.
	showVerdict({kind, sentence, clock, words, rows = [], facts = []}) {
		const {lost = [], draw = 0} = this.race.room ?? {}
		const lines = [...rows, ...lossLines(draw, lost, true), ...facts]
		if (!this.isNew("verdict", sentence, clock, words, lines)) return
		const open = kind === "wrong" || byId("deal").querySelector("details[open]")
		const items = element("ul", {}, ...lines.map(line => element("li", {}, line)))
		const below = [clock, words && `Result words: ${words}`].filter(Boolean).map(text => element("p", {}, text))
		const more = below.length + lines.length ? element("details", {open}, element("summary", {}, "Details"), ...below, items) : ""
		byId("deal").replaceChildren(element("div", {class: `box deal ${kind}`}, element("strong", {}, sentence), more, isSecureContext ? "" : ` ${PLAIN}`))
	}

	// Say who leads, or who has won.
	showLead(rows) {
		const {room, cards} = this.race
		const [first, second] = rows.filter(each => each.place)
		const time = first && (first.final ? first.final.time : first.finishedAt)
		const leads = () => `${first.name} leads with ${first.count} of ${cards} cards${second ? `, ${second.name} has ${second.count}` : ""}`
		const text = room.phase === "finished" ? resultOf(rows, room, this.seat?.me) : time ? `${first.name} ${stateOf(first, room)}` : leader(rows) ? leads() : "Nobody leads yet"
		setText(byId("lead"), /racing|finished/.test(room.phase) && rows.length > 1 ? text : "")
	}

	// Show a sentence instead of the race, or above it.
	say(sentence, command) {
		const line = command ? forTerminals(`samedeal ${command} ${address} ${this.room}`) : ""
		const parts = [element("p", {}, sentence), line, element("a", {href: to("./")}, "All rooms")]
		byId("message").replaceChildren(...(sentence ? parts : []))
	}

	askPassphrase() {
		byId("message").replaceChildren(byId("private").content.cloneNode(true))
		const form = byId("message").firstElementChild
		const [input] = form
		form.onsubmit = event => {
			event.preventDefault()
			this.credentials = {passphrase: input.value}
			this.enter()
		}
		form.lastElementChild.hidden = !this.credentials.passphrase
		input.focus()
	}
}

// What there is to say about a player besides the numbers.
function stateOf(row, room) {
	const {final, stuck, gone, ready} = row
	const {phase} = room
	const {time, resigned} = end(row, room)
	if (didNotRace(row, room)) return "did not race"
	if (time) return `${final?.place === 1 ? "won" : "finished"} in ${clock(time)}`
	if (resigned) return "resigned"
	if (gone && phase !== "finished") return "away"
	if (stuck && phase === "racing") return "stuck"
	return ready && phase === "open" ? "ready" : ""
}

// Who lost a seat while a joint deal was drawn, and what followed.
function lossLines(draw, lost, isDrawn) {
	const gone = number => lost.filter(each => each.draw === number).map(({name, reason}) => `${name} ${REASONS[reason]}`).join(", ")
	const [is, goesOn] = isDrawn ? ["was", "went on"] : ["is", "goes on"]
	const before = [...new Set(lost.map(each => each.draw))].filter(number => number < draw)
	const next = i => (((before[i + 1] ?? draw) - 1) % MAX_DRAWS) + 1
	const again = before.map((number, i) => `${gone(number)}: the deal ${is} drawn again (draw ${next(i)} of ${MAX_DRAWS})`)
	return [...again, ...(gone(draw) ? [`${gone(draw)}: the draw ${goesOn}`] : [])]
}
