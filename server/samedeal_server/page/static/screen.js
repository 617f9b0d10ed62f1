// The screen of a race: boards, standings, the chart, the check of the deal, and how to join.

import {GAMES} from "./boards.js"
import {BoardView, inWords, tableSize} from "./cards.js"
import {chart} from "./chart.js"
import {checkDeal} from "./deal.js"
import {byId, clock, copyLine, dealName, element, setText} from "./dom.js"
import {address, to} from "./link.js"
import {Race} from "./race.js"

const CAPTION = 34 // px, the height of a tile without its board
const GAP = 10 // px between tiles
const NARROW = 760 // px, the width of a screen on which the boards scroll
const CLOSED = "This room is closed. Here is what it showed last."
const ALONE = "Before the race the server published a hash of the seed from which it deals. After the race it revealed the seed."
const TOGETHER = `The server and the players drew this deal together. Each published a hash before anybody revealed anything.
This page knows no rules: “samedeal verify --deep” checks that each move of the winning line is allowed, and how the deal was found.`
const UNSURE = "Over plain http, a browser cannot check what has a question mark. Over https it can."
const VERDICTS = {wrong: "✗ NOT a fair deal", unsure: "Fair deal, not fully checked", fair: "✓ Fair deal, checked here"}

const span = (name, ...children) => element("span", {class: name}, ...children)
const colour = ({seat}) => `light-dark(hsl(${seat * 137.5} 60% 40%), hsl(${seat * 137.5} 60% 64%))`
const bySeat = (a, b) => a.seat - b.seat

export class RaceScreen {
	constructor(room) {
		this.room = room
		this.race = new Race()
		this.passphrase = {}
		this.tiles = new Map() // by player
		this.rows = new Map() // by player
		this.chosen = [] // the players, at most two, whose boards are shown large
		this.connection = {live: false, sentence: "Connecting."}
		document.title = `${room} · Samedeal`
		setText(byId("title"), room)
		this.boards = element("section", {class: "boards", "aria-label": "Boards"})
		const all = element("button", {onclick: () => this.choose()}, "All boards")
		this.tools = element("p", {class: "controls"}, all, "Choose another name to see two boards.")
		this.words = element("ul")
		this.wordsBox = element("details", {class: "box"}, element("summary", {}, "This board in words"), this.words)
		this.wordsBox.ontoggle = () => this.showWords()
		this.standings = element("tbody")
		const heads = ["Place", "Player", "Cards", "Moves"].map(name => element("th", {scope: "col"}, name))
		const table = element("table", {}, element("caption", {}, "Standings"), element("thead", {}, element("tr", {}, ...heads)), this.standings)
		;[this.chart, this.deal] = [element("div"), element("div")]
		this.join = element("section", {class: "box"})
		this.message = element("section", {class: "box message", hidden: true})
		const aside = element("aside", {}, table, this.chart, this.deal, this.wordsBox, this.join)
		this.layout = element("div", {class: "race", hidden: true}, element("div", {}, this.tools, this.boards), aside)
		byId("main").replaceChildren(this.message, this.layout)
		addEventListener("resize", () => this.fit())
		addEventListener("keydown", event => this.press(event))
		setInterval(() => this.showClock(), 250)
	}

	async enter() {
		try {
			const {room} = await this.link.ask("watch", {room: this.room, ...this.passphrase})
			this.room = room
			this.isFresh = true
			this.say("")
		} catch (refused) {
			this.refuse(refused)
		}
	}

	refuse({code, message, retryAfter}) {
		if (!code) return // the connection was lost
		if (code === "bad_passphrase") this.askPassphrase()
		else if (code === "no_room" && this.race.room) this.say(CLOSED)
		else this.say(message, code === "no_spectators" && "join")
		if (retryAfter) setTimeout(() => this.link.welcomed && this.enter(), 1000 * retryAfter)
	}

