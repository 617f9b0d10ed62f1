// The terms of a race (RECORDS.md, The terms): their text, and the texts of which they have hashes. For the page for
// browsers and for check.mjs. Written from that page, without a look at the Python code.

export const SOLVER = 2 // the version of the solver in search.mjs, and of the numbers of states in rules.mjs

// Terms that only another release understands, so that nobody can check their race here.
export class UnknownTerms extends Error {}

export function demand(condition, sentence, Wrong = Error) {
	if (!condition) throw new Wrong(sentence)
}

export const rulesText = (name, {decks, suits, stock, piles}) =>
	`samedeal rules 1\n${name}\n` +
	JSON.stringify({decks, suits, stock, piles: piles.map(({place, ...row}) => row)})
export const descriptionText = ({difficulty, search}) => JSON.stringify({solver: SOLVER, difficulty, search})

// Whether there is such a day or time. JavaScript takes 31 February for a day in March.
const exists = time => !isNaN(new Date(time)) && new Date(time).toISOString().startsWith(time)

// The lines in their order: the default of those that may be missing, and the form of the value or its bounds. Without
// either, it is yes or no.
const HASH = /^[0-9a-f]{64}$/
const LINES = {
	room: [, /^[a-z0-9]([a-z0-9-]{0,22}[a-z0-9])?$/],
	round: [, 0, 999_999_999],
	game: [, /^/],
	rules: [, HASH],
	description: [, HASH],
	deal: [, /^(winnable( easy| medium| hard)?|random|#(0|[1-9]\d{0,8})|ms [1-9]\d{0,6}|again [0-9a-f]{64}|daily [1-9]\d{3}-\d\d-\d\d)$/],
	undo: [, /^(free|no-reveal|off)$/],
	limit: [, 10, 7200],
	private: [false],
	tide: [0, 0, 1e16],
	window: [0, 0, 1e16],
	games: ["", /^/],
	seats: [8, 1, 64],
	hints: [false],
	spectators: [true],
	delay: [15, 0, 600],
	"start-rule": ["host", /^(host|all-ready|full|at)$/],
	"start-at": [0, 0, 2 ** 52],
	countdown: [3, 0, 60],
	"first-finish-ends": [false],
	bots: [true],
	"end-when-settled": [true],
	hosted: [true],
	repeated: [true],
	series: [1, 1, 30],
}

// The options that nobody chose, by their names.
const named = tag => ({seats: "players", "start-rule": "start"})[tag] ?? tag.replaceAll("-", "_")
const MANDATORY = {deal: ["random"], undo: ["no-reveal"], limit: [900]}
export const USUAL = Object.fromEntries(
	Object.entries({...LINES, ...MANDATORY}).map(([tag, [usual]]) => [named(tag), usual])
)

// Returns the value of a text, or undefined if it has another form.
function valueOf(text, form, most) {
	if (form === undefined) return {yes: true, no: false}[text]
	if (form.test) return form.test(text) ? text : undefined
	return /^(0|[1-9]\d{0,15})$/.test(text) && text >= form && text <= most ? Number(text) : undefined
}

// Returns the values of terms. `games` are the rules of all games by their names, and `rulesHash` gives their hash by a
// name. Throws UnknownTerms, or an Error if no release has written the text.
export function readTerms(text, games, rulesHash) {
	const lines = text.split("\n")
	demand(lines.pop() === "", "The terms of the race are cut off.")
	const [values, isUsual] = [{}, []]
	const know = (condition, what) =>
		demand(condition, `Only another release or server understands the terms of the race: ${what}.`, UnknownTerms)
	for (const [tag, [usual, ...form]] of Object.entries(LINES)) {
		const isThere = lines[0]?.startsWith(`${tag}: `)
		const value = isThere ? valueOf(lines.shift().slice(tag.length + 2), ...form) : usual
		demand(value !== undefined, `The terms of the race have no right line '${tag}'.`)
		isUsual.push(isThere && value === (tag === "games" ? values.game : usual))
		values[named(tag)] = value
		const names = tag === "game" ? [value] : tag === "games" && isThere ? value.split(" ") : []
		for (const name of names) know(Object.hasOwn(games, name), `the game '${name}'`)
		know(tag !== "rules" || value === rulesHash(values.game), `other rules of '${values.game}'`)
	}
	know(!lines.length, `the line '${lines[0]}'`)
	const {room, round, game, rules, description, deal, private: isPrivate, tide, window, games: inTurn, ...others} = values
	const options = Object.freeze({...others, games: Object.freeze((inTurn || game).split(" ")), deal})
	const [kind, detail] = deal.split(" ")
	const hasDeal = name => kind !== "winnable" || !detail || games[name].states[detail]
	const isRight =
		!isUsual.includes(true) &&
		(kind !== "daily" || exists(detail)) &&
		options.games[round % options.games.length] === game &&
		options.games.every(hasDeal) &&
		(options.start === "at") === options.start_at > 0 &&
		(options.hosted || options.start !== "host")
	demand(isRight, "The terms of the race contradict one another, or have a line too many.")
	return Object.freeze({room, round, game, rules, description, deal, private: isPrivate, tide, window, options, text})
}
