// The screen of a race: boards, standings, the chart, the check of the deal, and how to join.

import { GAMES, dealName } from "./boards.js";
import { BoardView, inWords, tableSize } from "./cards.js";
import { chart } from "./chart.js";
import { checkDeal } from "./deal.js";
import { byId, clock, copyLine, element, setText } from "./dom.js";
import { address } from "./link.js";
import { Race } from "./race.js";

const CAPTION = 34; // px, the height of a tile without its board
const GAP = 10; // px between tiles
const NARROW = 760; // px, the width of a screen on which the boards scroll
const CLOSED = "This room is closed. Here is what it showed last.";

const span = (name, ...children) => element("span", { class: name }, ...children);
const colour = ({ seat }) => `light-dark(hsl(${seat * 137.5} 60% 40%), hsl(${seat * 137.5} 60% 64%))`;

export class RaceScreen {
	constructor(room) {
		this.room = room;
		this.race = new Race();
		this.passphrase = "";
		this.tiles = new Map(); // by player
		this.rows = new Map(); // by player
		this.chosen = ""; // the player whose board is shown large
		this.connection = { live: false, sentence: "Connecting." };
		document.title = `${room} · Samedeal`;
		setText(byId("title"), room);
		this.boards = element("section", { class: "boards", "aria-label": "Boards" });
		this.all = element("button", { class: "all", hidden: true, onclick: () => this.choose("") }, "All boards");
		this.words = element("ul");
		this.wordsBox = element("details", { class: "box" }, element("summary", {}, "This board in words"), this.words);
		this.wordsBox.ontoggle = () => this.showWords();
		this.standings = element("tbody");
		const heads = ["Place", "Player", "Cards", "Moves"].map((name) => element("th", { scope: "col" }, name));
		const head = element("thead", {}, element("tr", {}, ...heads));
		const table = element("table", {}, element("caption", {}, "Standings"), head, this.standings);
		[this.chart, this.deal] = [element("div"), element("div")];
		this.join = element("section", { class: "box" });
		this.message = element("section", { class: "box message", hidden: true });
		this.layout = element(
			"div",
			{ class: "race", hidden: true },
			element("div", {}, this.all, this.boards),
			element("aside", {}, table, this.chart, this.deal, this.wordsBox, this.join),
		);
		byId("main").replaceChildren(this.message, this.layout);
		addEventListener("resize", () => this.fit());
		addEventListener("keydown", (event) => this.press(event));
		setInterval(() => this.showClock(), 250);
	}

	async enter() {
		try {
			const passphrase = this.passphrase && { passphrase: this.passphrase };
			const { room } = await this.link.ask("watch", { room: this.room, ...passphrase });
			this.room = room;
			this.isFresh = true;
			this.say("");
		} catch (refused) {
			if (refused.code) this.refuse(refused);
		}
	}

	refuse({ code, message, retryAfter }) {
		if (code === "bad_passphrase") this.askPassphrase();
		else if (code === "no_room" && this.race.room) this.say(CLOSED);
		else this.say(message, code === "no_spectators" ? "join" : "");
		if (retryAfter) setTimeout(() => this.link.welcomed && this.enter(), 1000 * retryAfter);
	}

	// Ask for whole boards, because a move does not fit the board that the page has.
	resync() {
		if (this.resyncing) return;
		this.resyncing = setTimeout(() => (this.resyncing = 0), 3000);
		this.enter();
	}

	receive(message) {
		const { race } = this;
		if (message.type === "roomstate") {
			if (this.isFresh) race.enter(message);
			else race.setRoom(message);
			this.isFresh = false;
		} else if (message.type === "notice") {
			setText(byId("news"), message.message);
			if (message.code === "kicked") this.say(message.message);
		} else if (race.isKnownGame) {
			if (message.type === "lateboard") race.showBoard(message);
			if (message.type === "latemove" && !race.showMove(message)) this.resync();
		}
		if (!race.room || this.drawing) return;
		this.drawing = true; // once for all messages that arrive together
		(document.hidden ? setTimeout : requestAnimationFrame)(() => this.show());
	}

