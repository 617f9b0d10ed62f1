// How a game is played: its rules, and a picture of a move and of one that the rules refuse.

import {BoardView} from "./board_view.js"
import {element, setText} from "./dom.js"
import {GAMES, example, nameOf, title} from "./piles.js"

const [RIGHT, ROOM] = [92, 26] // px from the one to the other, and that the lower card shows

// Tell the rules in a dialog, which begins with a title and a list.
export function tellRules({children: [head, list]}, game) {
	setText(head, `How to play ${title(game)}`)
	list.replaceChildren(...[...GAMES[game].short, rulePicture(game)].map(line => element("li", {}, line)))
}

function rulePicture(game) {
	const [under, goes, not] = example(game) ?? []
	if (!under) return ""
	const {piles} = GAMES[game]
	const first = piles.findIndex(({what}) => what === "column")
	const places = piles.map(({key}, i) => ({what: "column", key, x: i === first ? 0 : RIGHT, y: 0, room: ROOM}))
	const view = new BoardView(game)
	view.setScale(1)
	view.arrange({width: 190, height: 96, places})
	view.show(piles.map((_, i) => ({[first]: [under, goes], [first + 1]: [under, not]})[i] ?? []), false)
	const marks = ["✓", "✗"].map(mark => element("b", {"aria-hidden": "true"}, mark))
	return element("figure", {class: "example"}, view.element, ...marks, element("figcaption", {}, `${nameOf(goes)} goes on ${nameOf(under)}, ${nameOf(not)} does not.`))
}
