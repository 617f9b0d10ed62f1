// Reads records, and compares one with the heads that the server has sent (RECORDS.md, The chain).

import {sha256} from "./hash.js"

const DELAYS = [0, 400, 1000, 3000, 6000] // ms; the server may still be writing the record
const KEPT = "The record has every move of yours that the server had acknowledged."
const CHANGED = "The record has your moves and times as the server had acknowledged them."
const NO_RECORD = "The server gave no record to compare with your moves."

// Return the record of a race as a file. Throws a refusal. All parts come from the race of the first one.
export async function fetchRecord(link, race, credentials) {
	const texts = []
	for (let parts = 1; texts.length < parts;) {
		const answer = await link.ask("readrecord", {race, part: texts.length, ...credentials})
		texts.push(answer.text)
		;({parts, race} = answer)
	}
	return new Blob(texts)
}

async function read(link, race) {
	for (const delay of DELAYS) {
		await new Promise(resolve => setTimeout(resolve, delay))
		try {
			return (await fetchRecord(link, race)).text()
		} catch {
			// asked again
		}
	}
	return ""
}

export const field = (text, name) => text.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1] ?? ""

// The actions in a part of a record.
export const actionsIn = text =>
	Array.from(text.matchAll(/^(\d+)\.(\d{3}) \w{6} (.+)$/gm), ([, seconds, ms, action]) => ({time: Number(seconds + ms), action}))

const head16 = (...parts) => sha256(...parts).slice(0, 16)

// Return a step of the check of a race. `kept` is the newest head of the player in a seat.
export async function checkChain(link, room, seat, kept, broken) {
	const text = await read(link, room)
	if (broken) return [false, CHANGED]
	if (!text || !kept) return [null, NO_RECORD]
	const [agreed] = /^room: [^]*?^commitment: .*\n/m.exec(text) ?? [""]
	const block = text.split("\n\n").find(each => each.startsWith(`player: ${seat} `)) ?? ""
	const who = /^player: .*\n(?:bot: yes\n)?/.exec(`${block}\n`)?.[0] ?? ""
	let head = head16("samedeal chain 1\n", head16("samedeal terms 1\n", agreed), who)
	let revision = 0
	for (const {time, action} of actionsIn(block)) {
		if (revision === kept.revision) break
		head = head16("samedeal action 1\n", head, `${++revision} ${time} ${action}\n`)
	}
	return [revision === kept.revision && String(head) === String(kept.hash), KEPT]
}
