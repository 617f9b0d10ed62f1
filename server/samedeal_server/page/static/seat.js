// The player's seat on the screen of a race: from the name to the rematch. It is loaded when somebody takes a seat.

import {byId, clock, copyLine, counted, element, setText, showItems, stored, toggle} from "./dom.js"
import {Hand} from "./hand.js"
import {goTo, keepSeat} from "./here.js"
import {nextName} from "./names.js"
import {onFoundations} from "./piles.js"
import {PLAIN, colour} from "./race_screen.js"
import {nearest, rematchOf, resultOf} from "./race_state.js"
import {Racer} from "./racer.js"
import {among, earlierTable, seriesTable, shareButton, shareResult} from "./results.js"
import {runTask} from "./start_worker.js"
import {Table, layOut} from "./table.js"
import {Witness} from "./witness.js"

const MOST_KEPT = 20 // rooms of which the browser keeps something
const VOLATILE = "This browser keeps nothing for this page: a reload loses your seat and the check of the race."
const OTHER_TAB = "This race is open in another tab, which takes part in the draw. Close it to go on here."
const SHOWN = "Spectators see your moves at once, so they can tell others what you do."
const STARTS = {"all-ready": "The race starts when everybody is ready.", full: "The race starts when all seats are taken.", at: "The race starts by itself, with everybody who is here."}
const LEAST = 200 // px, height of the board on a screen that is too small for it

const button = (text, onclick, more) => element("button", {onclick, ...more}, text)

// Let the browser keep the player's moves in a room, and in the newest rooms before it.
function keep(room) {
	const rooms = JSON.parse(stored.get("seats") ?? "[]").filter(other => other !== room)
	for (const old of rooms.splice(MOST_KEPT - 1)) stored.set(`seat ${old}`, null)
	stored.set("seats", JSON.stringify([room, ...rooms]))
	keepSeat(room)
}

export class Seat {
	constructor(screen, name) {
		Object.assign(this, {screen, name, phase: "", leaving: new AbortController()})
		keep(screen.room)
		byId("undo").onclick = () => this.undo()
		byId("collect").onclick = () => this.hand.collect()
		byId("hint").onclick = () => this.hint()
		byId("resign").onclick = () => this.resign()
		document.documentElement.classList.add("seated")
		const {signal} = this.leaving
		addEventListener("keydown", event => this.press(event), {signal})
		addEventListener("pagehide", () => this.witness?.file?.close(), {signal}) // so that this page can go on after a reload
		screen.race.isLive = true
	}

	get me() {
		return this.screen.link.player
	}

	get room() {
		return this.screen.race.room
	}

	get own() {
		return this.room?.players.find(each => each.player === this.me)
	}

	async enter() {
		const {screen} = this
		const {link} = screen
		this.witness ??= link.witness ?? link.listen(new Witness(stored))
		if (!this.racer) {
			this.witness.asks("player", screen.room, screen.wanted, link.player, link.called)
			this.racer = new Racer(link, screen.room, stored, {changed: () => this.changed(), refused: message => this.say(message)})
			this.hand = new Hand(this.racer, sentence => this.say(sentence), () => this.table && this.showTable(true))
			toggle(byId("auto"), "one tap", true, isOn => (this.hand.auto = isOn))
		}
		try {
			const {room} = await this.racer.enter(screen.credentials.passphrase)
			Object.assign(screen, {room, wanted: {}, isIn: true})
			if (document.hidden) link.ping()
			screen.say("")
		} catch (refused) {
			const {code, message, retry_after} = refused
			if (!code || code === "bad_passphrase" || retry_after) return screen.refuse(refused)
			if (code === "race_started") screen.sleeper = this.name
			if (code === "name_taken") screen.proposed = nextName(this.name)
			screen.unseat(code === "race_started" ? "The race has started without you. Race in the next one." : message)
		}
	}

