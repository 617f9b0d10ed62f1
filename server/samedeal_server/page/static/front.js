// The first screen: a board that can be touched at once, the ways to race, the games, and who is here. Nothing is sent to
// the server, apart from requests for what everybody may see, until the player presses a button.

import {falling, flat} from "./board_view.js"
import {numbered} from "./dealing.js"
import {byId, clock, dayOf, element, forTerminals, setText, stored, svg, timeLeft} from "./dom.js"
import {address, goTo, here, to} from "./here.js"
import {Link} from "./link.js"
import {gameOf, ownRooms, showLobby, showOwnWindows, showTide} from "./lobby.js"
import {proposedName} from "./names.js"
import {DOWN, rank} from "./rules.mjs"
import {GAMES, suit, title} from "./piles.js"
import {Practice} from "./practice.js"
import {Rivals} from "./rivals.js"
import {tellRules} from "./rule_picture.js"

const LOST = "No room has this address. Race here, or join with a link."
const LONGEST_SERIES = 30 // races that open by themselves
const EVERY = 10_000 // ms between two looks at who is here
const [LATEST, LONGEST] = [4000, 23_000] // ms before its start in which a race can be joined with the button
const KNOWN = Object.keys(GAMES).filter(game => GAMES[game].known)
const FIRST = KNOWN.slice(0, 2) // of the games, as listed
const STEP = 14 // px between two cards of a pile on a small picture of a game
const PEEK = 194 // px below the felt, in which the games begin, on a large screen
const wide = matchMedia("(min-width: 900px), (min-width: 560px) and (max-height: 480px)")

// The next times at which the clocks here show `at` on one of these days of the week, however long the days are.
function timesOf(days, at, count) {
	const times = []
	for (let day = new Date(); days.length && times.length < count; day.setDate(day.getDate() + 1)) {
		const time = new Date(day).setHours(...at.split(":"), 0, 0)
		if (days.includes(day.getDay()) && time > Date.now()) times.push(time)
	}
	return times
}

export class Front {
	now = () => Date.now() + this.offset

	constructor() {
		document.documentElement.classList.add("front")
		setText(byId("title"), "Race your friends in solitaire")
		byId("main").replaceChildren(byId("front").content)
		byId("file").href = to("replay")
		byId("new").append(forTerminals(`samedeal new ${address}`))
		if (new URLSearchParams(location.search).has("lost")) setText(byId("why"), LOST)
		this.rivals = new Rivals(byId("past"))
		this.lanes = new Rivals(byId("live").lastElementChild)
		this.practice = new Practice(byId("felt"), sentence => this.tell(sentence), () => this.changed())
		byId("back").onclick = () => this.practice.hand.act("undo")
		Object.assign(this, {offset: 0, rooms: []})
		this.prepareName()
		this.prepareWays()
		this.prepareGames()
		const sizes = new ResizeObserver(() => requestAnimationFrame(() => this.fit())) // not at once: it changes sizes
		for (const part of [byId("board"), byId("ways")]) sizes.observe(part)
		addEventListener("resize", () => this.fit())
		setInterval(() => document.hidden || this.look(fetch("api/v1/front")), EVERY)
		setInterval(() => document.hidden || this.tick(), 500)
	}

	// Show what everybody may see, and at first the board that comes with it. `asked` is the response of the server.
	async look(asked) {
		const answer = await asked.then(response => (response.ok ? response.json() : null)).catch(() => null)
		if (answer) {
			Object.assign(this, answer, {offset: answer.time - Date.now()})
			byId("bots").hidden = !answer.house
			this.showRace(answer)
			showLobby(answer, answer.time)
		}
		if (!this.game) this.choose(GAMES[this.board?.game] ? this.board.game : KNOWN[0])
		this.tick()
	}

	// Show the race that has started last, with its newest counts, else the closest finish of the week, which is run again.
	showRace({race: shown}) {
		byId("live").hidden = !shown
		if (!shown) return
		const {race, room, game, rivals} = shown
		const [what, link] = byId("live").children
		const lanes = JSON.stringify([race, room, rivals.map(each => each.name)])
		if (lanes !== this.lanes.key) Object.assign(this.lanes, {key: lanes}).open(rivals, 52 * GAMES[game].decks)
		this.lanes.players = rivals
		setText(what, `${room ? "Racing now" : "Closest finish this week"}: ${title(game)}`)
		setText(link, room ? "Watch" : "Replay")
		link.href = to(room || `replay?race=${race}`)
	}

