// The screen of a race: boards, standings, the chart, the check of the deal, and how to join.

import {title} from "./piles.js"
import {BoardView, tableSize} from "./board_view.js"
import {chart} from "./chart.js"
import {byId, clock, copyLine, dealName, element, setText} from "./dom.js"
import {address, isFrame, to} from "./link.js"
import {Race} from "./race_state.js"
import {canHash, dealWords} from "./words.js"

const CAPTION = 34 // px, height of a tile without its board
const GAP = 10 // px between tiles
const NARROW = 760 // px, width of a screen on which the boards scroll
const TEXTS = ".place, .progress, .state, .count, .moves" // of a player, that change
const CLOSED = "This room is closed. Here is what it showed last."
const MAX_DRAWS = 5
const REASONS = {left: "left", kicked: "was removed", silent: "did not answer in time"}
const MORE = "This page can only compare what it was shown. The players’ own programs check more: each of them knows what it sent itself."
const UNSURE = "Only over https can a browser check what has a question mark."
const VERDICTS = {wrong: "✗ NOT a fair deal", unsure: "Deal not fully checked", fair: "✓ Deal checked here"}
const MARKS = new Map([[true, "✓"], [false, "✗ Not so:"], [null, "?"], [undefined, "…"]])

const span = (name, ...children) => element("span", {class: name}, ...children)
const hue = ({seat}, light) => `hsl(${seat * 137.5} 60% ${light}%)`
const hasDark = CSS.supports("color: light-dark(red, red)")
const colour = row => (hasDark ? `light-dark(${hue(row, 40)}, ${hue(row, 64)})` : hue(row, 40))
const EARLY_CARDS = 5 // so many cards the leader needs before the lead is news

export class RaceScreen {
	constructor(room) {
		this.room = room
		this.race = new Race()
		this.credentials = {}
		this.shown = new Map() // by player: the elements that show the player
		this.chosen = [] // the players, at most two, whose boards are shown large
		this.connection = {live: false, sentence: "Connecting."}
		document.title = `${room} · Samedeal`
		setText(byId("title"), room)
		byId("all").onclick = () => this.choose()
		addEventListener("resize", () => this.fit(true))
		addEventListener("keydown", ({key}) => key === "Escape" && this.chosen.length && this.choose())
		setInterval(() => this.showClock(), 250)
	}

	async enter() {
		try {
			const {room} = await this.link.ask("watch", {room: this.room, ...this.credentials})
			this.room = room
			this.say("")
		} catch (refused) {
			this.refuse(refused)
		}
	}

	refuse({code, message, retry_after}) {
		if (!code) return // the connection was lost
		if (code === "bad_passphrase") this.askPassphrase()
		else if (code === "no_room" && this.race.room) this.say(this.closed ?? CLOSED)
		else this.say(message, code === "no_spectators" && "join")
		if (retry_after) setTimeout(() => this.link.welcomed && this.enter(), 1000 * retry_after)
	}

	receive(message) {
		const {race} = this
		if (message.type === "roomstate") race.setRoom(message)
		else if (message.type === "notice") {
			setText(byId("news"), message.message)
			if (message.code === "kicked") this.say(message.message)
			if (message.code === "not_drawn") this.closed = message.message
		} else if (message.type === "delayedboard") race.showBoard(message)
		else if (message.type === "delayedmove" && race.isKnownGame && !race.showMove(message) && !this.resyncing) {
			this.resyncing = setTimeout(() => (this.resyncing = 0), 3000)
			this.enter() // for whole boards
		}
		if (!race.room || this.drawing) return
		this.drawing = true // once for all messages that arrive together
		setTimeout(() => this.show(), 16) // hidden pages get no animation frames
	}

	show() {
		const {race} = this
		const {game, deal, phase, spectator_count, seed, proof} = race.room
		this.drawing = false
		setText(byId("facts"), `${title(game)} · ${dealName(deal)}${spectator_count >= 0 ? ` · ${spectator_count} watching` : ""}`)
		this.showClock()
		this.showStatus()
		if (!race.isKnownGame) return this.say(`This page does not know the game ${game}. Watch it in a terminal.`, "watch")
		byId("race").hidden = false
		const rows = this.rows()
		this.showPlayers(rows)
		this.showLead(rows)
		this.showChart(rows)
		this.showJoin()
		this.showDraw()
		this.showWords()
		this.announce(rows)
		if (phase === "finished" && (seed.length || proof) && !isFrame) this.checkDeal()
		if (phase === "closed") this.say(this.closed ?? CLOSED)
		this.fit()
	}

