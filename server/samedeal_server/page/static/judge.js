// Judges the race on the screen. What it needs for that can run in a worker, without a DOM.

import {readRace} from "./deep_check.js"
import {stored} from "./dom.js"
import {rowSentence} from "./row_sentence.js"
import {factLines, verdict} from "./verdict.js"
import {Witness} from "./witness.js"

// Judge the race of a screen, and again if more was shown of its end.
export async function judge(screen) {
	const {link, room, credentials} = screen
	const witness = link.witness ?? link.listen(new Witness(stored))
	const {evidence} = witness
	if (evidence !== screen.judged) {
		noteReload(evidence, screen.firstPhase)
		Object.assign(screen, {judged: evidence, reading: null, judgedAt: 0})
		const tell = sentence => screen.showVerdict({kind: "checking", sentence})
		tell("Checking the race")
		const reading = await readRace(link, room, credentials, tell)
		if (evidence !== witness.evidence) return // of the next race
		screen.reading = Object.assign(reading, {givenUp: witness.givenUp})
	}
	if (!screen.reading || screen.judgedAt === evidence.size) return
	screen.judgedAt = evidence.size
	const found = verdict(evidence, screen.reading)
	if (found.kind === "wrong") witness.finds(found.rows)
	screen.showVerdict({...found, rows: found.rows.map(rowSentence), facts: factLines(evidence)})
}

// Of a race in which the player has no seat, the browser keeps nothing of what was shown before the page was loaded again.
// `phase` is that of the first state since then.
function noteReload(evidence, phase) {
	const {type} = performance.getEntriesByType("navigation")[0]
	evidence.findingIf(evidence.role === "spectator" && phase === "racing" && /reload|back_forward/.test(type), "unfinished", "the page was loaded again")
}
