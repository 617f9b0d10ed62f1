// Elements of the page. All text that comes from elsewhere is set as text, never as markup.

export const DAY = 86_400_000 // ms

export const byId = id => document.getElementById(id)

export const element = (tag, ...more) => fill(document.createElement(tag), ...more)
export const svg = (tag, ...more) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), ...more)

function fill(made, attributes = {}, ...children) {
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith("on")) made[name] = value
		else if (value) made.setAttribute(name, value)
	}
	made.append(...children)
	return made
}

export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`

// Setting the same text again would make screen readers repeat it, and browsers lay out again.
export function setText(target, text) {
	if (target.textContent !== text) target.textContent = text
}

export function setAttribute(target, name, value) {
	if (target.getAttribute(name) !== value) target.setAttribute(name, value)
}

// Replace only the items that have changed: a link keeps the focus, and screen readers do not repeat the others.
export function showItems(list, items) {
	items.forEach((item, i) => {
		const old = list.children[i]
		if (!old) list.append(item)
		else if (!old.isEqualNode(item)) old.replaceWith(item)
	})
	while (list.children.length > items.length) list.lastChild.remove()
}

// A day in UTC, in which deals of the day begin.
export function dayOf(time, now) {
	const day = ["today", "yesterday"][Math.floor(now / DAY) - Math.floor(time / DAY)]
	return day ?? new Date(time).toLocaleDateString([], {day: "numeric", month: "short", timeZone: "UTC"})
}

export const dealName = deal => {
	if (deal.startsWith("again")) return "deal of an earlier race"
	if (deal.startsWith("daily ")) return `deal of ${deal.slice(6)}`
	return /^(random|winnable)/.test(deal) ? `${deal.replace("winnable", "fair").split(" ").reverse().join(" ")} deal` : `deal ${deal}`
}

// A line to copy, which the sheet of the system can send too, if it has one and `shared` says how.
export function copyLine(line, shared) {
	const code = element("code", {}, line)
	const button = element("button", {type: "button", onclick: copy}, "Copy")
	async function copy() {
		try {
			await navigator.clipboard.writeText(line)
		} catch {
			getSelection().selectAllChildren(code) // over plain http there is no clipboard
			document.execCommand("copy")
		}
		button.textContent = "Copied"
	}
	const share = shared && navigator.share ? element("button", {class: "main", onclick: () => navigator.share(shared).catch(() => {})}, "Share") : ""
	return element("div", {class: "line-to-copy"}, code, button, share)
}

export const forTerminals = command => element("details", {class: "terminals"}, element("summary", {}, "For terminals"), copyLine(command))

// A time such as 0:45 or 1:02:47, rounded down. `timeLeft` is rounded up, so that 0:00 is the end.
export const timeLeft = ms => clock(ms + 999)
export function clock(ms) {
	const seconds = Math.max(0, ms / 1000)
	const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(part => String(Math.floor(part)).padStart(2, "0"))
	return parts.join(":").replace(/^(00:)?0?/, "")
}

// A time such as Sunday 18:00, with its date if that is not within a week.
export const timeOfDay = time => new Date(time).toLocaleTimeString([], {timeStyle: "short"})
export const timeOfWeek = time => `${new Date(time).toLocaleDateString("en-GB", {weekday: "long", ...(time - Date.now() > 6 * DAY && {day: "numeric", month: "short"})})} ${timeOfDay(time)}`

// What the browser keeps for this page. If it keeps nothing, as in some frames and private windows, the page does.
const memory = {}
export const stored = {
	get(name) {
		try {
			return memory[name] ?? localStorage.getItem(name)
		} catch {
			return null
		}
	},
	lasts: true, // whether all of it survives a reload
	// A value of null removes what is kept.
	set(name, value) {
		memory[name] = value
		try {
			if (value === null) localStorage.removeItem(name)
			else localStorage.setItem(name, value)
			delete memory[name]
		} catch {
			stored.lasts = false
		}
	}
}

// Whether a key that was pressed is one of the game, and not for what has the focus.
export const isOfGame = ({key, target, ctrlKey, metaKey, altKey}) =>
	!(ctrlKey || metaKey || altKey || target.closest("input, select, dialog") || (/^(Enter| )$/.test(key) && target.closest("button, summary, a")))

// Let a button switch something on and off with `use`, as it was the last time.
export function toggle(button, name, usual, use) {
	const set = isOn => {
		button.ariaPressed = isOn
		button.onclick = () => {
			stored.set(name, !isOn)
			set(!isOn)
		}
		use(isOn)
	}
	set((stored.get(name) ?? String(usual)) === "true")
}

// Let the Tab key stop at only one of the buttons in an element, from which the arrow keys lead to the others.
// Call the function that is returned when buttons have come, gone, or been hidden.
export function keepOneStop(container) {
	const place = button => button.closest("[style]").style.order
	const buttons = () => [...container.querySelectorAll(":not([hidden]) > * > button")].sort((a, b) => place(a) - place(b))
	const stopAt = stop => {
		for (const button of container.querySelectorAll("button")) button.tabIndex = button === stop ? 0 : -1
	}
	const check = () => {
		const all = buttons()
		if (all.length && !all.some(each => each.tabIndex === 0)) stopAt(all[0])
	}
	container.addEventListener("focusin", ({target}) => target.matches("button") && stopAt(target))
	container.addEventListener("keydown", event => {
		const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key]
		const all = buttons()
		const at = all.indexOf(event.target)
		if (!step || at < 0) return
		event.preventDefault()
		all.at((at + step) % all.length).focus()
	})
	return check
}
