// How decks are shuffled and dealt (DEALS.md), and the rules of the games (RULES.md), for the page for browsers and for
// check.mjs. Written from these pages, without a look at the Python code.

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
// dealt: the pile of each card that is dealt, in order. states: for each kind of deal, the least and the most states
// that the solver may need.
const all = { winnable: [1, 100_000], daily: [1, 100_000] };
const usual = { decks: 1, base: any, build: alternating, lift: alternating, foundation: upFromAce, states: all };
const around = { ...usual, base: king, build: downInSuit, lift: any, foundation: upAround };
const states = (easy, medium) => ({ ...all, easy: [1, easy], medium: [easy + 1, medium], hard: [medium + 1, 100_000] });
const stairs = (columns) => Array.from({ length: columns }, (_, row) => "12345678".slice(row, columns)).join("");
export const GAMES = {
  athena: { ...usual, dealt: "1234567".repeat(4), hides: true, stock: "draw", base: king, states: states(435, 1667) },
  steve: { ...usual, decks: 2, dealt: stairs(8), stock: "deal", build: down, lift: downInSuit, takesBack: true },
  phoenix: { ...usual, dealt: "123456".repeat(6) + "qwertyuiasdfghjk", states: states(612, 1956) },
  "ace-of-hearts": { ...around, dealt: stairs(7), stock: "deal", states: states(294, 346) },
  willow: { ...usual, dealt: stairs(7) + "qwer".repeat(6), fan: sameRank, states: states(586, 4141) },
};
const FOUNDATIONS = ["01", "02", "03", "04", "05", "06", "07", "08"]; // most games leave some of them empty

// Shuffles new decks. The stream is an array of bytes.
export function shuffle(decks, stream) {
  const cards = Array(decks).fill(DECK).flat();
  let choices = cards.length;
  for (const byte of stream) {
    if (choices < 2 || byte >= 256 - (256 % choices)) continue;
    const other = byte % choices--;
    [cards[choices], cards[other]] = [cards[other], cards[choices]];
  }
  return cards;
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
    const isAllowed = target && mayLeave && isRun && `x${group.length}` === count;
    if (!isAllowed) throw new Error(`the rules do not allow '${move}'`);
    piles[from].push(...piles[from].splice(-1).map(turnUp));
    piles[target].push(...group);
  }
  return piles;
}
