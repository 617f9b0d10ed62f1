// Hashes, shares, and the orders of cards (DEALS.md, RECORDS.md), for check.mjs. They need Node.
// Written from these pages, without a look at the Python code.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { shuffle } from "../../server/samedeal_server/page/static/rules.mjs";
import { descriptionText, rulesText } from "../../server/samedeal_server/page/static/terms.mjs";

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

// Whether the seat of a player is higher than that of the player before. A player is the number of a seat and a name.
export const isInOrder = (seat, at, all) =>
  parseInt(seat) < 256 && (at === 0 || parseInt(seat) > parseInt(all[at - 1]));

// Checks the shares of a deal. Returns the seats and names of their players, and their mix with the secret.
export function checkShares({ terms, commitment, draw }, secret, text) {
  const [players, mixed] = [[], [secret]];
  for (const [, seat, promised, share, name] of text.matchAll(/^seat: (\d+) (\S+) (\S+) (.+)$/gm)) {
    const above = [bytes(terms), bytes(commitment), `${seat}\n${name}\n${draw}\n`];
    const found = sha256("samedeal share 4\n", ...above, bytes(share));
    assert(found === promised, `the share of ${name} is not the one committed to`);
    players.push(`${seat} ${name}`);
    mixed.push(Buffer.from([seat]), bytes(share));
  }
  assert(players.every(isInOrder), "the seats are not in rising order");
  return { players, mix: bytes(sha256("samedeal mix v2\n", ...mixed)) };
}

// Returns the hash of the rules of a game, or an empty text if there is no such game.
export function rulesHash(described, name) {
  if (!Object.hasOwn(described, name)) return "";
  return sha256(rulesText(name, described[name]));
}

export const descriptionHash = (described, name) =>
  sha256("samedeal description 1\n", bytes(rulesHash(described, name)), descriptionText(described[name]));
