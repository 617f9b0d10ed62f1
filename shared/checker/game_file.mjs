// Reads the games of a file that an operator wrote (CONTRIBUTING.md, Add a game), for check.mjs: as much of TOML as
// such files need. It does not look for mistakes, because records carry the hash of the rules.

import { readFileSync } from "node:fs";

const TOKEN = /"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#.*|\n|[[\]{}=,]|[\w.+-]+/g;

// Returns the value that begins a list of tokens, and removes its tokens.
function value(tokens) {
  const token = tokens.shift();
  if (!"[{".includes(token)) return token.startsWith("'") ? token.slice(1, -1) : JSON.parse(token);
  const items = [];
  for (;;) {
    while (["\n", ","].includes(tokens[0])) tokens.shift();
    if (!tokens.length || "]}".includes(tokens[0])) break;
    items.push(token === "[" ? value(tokens) : [tokens.shift(), tokens.shift() && value(tokens)]);
  }
  tokens.shift();
  return token === "[" ? items : Object.fromEntries(items);
}

function parse(text) {
  const tokens = text.match(TOKEN).filter((token) => !token.startsWith("#"));
  const file = {};
  let table = file;
  while (tokens.length) {
    const token = tokens.shift();
    if (token === "\n") continue;
    if (token !== "[") table[token] = tokens.shift() && value(tokens);
    else if (tokens[0] === "[") {
      const [, name] = tokens.splice(0, 4);
      (file[name] ??= []).push((table = {}));
    } else table = tokens.splice(0, 2)[0].split(".").reduce((outer, name) => (outer[name] ??= {}), file);
  }
  return file;
}

const LIFTS = { foundation: "nothing", stock: "nothing" };

function pile({ kind, keys, cards, faces = "up", build = "not at all", empty = "nothing", lift }) {
  const [names, isStock] = [keys.split(" "), kind === "stock"];
  const sizes = isStock ? [] : names.map((_, at) => Number(cards?.split(" ")[at] ?? 0));
  lift ??= LIFTS[kind] ?? "the top card";
  return { kind, keys, sizes, faces: isStock ? "down" : faces, build, empty, lift };
}

const game = ({ decks = 1, suits = 4, stock = "none", difficulty, search, piles }) =>
  ({ decks, suits, stock, difficulty, search, piles: piles.map(pile) });

// Returns the games in a file by their names, as games.json describes them. That file itself also has their weights for
// the solver.
export function gamesIn(path) {
  const text = readFileSync(path, "utf8");
  if (path.endsWith(".json")) return JSON.parse(text);
  const { variants = {}, ...file } = parse(text);
  const name = path.split(/[\\/]/).at(-1).slice(0, -".toml".length);
  const all = { [name]: file, ...variants };
  return Object.fromEntries(Object.entries(all).map(([each, changes]) => [each, game({ ...file, ...changes })]));
}
