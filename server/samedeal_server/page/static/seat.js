// The player's seat on the screen of a race: from the name to the rematch. It is loaded when somebody takes a seat.

import {byId, copyLine, element, isOfGame, setAttribute, setText, stored, toggle} from "./dom.js"
import {Hand} from "./hand.js"
import {goTo, keepSeat} from "./here.js"
import {nextName} from "./names.js"
import {onFoundations} from "./piles.js"
import {PLAIN} from "./race_screen.js"
import {didNotRace, end, linkOf, opensByItself, rematchName, rematchOf, rematchText} from "./race_state.js"
import {Racer} from "./racer.js"
import {seriesTable} from "./series.js"
import {runTask} from "./start_worker.js"
import {Table, unfocus} from "./table.js"
import {Witness} from "./witness.js"

const FALL = 3000 // ms in which cards fall for a player who has finished
const MOST_KEPT = 20 // rooms of which the browser keeps something
const VOLATILE = "This browser keeps nothing for this page: a reload loses your seat and the check of the race."
const OTHER_TAB = "This race is open in another tab, which takes part in the draw. Close it to go on here."
const SHOWN = "Spectators see your moves at once, so they can tell others what you do."
const STARTS = {"all-ready": "The race starts when everybody is ready.", full: "The race starts when all seats are taken.", at: "The race starts by itself, with everybody who is here."}