	rows() {
		return this.race.ranking()
	}

	// Show who leads, above the boards of a narrow screen, and what has just happened.
	showLead(rows) {
		const {race, was = new Map()} = this
		const news = rows.flatMap(row => {
			const before = was.get(row.player)
			if (!before) return []
			if (row.finishedAt && !before.finishedAt) return [`${row.name} finished in ${clock(row.finishedAt - race.room.starts)}`]
			return row.resigned && !before.resigned ? [`${row.name} resigned`] : []
		})
		const [first, second] = rows
		const leads = first?.count >= EARLY_CARDS && first.place === 1 && second?.place !== 1 && race.room.phase === "racing"
		if (leads && this.leader && this.leader !== first.player && !first.finishedAt) news.push(`${first.name} took the lead`)
		if (leads) this.leader = first.player
		this.latest = news.at(-1) ?? this.latest ?? ""
		this.was = new Map(rows.map(row => [row.player, row]))
		const places = rows.filter(({board}) => board).slice(0, 3).map(({place, name, count}) => `${place}. ${name} ${count}/${race.cards}`)
		const state = `${places}|${this.latest}`
		if (state === this.leadShown) return
		this.leadShown = state
		byId("lead").replaceChildren(element("strong", {}, places.join("  ")), " ", span("", this.latest))
	}

	// Draw the chart again, while the race goes on at most once a second.
	showChart(rows) {
		const state = `${this.race.room.phase} ${this.chosen} ${Math.floor(Date.now() / 1000)}`
		if (state === this.chartShown) return
		this.chartShown = state
		byId("chart").replaceChildren(this.race.boards.size ? chart(rows, this.race, colour, this.chosen) : "")
	}

	showPlayers(rows) {
		const {race} = this
		const {game} = race.room
		const isGone = player => !rows.some(row => row.player === player)
		this.chosen = this.chosen.filter(player => !isGone(player))
		byId("tools").hidden = !this.chosen.length
		for (const [player, shown] of this.shown)
			if (shown.game !== game || isGone(player)) {
				shown.tile.remove()
				shown.line.remove()
				this.shown.delete(player)
			}
		for (const row of rows.toSorted((a, b) => a.seat - b.seat)) {
			const {player, board, final, count, moves, connected, finishedAt} = row
			const shown = this.shown.get(player) ?? this.add(row, game)
			const {tile, line, view} = shown
			const isChosen = this.chosen.includes(player)
			const numbers = board || final ? {place: row.place, count, moves, progress: `${count}/${race.cards}`} : {}
			const texts = {...numbers, state: stateOf(row, race.room)}
			for (const target of shown.texts) setText(target, String(texts[target.className] ?? ""))
			const label = `Board of ${row.name}, ${row.place}. place, ${texts.progress ?? "not dealt"} ${texts.state}`
			if (shown.label !== label) tile.setAttribute("aria-label", (shown.label = label))
			if (shown.order !== rows.indexOf(row)) tile.style.setProperty("--order", (shown.order = rows.indexOf(row)))
			tile.classList.toggle("gone", !connected)
			tile.classList.toggle("won", Boolean(finishedAt))
			tile.hidden = this.chosen.length && !isChosen
			line.classList.toggle("chosen", isChosen)
			if (shown.count !== count) line.style.setProperty("--done", (shown.count = count) / race.cards)
			if (!board || shown.board === board) continue
			view.show(board.piles, shown.board && !tile.hidden)
			shown.board = board
			tile.dataset.revision = board.revision
		}
		const standings = byId("standings")
		rows.forEach(({player}, i) => {
			const [{line}, there] = [this.shown.get(player), standings.children[i]]
			if (there !== line) standings.insertBefore(line, there ?? null)
		})
	}

