// A race on Colyseus that knows no rules: each move is counted, told to the room, and acknowledged.
//
//   node colyseus.mjs [REDIS_SOCKET]
//
// With a Redis, each move is stored there before it is acknowledged. Prints its port and runs until it is killed.
import { Room, Server } from "@colyseus/core";
import { schema, t } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";
import { Redis } from "ioredis";

const redis = process.argv[2] ? new Redis({ path: process.argv[2], enableAutoPipelining: true }) : null;

const Tally = schema({ moves: t.number() });
const RaceState = schema({ tallies: t.map(Tally) });

class Race extends Room {
  maxClients = 4;
  patchRate = 100; // as often as Samedeal tells counts

  onCreate() {
    this.state = new RaceState();
    this.onMessage("act", async (client, move) => {
      const { sessionId } = client;
      if (redis) {
        await redis.xadd(`log:${this.roomId}:${sessionId}`, "*", "revision", move.revision, "action", move.action);
      }
      const tally = this.state.tallies.get(sessionId);
      tally.moves += 1;
      client.send("acked", { to: move.revision, moves: tally.moves });
    });
  }

  onJoin(client) {
    this.state.tallies.set(client.sessionId, new Tally().assign({ moves: 0 }));
  }
}

const transport = new WebSocketTransport();
const server = new Server({ transport, greet: false });
server.define("race", Race);
await server.listen(0, "127.0.0.1");
console.log(transport.server.address().port);
