// A lane of a race, on which the cards at home are steps to the finish. Whatever moves is a transform, so that many lanes
// cost little.

import {element} from "./dom.js"

// A lane, and its parts that change.
export function laneOf(name, bot, isOwn, colour) {
	const marker = element("b", {}, isOwn ? "★" : [...name][0].toUpperCase())
	const way = element("div", {class: "way", "aria-hidden": "true"}, element("i", {}, element("s")), element("u", {}, marker))
	const count = element("span", {class: "count"})
	const place = element("span", {class: "heard at"})
	const who = element("span", {class: "who"}, place, element("span", {class: "name"}, isOwn ? "You" : name), bot ? element("span", {class: "bot"}, "bot") : "")
	const item = element("li", {class: isOwn ? "lane own" : "lane"}, who, way, count)
	item.style.setProperty("--player", colour)
	return {item, place, marker, count}
}