	add(row, game) {
		const {player, name, bot} = row
		const view = new BoardView(game)
		const cell = what => element("td", {class: what})
		const choose = {onclick: () => this.choose(player)}
		const button = () => element("button", choose, span("name", name), bot ? span("bot", "bot") : "")
		const caption = element("header", {}, span("place"), button(), span("state"), span("progress"))
		caption.querySelector("button").tabIndex = -1 // the table of standings has the same button
		const tile = element("article", {class: "tile", "data-player": player}, caption, view.words, element("div", choose, view.element))
		const head = element("th", {}, button(), span("state"))
		const line = element("tr", {}, cell("place"), head, cell("count"), cell("moves"))
		for (const part of [tile, line]) part.style.setProperty("--player", colour(row))
		const texts = [...caption.querySelectorAll(TEXTS), ...line.querySelectorAll(TEXTS)]
		this.shown.set(player, {game, view, tile, line, texts})
		byId("boards").append(tile)
		return this.shown.get(player)
	}

	// Show the board of a player large, beside the one that was chosen before. Choosing it again undoes that.
	choose(player) {
		const others = this.chosen.filter(other => other !== player)
		this.chosen = !player ? [] : others.length < this.chosen.length ? others : [...others, player].slice(-2)
		this.show()
	}

	// Make the boards as large as possible, and two side by side. On a narrow screen they scroll.
	fit(resized) {
		const boards = byId("boards")
		const count = this.chosen.length || this.shown.size
		const state = `${count} ${this.chosen.length} ${this.race.room?.game} ${byId("message").hidden} ${byId("draw").hidden}`
		if (!count || (state === this.fitted && !resized)) return // the measures below lay out the page
		this.fitted = state
		const [width, height] = tableSize(this.race.room.game)
		const tall = innerHeight - boards.getBoundingClientRect().top - scrollY - 14
		const scrolls = innerWidth <= NARROW && !isFrame
		const sizes = Array.from({length: count}, (_, i) => {
			const down = Math.ceil(count / (i + 1))
			const high = (((Math.max(240, tall) - GAP * (down - 1)) / down - CAPTION) * width) / height
			const wide = (boards.clientWidth - GAP * i) / (i + 1)
			return Math.floor(scrolls ? wide : Math.min(wide, high))
		})
		const best = Math.max(...sizes)
		const columns = this.chosen[1] && sizes[1] > 0.7 * best ? 2 : sizes.indexOf(best) + 1
		boards.style.gridTemplateColumns = `repeat(${columns}, ${sizes[columns - 1]}px)`
	}

