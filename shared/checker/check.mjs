// Checks records of races (RECORDS.md) and proofs of deals (DEALS.md): the hashes, the deal, the line that wins it,
// every action of every player, and the standings. Written from these pages, without a look at the Python code.
//
//     node check.mjs [--games FILE] [--deep] FILE...
//
// It needs Node 18 or newer, the other files in its folder, and the rules and the solver in the folder of the page for
// browsers. With --games, it also knows the games in the games.json of a server's page.
// With --deep, the solver also tries the earlier candidates.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { bytes, candidateOrder, checkShares, descriptionHash, isInOrder } from "./hashes.mjs";
import { rulesHash, seedOrder, sha256 } from "./hashes.mjs";
import { cardsUp, play } from "./play.mjs";
import { DESCRIBED as shipped } from "../../server/samedeal_server/page/static/games.mjs";
import { deal, FACE_DOWN, RULES, rulesOf, textOf } from "../../server/samedeal_server/page/static/rules.mjs";
import { solve } from "../../server/samedeal_server/page/static/search.mjs";
import { exists, readTerms, SOLVER } from "../../server/samedeal_server/page/static/terms.mjs";

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
const described = { ...(files[0] === "--games" && gamesIn(files.splice(0, 2)[1])), ...shipped };
for (const name of Object.keys(described)) RULES[name] ??= rulesOf(described[name]);
const isDeep = files[0] === "--deep" && files.splice(0, 1).length > 0;

const needed = (game, hash = "") =>
  `it needs the games.json of a server that has '${game}'${hash}. Give it with --games FILE`;

// The forms of values. The other values are compared with what they should be.
const [NUMBER, HASH, NAME] = ["(0|[1-9]\\d{0,8})", "[0-9a-f]{64}", "[^\\s\\p{Cc}]+( [^\\s\\p{Cc}]+)*"];
const [TIME, TO_64] = ["\\d{4}-\\d\\d-\\d\\dT[\\d:.]{12}Z", "([1-9]|[1-5]\\d|6[0-4])"]; // a race has up to 64 players
const FORMS = {
  ...{ start: TIME, end: TIME, players: TO_64, seed: HASH, terms: HASH },
  ...{ room: "(?!-)[a-z0-9-]{1,24}(?<!-)", player: `${TO_64} ${NAME}`, bot: "yes", place: NUMBER },
  ...{ resigned: "yes", solver: NUMBER, budget: "[1-9]\\d{0,8}", least: "([2-9]|[1-9]\\d{1,8})" },
  ...{ secret: HASH, draw: "[1-5]", candidate: "(0|[1-9]\\d{0,2})" },
  lost: `[1-5] [1-9]\\d* (left|kicked|silent) ${NAME}`,
  seat: `[1-9]\\d* ${HASH} ${HASH} ${NAME}`,
};
const ACTIONS = "(?<actions>((0|[1-9]\\d{0,5})\\.\\d{3} [0-9a-f]{6} .+\n)*)";

// Returns the values of lines "name: value" below a first line. The pattern has their names.
function read(text, first, pattern) {
  const line = (_, name) => `(${name}: (?<${name}>${FORMS[name] ?? ".+"})\n)`;
  const lines = pattern.replace(/ ?\b([a-z]+)\b(?!>)/g, line).replace(" ACTIONS", ACTIONS);
  const found = new RegExp(`^${first}${lines}$`, "u").exec(text);
  assert(found, `the lines from '${text.split("\n", 1)}' on are not written as they should be`);
  return found.groups;
}