	// Deal a game: the deal of the day that is over, or one that the server knows to be good to try.
	choose(game) {
		const {board} = this
		this.game = game
		const isTold = board?.game === game
		this.caption = isTold ? gameOf(game, board.deal, this.now()) : title(game)
		const rivals = isTold ? board.rivals.map(each => ({...each, name: each.name && `${each.name} (${dayOf(board.started, this.now())})`})) : []
		this.rivals.open(rivals, 52 * GAMES[game].decks, true)
		const best = Math.min(...rivals.map(each => each.time || Infinity))
		setText(byId("best"), best < Infinity ? ` · best ${clock(best)}` : "")
		for (const button of byId("games").querySelectorAll("button")) button.ariaPressed = button.dataset.game === game
		this.practice.deal(game, isTold ? board.piles : numbered(game, GAMES[game].demo ?? 1))
		this.tell("")
		this.fit()
		this.tick()
	}

	tell(sentence) {
		setText(byId("told"), sentence || this.caption || "")
	}

	changed() {
		const {practice, rivals} = this
		byId("back").disabled = !practice.next
		if (practice.next) rivals.join()
		rivals.show(practice.home)
		for (const card of this.fallen?.splice(0) ?? []) card.remove()
		if (practice.home < rivals.cards) return
		this.tell("You won! Now race somebody.")
		byId("felt").append(...(this.fallen = falling()))
	}

	// Show what changes with time.
	tick() {
		if (!this.game) return
		const {rooms} = this
		const now = this.now()
		this.rivals.show(this.practice.home)
		showOwnWindows(now)
		this.lanes.show()
		const joins = ({line: {game, phase, starts, players, seats}}) =>
			phase === "open" && players < seats && starts - now > LATEST && starts - now < LONGEST && (game === this.game || (!this.isChosen && GAMES[game]?.known))
		const [soon] = rooms.filter(joins).sort((a, b) => a.line.starts - b.line.starts)
		const own = ownRooms()
		const people = rooms.reduce((sum, {people, line}) => sum + (own.includes(line.room) ? 0 : people), 0)
		this.next = soon?.line.game ?? this.game
		const facts = [title(this.next), soon && `starts in ${timeLeft(soon.line.starts - now).replace(/^0:0?/, "")} s`, people ? `${people} ${people === 1 ? "person" : "people"} here` : !soon && "first to finish wins"]
		if (!this.isGoing) setText(byId("when"), facts.filter(Boolean).join(" · "))
		this.tide = showTide(this.tides ?? [], now)
	}

	// Make the board as large as it can be while all ways to race are in sight.
	fit() {
		const top = byId("felt").getBoundingClientRect().top + scrollY
		const below = wide.matches ? (innerHeight > 600 ? PEEK : 12) : byId("ways").querySelector("details").offsetTop - byId("ways").offsetTop + 12
		const room = innerHeight - top - below
		const width = byId("board").clientWidth
		this.practice.table?.fit(byId("felt"), width, Math.max(200, Math.min(room, 0.9 * width)))
	}

	prepareName() {
		const input = byId("name")
		input.value = stored.get("name") || proposedName()
		input.onchange = () => stored.set("name", input.value)
		byId("other").onclick = () => stored.set("name", (input.value = proposedName()))
		byId("title").after(byId("who"))
		byId("how").onclick = () => {
			tellRules(byId("short"), this.game)
			byId("short").showModal()
		}
	}

