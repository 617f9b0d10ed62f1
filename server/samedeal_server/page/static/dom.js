// Elements of the page. All text that comes from elsewhere is set as text, never as markup.

export const byId = (id) => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
		else if (value !== false && value !== undefined) made.setAttribute(name, value === true ? "" : value);
	}
	made.append(...children.filter((child) => child !== ""));
	return made;
}

// Setting the same text again would make screen readers repeat it, and browsers lay out again.
export function setText(target, text) {
	if (target.textContent !== text) target.textContent = text;
}

export function copyLine(line) {
	const code = element("code", {}, line);
	const button = element("button", { type: "button", onclick: copy }, "Copy");
	async function copy() {
		try {
			await navigator.clipboard.writeText(line);
		} catch {
			getSelection().selectAllChildren(code); // over plain http there is no clipboard
			document.execCommand("copy");
		}
		button.textContent = "Copied";
		setTimeout(() => (button.textContent = "Copy"), 2000);
	}
	return element("div", { class: "line-to-copy" }, code, button);
}

export function clock(ms) {
	const seconds = Math.max(0, Math.ceil(ms / 1000));
	const two = (number) => String(number).padStart(2, "0");
	return seconds < 3600
		? `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`
		: `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
