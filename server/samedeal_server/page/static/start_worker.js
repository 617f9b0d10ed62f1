// Does in a worker what takes long, so that the page can be used meanwhile.

const ADDRESS = new URL("worker.js", import.meta.url).href
const LONGEST = 300_000 // ms
let policy

// Return the worker's answer to a task, or null if that takes too long. `told` is called with its progress.
export function runTask(task, told) {
	return new Promise(resolve => {
		policy ??= globalThis.trustedTypes?.createPolicy("worker", {createScriptURL: () => ADDRESS})
		const worker = new Worker(policy?.createScriptURL("") ?? ADDRESS, {type: "module"})
		const timer = setTimeout(end, LONGEST, null)
		worker.onmessage = ({data}) => ("told" in data ? told(data.told) : end(data.answer))
		worker.onerror = () => end(null)
		worker.postMessage(task)
		function end(answer) {
			clearTimeout(timer)
			worker.terminate()
			resolve(answer)
		}
	})
}
