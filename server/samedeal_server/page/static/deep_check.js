// Starts the deep check of a winnable or daily deal in a worker, so that the page can be used while it runs.

const WORKER = new URL("deep_check_worker.js", import.meta.url).href
const LONGEST = 300_000 // ms
const CLAIM = "The solver can win this deal, and none of the candidates before it."
let policy

export class DeepCheck {
	step = [undefined, CLAIM]
	progress = "Checking the deal"

	// `onchange` is called each time that the step or the progress has changed.
	constructor(search, proof, onchange) {
		Object.assign(this, {search, proof, onchange})
	}

	start() {
		const fail = () => this.end(null, "This browser cannot do that.")
		this.timer = setTimeout(() => this.end(null, "It takes too long in this browser."), LONGEST)
		try {
			policy ??= globalThis.trustedTypes?.createPolicy("deep-check", {createScriptURL: () => WORKER})
			this.worker = new Worker(policy?.createScriptURL("") ?? WORKER, {type: "module"})
			this.worker.onmessage = ({data}) => this.receive(data)
			this.worker.onerror = fail
			this.worker.postMessage(this.search)
		} catch {
			fail()
		}
	}

	receive({number, count, ok, reason}) {
		if (!number) return this.end(ok, reason)
		this.progress = `Checking the deal: candidate ${number} of ${count}`
		this.onchange()
	}

	end(ok, reason) {
		this.stop()
		this.step = [ok, reason ? `${CLAIM} ${reason}` : CLAIM]
		this.onchange()
	}

	stop() {
		clearTimeout(this.timer)
		this.worker?.terminate()
	}
}
