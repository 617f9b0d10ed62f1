// The page: which screen it shows, and what the user can set.

import {byId} from "./dom.js"
import {Link, isFrame, remember, to} from "./link.js"

const room = decodeURIComponent(location.pathname.split("/").pop()).trim().toLowerCase()
const race = new URLSearchParams(location.search).get("race")
const root = document.documentElement
root.classList.toggle("embed", isFrame)

function setSuits(four) {
	root.classList.toggle("four", four)
	byId("suits").setAttribute("aria-pressed", String(four))
	remember("suits", four ? "four" : "two", "localStorage")
}

setSuits(remember("suits", undefined, "localStorage") === "four")
byId("suits").onclick = () => setSuits(!root.classList.contains("four"))
document.querySelector(".brand").href = to("./")

// Each screen loads only what it needs.
async function screenOf() {
	if (!room) return new (await import("./lobby.js")).Lobby()
	if (room === "replay") return new (await import("./replay.js")).ReplayScreen(race)
	return new (await import("./screen.js")).RaceScreen(room)
}

const screen = await screenOf()
if (room !== "replay" || race)
	screen.link = new Link({
		welcome: () => screen.enter(),
		message: message => screen.receive(message),
		status: (live, sentence) => {
			root.classList.toggle("away", !live)
			screen.connection = {live, sentence}
			screen.showStatus()
		}
	})
