// Checks proofs of joint deals (DEALS.md, Version 2): hashes, deal, and the winning line. Written from DEALS.md and
// RULES.md, without a look at the Python code. It needs only Node 18 or newer:
//
//     node check_deal.mjs FILE...
//
// It does not run the solver, so it does not check that no earlier candidate should have been dealt.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const RANKS = "A23456789TJQK";
const SUITS = "CDHS";
const rank = (card) => RANKS.indexOf(card[0]) + 1;
const suit = (card) => card[1];
const red = (card) => "DH".includes(suit(card));

const down = (card, under) => rank(card) === rank(under) - 1;
const alternating = (card, under) => down(card, under) && red(card) !== red(under);
const inSuit = (card, under) => down(card, under) && suit(card) === suit(under);
const anyCard = () => true;
const king = (card) => rank(card) === 13;
const triangle = (columns) => Array.from({ length: columns }, (_, at) => at + 1);

// build: which card goes on which in a column; base: which card goes to an empty column; lift: which cards move together.
export const GAMES = {
  athena: { decks: 1, columns: Array(7).fill(4), build: alternating, base: king, lift: alternating, hides: true, draws: 3, bands: [435, 1667] },
  steve: { decks: 2, columns: triangle(8), build: down, base: anyCard, lift: inSuit, takesBack: true, rows: true },
  phoenix: { decks: 1, columns: Array(6).fill(6), build: alternating, base: anyCard, lift: alternating, reserve: "qwertyuiasdfghjk", bands: [612, 1956] },
  "ace-of-hearts": { decks: 1, columns: triangle(7), build: inSuit, base: king, lift: anyCard, around: true, rows: true, bands: [294, 346] },
  willow: { decks: 1, columns: triangle(7), build: alternating, base: anyCard, lift: alternating, fans: "qwer", bands: [586, 4141] },
};

export class Wrong extends Error {}

export function demand(condition, message) {
  if (!condition) throw new Wrong(message);
}

export const sha256 = (...parts) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const number32 = (value) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value].map((byte) => byte & 255));

function shuffledDecks(decks, seed) {
  let block = Buffer.alloc(0), blocks = 0, at = 0;
  return shuffle(decks, () => {
    if (at === block.length) [block, at] = [sha256("samedeal order v2\n", Buffer.from([decks]), seed, number32(blocks++)), 0];
    return block[at++];
  });
}

export function shuffle(decks, next) {
  const cards = [];
  for (let deck = 0; deck < decks; deck++) for (const s of SUITS) for (const r of RANKS) cards.push(r + s);
  for (let last = cards.length - 1; last > 0; last--) {
    const choices = last + 1, fair = 256 - (256 % choices);
    let byte = next();
    while (byte >= fair) byte = next();
    const other = byte % choices;
    [cards[last], cards[other]] = [cards[other], cards[last]];
  }
  return cards;
}

export class Board {
  constructor(game, order) {
    this.game = game;
    const rest = [...order];
    this.columns = this.dealPiles(game.columns, rest, game.hides);
    const places = game.reserve ?? game.fans ?? "";
    this.others = this.dealPiles(Array(places.length).fill(game.fans ? 6 : 1), rest, false);
    this.keys = new Map([...this.columns.map((pile, at) => [String(at + 1), pile]), ...this.others.map((pile, at) => [places[at], pile])]);
    this.foundations = Array.from({ length: game.around ? 1 : 4 * game.decks }, () => []);
    this.foundations.forEach((pile, at) => this.keys.set(`0${at + 1}`, pile));
    this.stock = rest; // drawn from the front
    this.waste = [];
    if (game.draws) this.keys.set("w", this.waste);
  }

  dealPiles(sizes, cards, hides) {
    const piles = sizes.map(() => []);
    for (let row = 0; row < Math.max(0, ...sizes); row++)
      piles.forEach((pile, at) => row < sizes[at] && pile.push({ card: cards.shift(), hidden: hides && row % 2 === 0 }));
    return piles;
  }

  get won() {
    return this.foundations.reduce((sum, pile) => sum + pile.length, 0) === 52 * this.game.decks;
  }

  fitsFoundation(card, pile) {
    const top = pile.at(-1)?.card;
    if (this.game.around) return top ? rank(card) === (rank(top) % 13) + 1 : card === "AH";
    return top ? suit(card) === suit(top) && rank(card) === rank(top) + 1 : rank(card) === 1;
  }

  // Makes a move, and returns whether the rules allow it.
  play(text) {
    if (text === "draw" && this.game.draws) return this.draw();
    if (text === "deal" && this.game.rows) {
      if (!this.stock.length) return false;
      for (const column of this.columns) if (this.stock.length) column.push({ card: this.stock.shift(), hidden: false });
      return true;
    }
    const parts = /^(\S+) (\S)(?: x([2-9]|[1-9][0-9]))?$/.exec(text);
    const source = parts && this.keys.get(parts[1]);
    if (!source) return false;
    const size = Number(parts[3] ?? 1);
    const back = this.foundations.includes(source);
    const group = source.slice(-size).map(({ card }) => card);
    if (group.length !== size || source.slice(-size).some(({ hidden }) => hidden) || (back && !this.game.takesBack)) return false;
    if (size > 1 && !this.columns.includes(source)) return false;
    if (!group.every((card, at) => at === 0 || this.game.lift(card, group[at - 1]))) return false;
    const target = this.target(parts[2], group[0], size, back);
    if (!target || target === source) return false;
    target.push(...source.splice(-size));
    if (source.length) source.at(-1).hidden = false;
    return true;
  }