// Checks the proof of a deal. Returns its values, the order of its cards, and the seats and names of its shares.
function checkProof(text) {
  const lines = "room game solver budget least? terms commitment(public|secret draw lost* seat+) candidate line";
  const proof = read(text, "samedeal deal 5\n", lines);
  const [, repeated] = /^again ([0-9a-f]{64})$/.exec(proof.public) ?? [];
  const secret = bytes(proof.secret ?? repeated ?? sha256("samedeal public v2\n", proof.public, "\n"));
  const promised = sha256("samedeal commitment 3\n", bytes(proof.terms), secret);
  assert(promised === proof.commitment, "the terms or the secret are not those committed to");
  const { players, mix } = checkShares(proof, secret, text);
  // Somebody lost a seat in each draw before the last one.
  const lost = Array.from(text.matchAll(/^lost: (\d) (\d+)/gm), ([, draw, seat]) => ({ draw, seat }));
  const draws = lost.map(({ draw }) => draw);
  const areRising = lost.every(({ draw, seat }, at) => seat < 256 && !(draw < lost[at - 1]?.draw || draw > proof.draw));
  const areKnown = Array.from("12345".slice(0, proof.draw - 1)).every((draw) => draws.includes(draw));
  assert(proof.public || (areRising && areKnown), "the lost seats are not those of the draws");

  assert(rulesHash(described, proof.game), needed(proof.game));
  const [game, dealt] = [RULES[proof.game], Number(proof.candidate)];
  const orderOf = (candidate) => candidateOrder(proof.public ? secret : mix, candidate, game.decks);
  const order = orderOf(dealt);
  const after = proof.line.split(", ").reduce((piles, move) => play(game, piles, move), deal(game, order));
  assert(cardsUp(after) === order.length, "the line does not win");
  // The candidate that was dealt must be the first one that the solver wins.
  const isOtherSolver = Number(proof.solver) !== SOLVER;
  assert(!isDeep || !isOtherSolver, `the deal needs version ${proof.solver} of the solver, not ${SOLVER}`);
  const isSearched = Object.values(game.states).some((limits) => `${limits}` === `${proof.least ?? 1},${proof.budget}`);
  assert(!isDeep || isSearched, `no search has the limits ${proof.least ?? 1} and ${proof.budget}`);
  for (let number = 0; isDeep && number <= dealt; number++) {
    const { outcome, states } = solve(proof.game, deal(game, orderOf(number)), Number(proof.budget));
    const fits = outcome === "won" && states >= (proof.least ?? 1);
    assert(fits === (number === dealt), `candidate ${number} should ${fits ? "" : "not "}have been dealt`);
  }
  return { ...proof, order, players, isOtherSolver };
}