	show() {
		const { race } = this;
		const { room } = race;
		const title = GAMES[room.game]?.title ?? room.game;
		this.drawing = false;
		this.layout.hidden = false;
		setText(byId("facts"), `${title} · ${dealName(room.deal)} · ${room.watching} watching`);
		if (!race.isKnownGame) this.say(`This page does not know the game ${room.game}. Watch it in a terminal.`, "watch");
		const rows = race.ranking();
		this.showTiles(rows);
		this.showStandings(rows);
		this.showChart(rows);
		this.showWords();
		this.showJoin();
		this.showClock();
		this.showStatus();
		this.announce(rows);
		if (room.phase === "finished" && room.seed.length + room.proof?.length) this.checkDeal();
		if (room.phase === "closed") this.say(CLOSED);
		this.fit();
	}

	showTiles(rows) {
		const { race } = this;
		const { game } = race.room;
		forget(this.tiles, rows, (tile) => tile.game !== game);
		if (!this.tiles.has(this.chosen)) this.chosen = "";
		this.all.hidden = !this.chosen;
		for (const row of race.isKnownGame ? rows.toSorted((a, b) => a.seat - b.seat) : []) {
			const { board } = row;
			const tile = this.tiles.get(row.player) ?? this.addTile(row, game);
			setText(tile.place, board ? String(row.place) : "");
			setText(tile.count, board ? `${row.count}/${race.cards}` : "");
			setText(tile.state, stateOf(row, race.room));
			tile.element.classList.toggle("gone", !row.connected);
			tile.element.classList.toggle("won", Boolean(row.finishedAt));
			tile.element.hidden = this.chosen !== "" && this.chosen !== row.player;
			const label = `Board of ${row.name}: ${row.count} of ${race.cards} cards on the foundations`;
			tile.view.element.setAttribute("aria-label", label);
			if (!board || tile.shown === board) continue;
			tile.view.show(board.piles, tile.shown && !tile.element.hidden);
			tile.shown = board;
			tile.element.dataset.revision = board.revision;
		}
	}

	addTile(row, game) {
		const view = new BoardView(game);
		const tile = { view, game, place: span("place"), state: span("state"), count: span("count") };
		const caption = element("header", {}, tile.place, this.nameButton(row), tile.state, tile.count);
		tile.element = element("article", { class: "tile", "data-player": row.player }, caption, view.element);
		tile.element.style.setProperty("--player", colour(row));
		view.element.addEventListener("click", () => this.choose(row.player));
		this.tiles.set(row.player, tile);
		this.boards.append(tile.element);
		return tile;
	}

	nameButton({ player, name, bot }) {
		const parts = [span("name", name), bot ? span("bot", "bot") : ""];
		return element("button", { onclick: () => this.choose(player) }, ...parts);
	}

	// Show one board large, or all of them again.
	choose(player) {
		this.chosen = this.chosen === player ? "" : player;
		this.show();
	}

	press(event) {
		if (event.altKey || event.ctrlKey || event.metaKey || event.target.tagName === "INPUT" || !this.chosen) return;
		const players = [...this.tiles.keys()];
		const at = players.indexOf(this.chosen);
		if (event.key === "Escape") this.choose("");
		else if (event.key === "ArrowRight") this.choose(players[(at + 1) % players.length]);
		else if (event.key === "ArrowLeft") this.choose(players.at(at - 1));
		else return;
		event.preventDefault();
	}

	// Make the boards as large as possible. On a narrow screen they scroll instead.
	fit() {
		const count = this.chosen ? 1 : this.tiles.size;
		if (!count) return;
		const [width, height] = tableSize(this.race.room.game);
		const wide = (across) => (this.boards.clientWidth - GAP * (across - 1)) / across;
		let columns = count > 3 ? 2 : 1;
		let best = Math.floor(wide(columns));
		if (innerWidth > NARROW || this.all.closest(".embed")) {
			const top = this.boards.getBoundingClientRect().top + scrollY;
			const tall = Math.max(240, innerHeight - top - 14);
			best = 0;
			for (let across = 1; across <= count; across++) {
				const down = Math.ceil(count / across);
				const high = (((tall - GAP * (down - 1)) / down - CAPTION) * width) / height;
				const size = Math.floor(Math.min(wide(across), high));
				if (size > best) [best, columns] = [size, across];
			}
		}
		this.boards.style.gridTemplateColumns = `repeat(${columns}, ${best}px)`;
	}

