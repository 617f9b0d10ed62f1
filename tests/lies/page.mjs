// Judges races with the functions of the page. Reads a world a line, as page.py writes it, and writes a verdict a line.

import { createInterface } from "node:readline";
const [{ Evidence }, { noteReceived, noteSent }, { answerTo, wantedShare }, { decode }, { readRecord }, { Reading, verdict }] =
  await Promise.all(
    ["evidence.js", "observation.js", "own_draws.js", "msgpack.js", "record.js", "verdict.js"].map((name) =>
      import(new URL(name, `file://${process.argv[2]}/`))
    )
  );

const message = (text) => decode(Uint8Array.from(Buffer.from(text, "base64")).buffer);
const readings = new Map();

function readingOf(given) {
  const key = JSON.stringify(given);
  if (!readings.has(key)) readings.set(key, new Reading({ ...given, ...recordOf(given) }));
  return readings.get(key);
}

function recordOf({ record }) {
  try {
    return { record: record && readRecord(record) };
  } catch (error) {
    return { record: null, error: error.message };
  }
}

function judge({ asked, player, name, shares, steps, reading }) {
  let evidence = Evidence.asked(asked, player, name);
  let file = [];
  const words = new Set();
  const requests = [];
  for (const [what, text, now] of steps) {
    if (what === "sent") noteSent(evidence, message(text), now);
    else if (what === "received") {
      const shown = message(text);
      noteReceived(evidence, shown, now);
      if (/^(roomstate|drawn)$/.test(shown.type)) words.add(evidence.words);
    } else if (what === "draws") {
      const state = message(text);
      const draw = wantedShare(evidence, state);
      if (draw) evidence.plus(["share", draw, shares[draw - 1]]);
      requests.push(answerTo(evidence, state)?.type ?? "");
    }
    if (what === "taken over") evidence.finding("other_window");
    file.push(...evidence.fresh);
    evidence.fresh = [];
    if (what === "restarted") evidence = Evidence.of(file.map((fact) => JSON.parse(JSON.stringify(fact))));
    if (what === "forgot") {
      evidence = Evidence.asked(asked, player, name);
      file = [];
    }
  }
  const found = verdict(evidence, readingOf(reading));
  words.delete("");
  return { ...found, requests, deal_words: [...words].sort(), contradiction: evidence.contradiction ?? "" };
}

for await (const line of createInterface({ input: process.stdin })) {
  let result;
  try {
    result = judge(JSON.parse(line));
  } catch (error) {
    result = { error: error.stack };
  }
  console.log(JSON.stringify(result));
}
