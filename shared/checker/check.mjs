// Checks records of races (RECORDS.md) and proofs of deals (DEALS.md) with the modules of the page for browsers: the
// hashes, the deal, the line that wins it, every action of every player, and the standings.
//
//     node check.mjs [--games FILE] [--deep] FILE...
//
// It needs Node 18 or newer, and the folder of the page for browsers. With --games, it also knows the games in the
// games.json of a server's page. With --deep, the solver also tries the earlier candidates.

import { readFileSync } from "node:fs";
import { DESCRIBED } from "../../server/samedeal_server/page/static/games.mjs";

// Returns the games that a server describes. Records carry the hash of the rules, so nothing else has to be checked.
function gamesIn(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    console.error(`${path} can't be read as games.json (${error.message}). Save it from the page of the server.`);
    return process.exit(2);
  }
}

const files = process.argv.slice(2);
if (files[0] === "--games") Object.assign(DESCRIBED, { ...gamesIn(files.splice(0, 2)[1]), ...DESCRIBED });
const isDeep = files[0] === "--deep" && files.splice(0, 1).length > 0;

// The other modules read the games when they are loaded.
const PAGE = "../../server/samedeal_server/page/static";
const { checkAnswers, checkLimits, isRemoved, openDeal, openProof, readProof, searchAnswers } = await import(`${PAGE}/deal.js`);
const { isDescribed } = await import(`${PAGE}/race_hashes.js`);
const { LARGEST, checkRecord, readRecord } = await import(`${PAGE}/record.js`);
const { textOf } = await import(`${PAGE}/rules.mjs`);
const { SOLVER, UnknownTerms, demand } = await import(`${PAGE}/terms.mjs`);

// The candidate that was dealt must be the first one that the solver wins.
function checkSearch(proof) {
  checkAnswers(proof, []); // whether the search can be repeated
  checkAnswers(proof, searchAnswers(proof, () => {}));
}

// Returns the cards in the order in which they are dealt.
function cardsOf(text) {
  const proof = readProof(text);
  demand(proof, "The proof is not written as it should be.");
  demand(Object.hasOwn(DESCRIBED, proof.game), `This proof is of the game '${proof.game}'.`, UnknownTerms);
  demand(!proof.shares.some(isRemoved), "The operator removed a name from this proof, so it can't be checked.");
  const opened = openProof(proof);
  if (isDeep) checkSearch(opened);
  return opened.cards.map(textOf).join(" ");
}

// Returns the standings.
function standingsOf(text) {
  const record = readRecord(text);
  const deal = openDeal(record);
  const isKnown = !record.proof || (isDescribed(record.terms) && deal.solver === SOLVER);
  demand(isKnown || !isDeep, `The server searched for a deal of '${record.terms.game}' in another way.`);
  if (record.proof && isKnown) checkLimits(record.terms, deal);
  if (record.proof && isDeep) checkSearch(deal);
  checkRecord(record, deal.piles);
  const places = record.players.map(({ place, name }) => `${place} ${name}`).join(", ");
  return places + (isKnown ? "" : " (not checked: the search for the deal)");
}

for (const file of files) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
    const isProof = text.startsWith("samedeal deal");
    demand(isProof || Buffer.byteLength(text) <= LARGEST, "The file is longer than any record.");
    console.log(`${file}: holds: ${isProof ? cardsOf(text) : standingsOf(text)}`);
  } catch (error) {
    const help = error instanceof UnknownTerms ? " Save the games.json of the server, and give it with --games FILE." : "";
    console.log(`${file}: wrong: ${error.message}${help}`);
    process.exitCode = 1;
  }
}
