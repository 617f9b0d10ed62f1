// The orders of cards that follow from seeds (DEALS.md), and the rules of the games (RULES.md), for check.mjs.
// Written from these pages, without a look at the Python code.

import { createHash } from "node:crypto";

// A card is 16 times its suit (clubs, diamonds, hearts, spades) plus its rank, and 64 more if it lies face down.
export const HIDDEN = 64;
const numbers = (count) => Array.from({ length: count }, (_, at) => at);
export const DECK = numbers(52).map((at) => 16 * Math.floor(at / 13) + (at % 13) + 1);
export const turnUp = (card) => card & ~HIDDEN;
export const rank = (card) => card & 15;
export const textOf = (card) => "A23456789TJQK"[rank(card) - 1] + "CDHS"[card >> 4];
const isRed = (card) => card > 16 && card < 48;

// Whether a card goes on another one. Cards of one suit and adjacent ranks are adjacent numbers.
const down = (card, under) => rank(card) === rank(under) - 1;
const alternating = (card, under) => down(card, under) && isRed(card) !== isRed(under);
const downInSuit = (card, under) => card === under - 1;
const upInSuit = (card, under) => card === under + 1;
const upAround = (card, under) => rank(card) === (rank(under) % 13) + 1;

// Whether a card goes to an empty pile.
export const any = () => true;
const king = (card) => rank(card) === 13;
const ace = (card) => rank(card) === 1;
const aceOfHearts = (card) => card === 33;

// columns and others (reserve or fans) are the numbers of cards dealt to each pile, by its key.
const columns = (...sizes) => Object.fromEntries(sizes.map((size, at) => [at + 1, size]));
const others = (keys, size) => Object.fromEntries([...keys].map((key) => [key, size]));
const stairs = columns(1, 2, 3, 4, 5, 6, 7);

// The least and the most states that the solver needs for an easy, medium or hard deal (DEALS.md, Difficulty).
export const LARGEST_BUDGET = 100_000;
const bands = (easy, medium) => ({ easy: [1, easy], medium: [easy + 1, medium], hard: [medium + 1, LARGEST_BUDGET] });

// build: which card goes on which in a column; base: which card goes to an empty column; lift: which cards move
// together; first and next: which card starts a foundation, and which one goes on which there.
const usual = { decks: 1, others: {}, foundations: 4, first: ace, next: upInSuit };
export const GAMES = {
  athena: {
    ...usual,
    ...{ columns: columns(4, 4, 4, 4, 4, 4, 4), build: alternating, base: king, lift: alternating },
    ...{ hides: true, draws: true, bands: bands(435, 1667) },
  },
  steve: {
    ...usual,
    ...{ columns: columns(1, 2, 3, 4, 5, 6, 7, 8), build: down, base: any, lift: downInSuit },
    ...{ decks: 2, foundations: 8, rows: true, takesBack: true },
  },
  phoenix: {
    ...usual,
    ...{ columns: columns(6, 6, 6, 6, 6, 6), build: alternating, base: any, lift: alternating },
    ...{ others: others("qwertyuiasdfghjk", 1), bands: bands(612, 1956) },
  },
  "ace-of-hearts": {
    ...usual,
    ...{ columns: stairs, build: downInSuit, base: king, lift: any },
    ...{ foundations: 1, first: aceOfHearts, next: upAround, rows: true, bands: bands(294, 346) },
  },
  willow: {
    ...usual,
    ...{ columns: stairs, build: alternating, base: any, lift: alternating },
    ...{ others: others("qwer", 6), fans: true, bands: bands(586, 4141) },
  },
};

export const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const number32 = (value) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);

// Shuffles new decks. The stream is an array of bytes.
function shuffle(decks, stream) {
  const cards = Array(decks).fill(DECK).flat();
  let next = 0;
  for (let last = cards.length - 1; last > 0; last--) {
    const choices = last + 1;
    while (stream[next] >= 256 - (256 % choices)) next++;
    const other = stream[next++] % choices;
    [cards[last], cards[other]] = [cards[other], cards[last]];
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
  const seed = sha256("samedeal candidate v2\n", mix, number32(candidate));
  const block = (at) => sha256("samedeal order v2\n", Buffer.from([decks]), seed, number32(at));
  return shuffle(decks, Buffer.concat(numbers(64).map(block)));
}

// Returns the piles of a new board by their keys. The first card of the stock leaves it first.
export function deal(game, order) {
  const [piles, stock] = [{ w: [] }, [...order]];
  for (const sizes of [game.columns, game.others])
    for (let row = 0; row < 8; row++)
      for (const key of Object.keys(sizes).filter((each) => row < sizes[each]))
        piles[key] = [...(piles[key] ?? []), stock.shift() + (game.hides && row % 2 === 0 ? HIDDEN : 0)];
  for (let at = 1; at <= game.foundations; at++) piles[`0${at}`] = [];
  return { ...piles, stock: stock.map((card) => card + HIDDEN) };
}

const foundations = (piles) => Object.keys(piles).filter((key) => /^0\d$/.test(key));
export const cardsUp = (piles) => foundations(piles).flatMap((key) => piles[key]).length;
export const isWon = (game, piles) => cardsUp(piles) === 52 * game.decks;
export const hiddenCards = (piles) => Object.values(piles).flat().filter((card) => card & HIDDEN).length;

// Returns the key of the pile to which a group goes, or undefined. Only single cards go to foundations and fans.
function targetOf(game, piles, key, card, isSingle) {
  const fits = (pile) => (pile.length ? game.next(card, pile.at(-1)) : game.first(card));
  if (key === "0") return isSingle ? foundations(piles).find((each) => fits(piles[each])) : undefined;
  const top = piles[key]?.at(-1);
  if (key in game.columns) return (top ? game.build(card, top) : game.base(card)) ? key : undefined;
  return isSingle && game.fans && key in game.others && top && rank(top) === rank(card) ? key : undefined;
}

// Returns the piles after a move, or undefined if the rules do not allow it.
export function play(game, piles, move) {
  const { stock, w: waste } = piles;
  if (move === "draw" && game.draws && stock.length)
    return { ...piles, stock: stock.slice(3), w: [...waste, ...stock.slice(0, 3).map(turnUp)] };
  if (move === "draw" && game.draws && waste.length) return { ...piles, stock: waste, w: [] };
  if (move === "deal" && game.rows && stock.length) {
    const row = Object.keys(game.columns).slice(0, stock.length);
    const filled = row.map((key, at) => [key, [...piles[key], turnUp(stock[at])]]);
    return { ...piles, ...Object.fromEntries(filled), stock: stock.slice(row.length) };
  }
  const [, from, to, count = "1"] = /^(0?[1-9a-z]) ([0-9a-z])(?: x([2-9]|[1-9]\d))?$/.exec(move) ?? [];
  const group = piles[from]?.slice(-count) ?? [];
  const [isSingle, isBack] = [group.length === 1, foundations(piles).includes(from)];
  if (group.length !== Number(count) || group.some((card) => card & HIDDEN)) return undefined;
  if (isBack ? !isSingle || !game.takesBack : !isSingle && !(from in game.columns)) return undefined;
  if (!group.every((card, at) => at === 0 || game.lift(card, group[at - 1]))) return undefined;
  const target = targetOf(game, piles, to, group[0], isSingle && !isBack);
  if (!target || target === from) return undefined;
  const left = piles[from].slice(0, -count);
  if (left.length) left.push(turnUp(left.pop()));
  return { ...piles, [from]: left, [target]: [...piles[target], ...group] };
}
