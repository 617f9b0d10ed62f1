// The page: which screen it shows, and what the user can set.

import { byId } from "./dom.js";
import { Link, remember } from "./link.js";
import { Lobby } from "./lobby.js";
import { RaceScreen } from "./screen.js";

const room = decodeURIComponent(location.pathname.split("/").pop()).trim().toLowerCase();
const root = document.documentElement;
root.classList.toggle("embed", new URLSearchParams(location.search).has("embed"));

function setSuits(four) {
	root.classList.toggle("four", four);
	byId("suits").setAttribute("aria-pressed", String(four));
	remember("suits", four ? "four" : "two", "localStorage");
}

setSuits(remember("suits", undefined, "localStorage") === "four");
byId("suits").onclick = () => setSuits(!root.classList.contains("four"));

document.querySelector(".brand").search = location.search; // a frame stays one

const screen = room ? new RaceScreen(room) : new Lobby();
screen.link = new Link({
	welcome: () => screen.enter(),
	message: (message) => screen.receive(message),
	status: (live, sentence) => {
		root.classList.toggle("away", !live);
		screen.connection = { live, sentence };
		screen.showStatus();
	},
});