	prepareWays() {
		const form = byId("new")
		const limit = () => GAMES[this.game].limit && {limit: GAMES[this.game].limit}
		const bots = () => ({options: {games: [this.game], deal: "winnable", players: 4, start: "full", countdown: 2, ...limit()}, house: 3})
		byId("retry").onclick = () => this.link.hurry()
		byId("now").onclick = () => this.go("racenow", {game: this.next})
		byId("bots").onclick = () => this.go("create", bots(), {options: bots().options, round: 0, private: false})
		byId("tide").firstElementChild.onclick = () => this.go("racenow", {game: this.tide.game, tide: this.tide.start})
		byId("send").onclick = () => this.open(form)
		form.window.onchange = () => {
			const isWindow = form.window.value > 0
			if (!isWindow) form.every.selectedIndex = 0
			form.at.parentNode.hidden = !form.every.selectedIndex
			form.deal.disabled = form.start.disabled = isWindow
		}
		form.every.onchange = () => {
			if (form.every.selectedIndex && !form.window.selectedIndex) form.window.value = 86400
			form.window.onchange()
		}
		form.onsubmit = event => {
			event.preventDefault()
			this.open(form)
		}
		byId("join").onclick = () => byId("code").closest("dialog").showModal()
		byId("code").form.onsubmit = () => {
			stored.set("name", byId("name").value)
			goTo(byId("code").value.trim().split(/[?#]/)[0].replace(/\W+$/, "").split("/").pop().toLowerCase())
		}
	}

	// Open a room with the options of the form, and let the player send its link.
	open(form) {
		const isSent = ({name, selectedIndex, disabled}) => (selectedIndex || name === "deal") && !disabled
		const chosen = [...form.querySelectorAll("select")].filter(isSent)
		const {window = 0, every = [], ...others} = Object.fromEntries(chosen.map(({name, value}) => [name, JSON.parse(value)]))
		const opens = window ? timesOf(every, form.at.value, others.series ?? LONGEST_SERIES) : []
		const options = {games: [this.game], ...others, ...(window && {deal: "winnable", bots: false}), ...(opens.length && {series: opens.length})}
		const share = room => navigator.share?.({title: "Samedeal", text: `Race me in ${title(this.game)}: the same cards for everyone.`, url: new URL(opens.length ? `s/${room}` : room, location.href).href})
		this.go("create", {options, room: form.room.value, window, opens}, {options, round: 0, private: false, window}, share)
	}

	// Go to the room that the server gives. `share` may do something with its code before.
	async go(type, fields, wanted = fields, share = () => {}) {
		if (this.isGoing) return
		this.isGoing = true
		setText(byId("why"), "")
		setText(byId("when"), "One moment")
		stored.set("name", byId("name").value || proposedName())
		try {
			this.entered ??= new Promise(resolve => (this.enter = resolve))
			this.link ??= new Link(this, here)
			await this.entered
			const {room} = await this.link.ask(type, fields)
			await Promise.resolve(share(room)).catch(() => {}) // the player may close the sheet
			goTo(room, wanted)
		} catch ({message}) {
			setText(byId("why"), message)
		}
		this.isGoing = false
	}

	showStatus() {
		setText(byId("status"), this.link.sentence)
		byId("retry").hidden = !this.link.retry
	}

	prepareGames() {
		for (const game of new Set([...FIRST, ...Object.keys(GAMES)])) {
			const onclick = () => {
				this.isChosen = true
				this.choose(game)
				if (!wide.matches) scrollTo({top: 0, behavior: "smooth"})
			}
			const texts = [element("b", {}, title(game)), element("span", {}, GAMES[game].blurb)]
			byId("games").append(element("li", {}, element("button", {"data-game": game, onclick}, picture(game), ...texts)))
		}
	}
}

// A small picture of a deal: the cards as two shapes, face up and face down, and what is on them as two others.
function picture(game) {
	const corners = []
	const shapes = {backs: "", faces: "", blacks: "", reds: ""}
	const piles = numbered(game, 1)
	flat(game).places.forEach(({what, x, y}, i) => {
		const pile = what === "stock" ? piles[i].slice(-1) : piles[i]
		pile.forEach((card, depth) => {
			const isTop = depth === pile.length - 1
			const top = y + STEP * depth
			corners.push([x, top])
			shapes[card & DOWN ? "backs" : "faces"] += `M${x} ${top}h46v${isTop ? 64 : STEP - 3}h-46z`
			if (card & DOWN) return
			const mark = isTop ? `M${x + 23} ${top + 13}l14 19l-14 19l-14-19z` : `M${x + 5} ${top + 3}h${8 + rank(card)}v6h-${8 + rank(card)}z`
			shapes[[1, 2].includes(suit(card)) ? "reds" : "blacks"] += mark
		})
	})
	const paths = Object.entries(shapes).map(([name, d]) => svg("path", {class: name, d}))
	const [right, bottom] = [0, 1].map(at => Math.max(...corners.map(corner => corner[at])))
	return svg("svg", {viewBox: `-8 -4 ${right + 62} ${bottom + 72}`, "aria-hidden": "true"}, ...paths)
}
