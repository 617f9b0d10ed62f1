// The page: which screen it shows, and what the user can set.

import {byId, stored, toggle} from "./dom.js"
import {here, isFrame, to} from "./here.js"
import {Link} from "./link.js"

const decoded = text => {
	try {
		return decodeURIComponent(text)
	} catch {
		return "" // a mangled link
	}
}

const room = location.pathname.split("/").pop().toLowerCase()
const race = new URLSearchParams(location.search).get("race")
// The player's other device has given a link with a code, behind # where no server sees it. It must not stay in the history.
const [, called, code] = (!isFrame && /^#move=(.+)\/([\w-]+)$/.exec(location.hash)) || []
if (code) history.replaceState(null, "", location.pathname)
const mover = called && decoded(called)
const isMoving = mover && (!stored.get("session") || confirm(`Play as ${mover} in this browser? It forgets the player that it has now.`))
const name = isMoving ? mover : (!isFrame && stored.get(`seat ${room}`) && stored.get("name")) || ""
if (isMoving) Object.assign(here, {session: code, isMoving})
const root = document.documentElement
root.classList.toggle("embed", isFrame)

toggle(byId("suits"), "four colours", false, isOn => root.classList.toggle("four", isOn))
document.querySelector(".brand").href = to("./")

async function openFront() {
	const {Front} = await import("./front.js")
	new Front().look(asked) // the document asks for it, so that it comes early
}

async function open() {
	if (room === "replay") return new (await import("./replay.js")).ReplayScreen(race)
	const {RaceScreen} = await import("./race_screen.js")
	const screen = new RaceScreen(room)
	if (name) screen.sit(name)
	return screen
}

// The connection opens while the screen is on its way. The first screen has none.
if (!room) openFront().catch(loadAgain)
const opened = room && open().catch(loadAgain)
if (room && (room !== "replay" || race)) {
	const link = new Link(opened, here, name, race ? "" : room)
	opened.then(screen => (screen.link = link))
}