	showJoin() {
		const {phase, next} = this.race.room
		const joins = next || phase === "open"
		const line = `samedeal ${joins ? "join" : "watch"} ${address} ${next || this.room}`
		if (line + phase === this.joinShown) return
		this.joinShown = line + phase
		const link = (path, text) => element("p", {}, element("a", {href: to(path)}, text))
		byId("join").replaceChildren(
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
		setText(byId("status"), live ? (/open|count|racing/.test(phase) ? text : "") : `Not live. ${sentence}`)
	}

	// Show how the draw of a joint deal goes, during the countdown.
	showDraw() {
		const {phase, draw, lost, shares} = this.race.room
		const isDrawn = shares.length > 0
		const now = isDrawn ? "The deal is drawn." : "The players draw the deal together."
		const lines = phase === "countdown" && draw ? [...lossLines(draw, lost, isDrawn), now] : []
		byId("draw").hidden = !lines.length
		if (String(lines) === this.drawShown) return
		this.drawShown = String(lines)
		byId("draw").replaceChildren(...lines.map(line => element("li", {}, line)))
	}

	async showWords() {
		const {room, commitment, drawn} = this.race
		const isJoint = room.deal.startsWith("winnable")
		const shares = isJoint ? (drawn?.shares ?? room.shares) : []
		const isFixed = isJoint ? shares.length : room.phase !== "open"
		const state = `${commitment} ${isFixed} ${shares.map(({share}) => share)}`
		if (state === this.wordsOf) return
		this.wordsOf = state
		const words = isFixed ? await dealWords(commitment, shares) : ""
		setText(byId("words"), words && `Deal words: ${words}`)
	}

	async checkDeal() {
		const {boards, room, commitment, starts, sealed, drawn} = this.race
		const piles = [...boards.values()].map(board => board.piles)
		const {checkDeal} = await import("./deal.js")
		await this.showDeal(await checkDeal(room, commitment, piles, starts, {sealed, drawn}), room.proof)
	}

	// Show the steps of a check, and repeat the search for the deal if there was one. The proof has all that it needs.
	async showDeal({steps, search, draw, lost}, proof) {
		const {DeepCheck} = await import("./deep_check.js")
		const isSearched = search && !steps.some(([ok]) => ok === false)
		Object.assign(this, {steps, losses: draw ? lossLines(draw, lost, true) : []})
		if (!isSearched || proof !== this.deep?.proof) {
			this.deep?.stop()
			this.deep = isSearched ? new DeepCheck(search, proof, () => this.showVerdict()) : null
			this.deep?.start()
		}
		this.showVerdict()
	}

	showVerdict() {
		const {deep, losses} = this
		const steps = [...this.steps, ...(deep ? [deep.step] : [])]
		const has = wanted => steps.some(([ok]) => ok === wanted)
		const verdict = has(false) ? "wrong" : has(null) ? "unsure" : has(undefined) ? "checking" : "fair"
		const summary = VERDICTS[verdict] ?? deep.progress
		const lines = [...steps.map(([ok, sentence]) => `${MARKS.get(ok)} ${sentence}`), ...losses]
		if (String([summary, lines]) === this.dealShown) return
		this.dealShown = String([summary, lines])
		const box = element(
			"details",
			{class: `box deal ${verdict}`, open: verdict === "wrong" || byId("deal").firstChild?.open},
			element("summary", {}, summary),
			element("ul", {}, ...lines.map(line => element("li", {}, line))),
			this.race.room?.proof ? MORE : "",
			has(null) && !canHash ? ` ${UNSURE}` : ""
		)
		byId("deal").replaceChildren(box)
	}

	// Tell screen readers what changed, at most every five seconds.
	announce(rows) {
		const {phase} = this.race.room
		const leader = rows[0]?.count ? `${rows[0].name} is first.` : ""
		const texts = {racing: `The race is on. ${leader}`, finished: `The race is over. ${leader}`}
		const [text, {said}] = [texts[phase] ?? "", this]
		if (said?.text === text || (said?.phase === phase && Date.now() - said.at < 5000)) return
		this.said = {text, phase, at: Date.now()}
		setText(byId("news"), text)
	}

	// Show a sentence instead of the race, or above it.
	say(sentence, command) {
		const line = command ? copyLine(`samedeal ${command} ${address} ${this.room}`) : ""
		this.showMessage(element("p", {}, sentence), line, element("a", {href: to("./")}, "All rooms"))
		byId("message").hidden = !sentence
	}

	showMessage(...parts) {
		byId("message").hidden = false
		byId("message").replaceChildren(...parts)
	}

	askPassphrase() {
		const input = element("input", {type: "password", autocomplete: "off", required: true})
		const label = element("label", {}, "This room is private. Passphrase: ", input)
		const wrong = this.credentials.passphrase ? element("span", {role: "alert"}, "This passphrase is wrong.") : ""
		const onsubmit = event => {
			event.preventDefault()
			this.credentials = {passphrase: input.value}
			this.enter()
		}
		this.showMessage(element("form", {onsubmit}, label, element("button", {}, "Watch"), wrong))
		input.focus()
	}
}

// What there is to say about a player besides the numbers.
function stateOf({final, finishedAt, resigned, stuck, connected, ready, board}, {phase, starts}) {
	const time = final?.time || (finishedAt && finishedAt - starts)
	if (time) return `${final?.place === 1 ? "won" : "finished"} in ${clock(time)}`
	if (resigned || final?.resigned) return "resigned"
	if (!connected && phase !== "finished") return "not connected"
	if (stuck && phase === "racing") return "stuck"
	return ready && !board && phase === "open" ? "ready" : ""
}

// Who lost a seat while a joint deal was drawn, and what followed.
function lossLines(draw, lost, isDrawn) {
	const gone = number => lost.filter(each => each.draw === number).map(({name, reason}) => `${name} ${REASONS[reason]}`).join(", ")
	const [is, goesOn] = isDrawn ? ["was", "went on"] : ["is", "goes on"]
	const again = Array.from({length: draw - 1}, (_, i) => `${gone(i + 1)}: the deal ${is} drawn again (draw ${i + 2} of ${MAX_DRAWS})`)
	return [...again, ...(gone(draw) ? [`${gone(draw)}: the draw ${goesOn}`] : [])]
}
