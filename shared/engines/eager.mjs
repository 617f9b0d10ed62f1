#!/usr/bin/env node
// An engine for all games: it brings cards to the foundations, and turns cards up, as soon as it can.

import {createInterface} from "node:readline"

const made = new Set() // each move that was made, with its board

function worth(move, board, piles) {
	const [source, target, size = "x1"] = move.split(" ")
	const cards = (piles.get(source) ?? "").split(" ")
	const below = cards.at(-1 - Number(size.slice(1)))
	if (made.has(`${board} ${move}`) || source.startsWith("0")) return 0 // nothing new, or off a foundation
	if (target === "0") return 3
	return target && below === "??" ? 2 : 1
}

function choose(position) {
	const fields = new Map(position.split("; ").map(field => [field.split(" ", 1)[0], field.slice(field.indexOf(" ") + 1)]))
	const board = fields.get("board")
	const piles = new Map(board.split(", ").map(pile => pile.split(": ")))
	const moves = fields.get("moves").split(", ").filter(Boolean)
	const worths = moves.map(move => worth(move, board, piles))
	const best = moves[worths.indexOf(Math.max(...worths))] ?? "resign"
	made.add(`${board} ${best}`)
	return best
}

let position
for await (const line of createInterface({input: process.stdin})) {
	if (line.startsWith("samedeal")) console.log("id name eager\nready 1")
	else if (line.startsWith("position")) position = line
	else if (line.startsWith("go")) console.log(`bestmove ${choose(position)}`)
	else if (line === "quit") process.exit()
}