	// Remove everything that only a racer has.
	leave() {
		const {screen} = this
		stored.set(`seat ${screen.room}`, null)
		byId("boards").before(byId("deal"))
		byId("boards").hidden = false
		for (const id of ["seat", "rivals", "said"]) byId(id).replaceChildren()
		document.documentElement.classList.remove("seated", "racing")
		this.leaving.abort()
		for (const player of screen.shown.keys()) screen.drop(player)
		Object.assign(screen, {chosen: [], made: {}, ranked: null})
		screen.race.isLive = false
		screen.race.boards.clear()
	}

	receive(message) {
		const {screen, racer} = this
		if (!racer) return // of the connection before
		if (message.type === "roomstate") {
			Object.assign(racer, {starts: message.starts, rule: message.options.undo})
			screen.chosen = [this.me]
			this.draw(message)
		} else if (message.type === "boardstate") racer.receiveBoard(message)
		else if (message.type === "progressupdate" && message.seat !== this.own?.seat) screen.race.count(message)
		else if (message.type === "notice" && message.code === "kicked") screen.unseat(message.message)
	}

	// Take part in the draw of a joint deal, unless the server has contradicted itself.
	draw(room) {
		const {screen, witness} = this
		const {type, ...fields} = witness.answer(room) ?? {}
		const why = witness.evidence.contradiction ?? (witness.isShut ? OTHER_TAB : "")
		if (why !== (this.why ?? "")) screen.say((this.why = why))
		if (type) screen.link.ask(type, fields).catch(() => {}) // asked again with the next state
	}

	// The board has changed.
	changed() {
		const {screen, racer} = this
		const {race, shown} = screen
		const before = race.boards.get(this.me)
		race.boards.set(this.me, {...racer.board, piles: racer.piles, time: racer.board.time ?? before?.time ?? racer.starts})
		race.countBoard(this.me, racer.board)
		this.hand.follow()
		if (shown.has(this.me)) this.showTable(true)
		screen.receive({})
		clearTimeout(this.proving)
		this.proving = setTimeout(() => this.proveStuck(), 400)
	}

	showTable(animated) {
		const {racer, hand, screen} = this
		const {view, tile, game} = screen.shown.get(this.me) ?? {}
		if (!racer.piles || !view) return
		if (this.table?.view !== view) {
			const tap = (key, ...more) => {
				this.say("")
				if (this.isRacing) this.hand.taps(key, ...more)
			}
			this.table = new Table(view, game, {tap, lift: (key, size) => (this.isRacing ? this.hand.lift(key, size) : 0), drop: key => this.hand.drop(key)})
			this.fit()
		}
		this.table.show(racer.piles, {picked: hand.picked, targets: hand.targets(), largest: hand.largest, waits: racer.awaits}, animated)
		tile.dataset.revision = racer.board.revision
		byId("undo").disabled = !racer.mayUndo
	}

	get isRacing() {
		const {own} = this
		return own && this.room.phase === "racing" && !own.resigned && this.racer.piles && !this.isWon
	}

	get isWon() {
		return onFoundations(this.racer.game, this.racer.board.piles) === this.screen.race.cards
	}

	press(event) {
		const {key, target, ctrlKey, metaKey, altKey} = event
		if (ctrlKey || metaKey || altKey || !this.isRacing || byId("rules").open || target.matches("input, select, textarea")) return
		if (target.matches("button, summary, a") && (key === "Enter" || key === " ")) return
		this.say("")
		if (key === "?" && this.room.options.hints) this.hint()
		else if (!this.hand.press(key, () => this.undo())) return
		event.preventDefault()
	}

	hint() {
		this.hand.hint(given => runTask({task: "hint", ...given}))
	}

	undo() {
		this.say("")
		if (this.isRacing) this.hand.act("undo")
	}

	resign() {
		const resign = byId("resign")
		if (resign.textContent === "Resign") {
			resign.textContent = "Really resign?"
			setTimeout(() => (resign.textContent = "Resign"), 4000)
		} else this.ask("resign")
	}

