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
		this.timer = setTimeout(() => this.fail("It takes too long in this browser."), LONGEST)
		try {
			policy ??= globalThis.trustedTypes?.createPolicy("deep-check", {createScriptURL: () => WORKER})
			this.worker = new Worker(policy?.createScriptURL("") ?? WORKER, {type: "module"})
			this.worker.onmessage = ({data}) => this.receive(data)
			this.worker.onerror = () => this.fail("This browser cannot do that.")
			this.worker.postMessage(this.search)
		} catch {
			this.fail("This browser cannot do that.")
		}
	}

	receive({number, count, ok, reason}) {
		if (number) this.progress = `Checking the deal: candidate ${number} of ${count}`
		else this.end(ok, reason)
		this.onchange()
	}

	fail(reason) {
		this.end(null, reason)
		this.onchange()
	}

	end(ok, reason) {
		this.stop()
		this.step = [ok, reason ? `${CLAIM} ${reason}` : CLAIM]
	}

	stop() {
		clearTimeout(this.timer)
		this.worker?.terminate()
	}
}