	showStandings(rows) {
		forget(this.rows, rows);
		rows.forEach((row, i) => {
			const shown = this.rows.get(row.player) ?? this.addRow(row);
			const numbers = row.board || row.final ? [row.place, row.count, row.moves] : ["", "", ""];
			shown.cells.forEach((cell, j) => setText(cell, String(numbers[j])));
			setText(shown.state, stateOf(row, this.race.room));
			shown.bar.style.width = `${(100 * row.count) / this.race.cards}%`;
			shown.element.classList.toggle("chosen", row.player === this.chosen);
			const there = this.standings.children[i];
			if (there !== shown.element) this.standings.insertBefore(shown.element, there ?? null);
		});
	}

	addRow(row) {
		const [place, count, moves] = [element("td"), element("td"), element("td")];
		const shown = { cells: [place, count, moves], state: span("state"), bar: span("bar") };
		shown.bar.style.setProperty("--player", colour(row));
		const head = element("th", { scope: "row" }, this.nameButton(row), shown.state, span("track", shown.bar));
		shown.element = element("tr", {}, place, head, count, moves);
		this.rows.set(row.player, shown);
		return shown;
	}

	showChart(rows) {
		const { starts, ends, phase, options } = this.race.room;
		const lines = rows
			.filter(({ board }) => board)
			.map((row) => ({
				colour: colour(row),
				chosen: row.player === this.chosen,
				points: this.race.progress.get(row.player).map(([time, count]) => [time - starts, count]),
			}));
		const latest = Math.max(...rows.map(({ board }) => board?.at ?? 0));
		const live = phase === "racing" ? Math.min(ends, this.link.now()) - 1000 * options.delay : 0;
		this.chart.replaceChildren(...(lines.length ? [chart(lines, Math.max(latest, live) - starts, this.race.cards)] : []));
	}

	showWords() {
		const board = this.race.boards.get(this.chosen);
		this.wordsBox.hidden = !board;
		if (!board || !this.wordsBox.open) return;
		const lines = inWords(this.race.room.game, board.piles).map((line) => element("li", {}, line));
		this.words.replaceChildren(...lines);
	}

	showJoin() {
		const { phase, next } = this.race.room;
		const joins = next || phase === "open";
		const line = `samedeal ${joins ? "join" : "watch"} ${address} ${next || this.room}`;
		if (line === this.joinShown) return;
		this.joinShown = line;
		const heading = element("h2", {}, joins ? "Join from a terminal" : "Watch in a terminal");
		const link = element("a", { href: encodeURIComponent(next) + location.search }, `Watch the rematch, ${next}`);
		this.join.replaceChildren(...(next ? [element("p", {}, link)] : []), heading, copyLine(line));
	}

	showClock() {
		const { room, boards } = this.race;
		if (!room) return;
		const now = this.link.now();
		const { delay, players, start_at: startAt } = room.options;
		const opens = room.starts + 1000 * delay - now;
		const texts = {
			open: startAt ? `Starts in ${clock(startAt - now)}` : `Waiting for the start, ${room.players.length} of ${players} players`,
			countdown: `Starts in ${clock(room.starts - now)}`,
			racing: `${clock(room.ends - now)} left${boards.size || opens < 0 ? "" : `, boards in ${clock(opens)}`}`,
			finished: "Finished",
			closed: "Closed",
		};
		setText(byId("clock"), texts[room.phase] ?? room.phase);
	}