	ask(type, fields) {
		return this.screen.link.ask(type, fields).catch(({message}) => this.say(message))
	}

	say(sentence) {
		setText(byId("said"), sentence)
	}

	proveStuck() {
		const {racer} = this
		const claim = this.isRacing && racer.stuckClaim
		if (!claim || this.isProving || this.provedAt === racer.board.revision) return
		Object.assign(this, {isProving: true, provedAt: racer.board.revision})
		runTask({task: "stuck", ...claim}).then(isStuck => this.proved(isStuck))
	}

	proved(isStuck) {
		this.isProving = false
		if (this.provedAt !== this.racer.board.revision) this.proveStuck()
		else if (isStuck && this.isRacing) {
			this.ask("declarestuck")
			this.say("No move and no undo can improve your result any more. You can resign.")
		}
	}

	// Make the board as large as it can be. Return whether there is one.
	fit() {
		const {table, screen} = this
		const boards = byId("boards")
		const hand = byId("hand")
		if (!table || !this.room?.starts || boards.hidden) return false
		const isBeside = getComputedStyle(hand).position === "fixed"
		const wide = boards.parentNode.clientWidth - (isBeside ? hand.offsetWidth + 8 : 0)
		const below = (isBeside ? 0 : hand.offsetHeight) + byId("said").offsetHeight + 8
		const tall = Math.max(LEAST, screen.below - below)
		const {layout, scale} = layOut(this.room.game, wide, tall)
		screen.setSize(1, layout.width * scale, layout)
		if (screen.isNew("table", this.phase, layout)) {
			table.arrange(layout)
			this.showTable(false)
		}
		return true
	}

	show(rows) {
		if (!this.racer) return
		const {isRacing} = this
		const {phase, options} = this.room
		const isOn = phase === "racing"
		if (this.wasRacing && !isRacing && this.isWon) {
			this.falls = this.table.cascade()
			setTimeout(() => {
				this.falls = false
				this.screen.receive({})
			}, 4000)
		}
		this.wasRacing = isRacing
		byId("boards").hidden = !isOn && !this.falls
		byId("hand").hidden = byId("said").hidden = !isRacing
		byId("hint").hidden = !options.hints
		if (phase !== this.phase) {
			if (isOn) scrollTo(0, 0)
			document.documentElement.classList.toggle("racing", isOn)
			this.phase = phase
		}
		this.showRivals(rows)
		this.showPanel(rows)
		if (this.racer.piles) this.showTable(false)
		this.fit()
	}

	showRivals(rows) {
		byId("rivals").hidden = this.room.phase !== "racing"
		if (byId("rivals").hidden) return
		const all = this.room.earlier.length ? among(rows, this.room, this.screen.link.now() - this.room.starts) : nearest(rows, this.me)
		const items = all.map(each => {
			const {player, name, place, count, gone, stuck, resigned} = each
			const state = resigned ? "resigned" : gone ? "away" : stuck ? "stuck" : ""
			const item = element("li", {class: player === this.me ? "own" : ""}, element("b", {}, place), element("span", {class: "name"}, player === this.me ? "You" : name), element("span", {}, state || count))
			item.style.setProperty("--player", colour(each))
			item.style.setProperty("--done", count / this.screen.race.cards)
			return item
		})
		showItems(byId("rivals"), items)
	}

