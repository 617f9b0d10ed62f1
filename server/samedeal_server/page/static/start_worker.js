// Starts workers, which do what takes long.

const ADDRESS = new URL("worker.js", import.meta.url).href
const LONGEST = 300_000 // ms
let policy

// `answered` is called with the answer to each task that is posted to the worker, or null, and `told` with its progress.
export function startWorker(answered, told) {
	policy ??= globalThis.trustedTypes?.createPolicy("worker", {createScriptURL: () => ADDRESS})
	const worker = new Worker(policy?.createScriptURL("") ?? ADDRESS, {type: "module"})
	worker.onmessage = ({data}) => ("told" in data ? told(data.told) : answered(data.answer))
	worker.onerror = () => answered(null)
	return worker
}

// Returns the answer of a worker of its own to a task, or null if that takes too long.
export function runTask(task, told) {
	return new Promise(resolve => {
		const worker = startWorker(end, told)
		worker.postMessage(task)
		const timer = setTimeout(end, LONGEST, null)
		function end(answer) {
			clearTimeout(timer)
			worker.terminate()
			resolve(answer)
		}
	})
}