  target(key, card, size, back) {
    if (key === "0") return size === 1 && !back ? this.foundations.find((pile) => this.fitsFoundation(card, pile)) : undefined;
    const pile = this.keys.get(key);
    const top = pile?.at(-1)?.card;
    if (this.columns.includes(pile)) return (top ? this.game.build(card, top) : this.game.base(card)) ? pile : undefined;
    const onFan = this.game.fans && this.others.includes(pile) && top && rank(top) === rank(card) && size === 1 && !back;
    return onFan ? pile : undefined;
  }

  draw() {
    if (!this.stock.length && !this.waste.length) return false;
    if (this.stock.length) for (const card of this.stock.splice(0, this.game.draws)) this.waste.push({ card, hidden: false });
    else this.stock = this.waste.splice(0).map(({ card }) => card);
    return true;
  }
}

function parse(text) {
  const [first, ...lines] = text.split("\n");
  demand(first === "samedeal deal 2", "this is not the proof of a deal");
  demand(lines.pop() === "", "the last line is incomplete");
  const fields = { seat: [] };
  for (const line of lines) {
    const colon = line.indexOf(": ");
    const [name, value] = [line.slice(0, colon), line.slice(colon + 2)];
    if (name === "seat") fields.seat.push(value);
    else demand(colon > 0 && !(name in fields) && (fields[name] = value), `the line '${line.slice(0, 40)}' is wrong`);
  }
  if (fields.public && !fields.seat.length) delete fields.seat;
  const own = [...(fields.public ? ["public"] : ["seat", "secret", "restarts"]), ...("least" in fields ? ["least"] : [])];
  const names = [...own, "room", "game", "solver", "budget", "commitment", "candidate", "line"];
  demand(names.every((name) => fields[name]?.length) && Object.keys(fields).length === names.length, "the fields are wrong");
  for (const name of ["solver", "budget", "restarts", "candidate", "least"]) demand(/^(0|[1-9][0-9]{0,9})$/.test(fields[name] ?? 0), `the ${name} is wrong`);
  for (const name of ["commitment", "secret"]) demand(/^[0-9a-f]{64}$/.test(fields[name] ?? fields.commitment), `the ${name} is wrong`);
  demand(Object.hasOwn(GAMES, fields.game), "the game is unknown");
  demand(Number(fields.candidate) < 2 ** 32 && Number(fields.least ?? 2) > 1, "a number is too large or too small");
  return fields;
}

export function check(text) {
  const proof = parse(text);
  const secret = proof.public ? sha256("samedeal public v2\n", `${proof.public}\n`) : Buffer.from(proof.secret, "hex");
  const terms = [proof.room, proof.game, proof.solver, proof.budget, ...(proof.least ? [proof.least] : [])].map((term) => `${term}\n`);
  demand(sha256("samedeal commitment v2\n", ...terms, secret).toString("hex") === proof.commitment, "the commitment is wrong");
  let [mixed, before] = [[], 0];
  for (const line of proof.seat ?? []) {
    const parts = /^([1-9][0-9]{0,2}) ([0-9a-f]{64}) ([0-9a-f]{64}) (.+)$/.exec(line);
    demand(parts && Number(parts[1]) > before && Number(parts[1]) < 256, `the seat '${line.slice(0, 20)}' is wrong`);
    before = Number(parts[1]);
    const share = Buffer.from(parts[3], "hex");
    const hash = sha256("samedeal share v2\n", `${proof.room}\n`, `${parts[4]}\n`, share).toString("hex");
    demand(hash === parts[2], `the share of seat ${before} is wrong`);
    mixed.push(Buffer.from([before]), share);
  }
  const mix = proof.public ? secret : sha256("samedeal mix v2\n", secret, ...mixed);
  const seed = sha256("samedeal candidate v2\n", mix, number32(Number(proof.candidate)));
  const order = shuffledDecks(GAMES[proof.game].decks, seed);
  const board = new Board(GAMES[proof.game], order);
  proof.line.split(", ").forEach((move, at) => demand(board.play(move), `move ${at + 1} (${move}) of the line is not allowed`));
  demand(board.won, "the line does not win");
  return { ...proof, order, words: `mix ${mix.toString("hex")} seed ${seed.toString("hex")} order ${order.join(" ")}` };
}

export function report(checkText) {
  for (const file of process.argv.slice(2)) {
    try {
      console.log(`${file}: holds: ${checkText(readFileSync(file, "utf8")).words}`);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      process.exitCode = 1;
      console.log(`${file}: wrong: ${error.message}`);
    }
  }
}

if (process.argv[1].endsWith("check_deal.mjs")) report(check);