// Checks the deal of a race. Returns the order of its cards, the players who share in it, and what was not checked.
function checkDeal(race, proofText) {
  const [game, [kind]] = [RULES[race.game], /^daily|^again|^#|\w+$/.exec(race.deal)];
  if (race.seed) {
    const seed = { random: race.seed, "#": sha256("samedeal seed v1\n", race.deal) }[kind];
    const promised = sha256("samedeal commitment 3\n", bytes(race.terms), bytes(race.seed));
    assert(seed === race.seed && promised === race.commitment, "the seed is that of another deal");
    return { order: seedOrder(bytes(seed), game.decks), players: [], note: "" };
  }
  const isOther = race.description !== descriptionHash(described, race.game);
  assert(!isDeep || !isOther, `the server searched for a deal of '${race.game}' in another way`);
  const proof = checkProof(proofText);
  const isPublic = ["daily", "again"].includes(kind);
  const own = { ...race, public: isPublic ? race.deal : undefined };
  const isOwn = ["room", "game", "terms", "commitment", "public"].every((name) => proof[name] === own[name]);
  const isOtherSearch = isOther || proof.isOtherSolver;
  const fits = isOtherSearch || `${game.states[isPublic ? "daily" : kind]}` === `${proof.least ?? 1},${proof.budget}`;
  assert(isOwn && fits, "the proof is that of another deal");
  assert(proof.players.every((player) => parseInt(player) <= 64), "the proof has a seat that no race has");
  return { ...proof, note: isOtherSearch ? " (not checked: the search for the deal)" : "" };
}

const hiddenCards = (piles) => Object.values(piles).flat().filter((card) => card & FACE_DOWN).length;

// Plays a player's actions again, and checks the result. Returns also a score. The lowest score has the first place.
function checkPlayer(text, race, { order, players }) {
  const own = read(text, "", "(?<who>player bot?) chain place cards time? resigned? ACTIONS head");
  assert(!players.length || players.includes(own.player), `${own.player} has no share in the deal`);
  const first = sha256("samedeal chain 2\n", bytes(race.terms), `start: ${race.start}\n`, own.who);
  assert(own.chain === first, `${own.player} has another chain`);
  const [length, boards] = [new Date(race.end) - new Date(race.start), [deal(RULES[race.game], order)]];
  const { limit, undo } = race.options;
  let [now, revision, time, progress] = [own.chain, 0, 0, 0];
  for (const [line, seconds, digits, action] of own.actions.matchAll(/(\S+) (\S+) (.+)/g)) {
    const [before, earlier] = [boards.at(-1), time];
    time = Number(seconds.replace(".", ""));
    const isOpen = time >= earlier && time < 1000 * limit && time <= length && cardsUp(before) < order.length;
    assert(isOpen, `'${line}' has a time that is not possible`);
    now = sha256("samedeal action 2\n", bytes(now), `${++revision} ${time} ${action}\n`);
    assert(now.startsWith(digits), `'${line}' has another time or chain`);
    if (action === "undo" && undo !== "off") boards.pop();
    else boards.push(play(RULES[race.game], before, action));
    // Taking back a move that turned up a card hides it again.
    const mayUndo = boards.length && (undo === "free" || hiddenCards(boards.at(-1)) <= hiddenCards(before));
    assert(mayUndo, `'${line}': ${own.player} could not take that back`);
    if (cardsUp(boards.at(-1)) !== cardsUp(before)) progress = time;
  }
  const cards = cardsUp(boards.at(-1));
  const finish = cards === order.length && time > 0 ? (time / 1000).toFixed(3) : undefined;
  assert(own.cards === `${cards}` && own.time === finish && own.head === now, `the result of ${own.player} is wrong`);
  const isPossible = (!finish || !own.resigned) && Number(own.place) <= Number(race.players);
  assert(isPossible, `${own.player} can't have that place, or can't have resigned`);
  return { ...own, score: finish ? time : 1e9 * (105 - cards) + progress };
}

function checkRecord(text) {
  const [whole, ...digests] = text.split(/^digest: /m);
  assert(`${digests}` === `${sha256(whole)}\n`, "the digest does not match the lines above it");
  const [top, ...blocks] = whole.slice(0, -1).split(/(?<=\n)\n/);
  const [above, ...below] = top.split(/^(?=terms: )/m);
  const agreed = above.replace(/^.*\n/, "");
  const [, game, rules] = /^game: (.*)\nrules: (.*)$/m.exec(agreed) ?? [];
  const hash = ` whose rules have a hash that begins with ${rules?.slice(0, 12)}`;
  assert(game === undefined || rulesHash(described, game) === rules, needed(game, hash));
  const terms = readTerms(agreed, RULES, (name) => rulesHash(described, name));
  const lines = "terms commitment start end players(seed|(?<proofs>proof+))";
  const values = read(above.replace(agreed, "") + below.join(""), "samedeal record 3\n", lines);
  const race = { ...terms, ...values };
  assert(race.terms === sha256("samedeal terms 2\n", agreed), "the terms do not match the lines above them");
  const [start, end] = [new Date(race.start), new Date(race.end)];
  const areTimes = [race.start, race.end].every(exists) && start >= 0;
  assert(areTimes && start <= end && end - start <= 1000 * race.options.limit, "the start or the end is wrong");
  const dealt = checkDeal(race, race.proofs?.replace(/^proof: /gm, ""));
  const players = blocks.map((block) => checkPlayer(block, race, dealt));
  const isWhole = players.length > 0 && `${players.length}` === race.players;
  const seats = players.map(({ player }) => player);
  const names = seats.map((seat) => seat.replace(/^\d+ /, ""));
  assert((isWhole || players.length === 1) && seats.every(isInOrder), "players are missing or not in order");
  assert(new Set(names).size === names.length, "two players have the same name");
  const placeOf = ({ score }) => 1 + players.filter((other) => other.score < score).length;
  assert(!isWhole || players.every((each) => each.place === `${placeOf(each)}`), "the places are wrong");
  return players.map(({ place }, at) => `${place} ${names[at]}`).join(", ") + dealt.note;
}

for (const file of files) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
    const isProof = text.startsWith("samedeal deal");
    assert(isProof || Buffer.byteLength(text) <= 1_100_000, "the file is longer than any record");
    console.log(`${file}: holds: ${isProof ? checkProof(text).order.map(textOf).join(" ") : checkRecord(text)}`);
  } catch (error) {
    console.log(`${file}: wrong: ${error.message}`);
    process.exitCode = 1;
  }
}
