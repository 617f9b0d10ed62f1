// The games, as games.json describes them, for programs that Node runs. The server sends browsers a module with the
// same games in it, so that they need not load two files, one after the other.

import {readFileSync} from "node:fs"

export const DESCRIBED = JSON.parse(readFileSync(new URL("games.json", import.meta.url), "utf8"))