	receive(message) {
		const {race} = this
		if (message.type === "roomstate") {
			if (this.isFresh) race.enter(message)
			else race.setRoom(message)
			this.isFresh = false
		} else if (message.type === "notice") {
			setText(byId("news"), message.message)
			if (message.code === "kicked") this.say(message.message)
		} else if (message.type === "lateboard") race.showBoard(message)
		else if (message.type === "latemove" && race.isKnownGame && !race.showMove(message) && !this.resyncing) {
			this.resyncing = setTimeout(() => (this.resyncing = 0), 3000)
			this.enter() // for whole boards
		}
		if (!race.room || this.drawing) return
		this.drawing = true // once for all messages that arrive together
		;(document.hidden ? setTimeout : requestAnimationFrame)(() => this.show())
	}

	show() {
		const {race} = this
		const {game, deal, phase, watching, seed, proof} = race.room
		const facts = [GAMES[game]?.title ?? game, dealName(deal)]
		if (watching >= 0) facts.push(`${watching} watching`)
		this.drawing = false
		this.layout.hidden = false
		setText(byId("facts"), facts.join(" · "))
		if (!race.isKnownGame) this.say(`This page does not know the game ${game}. Watch it in a terminal.`, "watch")
		const rows = race.ranking()
		this.showTiles(rows)
		this.showStandings(rows)
		this.showChart(rows)
		this.showWords()
		this.showJoin()
		this.showClock()
		this.showStatus()
		this.announce(rows)
		if (phase === "finished" && (seed.length || proof)) this.checkDeal()
		if (phase === "closed") this.say(CLOSED)
		this.fit()
	}

	isShown(player) {
		return !this.chosen.length || this.chosen.includes(player)
	}

	showTiles(rows) {
		const {race} = this
		const {game} = race.room
		forget(this.tiles, rows, tile => tile.game !== game)
		rows = race.isKnownGame ? rows.toSorted(bySeat) : []
		this.chosen = this.chosen.filter(player => rows.some(row => row.player === player))
		this.tools.hidden = !this.chosen.length
		for (const row of rows) {
			const {board} = row
			const tile = this.tiles.get(row.player) ?? this.addTile(row, game)
			setText(tile.place, board ? `${row.place ?? ""}` : "")
			setText(tile.count, board ? `${row.count}/${race.cards}` : "")
			setText(tile.state, stateOf(row, race.room))
			tile.element.classList.toggle("gone", !row.connected)
			tile.element.classList.toggle("won", Boolean(row.finishedAt))
			tile.element.hidden = !this.isShown(row.player)
			const label = `Board of ${row.name}: ${row.count} of ${race.cards} cards on the foundations`
			tile.view.element.setAttribute("aria-label", label)
			if (!board || tile.shown === board) continue
			tile.view.show(board.piles, tile.shown && !tile.element.hidden)
			tile.shown = board
			tile.element.dataset.revision = board.revision
		}
	}

	addTile(row, game) {
		const view = new BoardView(game)
		const tile = {view, game, place: span("place"), state: span("state"), count: span("count")}
		const caption = element("header", {}, tile.place, this.nameButton(row), tile.state, tile.count)
		tile.element = element("article", {class: "tile", "data-player": row.player}, caption, view.element)
		tile.element.style.setProperty("--player", colour(row))
		view.element.onclick = () => this.choose(row.player)
		this.tiles.set(row.player, tile)
		this.boards.append(tile.element)
		return tile
	}

	nameButton({player, name, bot}) {
		return element("button", {onclick: () => this.choose(player)}, span("name", name), bot ? span("bot", "bot") : "")
	}

	// Show the board of a player large, beside the one that was chosen before. Choosing it again undoes that.
	choose(player) {
		const others = this.chosen.filter(other => other !== player)
		this.chosen = !player ? [] : others.length < this.chosen.length ? others : [...others, player].slice(-2)
		this.show()
	}

	press(event) {
		const {key} = event
		if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input, select") || !this.chosen.length) return
		if (key === "Escape") this.choose()
		if (!/^Arrow(Left|Right)$/.test(key)) return
		const last = this.chosen.pop()
		const players = [...this.tiles.keys()].filter(player => !this.chosen.includes(player))
		this.choose(players.at((players.indexOf(last) + (key === "ArrowLeft" ? -1 : 1)) % players.length))
		event.preventDefault()
	}