	showStatus() {
		const { live, sentence } = this.connection;
		const { phase, options } = this.race.room ?? {};
		const isOver = phase === "finished" || phase === "closed";
		const text = options?.delay ? `Live, boards shown ${options.delay} s late` : "Live";
		setText(byId("status"), live ? (isOver ? "" : text) : `Not live. ${sentence}`);
	}

	async checkDeal() {
		const { boards, room, commitment, starts } = this.race;
		const piles = [...boards.values()].map((board) => board.piles.map((pile) => pile.map(({ code }) => code)));
		const steps = await checkDeal(room, commitment, piles, starts);
		const wrong = steps.some(([ok]) => ok === false);
		const unsure = steps.some(([ok]) => ok === null);
		const lines = steps.map(([ok, sentence]) => `${ok ? "✓" : ok === false ? "✗ Not so:" : "?"} ${sentence}`);
		if (lines.join() === this.dealShown) return;
		this.dealShown = lines.join();
		const verdict = wrong ? "✗ NOT a fair deal" : unsure ? "Fair deal, not fully checked" : "✓ Fair deal, checked here";
		const box = element(
			"details",
			{ class: `box deal ${wrong ? "wrong" : unsure ? "unsure" : "fair"}`, open: wrong },
			element("summary", {}, verdict),
			element("ul", {}, ...lines.map((line) => element("li", {}, line))),
		);
		this.deal.replaceChildren(box);
	}

	// Tell screen readers what changed, at most every five seconds.
	announce(rows) {
		const { phase } = this.race.room;
		const [leader] = rows.filter(({ board, count }) => board && count);
		const done = rows.filter(({ finishedAt }) => finishedAt);
		const said = (this.said ??= {});
		let text = "";
		if (phase !== said.phase) {
			const over = leader ? `The race is over. ${leader.name} is first.` : "The race is over.";
			text = { countdown: "The race is about to start.", racing: "The race is on.", finished: over }[phase];
		} else if (Date.now() - said.at < 5000) return;
		else if (done.length > said.done) text = `${done.at(-1).name} has finished.`;
		else if (phase === "racing" && leader && leader.player !== said.leader) text = `${leader.name} leads with ${leader.count} cards.`;
		else return;
		this.said = { phase, done: done.length, leader: leader?.player, at: Date.now() };
		setText(byId("news"), text ?? "");
	}

	// Show a sentence instead of the race, or above it.
	say(sentence, command = "") {
		const line = command && copyLine(`samedeal ${command} ${address} ${this.room}`);
		this.message.hidden = !sentence;
		this.message.replaceChildren(element("p", {}, sentence), line, element("a", { href: "./" + location.search }, "All rooms"));
	}

	askPassphrase() {
		const input = element("input", { type: "password", autocomplete: "off", required: true, id: "passphrase" });
		const label = element("label", { for: "passphrase" }, "This room is private. Passphrase:");
		const wrong = this.passphrase ? element("span", { role: "alert" }, "This passphrase is wrong.") : "";
		const form = element("form", {}, label, input, element("button", {}, "Watch"), wrong);
		form.onsubmit = (event) => {
			event.preventDefault();
			this.passphrase = input.value;
			this.enter();
		};
		this.message.hidden = false;
		this.message.replaceChildren(form);
		input.focus();
	}
}

// Remove what is shown of players who are gone, or meets a condition.
function forget(shown, rows, isOld = () => false) {
	for (const [player, found] of shown)
		if (isOld(found) || !rows.some((row) => row.player === player)) {
			found.element.remove();
			shown.delete(player);
		}
}

// What there is to say about a player besides the numbers.
function stateOf({ final, finishedAt, resigned, stuck, connected, ready, board }, { phase, starts }) {
	const time = final?.time || (finishedAt && finishedAt - starts);
	if (time) return `${final?.place === 1 ? "won" : "finished"} in ${clock(time)}`;
	if (resigned || final?.resigned) return "gave up";
	if (!connected && phase !== "finished") return "not connected";
	if (stuck && phase === "racing") return "stuck";
	return ready && !board && phase === "open" ? "ready" : "";
}
