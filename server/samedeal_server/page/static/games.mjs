// The games, as games.json describes them: for the page for browsers, and for programs that Node runs.

const url = new URL("games.json", import.meta.url);
const isFile = url.protocol === "file:";

export const GAMES = isFile
  ? JSON.parse((await import("node:fs")).readFileSync(url, "utf8"))
  : await (await fetch(url)).json();
