// Does in a worker what takes long, so that the page can be used meanwhile: proofs, and searches that can take minutes.

const TASKS = {
	search: async (...given) => (await import("./deal.js")).searchAnswers(...given),
	hint: async given => (await import("./hints.js")).hint(given),
	stuck: async given => (await import("./legal_moves.js")).isStuck(given)
}

onmessage = async ({data: {task, ...given}}) => {
	const answer = await TASKS[task](given, told => postMessage({told})).catch(() => null) // it may need too much memory
	postMessage({answer})
}