	// What the player can do besides moves: before the race, and after it.
	showPanel(rows) {
		const {room, me, own} = this
		const {phase, players, host, next, options} = room
		const row = rows.find(each => each.player === me)
		const isDone = row?.finishedAt || row?.final?.time
		const gone = rows.filter(each => each.gone && each.player !== me)
		const names = gone.map(each => each.name).join(" and ")
		if (!names) this.asked = ""
		const isAsked = names && this.asked === names
		if (!this.screen.isNew("panel", phase, players, host, next, isDone, row?.place, stored.lasts, names, isAsked)) return
		const panel = byId("seat")
		const hadFocus = panel.contains(document.activeElement)
		const parts = []
		const after = element("div")
		const isFinished = phase === "finished" && row?.final
		if (options.series > 1) after.append(...seriesTable(room))
		if (isFinished && room.earlier.length) after.append(earlierTable(this.screen.race, row))
		if (isFinished) after.append(...shareResult(this.screen.race, row))
		if (!own) parts.push(element("p", {}, "You have no seat in this room."), button("Watch", () => this.screen.unseat("")))
		else if (phase === "open") {
			const others = players.length - 1
			const isHost = host === me
			const start = () => {
				if (!names || isAsked) return this.ask("start")
				this.asked = names
				this.showPanel(rows)
			}
			const wait = !isHost ? "The host starts the race." : others ? "Start when everybody is here." : "Send the link to others, or start alone."
			parts.push(element("h2", {}, `You have a seat, ${own.name}`), element("p", {}, STARTS[options.start] ?? wait))
			const buttons = [
				options.start !== "at" && button(own.ready ? "Not ready" : "Ready", () => this.ask("ready", {ready: !own.ready}), {class: isHost ? "" : "main"}),
				isHost && button(isAsked ? `${names} ${gone[1] ? "are" : "is"} away. Start without ${gone[1] ? "them" : names}?` : "Start the race", start, {class: "main"}),
				button("Leave", () => this.ask("leave").then(() => this.screen.unseat("")))
			]
			const kicks = isHost ? players.filter(each => each !== own).map(({player, name}) => button(`Remove ${name}`, () => this.ask("kickplayer", {player}))) : []
			parts.push(element("p", {class: "controls"}, ...buttons.filter(Boolean), ...kicks), after)
			if (isHost && !others) parts.unshift(...shareLink(true)) // what the host wants first
			else parts.push(...shareLink(false))
		} else if (phase === "countdown" && room.earlier.length) parts.push(element("p", {}, "Nobody else came. The deal of an earlier race is dealt again."))
		else if (phase === "racing" && (isDone || own.resigned)) {
			const text = isDone ? `You finished in ${clock(isDone - room.starts)}, place ${row.place}` : "You have resigned"
			parts.push(element("h2", {}, text), element("p", {}, "The race goes on for the others."), button("Watch them", () => this.screen.unseat("")))
		} else if (phase === "finished") {
			const {final} = row
			const result = resultOf(rows, room, me)
			const place = final && (final.time || final.foundation_cards) && !result.startsWith("You won") && `You ${final.time ? `finished in ${clock(final.time)}` : `have ${counted(final.foundation_cards, "card")} home`}, place ${final.place} of ${rows.length}`
			const rematch = async () => {
				const answer = next ? {room: next} : await this.ask("rematch")
				if (answer?.room) goTo(answer.room, rematchOf(room))
			}
			parts.push(element("h2", {class: "result"}, result), place ? element("p", {}, place) : "", byId("deal"), element("p", {class: "controls"}, button(next ? "Join the rematch" : "Rematch", rematch, {class: "main"})), after)
		}
		const isShown = options.spectators && !options.delay
		const warnings = phase === "open" ? [isShown && SHOWN, !isSecureContext && PLAIN] : []
		parts.push(...[...warnings, !stored.lasts && VOLATILE].filter(Boolean).map(text => element("p", {class: "warning"}, text)))
		const details = panel.querySelector("details")
		panel.replaceChildren(...parts)
		if (details) panel.querySelector("details")?.toggleAttribute("open", details.open)
		if (hadFocus) panel.querySelector("button")?.focus()
	}
}

// The address of the room, to send to others.
function shareLink(open) {
	const url = location.origin + location.pathname
	const share = shareButton("Share", {title: "Samedeal", text: "Race me: the same cards for everyone.", url}, {class: "main"})
	const code = element("img", {src: `qr${location.pathname}.svg`, alt: "The link as a QR code", loading: "lazy"})
	return [element("h2", {}, "Send this link"), copyLine(url), share, element("details", {open}, element("summary", {}, "QR code"), code)]
}
