// Where the page is, and where it goes.

import {stored} from "./dom.js"

export const isFrame = new URLSearchParams(location.search).has("embed")
export const to = path => (isFrame ? `${path}${path.includes("?") ? "&" : "?"}embed` : path) // a frame stays one
export const address = "ws" + new URL(".", location.href).href.slice(4, -1) // instead of http

// Keep something. The session lies in a cookie too, because some browsers delete soon what pages store.
function keep(name, value) {
	if (name === "session" && value !== here.inCookie) fetch(".", {method: "POST", headers: {"Samedeal-Session": value}}).catch(() => {})
	if (name === "session") here.inCookie = value
	stored.set(name, value)
}

// The place of a Link. A frame has no session.
export const here = {address, about: {client: "samedeal page", cookie: !isFrame}, session: (!isFrame && stored.get("session")) || "", keep}

// Remember that the player has a seat in a room.
export const keepSeat = room => stored.set(`seat ${room}`, stored.get(`seat ${room}`) ?? "{}")

// Go to another room, to a seat in it. `wanted` is what the player asked for.
export function goTo(room, wanted = {}) {
	keepSeat(room)
	want(room, wanted)
	location.href = to(encodeURIComponent(room))
}

// What the player asked for, with a room that the player has not entered yet.
export const want = (room, wanted) => stored.set("wanted", JSON.stringify({room, ...wanted}))
const lastWanted = () => JSON.parse(stored.get("wanted") ?? "{}")
export function wantedIn(room) {
	const {room: other, ...wanted} = lastWanted()
	return other === room ? wanted : {}
}

// The player is in a room. A later one with its code is another room.
export const enteredRoom = room => lastWanted().room === room && stored.set("wanted", null)
