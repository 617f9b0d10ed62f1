// Checks records of races (RECORDS.md): hashes, deal, every action of every player, and the standings. Written from
// RECORDS.md, DEALS.md and RULES.md, without a look at the Python code. It needs only Node 18 or newer:
//
//     node check_record.mjs FILE...
//
// Like check_deal.mjs, which has the rules of the games, it does not run the solver.

import { createHash } from "node:crypto";
import { check as checkProof, Board, demand, GAMES, report, sha256, shuffle } from "./check_deal.mjs";

const head = (...parts) => sha256(...parts).subarray(0, 16);
const hex = (bytes) => bytes.toString("hex");
const NUMBER = /^(0|[1-9][0-9]{0,8})$/;
const TERMS = ["room", "round", "game", "deal", "undo", "limit", "start", "commitment"];

// One player's play: a board that can undo, and that knows which moves turned up a card.
class Play {
  constructor(game, order, undo) {
    [this.board, this.undo, this.past, this.unseen] = [new Board(game, order), undo, [], 0];
    this.unseen = this.board.stock.length;
  }

  get cards() {
    return this.board.foundations.reduce((sum, pile) => sum + pile.length, 0);
  }

  snapshot() {
    const { columns, others, foundations, waste, stock } = this.board;
    return [[...columns, ...others, ...foundations, waste].map((pile) => pile.map((each) => ({ ...each }))), [...stock]];
  }

  restore([piles, stock]) {
    const { columns, others, foundations, waste } = this.board;
    [...columns, ...others, ...foundations, waste].forEach((pile, at) => pile.splice(0, pile.length, ...piles[at]));
    this.board.stock = stock;
  }

  // Makes an action, and returns whether the rules allow it.
  act(action) {
    if (action === "undo") {
      const last = this.past.pop();
      if (!last || this.undo === "off" || (this.undo === "no-reveal" && last.reveals)) return false;
      this.restore(last.before);
      return true;
    }
    const before = this.snapshot();
    if (!this.board.play(action)) return false;
    const hidden = (piles) => piles.flat().filter((each) => each.hidden).length;
    const drawn = Math.min(this.unseen, Math.max(0, before[1].length - this.board.stock.length));
    this.unseen -= drawn;
    this.past.push({ before, reveals: drawn > 0 || hidden(before[0]) !== hidden(this.board.columns) });
    return true;
  }
}

// Reads lines from top to bottom.
class Reader {
  constructor(lines) {
    [this.lines, this.at] = [lines, 0];
  }

  next(name) {
    const line = this.lines[this.at++];
    demand(line?.startsWith(`${name}: `), `line ${this.at} is not '${name}: ...'`);
    return line.slice(name.length + 2);
  }

  has(name) {
    return this.lines[this.at]?.startsWith(`${name}: `);
  }

  blank() {
    demand(this.lines[this.at++] === "", `line ${this.at} is not blank`);
  }
}

function milliseconds(text) {
  const parts = /^(0|[1-9][0-9]{0,5})\.([0-9]{3})$/.exec(text);
  demand(parts, `'${text}' is not a time`);
  return Number(parts[1]) * 1000 + Number(parts[2]);
}

function orderOf(race, reader, seats) {
  const [, kind, level] = /^(winnable|daily)(?: (.+))?$/.exec(race.deal) ?? [];
  demand(Boolean(kind) === Boolean(reader.has("proof")), "only a winnable or daily deal has a proof");
  if (reader.has("proof")) {
    let text = "";
    while (reader.has("proof")) text += `${reader.next("proof")}\n`;
    const proof = checkProof(text);
    for (const name of ["room", "game", "commitment"]) demand(proof[name] === race[name], `the proof has another ${name}`);
    demand(proof.public === (kind === "daily" ? race.deal : undefined), "the proof is of another deal");
    const limits = [0, ...(GAMES[race.game].bands ?? []), 100000];
    const at = kind === "daily" || !level ? 0 : ["easy", "medium", "hard"].indexOf(level);
    demand(at >= 0 && (at < limits.length - 1), "the difficulty is unknown");
    const budget = kind === "daily" ? 100000 : level ? limits[at + 1] : Number(proof.budget);
    const fits = Number(proof.budget) === budget && Number(proof.least ?? 1) === limits[at] + 1;
    demand(fits || proof.solver !== "1", "the proof is of another difficulty");
    for (const line of proof.seat ?? []) seats.add(line.replace(/ [0-9a-f]{64} [0-9a-f]{64} /, " "));
    return proof.order;
  }
  const text = reader.next("seed");
  demand(/^[0-9a-f]{64}$/.test(text), "the seed is wrong");
  const seed = Buffer.from(text, "hex");
  demand(hex(sha256("samedeal commitment v1\n", seed)) === race.commitment, "the seed is not the one committed to");
  if (race.deal !== "random") demand(hex(sha256(`samedeal seed v1\n${race.deal}`)) === text, "the seed is not that of the deal");
  const { decks } = GAMES[race.game];
  const shake = createHash("shake256", { outputLength: 8192 });
  const stream = shake.update("samedeal order v1\n").update(Buffer.from([decks])).update(seed).digest();
  let at = 0;
  return shuffle(decks, () => stream[at++]);
}

