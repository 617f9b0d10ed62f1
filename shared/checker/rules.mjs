// The orders of cards that follow from seeds (DEALS.md), and the rules of the games (RULES.md), for check.mjs.
// Written from these pages, without a look at the Python code.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";

// A card is 16 times its suit (clubs, diamonds, hearts, spades) plus its rank, and 64 more if it lies face down.
export const HIDDEN = 64;
export const DECK = Array.from({ length: 52 }, (_, at) => 16 * Math.floor(at / 13) + (at % 13) + 1);
export const turnUp = (card) => card & ~HIDDEN;
export const rank = (card) => card & 15;
export const textOf = (card) => "A23456789TJQK"[rank(card) - 1] + "CDHS"[card >> 4];
const isRed = (card) => card > 16 && card < 48;

// Whether a card goes on another one, or to an empty pile. Cards of one suit and adjacent ranks are adjacent numbers.
export const any = () => true;
const king = (card) => rank(card) === 13;
const down = (card, under) => rank(card) === rank(under) - 1;
const downInSuit = (card, under) => card === under - 1;
const alternating = (card, under) => down(card, under) && isRed(card) !== isRed(under);
const sameRank = (card, under) => rank(card) === rank(under);
const upFromAce = (card, under) => (under ? card === under + 1 : rank(card) === 1);
const upAround = (card, under) => (under ? rank(card) === (rank(under) % 13) + 1 : card === 33);

// base and build: which card goes to an empty column, and on another card there. lift: which cards move together.
// dealt: the pile of each card that is dealt, in order. states: the least and the most states that the solver needs.
const usual = { decks: 1, base: any, build: alternating, lift: alternating, foundation: upFromAce };
const around = { decks: 1, base: king, build: downInSuit, lift: any, foundation: upAround };
const states = (easy, medium) => ({ easy: [1, easy], medium: [easy + 1, medium], hard: [medium + 1, 100_000] });
const stairs = (columns) => Array.from({ length: columns }, (_, row) => "12345678".slice(row, columns)).join("");
export const GAMES = {
  athena: { ...usual, dealt: "1234567".repeat(4), hides: true, stock: "draw", base: king, states: states(435, 1667) },
  steve: { ...usual, decks: 2, dealt: stairs(8), stock: "deal", build: down, lift: downInSuit, takesBack: true },
  phoenix: { ...usual, dealt: "123456".repeat(6) + "qwertyuiasdfghjk", states: states(612, 1956) },
  "ace-of-hearts": { ...around, dealt: stairs(7), stock: "deal", states: states(294, 346) },
  willow: { ...usual, dealt: stairs(7) + "qwer".repeat(6), fan: sameRank, states: states(586, 4141) },
};
const FOUNDATIONS = ["01", "02", "03", "04", "05", "06", "07", "08"]; // most games leave some of them empty

export const bytes = (hex) => Buffer.from(hex, "hex");
export const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

// Shuffles new decks. The stream is an array of bytes.
function shuffle(decks, stream) {
  const cards = Array(decks).fill(DECK).flat();
  let choices = cards.length;
  for (const byte of stream) {
    if (choices < 2 || byte >= 256 - (256 % choices)) continue;
    const other = byte % choices--;
    [cards[choices], cards[other]] = [cards[other], cards[choices]];
  }
  return cards;
}

// Returns the cards of a random or numbered deal, the first one to be dealt first.
export function seedOrder(seed, decks) {
  const shake = createHash("shake256", { outputLength: 8192 }).update("samedeal order v1\n");
  return shuffle(decks, shake.update(Buffer.from([decks])).update(seed).digest());
}

// Returns the cards of a candidate for a winnable or daily deal.
export function candidateOrder(mix, candidate, decks) {
  const number = (value) => bytes(value.toString(16).padStart(8, "0"));
  const seed = bytes(sha256("samedeal candidate v2\n", mix, number(candidate)));
  const block = (_, at) => sha256("samedeal order v2\n", Buffer.from([decks]), seed, number(at));
  return shuffle(decks, bytes(Array.from({ length: 64 }, block).join("")));
}

// Returns the piles of a new board by their keys. The first card of the stock leaves it first.
export function deal(game, order) {
  const isHidden = (at) => at >= game.dealt.length || (game.hides && at % 14 < 7);
  const cards = order.map((card, at) => (isHidden(at) ? card + HIDDEN : card));
  const pile = (key) => cards.filter((_, at) => (game.dealt[at] ?? "stock") === key);
  return Object.fromEntries(["stock", "w", ...FOUNDATIONS, ...game.dealt].map((key) => [key, pile(key)]));
}

export const cardsUp = (piles) => FOUNDATIONS.flatMap((key) => piles[key]).length;
export const hiddenCards = (piles) => Object.values(piles).flat().filter((card) => card & HIDDEN).length;

// Only columns give and take several cards at once. Cards leave foundations only for columns.
const TRANSFER = /^([1-8] [1-8] x([2-9]|[1-9]\d)|[1-8a-z] [0-8a-z]|0[1-8] [1-8])$/;

// Returns the piles after a move. Fails if the rules do not allow it.
export function play(game, before, move) {
  const piles = structuredClone(before);
  const { stock, w: waste } = piles;
  const row = move === "draw" ? "www" : new Set(game.dealt);
  if (move === game.stock && stock.length) for (const key of row) piles[key].push(...stock.splice(0, 1).map(turnUp));
  else if (move === game.stock && waste.length) stock.push(...waste.splice(0));
  else {
    const [from, to, count = "x1"] = TRANSFER.test(move) ? move.split(" ") : [];
    const group = piles[from]?.splice(-count.slice(1)) ?? [];
    const isRun = group.every((card, at) => card < HIDDEN && (at === 0 || game.lift(card, group[at - 1])));
    const onColumn = (card, under) => (under ? game.build(card, under) : game.base(card));
    const fits = to === "0" ? game.foundation : to < "9" ? onColumn : game.fan;
    const target = Object.keys(piles).find((key) => key.startsWith(to) && fits?.(group[0], piles[key].at(-1)));
    const mayLeave = target !== from && (game.takesBack || from >= "1");
    assert(target && mayLeave && isRun && `x${group.length}` === count, `the rules do not allow '${move}'`);
    piles[from].push(...piles[from].splice(-1).map(turnUp));
    piles[target].push(...group);
  }
  return piles;
}
