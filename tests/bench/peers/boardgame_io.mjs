// A race on boardgame.io that knows no rules: each move is counted and told to the room, the mover included.
//
//   node boardgame_io.mjs
//
// The race lives in memory. Prints its port and runs until it is killed.
import boardgame from "boardgame.io/dist/cjs/server.js";
import core from "boardgame.io/dist/cjs/core.js";

// Without ignoreStaleStateID, boardgame.io drops the moves that players make at the same time.
const act = {
  move: ({ G, playerID }, _action) => {
    G.moves[playerID] += 1;
  },
  ignoreStaleStateID: true,
};

const race = {
  name: "race",
  setup: ({ ctx }) => ({ moves: Array(ctx.numPlayers).fill(0) }),
  moves: { act },
  turn: { activePlayers: core.ActivePlayers.ALL },
  disableUndo: true, // otherwise the server keeps every state of the race
};

const server = boardgame.Server({ games: [race], origins: [] });
const { appServer } = await server.run({ port: 0 });
console.log(appServer.address().port);
