// Plays moves, as the rules of games say.

import { targetOf, turnUp } from "../../server/samedeal_server/page/static/rules.mjs";

// Returns the piles after a move. Fails if the rules do not allow it.
export function play(game, before, move) {
  const target = targetOf(game, before, move);
  if (!target) throw new Error(`the rules do not allow '${move}'`);
  const piles = structuredClone(before);
  const { stock, w: waste } = piles;
  const row = move === "draw" ? Array(game.drawn).fill("w") : game.columns;
  if (target !== "stock") {
    const [from, , count = "x1"] = move.split(" ");
    const group = piles[from].splice(-count.slice(1));
    piles[from].push(...piles[from].splice(-1).map(turnUp));
    piles[target].push(...group);
  } else if (stock.length) for (const key of row) piles[key].push(...stock.splice(0, 1).map(turnUp));
  else stock.push(...waste.splice(0));
  return piles;
}

// The number of cards on the foundations.
export const cardsUp = (piles) => Object.keys(piles).flatMap((key) => (/^0\d/.test(key) ? piles[key] : [])).length;
