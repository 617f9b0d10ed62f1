// Hashes, and the orders of cards that follow from them (DEALS.md), for check.mjs. They need Node.
// Written from that page, without a look at the Python code.

import { createHash } from "node:crypto";
import { shuffle } from "../../server/samedeal_server/page/static/rules.mjs";

export const bytes = (hex) => Buffer.from(hex, "hex");
export const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

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
