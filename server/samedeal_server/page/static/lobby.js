// Who is here: rooms and finished races, with the names of people instead of codes.

import {DAY, byId, clock, counted, dayOf, element, setText, showItems, stored, timeLeft, timeOfDay, timeOfWeek} from "./dom.js"
import {to, want} from "./here.js"
import {title} from "./piles.js"

const OPEN_FOR = 300_000 // ms before the start of a tide, from which players can take seats
const MINUTE = 60_000
const ORDER = ["open", "countdown", "racing"]

const listed = (names, more) => [...names, ...(more > 0 ? [names.length ? `${more} more` : counted(more, "player")] : [])].join(", ")
export const ownRooms = () => JSON.parse(stored.get("seats") ?? "[]")

// What is played, and whose deal of the day it is.
export function gameOf(game, deal, now) {
	if (!deal.startsWith("daily ")) return title(game)
	const day = dayOf(Date.parse(deal.slice(6)), now)
	return `${day[0].toUpperCase()}${day.slice(1)}: ${title(game)}`
}

function item(path, who, state, phase, facts, onclick) {
	const parts = [element("strong", {}, who), element("em", {class: phase}, state), element("span", {}, facts.filter(Boolean).join(" · "))]
	return element("li", {}, element(path ? "a" : "div", {href: path && to(path), class: "box room", onclick}, ...parts))
}

function roomItem({line, names, people, tide}, now) {
	const {room, game, deal, phase, players, seats, starts, spectators, closes} = line
	const left = seats - players
	const bots = players - people
	const window = closes && `window, ${phase === "open" ? "doors close" : "closes"} ${timeOfWeek(closes)}`
	const isOwn = ownRooms().includes(room)
	const state = {racing: "racing now", countdown: "starts now"}[phase] ?? (starts > now ? `starts in ${timeLeft(starts - now)}` : "waiting")
	const who = listed(names, people - names.length) || (bots ? counted(bots, "bot") : "Nobody yet")
	const seatsLeft = phase === "open" && (left ? `${counted(left, "free seat")}` : "full")
	const facts = [window, tide ? `Race at ${timeOfDay(tide)}, everybody at once: ${title(game)}` : gameOf(game, deal, now), people && bots && counted(bots, "bot"), seatsLeft, isOwn && "you have a seat"]
	return item((spectators || isOwn || phase === "open") && encodeURIComponent(room), who, !closes || phase === "open" ? state : "", phase, facts, () => want(room, {line}))
}

function raceItem({race, game, deal, started, players, winner, time, bot}, now) {
	const day = now - started < DAY ? timeOfDay(started) : new Date(started).toLocaleDateString([], {day: "numeric", month: "short"})
	const won = `${winner || "Somebody"}${bot ? " (bot)" : ""} won in ${clock(time)}`
	return item(`replay?race=${encodeURIComponent(race)}`, won, day, "", [gameOf(game, deal, now), counted(players, "player")])
}

// Show the rooms, the own ones first, and the finished races.
export function showLobby({rooms, races}, now) {
	const own = ownRooms()
	const order = ({line}) => (own.includes(line.room) ? 0 : 1 + ORDER.indexOf(line.phase))
	setText(byId("none"), rooms.length ? "" : "Nobody else is here now. Send a link to a friend.")
	showItems(byId("rooms"), [...rooms].sort((a, b) => order(a) - order(b)).map(each => roomItem(each, now)))
	showItems(byId("records"), races.map(each => raceItem(each, now)))
}

// Lead to the race with a window that closes first, of those in which the player has a seat and has not raced.
export function showOwnWindows(now) {
	const kept = Object.entries(JSON.parse(stored.get("windows") ?? "{}")).filter(([place]) => place.includes("/") || stored.get(`seat ${place}`))
	const open = kept.flatMap(([place, windows]) => windows.filter(([opens, ends]) => opens <= now && now < ends).map(([, ends]) => [place, ends]))
	const [first, second] = open.sort(([, a], [, b]) => a - b)
	const text = () => `Yours to race: ${open.length} (${second ? "the first " : ""}ends ${timeOfWeek(first[1])})`
	showItems(byId("yours"), first ? [element("a", {href: to(first[0].split("/").map(encodeURIComponent).join("/"))}, text())] : [])
}

// Show the next tide of a server, if it has tides, and let players in once it is open. Return its start and its game.
export function showTide(tides, now) {
	const all = tides.map(({minute, game}) => ({start: now + ((MINUTE * minute - (now % DAY) + DAY) % DAY), game}))
	const [next] = all.sort((a, b) => a.start - b.start)
	byId("tide").hidden = !next
	if (!next) return
	const [button, text] = byId("tide").children
	button.disabled = next.start - now > OPEN_FOR
	setText(button, `Race at ${timeOfDay(next.start)}`)
	setText(text, `everybody at once: ${title(next.game)} in ${timeLeft(next.start - now)}`)
	return next
}
