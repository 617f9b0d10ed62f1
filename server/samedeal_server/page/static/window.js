// What there is to say and to do in a race with a window, before the player's attempt and after it.

import {byId, clock, copyLine, counted, element, svg, timeOfWeek} from "./dom.js"
import {end, linkOf, opensByItself} from "./race_state.js"
import {onFelt} from "./results.js"
import {button} from "./seat.js"

const listed = new Intl.ListFormat("en-GB")

// What somebody with a seat has to know while others can enter.
export function doors(room, isHost) {
	const at = room.doors_close_at
	if (opensByItself(room)) return `One name each: who are they? The race opens ${timeOfWeek(at)}, and nobody can enter after that. Go as you like: your seat is kept.`
	const close = isHost ? `Close the doors when all are in; they close ${timeOfWeek(at)}.` : `Doors close ${timeOfWeek(at)}.`
	return `One name each: who are they? ${close} Go as you like: your seat is kept.`
}

// The parts of the panel of a player in a window whose doors are closed. `row` is the own row of the race.
export function parts(seat, row) {
	const {room, me, racer, screen, record, falls} = seat
	const {phase, left, players, drawing, closes} = room
	const all = players.filter(({seat}) => drawing.includes(seat)).map(({player, name}) => (player === me ? "" : name))
	const by = listed.format([...(all.includes("") ? ["you"] : []), ...all.filter(Boolean)])
	const paragraph = text => element("p", {}, text)
	const start = () => screen.link.ask("start").catch(({message}) => screen.say(message))
	const begin = () => racer.begin().catch(({message}) => screen.say(message))
	if (room.waits_for_host) {
		const host = players.find(({player}) => player === room.host)
		const failed = "The deal was not drawn, because each time somebody did not answer."
		if (host?.player !== me) return [paragraph(`${failed} ${host?.name} can open the doors again.`)]
		return [paragraph(failed), element("p", {class: "controls"}, button("Open the doors again", start, {class: "main"}))]
	}
	if (phase === "countdown") return [paragraph(by ? `The deal is drawn by ${by}.` : "The deal is drawn by whoever is here. Nobody is yet.")]
	if (phase === "waiting")
		return [
			element("h2", {}, `Your one try: ${left}, the clock does not stop. Ready?`),
			paragraph(`Until ${timeOfWeek(closes)} you may also come back later. The deal was drawn by ${by}${all.includes("") ? "" : ", without you"}.`),
			element("p", {class: "controls"}, button("Begin", begin, {class: "main"}), moveButton(seat), calendarLink(room))
		]
	if (phase === "raced") {
		const {time, resigned} = end(row, room)
		const text = `I have raced, your turn: ${linkOf(room)}`
		return [
			onFelt("", time ? `You finished in ${clock(time)}` : `You ${resigned ? "resigned with" : "have"} ${counted(row.count, "card")} home`, [record], time, falls),
			paragraph(`You have raced. Nobody sees how until all have. Everything opens then, at the latest ${timeOfWeek(closes)}.`),
			element("p", {class: "controls"}, calendarLink(room)),
			copyLine(text, {text})
		]
	}
	if (!racer.begun) begin() // on another device, or its answer was lost: a server that loses the attempt gets it back
	return []
}

// A button that shows a link with which the player goes on with another device, and its QR code.
export const moveButton = ({screen, own}) =>
	button("Play on another device", async () => {
		const {link} = screen
		const url = `${location.origin + location.pathname}#move=${encodeURIComponent(own.name)}/`
		try {
			const {code, qr} = await link.ask("movesession", {link: url})
			link.hasGivenCode = true
			const dark = qr.map((row, y) => Array.from(row, (is, x) => (is ? `M${x} ${y}h1v1h-1z` : "")).join("")).join("")
			const label = "The link as a QR code"
			const picture = svg("svg", {viewBox: `0 0 ${qr.length} ${qr.length}`, width: 240, role: "img", "aria-label": label, class: "qr"}, svg("path", {d: dark}))
			const text = "Open this link on your other device within ten minutes. It works once, and whoever has it plays as you."
			byId("message").replaceChildren(element("p", {}, text), copyLine(url + code), picture)
		} catch ({message}) {
			screen.say(message)
		}
	})

// A file for calendars, with the last stretch of the window in which there is time for a whole attempt.
function calendarLink({room, closes, options}) {
	const time = at => new Date(at).toISOString().replace(/[-:]|\.\d+/g, "")
	const url = location.origin + location.pathname
	const event = [`UID:${closes}@${location.host}`, `DTSTAMP:${time(Date.now())}`, `DTSTART:${time(closes - 1000 * options.limit)}`, `DTEND:${time(closes)}`, `SUMMARY:Samedeal ${room} closes`, `DESCRIPTION:${url}`]
	const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Samedeal//EN", "BEGIN:VEVENT", ...event, "END:VEVENT", "END:VCALENDAR", ""]
	const file = lines.map(line => line.replace(/.{70}(?=.)/g, "$&\r\n ")).join("\r\n") // no line may be longer
	return element("a", {href: `data:text/calendar,${encodeURIComponent(file)}`, download: `${room}.ics`}, "Add to the calendar")
}
