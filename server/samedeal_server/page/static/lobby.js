// The list of rooms.

import { GAMES, dealName } from "./boards.js";
import { byId, copyLine, element, setText } from "./dom.js";
import { address } from "./link.js";

const INTERVAL = 5000;
const PHASES = { open: "Waiting for players", countdown: "Starting", racing: "Racing", finished: "Finished", closed: "Closed" };

export class Lobby {
	constructor() {
		setText(byId("title"), "Races");
		byId("facts").textContent = "Everyone plays the same cards. The first to finish wins.";
		this.list = element("ul", { class: "rooms" });
		this.none = element("p", {}, "Loading the rooms.");
		byId("main").replaceChildren(
			this.none,
			this.list,
			element("section", { class: "box" }, element("h2", {}, "Open a room from a terminal"), copyLine(`samedeal new ${address}`)),
		);
		setInterval(() => document.hidden || this.enter(), INTERVAL);
	}

	enter() {
		this.link.ask("listrooms").then(({ rooms }) => this.show(rooms), () => 0); // tried again soon
	}

	receive() {}

	showStatus() {
		setText(byId("status"), this.connection.sentence);
	}

	show(rooms) {
		setText(this.none, rooms.length ? "" : "No room is open right now. This list updates by itself.");
		const content = JSON.stringify(rooms);
		if (content === this.shown) return;
		this.shown = content;
		const focused = document.activeElement?.getAttribute("href");
		this.list.replaceChildren(...rooms.map((room) => element("li", {}, this.line(room))));
		if (focused) [...this.list.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
	}

	line({ room, game, deal, phase, players, seats, private: isPrivate, spectators, delay }) {
		const facts = [
			`${players} of ${seats} players`,
			dealName(deal),
			isPrivate ? "private" : "",
			spectators ? `shown ${delay} s late` : "no spectators",
		];
		return element(
			spectators ? "a" : "div",
			spectators ? { href: encodeURIComponent(room) + location.search, class: "box room" } : { class: "box room" },
			element("strong", {}, room),
			element("span", { class: `phase ${phase}` }, PHASES[phase] ?? phase),
			element("span", { class: "game" }, GAMES[game]?.title ?? game),
			element("small", {}, facts.filter(Boolean).join(" · ")),
		);
	}
}
