// Judges races with the functions of the page, as page.py asks. A line has worlds, and so has the line that answers it.

import { createInterface } from "node:readline";
const [{ Evidence }, { noteReceived, noteSent }, { answerTo, wantedShare }, { decode }, { readRecord }, { Reading, faultOf, verdict }] =
  await Promise.all(
    ["evidence.js", "observation.js", "own_draws.js", "msgpack.js", "record.js", "verdict.js"].map((name) =>
      import(new URL(name, `file://${process.argv[2]}/`))
    )
  );

let kept = []; // the message and the client after each step of the races from which other worlds fork
let readings = [];

const frozen = (value) => {
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value); // so that no function changes what it is shown
};

const messageOf = (given) =>
  typeof given === "string" ? frozen(decode(Uint8Array.from(Buffer.from(given, "base64")).buffer)) : kept[given]?.message;

function copy(value) {
  if (value === null || typeof value !== "object" || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(copy);
  if (value instanceof Set) return new Set(value);
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, copy(each)]));
  const other = Object.create(Object.getPrototypeOf(value));
  for (const key of Object.keys(value)) other[key] = copy(value[key]);
  return other;
}

function readingOf(given) {
  let { record } = given;
  try {
    record &&= readRecord(record);
  } catch (error) {
    return new Reading({ ...given, record: null, fault: faultOf(error) });
  }
  return new Reading({ ...given, record });
}

function fresh(asked) {
  const { role, player, name } = asked;
  const evidence = new Evidence().plus(["asked", ...role]).plus(["known", player, name]);
  return { asked, evidence, file: [], words: new Set(), other: [] };
}

function step(client, what, message, now, answer) {
  const { evidence, asked } = client;
  if (what === "sent") noteSent(evidence, message, now);
  if (what === "taken over") evidence.finding("other_window");
  if (what === "received") {
    noteReceived(evidence, message, now);
    if (/^(roomstate|drawn)$/.test(message.type)) client.words.add(evidence.words);
    if (message.type === "roomstate") {
      const draw = wantedShare(evidence, message);
      if (draw) evidence.plus(["share", draw, asked.shares[draw - 1]]);
      const own = answerTo(evidence, message)?.type ?? "";
      if (own !== answer) client.other.push(`answers with ${own || "nothing"}, not with ${answer || "nothing"}`);
    }
  }
  client.file.push(...evidence.fresh);
  evidence.fresh = [];
  if (what === "restarted") client.evidence = Evidence.of(client.file.map((fact) => JSON.parse(JSON.stringify(fact))));
  if (what === "forgot") Object.assign(client, { ...fresh(asked), words: client.words });
}

function judge({ from, steps, keep, reading }) {
  const client = typeof from === "number" ? copy(kept[from].client) : fresh(frozen(from));
  for (const [what, given, now, answer] of steps) {
    const message = messageOf(given);
    step(client, what, message, now, answer);
    if (keep) kept.push({ message, client: copy(client) });
  }
  if (keep) return {};
  if (typeof reading === "object") readings.push(readingOf(reading));
  client.words.delete("");
  const found = verdict(client.evidence, typeof reading === "object" ? readings.at(-1) : readings[reading]);
  return { ...found, deal_words: [...client.words].sort(), other: client.other };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { clear, worlds } = JSON.parse(line);
  if (clear) [kept, readings] = [[], []];
  const found = worlds.map((world) => {
    try {
      return judge(world);
    } catch (error) {
      return { error: error.stack };
    }
  });
  console.log(JSON.stringify(found));
}