	// Make the boards as large as possible. On a narrow screen they scroll instead.
	fit() {
		const count = [...this.tiles.values()].filter(tile => !tile.element.hidden).length
		if (!count) return
		const [width, height] = tableSize(this.race.room.game)
		const wide = across => (this.boards.clientWidth - GAP * (across - 1)) / across
		let columns = count > 3 ? 2 : 1
		let best = Math.floor(wide(columns))
		if (innerWidth > NARROW || this.boards.closest(".embed")) {
			const tall = Math.max(240, innerHeight - this.boards.getBoundingClientRect().top - scrollY - 14)
			best = 0
			for (let across = 1; across <= count; across++) {
				const down = Math.ceil(count / across)
				const high = (((tall - GAP * (down - 1)) / down - CAPTION) * width) / height
				const size = Math.floor(Math.min(wide(across), high))
				if (size > best) [best, columns] = [size, across]
			}
		}
		this.boards.style.gridTemplateColumns = `repeat(${columns}, ${best}px)`
	}

	showStandings(rows) {
		forget(this.rows, rows)
		rows.forEach((row, i) => {
			const shown = this.rows.get(row.player) ?? this.addRow(row)
			const numbers = row.board || row.final ? [row.place, row.count, row.moves] : ["", "", ""]
			shown.cells.forEach((cell, j) => setText(cell, String(numbers[j])))
			setText(shown.state, stateOf(row, this.race.room))
			shown.bar.style.width = `${(100 * row.count) / this.race.cards}%`
			shown.element.classList.toggle("chosen", this.chosen.includes(row.player))
			const there = this.standings.children[i]
			if (there !== shown.element) this.standings.insertBefore(shown.element, there ?? null)
		})
	}

	addRow(row) {
		const cells = [element("td"), element("td"), element("td")]
		const shown = {cells, state: span("state"), bar: span("bar")}
		shown.bar.style.setProperty("--player", colour(row))
		const head = element("th", {scope: "row"}, this.nameButton(row), shown.state, span("track", shown.bar))
		shown.element = element("tr", {}, cells[0], head, cells[1], cells[2])
		this.rows.set(row.player, shown)
		return shown
	}

	showChart(rows) {
		const {starts} = this.race.room
		const until = this.latest(rows)
		const lines = rows
			.filter(({board}) => board)
			.map(row => ({
				colour: colour(row),
				chosen: this.chosen.includes(row.player),
				points: this.race.progress
					.get(row.player)
					.filter(([time]) => time <= until)
					.map(([time, count]) => [time - starts, count])
			}))
		this.chart.replaceChildren(lines.length ? chart(lines, until - starts, this.race.cards) : "")
	}

	// The time until which the boards are known.
	latest(rows) {
		const {ends, phase, options} = this.race.room
		const live = phase === "racing" ? Math.min(ends, this.link.now()) - 1000 * options.delay : 0
		return Math.max(live, ...rows.map(({board}) => board?.at ?? 0))
	}

	showWords() {
		const board = this.race.boards.get(this.chosen.at(-1))
		this.wordsBox.hidden = !board
		if (!board || !this.wordsBox.open) return
		this.words.replaceChildren(...inWords(this.race.room.game, board.piles).map(line => element("li", {}, line)))
	}

	showJoin() {
		const {phase, next} = this.race.room
		const joins = next || phase === "open"
		const line = `samedeal ${joins ? "join" : "watch"} ${address} ${next || this.room}`
		if (line + phase === this.joinShown) return
		this.joinShown = line + phase
		const link = (path, text) => element("p", {}, element("a", {href: to(path)}, text))
		this.join.replaceChildren(
			next ? link(encodeURIComponent(next), `Watch the rematch, ${next}`) : "",
			phase === "finished" ? link(`replay?race=${this.room}`, "Replay this race") : "",
			element("h2", {}, joins ? "Join from a terminal" : "Watch in a terminal"),
			copyLine(line)
		)
	}

	showClock() {
		const {room, boards} = this.race
		if (!room) return
		const now = this.link.now()
		const {delay, players, start_at: startAt} = room.options
		const opens = room.starts + 1000 * delay - now
		const texts = {
			open: startAt ? `Starts in ${clock(startAt - now)}` : `Waiting for the start, ${room.players.length} of ${players} players`,
			countdown: `Starts in ${clock(room.starts - now)}`,
			racing: `${clock(room.ends - now)} left${boards.size || opens < 0 ? "" : `, boards in ${clock(opens)}`}`,
			finished: "Finished",
			closed: "Closed"
		}
		setText(byId("clock"), texts[room.phase] ?? room.phase)
	}

