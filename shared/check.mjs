// Checks records of races (RECORDS.md) and proofs of deals (DEALS.md): the hashes, the deal, the line that wins it,
// every action of every player, and the standings. Written from these pages, without a look at the Python code.
//
//     node check.mjs [--deep] FILE...
//
// Node 18 or newer and the files beside this one are enough. With --deep, the solver also tries the earlier candidates.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { candidateOrder, cardsUp, deal, GAMES, hiddenCards, isWon, LARGEST_BUDGET } from "./rules.mjs";
import { play, seedOrder, sha256, textOf } from "./rules.mjs";
import { SOLVER, solve } from "./search.mjs";

// The names and forms of lines, in their order. A name that ends with "?" may be missing.
const [TEXT, NUMBER, HASH, HEAD] = [/^.+$/, /^(0|[1-9]\d{0,9})$/, /^[0-9a-f]{64}$/, /^[0-9a-f]{32}$/];
const [SECONDS, YES, UNDO] = [/^(0|[1-9]\d{0,5})\.\d{3}$/, /^yes$/, /^(free|no-reveal|off)$/];
const DEAL = /^(random|#(0|[1-9]\d{0,8})|winnable( easy| medium| hard)?|daily \d{4}-\d\d-\d\d)$/;
const GAME = new RegExp(`^(${Object.keys(GAMES).join("|")})$`);
const OPTIONS = { room: TEXT, round: NUMBER, game: GAME, deal: DEAL, undo: UNDO, limit: NUMBER };
const TERMS = { ...OPTIONS, start: TEXT, commitment: HASH };
const RACE = { ...TERMS, terms: HEAD, end: TEXT, players: NUMBER, "seed?": HASH };
const RESULT = { place: NUMBER, cards: NUMBER, "time?": SECONDS, "resigned?": YES };
const PLAYER = { player: TEXT, "bot?": YES, chain: HEAD, ...RESULT };
const PROOF = { room: TEXT, game: GAME, solver: NUMBER, budget: NUMBER, "least?": NUMBER, commitment: HASH };
const ORIGIN = { "public?": TEXT, "secret?": HASH, "restarts?": NUMBER };
const SEAT = /^seat: ([1-9]\d{0,2}) ([0-9a-f]{64}) ([0-9a-f]{64}) (.+)$/;

const head = (...parts) => sha256(...parts).subarray(0, 16);
const hex = (bytes) => bytes.toString("hex");
const bytesOf = (text) => Buffer.from(text, "hex");
const milliseconds = (seconds) => Number(seconds.replace(".", ""));

// Takes lines "name: value" from the front of a list.
function take(lines, form) {
  const values = {};
  for (const [key, pattern] of Object.entries(form)) {
    const name = key.replace("?", "");
    const isThere = lines[0]?.startsWith(`${name}: `) ?? false;
    assert(isThere || key !== name, `there is '${lines[0]}' instead of '${name}: ...'`);
    if (isThere) values[name] = lines.shift().slice(name.length + 2);
    assert(!isThere || pattern.test(values[name]), `'${name}: ${values[name]}' is not written as it should be`);
  }
  return values;
}

function takeWhile(lines, pattern) {
  const end = lines.findIndex((line) => !pattern.test(line));
  return lines.splice(0, end < 0 ? lines.length : end);
}

// Checks a line "seat: ..." of a proof. Returns the seat, the name, and the bytes that it adds to the mix.
function checkSeat(line, room) {
  const [, seat, commitment, share, name] = SEAT.exec(line) ?? [];
  assert(seat < 256, `'${line.slice(0, 20)}...' is not a seat`);
  const found = sha256("samedeal share v2\n", `${room}\n${name}\n`, bytesOf(share));
  assert(hex(found) === commitment, `the share of seat ${seat} is not the one committed to`);
  return { seat: Number(seat), player: `${seat} ${name}`, mixed: [Buffer.from([seat]), bytesOf(share)] };
}

const isRising = (numbers) => numbers.every((number, at) => at === 0 || numbers[at - 1] < number);

// Checks the proof of a deal. Returns its fields, the order of its cards, and the seats and names of its shares.
function checkProof(lines, isDeep) {
  assert(lines.shift() === "samedeal deal 2", "this is not the proof of a deal");
  const proof = { ...take(lines, PROOF), ...take(lines, ORIGIN) };
  const shares = takeWhile(lines, /^seat: /).map((line) => checkSeat(line, proof.room));
  Object.assign(proof, take(lines, { candidate: NUMBER, line: TEXT }));
  const isJoint = "secret" in proof && "restarts" in proof && shares.length > 0;
  const isPublic = "public" in proof && !("secret" in proof || "restarts" in proof || shares.length);
  assert(!lines.length && (isJoint || isPublic), "a line is missing, or there is one too many");
  assert(proof.candidate < 2 ** 32 && proof.budget > 0 && (proof.least ?? 2) > 1, "a number is too large or too small");
  assert(isRising(shares.map(({ seat }) => seat)), "the seats are not in rising order");

  const game = GAMES[proof.game];
  const secret = proof.public ? sha256("samedeal public v2\n", `${proof.public}\n`) : bytesOf(proof.secret);
  const terms = [proof.room, proof.game, proof.solver, proof.budget, proof.least].filter(Boolean);
  const promised = sha256("samedeal commitment v2\n", ...terms.map((term) => `${term}\n`), secret);
  assert(hex(promised) === proof.commitment, "the terms or the secret are not those committed to");
  const mix = proof.public ? secret : sha256("samedeal mix v2\n", secret, ...shares.flatMap(({ mixed }) => mixed));
  const order = candidateOrder(mix, Number(proof.candidate), game.decks);
  const after = proof.line.split(", ").reduce((piles, move) => piles && play(game, piles, move), deal(game, order));
  assert(after && isWon(game, after), "the line does not win");
  if (isDeep) checkCandidates(proof, mix);
  return { ...proof, order, players: shares.map(({ player }) => player) };
}

// Checks that the candidate that was dealt is the first one that the solver wins.
function checkCandidates(proof, mix) {
  const [game, dealt] = [GAMES[proof.game], Number(proof.candidate)];
  assert(Number(proof.solver) === SOLVER, `the deal needs version ${proof.solver} of the solver, not ${SOLVER}`);
  for (let number = 0; number <= dealt; number++) {
    const piles = deal(game, candidateOrder(mix, number, game.decks));
    const { outcome, states } = solve(proof.game, piles, Number(proof.budget));
    const fits = outcome === "won" && states >= (proof.least ?? 1);
    assert(fits === (number === dealt), `candidate ${number} should ${fits ? "" : "not "}have been dealt`);
  }
}

// Checks the deal of a race. Returns the order of its cards, the players with a share in it, and what was not checked.
function checkDeal(race, proofLines, isDeep) {
  const game = GAMES[race.game];
  const [kind, difficulty] = race.deal.split(" ");
  const hasProof = kind === "winnable" || kind === "daily";
  assert(hasProof === proofLines.length > 0 && hasProof !== "seed" in race, "this deal needs a proof, or else a seed");
  if (!hasProof) {
    const seed = bytesOf(race.seed);
    assert(hex(sha256("samedeal commitment v1\n", seed)) === race.commitment, "the seed is not the one committed to");
    const named = kind === "random" ? race.seed : hex(sha256(`samedeal seed v1\n${race.deal}`));
    assert(named === race.seed, "the seed is that of another deal");
    return { order: seedOrder(seed, game.decks), players: [], note: "" };
  }
  const proof = checkProof(proofLines, isDeep);
  for (const name of ["room", "game", "commitment"])
    assert(proof[name] === race[name], `the proof has another ${name}`);
  assert(proof.public === (kind === "daily" ? race.deal : undefined), "the proof is of another deal");
  const ofKind = kind === "daily" ? [1, LARGEST_BUDGET] : difficulty ? game.bands?.[difficulty] : [1, proof.budget];
  const fits = `${ofKind}` === `${proof.least ?? 1},${proof.budget}`;
  const isOtherSolver = kind === "winnable" && difficulty && Number(proof.solver) !== SOLVER;
  assert(fits || isOtherSolver, "the proof is of a deal of another kind");
  const note = ` (not checked: whether the deal is ${difficulty} for version ${proof.solver} of the solver)`;
  return { ...proof, note: isOtherSolver ? note : "" };
}

// Plays a player's actions again, and checks the result. Returns what decides the player's place.
function checkPlayer(lines, race, dealt) {
  const own = take(lines, PLAYER);
  const [game, name] = [GAMES[race.game], own.player];
  assert(!dealt.players.length || dealt.players.includes(name), `${name} has no share in the deal`);
  let now = head("samedeal chain 1\n", bytesOf(race.terms), `player: ${name}\n${own.bot ? "bot: yes\n" : ""}`);
  assert(own.chain === hex(now), `the chain of ${name} begins with another head`);
  let piles = deal(game, dealt.order);
  let [last, progress] = [0, 0];
  const past = [];
  for (const [at, line] of takeWhile(lines, /^\d/).entries()) {
    const [, seconds, digits, action] = /^(\S+) ([0-9a-f]{6}) (.+)$/.exec(line) ?? [];
    assert(SECONDS.test(seconds) && milliseconds(seconds) < 1000 * race.limit, `${line}: the time is wrong`);
    last = milliseconds(seconds);
    now = head("samedeal action 1\n", now, `${at + 1} ${last} ${action}\n`);
    assert(hex(now).startsWith(digits), `${line}: the action does not match the chain of ${name}`);
    const isUndo = action === "undo" && race.undo !== "off";
    const after = isUndo ? past.pop() : play(game, piles, action);
    assert(after, `${line}: ${name} could not do that`);
    // Taking back a move that turned up a card would hide it again.
    const hides = isUndo && hiddenCards(after) !== hiddenCards(piles);
    assert(!hides || race.undo === "free", `${line}: ${name} could not take that back`);
    if (cardsUp(after) !== cardsUp(piles)) progress = last;
    if (!isUndo) past.push(piles);
    piles = after;
  }
  assert(take(lines, { head: HEAD }).head === hex(now) && !lines.length, `the chain of ${name} ends with another head`);
  const [cards, finish] = [cardsUp(piles), isWon(game, piles) ? last : 0];
  assert(cards === Number(own.cards) && milliseconds(own.time ?? "0") === finish, `the result of ${name} is wrong`);
  return { ...own, seat: parseInt(name), rank: finish ? [0, finish, 0] : [1, -cards, progress] };
}

function checkRecord(lines, isDeep) {
  const terms = lines.slice(0, Object.keys(TERMS).length).map((line) => `${line}\n`);
  const race = take(lines, RACE);
  assert(race.terms === hex(head("samedeal terms 1\n", ...terms)), "the terms do not match the lines above them");
  const length = Date.parse(race.end) - Date.parse(race.start);
  assert(length >= 0 && length <= 1000 * race.limit, "the end is wrong");
  const proofLines = takeWhile(lines, /^proof: /).map((line) => line.slice("proof: ".length));
  const dealt = checkDeal(race, proofLines, isDeep);
  const players = [];
  while (lines.shift() === "" && lines.length) players.push(checkPlayer(takeWhile(lines, /./), race, dealt));
  const isWhole = players.length === Number(race.players);
  assert(!lines.length && (isWhole || players.length === 1), "players are missing");
  assert(isRising(players.map(({ seat }) => seat)), "the seats are not in rising order");
  const isBetter = (one, other) => one.rank.map((value, at) => value - other.rank[at]).find(Boolean) < 0;
  for (const player of isWhole ? players : []) {
    const better = players.filter((other) => isBetter(other, player)).length;
    assert(Number(player.place) === better + 1, `the place of ${player.player} is wrong`);
  }
  return players.map(({ place, player }) => `${place} ${player.replace(/^\d+ /, "")}`).join(", ") + dealt.note;
}

// Returns what a text says, if it holds.
function check(text, isDeep) {
  const lines = text.split("\n");
  assert(lines.pop() === "", "the last line is cut off");
  if (lines[0]?.startsWith("samedeal deal")) return checkProof(lines, isDeep).order.map(textOf).join(" ");
  assert(lines[0] === "samedeal record 2", "this is not a record of version 2");
  const digest = lines.pop();
  const above = lines.map((line) => `${line}\n`);
  assert(digest === `digest: ${hex(sha256(...above))}`, "the digest does not match the lines above it");
  return checkRecord(lines.slice(1), isDeep);
}

const isDeep = process.argv[2] === "--deep";
for (const file of process.argv.slice(isDeep ? 3 : 2)) {
  try {
    console.log(`${file}: holds: ${check(readFileSync(file, "utf8"), isDeep)}`);
  } catch (error) {
    if (!(error instanceof assert.AssertionError)) throw error;
    console.log(`${file}: wrong: ${error.message}`);
    process.exitCode = 1;
  }
}