export const button = (text, onclick, more) => element("button", {onclick, ...more}, text)

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
		toggle(byId("sounds"), "sounds", false, async isOn => (this.sounds = isOn ? await import("./sound.js").catch(() => null) : null))
		byId("undo").onclick = () => this.undo()
		byId("collect").onclick = () => this.hand.collect()
		byId("hint").onclick = () => this.hint()
		byId("hand").onmousedown = unfocus
		byId("resign").onclick = () => this.resign()
		document.documentElement.classList.add("seated")
		const {signal} = this.leaving
		document.addEventListener("visibilitychange", () => this.stayAwake(), {signal})
		addEventListener("keydown", event => this.press(event), {signal})
		addEventListener("pagehide", () => this.witness?.file?.close(), {signal}) // so that this page can go on after a reload
		screen.race.isLive = true
	}

	play(what) {
		this.sounds?.play(what)
	}

	// Keep the screen of a phone on while the player waits and races.
	async stayAwake() {
		const isWanted = (this.room?.window ? /count|racing/ : /open|count|racing/).test(this.phase) && !document.hidden && !this.leaving.signal.aborted
		if (!isWanted) return this.lock?.release()
		if (!this.lock || this.lock.released) this.lock = await navigator.wakeLock?.request("screen").catch(() => null)
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
			this.hand.isOn = () => this.isRacing
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
			if (code === "name_taken" && !screen.isNamed) return screen.unseat("").then(() => screen.sit(screen.proposed)) // nobody has typed it here
			screen.unseat(code === "race_started" ? "The race has started without you. Race in the next one." : message)
		}
	}

	// Remove everything that only a racer has.
	leave() {
		const {screen} = this
		stored.set(`seat ${screen.room}`, null)
		byId("boards").hidden = false
		for (const id of ["seat", "said"]) byId(id).replaceChildren()
		document.documentElement.classList.remove("seated", "racing", "over")
		this.leaving.abort()
		this.stayAwake()
		for (const player of screen.shown.keys()) screen.drop(player)
		Object.assign(screen, {chosen: [], made: {}, ranked: null, track: new screen.track.constructor()})
		screen.race.isLive = false
	}

	receive(message) {
		const {screen, racer} = this
		if (!racer) return // of the connection before
		if (message.type === "roomstate") {
			racer.rule = message.options.undo
			screen.chosen = [this.me]
			this.draw(message)
		} else if (message.type === "boardstate") racer.receiveBoard(message)
		else if (message.type === "progressupdate" && message.seat !== this.own?.seat) screen.race.count(message)
		else if (message.type === "notice" && message.code === "kicked") screen.unseat(message.message)
	}

	// Take part in the draw of a joint deal, unless the server has contradicted itself.
	async draw(room) {
		const {screen, witness} = this
		const {type, ...fields} = witness.answer(room) ?? {}
		if (type) screen.link.ask(type, fields).catch(() => {}) // asked again with the next state
		const {contradiction} = witness.evidence
		const why = contradiction?.[0] ?? (witness.isShut ? OTHER_TAB : "")
		if (why === (this.why ?? "")) return
		this.why = why
		screen.say(contradiction ? (await import("./row_sentence.js")).rowSentence(contradiction) : why)
	}

	// The board has changed.
	changed() {
		const {screen, racer} = this
		screen.race.countBoard(this.me, racer.board)
		this.hand.follow()
		if (racer.next > this.heard) this.play("card")
		this.heard = racer.next
		this.showTable(true)
		screen.receive({})
		clearTimeout(this.proving)
		this.proving = setTimeout(() => this.proveStuck(), 400)
	}

	showTable(animated) {
		const {racer, screen} = this
		const {view, tile, game} = screen.shown.get(this.me) ?? {}
		if (!racer.piles || !view) return
		if (this.table?.view !== view) {
			this.table = new Table(view, game, this.hand)
			this.fit()
		}
		this.table.show(animated)
		tile.dataset.revision = racer.board.revision
		setAttribute(byId("undo"), "aria-disabled", String(!racer.mayUndo)) // so that a tap is told why
	}

	get isRacing() {
		const {own} = this
		return own && this.room.phase === "racing" && !own.resigned && this.racer.piles && onFoundations(this.racer.game, this.racer.board.piles) < this.screen.race.cards
	}

	press(event) {
		const {key} = event
		if (!this.isRacing || byId("rules").open || !isOfGame(event)) return
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

	// Offer to leave a race against nobody but bots of the house, for one in which somebody waits.
	async lookForPerson() {
		const {me, room: {phase, players}, screen: {link}} = this
		if (!link.welcomed || Date.now() < this.looksAt) return
		this.looksAt = Date.now() + 2000
		const isAlone = phase === "racing" && players.length > 1 && players.every(({player, house}) => house || player === me)
		const {rooms} = isAlone ? await link.ask("listrooms", {open: true}) : {rooms: []}
		const until = ({starts}) => starts - link.now()
		const {game} = rooms.find(room => room.players && until(room) > 4000 && until(room) < 23_000) ?? {}
		byId("person").hidden = !game
		if (!game) return // a tap may be on its way
		byId("person").onclick = async () => {
			await link.ask("leave")
			goTo((await link.ask("racenow", {game})).room, {game})
		}
	}

	ask(type, fields) {
		return this.screen.link.ask(type, fields).catch(({message}) => this.say(message))
	}

	say(sentence) {
		setText(byId("said"), sentence)
	}

	async proveStuck() {
		const {racer} = this
		const claim = this.isRacing && racer.stuckClaim
		if (!claim || this.isProving || this.provedAt === racer.board.revision) return
		Object.assign(this, {isProving: true, provedAt: racer.board.revision})
		const isStuck = await runTask({task: "stuck", ...claim})
		this.isProving = false
		if (this.provedAt !== racer.board.revision) return this.proveStuck()
		if (!isStuck || !this.isRacing) return
		this.ask("declarestuck")
		this.say("No move and no undo can improve your result any more. You can resign.")
	}

	// Make the board as large as its place. Return whether there is one.
	fit() {
		const {table, room} = this
		const {clientWidth, clientHeight, hidden} = byId("boards")
		if (!table || !room?.starts || hidden) return false
		byId("boards").style.setProperty("--columns", 1)
		table.fit(byId("boards"), clientWidth, clientHeight)
		return true
	}

	show(rows) {
		if (!this.racer) return
		const {isRacing} = this
		const {phase, options} = this.room
		const isOn = phase === "racing"
		this.raced ||= isRacing
		byId("boards").hidden = !isRacing
		if (!isRacing && !byId("resign").hidden) byId("menu").hidePopover?.()
		byId("hand").hidden = byId("said").hidden = byId("resign").hidden = !isRacing
		byId("hint").hidden = !options.hints
		if (phase !== this.phase) {
			if (isOn) scrollTo(0, 0)
			document.documentElement.classList.toggle("racing", isOn)
			document.documentElement.classList.toggle("over", phase === "finished")
			if (isOn && /count|waiting/.test(this.phase)) this.play("start")
			this.phase = phase
			this.stayAwake()
		}
		this.showPanel(rows)
		if (this.racer.piles) this.showTable(false)
		this.fit()
	}

	// What the player can do besides moves: before the race, and after it.
	showPanel(rows) {
		const {room, me, own, screen} = this
		const {phase, players, host, next, drawing, left, waits_for_host: waits} = room
		const row = rows.find(each => each.player === me)
		const time = row && end(row, room).time
		const isDone = time || own?.resigned || phase === "finished"
		const isOut = phase === "racing" && isDone
		if (isDone && !this.results) return import("./results.js").then(results => (this.results = results) && screen.show(), loadAgain)
		if (time && this.raced && !this.wonAt) {
			Object.assign(this, {wonAt: performance.now(), record: this.results.beaten(room, time)})
			this.play("finish")
		}
		const gone = rows.filter(each => each.gone && each.player !== me).map(each => each.name)
		if (!gone.length) this.asked = ""
		if (!screen.isNew("panel", phase, players, host, next, time, own?.resigned, row?.place, stored.lasts, gone, this.asked, screen.wantsNext, drawing, left, waits)) return
		const panel = byId("seat")
		const hadFocus = panel.contains(document.activeElement)
		const details = panel.querySelector("details")
		const result = isDone ? [this.results.banner(rows, room, me, this.record, this.falls)] : []
		const parts = []
		if (!own) parts.push(element("p", {}, "You have no seat in this room."), button("Watch", () => screen.unseat("")))
		else if (phase === "open") parts.push(...this.partsBefore(rows, gone))
		else if (room.window && !/finished|closed/.test(phase)) parts.push(...screen.windows.parts(this, row))
		else if (phase === "countdown" && room.deal.startsWith("again")) parts.push(element("p", {}, "Nobody else came. The deal of an earlier race is dealt again."))
		else if (isOut) {
			const later = screen.wantsNext ? element("p", {role: "status"}, `You get a seat in the ${rematchName(room)}.`) : this.rematchButton
			parts.push(...result, element("p", {}, "The race goes on for the others."), element("p", {class: "controls"}, later, button("Watch them", () => screen.unseat(""))))
		} else if (phase === "finished") {
			const share = row.final && !didNotRace(row, room) ? this.results.shareResult(screen.race, row) : ""
			const earlier = row.final && room.earlier.length ? this.results.earlierTable(screen.race, row) : ""
			parts.push(...result, element("p", {class: "controls"}, this.rematchButton), share, ...seriesTable(room), earlier)
		} else if (next) parts.push(element("p", {class: "controls"}, this.rematchButton)) // after a race of a series that nobody drew
		parts.push(stored.lasts ? "" : element("p", {class: "warning"}, VOLATILE))
		panel.replaceChildren(...parts.filter(Boolean))
		if (details) panel.querySelector("details")?.toggleAttribute("open", details.open)
		if (hadFocus) panel.querySelector("button")?.focus()
	}

	get falls() {
		return performance.now() - this.wonAt < FALL
	}

	// What the player can do in an open room. `gone` are the names of those who are away.
	partsBefore(rows, gone) {
		const {room, own, me, screen} = this
		const {players, host, options, round} = room
		const isHost = host === me
		const names = gone.join(" and ")
		const isAsked = names && this.asked === names
		const start = () => {
			if (!names || isAsked) return this.ask("start")
			this.asked = names
			this.showPanel(rows)
		}
		const leave = sentence => this.ask("leave").then(() => screen.unseat(sentence))
		const wait = room.window ? screen.windows.doors(room, isHost) : !isHost ? "The host starts the race." : players[1] ? "Start when everybody is here." : "Send the link, or start alone."
		const buttons = [
			options.start !== "at" && !room.window && button(own.ready ? "Not ready" : "Ready", () => this.ask("ready", {ready: !own.ready}), {class: isHost ? "" : "main"}),
			isHost && !opensByItself(room) && button(room.window ? "Close the doors" : isAsked ? `${names} ${gone[1] ? "are" : "is"} away. Start without ${gone[1] ? "them" : names}?` : "Start the race", start, {class: "main"}),
			room.window && screen.windows.moveButton(this),
			!(isHost && players[1]) && button("Rename", () => leave("Choose another name.")), // somebody else would be the host
			button("Leave", () => leave(""))
		]
		const kicks = isHost ? players.filter(each => each !== own).map(({player, name}) => button(`Remove ${name}`, () => this.ask("kickplayer", {player}))) : []
		const warnings = [options.spectators && !options.delay && SHOWN, !isSecureContext && PLAIN].filter(Boolean)
		const sendsLink = isHost && !round // to a rematch, the others come by themselves
		return [
			...(sendsLink ? shareLink(room, !players[1]) : []),
			element("h2", {}, `You have a seat, ${own.name}`),
			element("p", {}, STARTS[options.start] ?? wait),
			element("p", {class: "controls"}, ...buttons.filter(Boolean), ...kicks),
			...seriesTable(room),
			...(sendsLink ? [] : shareLink(room, false)),
			...warnings.map(text => element("p", {class: "warning"}, text))
		]
	}

	get rematchButton() {
		return button(rematchText(this.room, this.me), () => this.rematch(), {class: "main"})
	}

	// Go to the rematch, or as soon as the race is over for everybody.
	async rematch() {
		const {screen, room} = this
		if (room.phase === "racing") {
			screen.wantsNext = true
			return screen.show()
		}
		const answer = room.next ? {room: room.next} : await this.ask("rematch")
		if (answer?.room) goTo(answer.room, rematchOf(room))
	}
}

// The address of the room, to send to others.
function shareLink(room, open) {
	const url = linkOf(room)
	const shared = {title: "Samedeal", text: "Race me: the same cards for everyone.", url}
	const code = element("img", {src: `qr${new URL(url).pathname}.svg`, alt: "The link as a QR code", loading: "lazy"})
	return [element("h2", {}, "Send this link"), copyLine(url, shared), element("details", {open}, element("summary", {}, "QR code"), code)]
}