function checkPlayer(race, terms, order, seats, reader) {
  let lines = `player: ${reader.next("player")}\n`;
  const [, seat, name] = /^player: ([1-9][0-9]{0,2}) (.+)\n$/.exec(lines) ?? [];
  demand(name && (!seats.size || seats.has(`${seat} ${name}`)), "the player has no share in the deal");
  if (reader.has("bot")) lines += `bot: ${reader.next("bot")}\n`;
  let now = head("samedeal chain 1\n", terms, lines);
  demand(reader.next("chain") === hex(now), `the chain of ${name} begins with another head`);
  const place = Number(reader.next("place"));
  const cards = Number(reader.next("cards"));
  const finish = reader.has("time") ? milliseconds(reader.next("time")) : 0;
  if (reader.has("resigned")) demand(reader.next("resigned") === "yes", "the word after 'resigned' is wrong");
  const play = new Play(GAMES[race.game], order, race.undo);
  let [progress, last] = [0, 0];
  for (let revision = 1; /^[0-9]/.test(reader.lines[reader.at] ?? ""); revision++) {
    const [, seconds, digits, action] = /^(\S+) ([0-9a-f]{6}) (.+)$/.exec(reader.lines[reader.at++]) ?? [];
    demand(action, `line ${reader.at} is not an action`);
    last = milliseconds(seconds);
    now = head("samedeal action 1\n", now, `${revision} ${last} ${action}\n`);
    demand(hex(now).startsWith(digits), `line ${reader.at}: the action does not match the chain of ${name}`);
    demand(last < 1000 * race.limit, `line ${reader.at}: the time was up`);
    const before = play.cards;
    demand(play.act(action), `line ${reader.at}: ${name} could not play ${action}`);
    if (play.cards !== before) progress = race.start + last;
  }
  demand(reader.next("head") === hex(now), `the chain of ${name} ends with another head`);
  demand(play.cards === cards && finish === (play.board.won ? last : 0), `the result of ${name} is wrong`);
  return { seat: Number(seat), name, place, rank: finish ? [0, finish, 0] : [1, -cards, progress] };
}

const compare = (one, other) => one.rank.map((value, at) => value - other.rank[at]).find((difference) => difference) ?? 0;

function check(text) {
  const lines = text.split("\n");
  demand(lines[0] === "samedeal record 2", "this is not a record of version 2");
  demand(lines.pop() === "" && lines.at(-1).startsWith("digest: "), "the record is cut off");
  const digest = lines.pop();
  const above = lines.map((line) => `${line}\n`).join("");
  demand(digest === `digest: ${hex(sha256(above))}`, "the digest does not match the lines above it");
  const reader = new Reader(lines.slice(1));
  const race = Object.fromEntries(TERMS.map((name) => [name, reader.next(name)]));
  const terms = head("samedeal terms 1\n", ...lines.slice(1, 1 + TERMS.length).map((line) => `${line}\n`));
  demand(reader.next("terms") === hex(terms), "the terms do not match the lines above them");
  for (const name of ["round", "limit"]) demand(NUMBER.test(race[name]), `the ${name} is wrong`);
  demand(Object.hasOwn(GAMES, race.game), "the game is unknown");
  demand(["free", "no-reveal", "off"].includes(race.undo), "the undo rule is unknown");
  [race.start, race.end] = [race.start, reader.next("end")].map(Date.parse);
  demand(race.end >= race.start && race.end <= race.start + 1000 * race.limit, "the end is wrong");
  race.players = Number(reader.next("players"));
  const seats = new Set();
  const order = orderOf(race, reader, seats);
  const players = [];
  while (reader.at < reader.lines.length - 1) {
    reader.blank();
    players.push(checkPlayer(race, terms, order, seats, reader));
    demand(players.length < 2 || players.at(-2).seat < players.at(-1).seat, "the seats are not in rising order");
  }
  reader.blank();
  demand([1, race.players].includes(players.length), "players are missing");
  for (const player of players.length === race.players ? players : []) {
    const better = players.filter((other) => compare(other, player) < 0).length;
    demand(player.place === better + 1, `the place of ${player.name} is wrong`);
  }
  return { words: players.map(({ place, name }) => `${place} ${name}`).join(", ") };
}

report(check);
