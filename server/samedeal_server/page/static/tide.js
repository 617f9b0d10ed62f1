// The next tide.

export const OPEN_FOR = 300_000 // ms before the start, from which players can take seats
const DAY = 86_400_000
const MINUTE = 60_000

// The next tide of a server, with its start and game.
export function nextTide(tides, now) {
	const day = now - (now % DAY)
	const all = [day, day + DAY].flatMap(first => tides.map(({minute, game}) => ({start: first + MINUTE * minute, game})))
	return all.filter(({start}) => start > now).sort((a, b) => a.start - b.start)[0]
}