	showStatus() {
		const {live, sentence} = this.connection
		const {phase, options} = this.race.room ?? {}
		const text = options?.delay ? `Live, boards shown ${options.delay} s late` : "Live"
		setText(byId("status"), live ? (/finished|closed/.test(phase) ? "" : text) : `Not live. ${sentence}`)
	}

	async checkDeal() {
		const {boards, room, commitment, starts, seats} = this.race
		const piles = [...boards.values()].map(board => board.piles.map(pile => pile.map(({code}) => code)))
		this.showDeal(await checkDeal({...room, players: seats}, commitment, piles, starts))
	}

	showDeal(steps) {
		const lines = steps.map(([ok, sentence]) => `${ok ? "✓" : ok === null ? "?" : "✗ Not so:"} ${sentence}`)
		if (String(lines) === this.dealShown) return
		this.dealShown = String(lines)
		const has = wanted => steps.some(([ok]) => ok === wanted)
		const verdict = has(false) ? "wrong" : has(null) ? "unsure" : "fair"
		const box = element(
			"details",
			{class: `box deal ${verdict}`, open: verdict === "wrong"},
			element("summary", {}, VERDICTS[verdict]),
			element("p", {}, this.race.room?.proof ? TOGETHER : ALONE),
			element("ul", {}, ...lines.map(line => element("li", {}, line))),
			has(null) ? UNSURE : ""
		)
		this.deal.replaceChildren(box)
	}

	// Tell screen readers what changed, at most every five seconds.
	announce(rows) {
		const {phase} = this.race.room
		const [leader] = rows.filter(({board, count}) => board && count)
		const done = rows.filter(({finishedAt}) => finishedAt)
		const said = (this.said ??= {})
		let text = ""
		if (phase !== said.phase) {
			const over = `The race is over. ${leader ? `${leader.name} is first.` : ""}`
			text = {countdown: "The race is about to start.", racing: "The race is on.", finished: over}[phase]
		} else if (Date.now() - said.at < 5000) return
		else if (done.length > said.done) text = `${done.at(-1).name} has finished.`
		else if (phase === "racing" && leader && leader.player !== said.leader) text = `${leader.name} leads with ${leader.count} cards.`
		else return
		this.said = {phase, done: done.length, leader: leader?.player, at: Date.now()}
		setText(byId("news"), text ?? "")
	}

	// Show a sentence instead of the race, or above it.
	say(sentence, command) {
		this.message.hidden = !sentence
		const line = command ? copyLine(`samedeal ${command} ${address} ${this.room}`) : ""
		this.message.replaceChildren(element("p", {}, sentence), line, element("a", {href: to("./")}, "All rooms"))
	}

	askPassphrase() {
		const input = element("input", {type: "password", autocomplete: "off", required: true, id: "passphrase"})
		const label = element("label", {for: "passphrase"}, "This room is private. Passphrase:")
		const wrong = this.passphrase.passphrase ? element("span", {role: "alert"}, "This passphrase is wrong.") : ""
		const form = element("form", {}, label, input, element("button", {}, "Watch"), wrong)
		form.onsubmit = event => {
			event.preventDefault()
			this.passphrase = {passphrase: input.value}
			this.enter()
		}
		this.message.hidden = false
		this.message.replaceChildren(form)
		input.focus()
	}
}

// Remove what is shown of players who are gone, or meets a condition.
export function forget(shown, rows, isOld = () => false) {
	for (const [player, found] of shown)
		if (isOld(found) || !rows.some(row => row.player === player)) {
			found.element.remove()
			shown.delete(player)
		}
}

// What there is to say about a player besides the numbers.
function stateOf({final, finishedAt, resigned, stuck, connected, ready, board}, {phase, starts}) {
	const time = final?.time || (finishedAt && finishedAt - starts)
	if (time) return `${final?.place === 1 ? "won" : "finished"} in ${clock(time)}`
	if (resigned || final?.resigned) return "gave up"
	if (!connected && phase !== "finished") return "not connected"
	if (stuck && phase === "racing") return "stuck"
	return ready && !board && phase === "open" ? "ready" : ""
}
