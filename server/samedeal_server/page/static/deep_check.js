// Reads what the verdict on a race needs: the record, and the search for the deal, which is repeated in a worker, so that
// the page can be used while it runs.

import {checkAnswers, openDeal} from "./deal.js"
import {fetchRecord, readRecord} from "./record.js"
import {runTask} from "./start_worker.js"
import {Reading, faultOf} from "./verdict.js"

const DELAYS = [200, 400, 800, 1600, 3200] // ms; the server may still be writing the record
const RETRIED = ["no_record", "unavailable"] // codes of refusals
const OFFLINE = 500 // ms between two attempts without a connection

// Return the reading of a race. `tell` is called with a sentence each time that the search has come further.
export async function readRace(link, room, credentials, tell) {
	const first = await read(link, room, credentials, DELAYS)
	if (!first.record) return new Reading(first)
	const answers = await searched(first.record, tell)
	const again = await read(link, room, credentials, [])
	return new Reading({...first, answers, second: again.record?.digest})
}

async function read(link, room, credentials, delays) {
	const left = [...delays, 0]
	while (left.length) {
		try {
			return {record: readRecord(await fetchRecord(link, room, credentials))}
		} catch (error) {
			const {code, isLost, message} = error
			if (isLost ? link.stopped : code && !RETRIED.includes(code)) return {fault: ["no_record", message]}
			if (!isLost && !code) return {fault: faultOf(error)}
			await new Promise(resolve => setTimeout(resolve, isLost ? OFFLINE : left.shift()))
		}
	}
	return {fault: ["no_record", "The server has kept none."]}
}

// Return the solver's answers about the candidates of a record, or null if this browser cannot say, or there are none.
export async function searched(record, tell) {
	try {
		const proof = openDeal(record)
		checkAnswers(proof, []) // whether the search can be repeated
		const {game, mix, candidate, budget} = proof
		return await runTask({task: "search", game, mix, candidate, budget}, ({number, count}) => tell(`Checking the deal: candidate ${number} of ${count}`))
	} catch {
		return null
	}
}
