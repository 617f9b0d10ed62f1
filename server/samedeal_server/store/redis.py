"""What the server asks of Redis, and nothing else: one method a question, each a script or a pipeline."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from time import perf_counter
from typing import Any, Final

from msgspec.structs import replace
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.client import PubSub
from redis.commands.core import AsyncScript
from redis.exceptions import NoScriptError, RedisError

from samedeal.errors import Refused
from samedeal.protocol.codec import pack
from samedeal_server.metrics import Metrics
from samedeal_server.race import Race, Run
from samedeal_server.store import keys, layout
from samedeal_server.store.commits import Commit, Entry, GroupCommit, Verdict
from samedeal_server.store.events import Changed, Moved, Numbered, Presence, Said, read, write

STREAM_LENGTH: Final = 2000
"""Events that a room's stream keeps at the least; who missed more gets a snapshot."""

LIFETIME: Final = 8 * 86_400
"""Seconds for which what belongs to a room is kept after the last thing that happened in it: longer than any room waits."""

CLOSED_LIFETIME: Final = 60
"""Seconds for which a closed room is kept: every node has heard of it by then, and its code is free again."""

SESSION_LIFETIME: Final = 30 * 86_400
"""Seconds for which an unused session is kept."""

WATCH_HOLDS: Final = 45_000
"""Milliseconds for which a node's count of spectators holds unless it is said again."""

_SCRIPTS: Final = ("open", "settle", "attach", "presence", "commit", "watch", "say")
_RACE_FIELDS: Final = ("race", "layout", "engine")
_RUN_FIELDS: Final = Run.__struct_fields__


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A race as the store has it.

    ``version`` is what to settle against, ``event`` the newest one's number, ``now`` the store's time in milliseconds.
    """

    race: Race
    version: int
    event: int
    now: int
    runs: dict[str, Run]
    watching: int


@dataclass(frozen=True, slots=True)
class Secret:
    """What only dealing, revealing and the door may read."""

    seed: bytes
    salt: bytes
    hash: bytes


class Store:
    """Redis, asked in the words of races. Every method raises ``redis.RedisError`` when Redis does not answer."""

    def __init__(self, redis: Redis, metrics: Metrics | None = None) -> None:
        self.metrics = metrics or Metrics()
        # redis-py's types leave open whether an answer is bytes or text; here it is bytes, and is converted at once.
        self.redis: Any = redis
        self._scripts: dict[str, AsyncScript] = {
            name: redis.register_script(files(__package__).joinpath(f"lua/{name}.lua").read_bytes())
            for name in _SCRIPTS
        }
        self._commits = GroupCommit(self._commit_batch)

    async def load_scripts(self) -> None:
        """Have Redis know the scripts; a script it has forgotten is loaded again when it is next called."""
        for script in self._scripts.values():
            await self.redis.script_load(script.script)

    async def check_layout(self) -> None:
        """Whether what is kept here can be shared. Raises StartupError where it can't."""
        layout.check((await self.redis.hgetall(keys.LAYOUTS)).items(), await self.now() - 1000 * LIFETIME)

    async def mark_layout(self) -> None:
        """Say which layout is written here."""
        await self.redis.hset(keys.LAYOUTS, *layout.mark(await self.now()))

    async def probe(self) -> None:
        """Write something that does not matter, as a sign that writes are taken."""
        await self.redis.set(keys.PROBE, b"1", px=1000)

    async def now(self) -> int:
        """The one clock: milliseconds since 1970."""
        return _millis(await self.redis.time())

    # ---------------------------------------------------------------- races

    async def open(self, race: Race, secret: Secret) -> bool:
        """Open a room; False when there is one of that code."""
        # The index first: an entry without a room is swept away, a room without an entry would be lost.
        await self.redis.zadd(keys.ROOMS, {race.room: race.created}, nx=True)
        room = race.room
        opened = await self._scripts["open"](
            keys=[keys.meta(room), keys.secret(room), keys.events(room), keys.watchers(room)],
            args=[pack(race), race.phase, secret.seed, secret.salt, secret.hash, LIFETIME, *layout.WRITTEN],
        )
        await self.redis.zadd(keys.DUE, {room: race.due()}, nx=True)
        return bool(opened)

    async def load(self, room: str) -> Snapshot | None:
        """A room's race and runs, or None where there is no such room.

        Raises Refused ``other_version`` for one that only another version of Samedeal can serve.
        """
        async with self.redis.pipeline(transaction=False) as pipe:
            pipe.time()
            pipe.hmget(keys.meta(room), "version", "event", "ends", *_RACE_FIELDS)
            pipe.hget(keys.watchers(room), ":all")
            time, (version, event, ends, *race_fields), watching = await pipe.execute()
        if version is None:
            return None
        race = replace(layout.read_race(room, *race_fields), ends=int(ends))
        return Snapshot(race, int(version), int(event), _millis(time), await self.runs(race), int(watching or 0))

    async def races(self, rooms: Sequence[str]) -> list[Race | None]:
        """The races of rooms, None where there is no such room, or none that can be served here."""
        async with self.redis.pipeline(transaction=False) as pipe:
            for room in rooms:
                pipe.hmget(keys.meta(room), "ends", *_RACE_FIELDS)
            found = await pipe.execute()
        races: list[Race | None] = [None] * len(rooms)
        for at, (room, (ends, *race_fields)) in enumerate(zip(rooms, found, strict=True)):
            if ends is not None:
                with suppress(Refused):
                    races[at] = replace(layout.read_race(room, *race_fields), ends=int(ends))
        return races

    async def runs(self, race: Race) -> dict[str, Run]:
        """How far each player of a race has come."""
        async with self.redis.pipeline(transaction=False) as pipe:
            for racer in race.racers:
                pipe.hmget(keys.run(race.room, racer.player), _RUN_FIELDS)
            found = await pipe.execute()
        return {
            racer.player: Run(**{name: int(value or 0) for name, value in zip(_RUN_FIELDS, values, strict=True)})
            for racer, values in zip(race.racers, found, strict=True)
        }

    async def settle(self, before: Snapshot, race: Race, what: tuple[str, ...], by: str) -> bool:
        """Put a race in the place of the one it was made from; False when another change came first."""
        room = race.room
        players = [racer.player for racer in (*before.race.racers, *race.racers)]
        owned = {key for player in players for key in (keys.run(room, player), keys.log(room, player))}
        number = await self._scripts["settle"](
            keys=[keys.meta(room), keys.events(room), keys.secret(room), keys.watchers(room), *sorted(owned)],
            args=[
                before.version,
                pack(race),
                race.phase,
                race.starts,
                race.ends,
                write(Changed(race, what, by)),
                STREAM_LENGTH,
                CLOSED_LIFETIME if race.phase == "closed" else LIFETIME,
                " ".join(racer.player for racer in race.racers if racer.out),
                keys.channel(room),
            ],
        )
        if number:
            await self.index(race)
        return bool(number)

    async def index(self, race: Race) -> None:
        """Have the indexes say of a race what it says itself."""
        async with self.redis.pipeline(transaction=False) as pipe:
            if race.phase == "closed":
                pipe.zrem(keys.ROOMS, race.room)
                pipe.zrem(keys.DUE, race.room)
            else:
                pipe.zadd(keys.ROOMS, {race.room: race.created})
                pipe.zadd(keys.DUE, {race.room: race.due()})
            await pipe.execute()

    async def postpone(self, room: str, due: int) -> None:
        """Have the index say that time has nothing for a room before ``due``, until its own nodes say otherwise."""
        await self.redis.zadd(keys.DUE, {room: due}, xx=True)

    async def forget(self, room: str) -> None:
        """Take a room out of the indexes if it is no more."""
        if await self.redis.exists(keys.meta(room)):
            return
        await self.redis.zrem(keys.ROOMS, room)
        await self.redis.zrem(keys.DUE, room)

    async def count_rooms(self) -> int:
        """How many rooms there are, about."""
        return int(await self.redis.zcard(keys.ROOMS))

    async def newest_rooms(self, most: int) -> list[str]:
        """The codes of the newest rooms, newest first."""
        return [room.decode() for room in await self.redis.zrevrange(keys.ROOMS, 0, most - 1)]

    async def due_rooms(self, now: int, most: int) -> list[str]:
        """The codes of rooms that time has something for."""
        found = await self.redis.zrangebyscore(keys.DUE, "-inf", now, start=0, num=most)
        return [room.decode() for room in found]

    async def secret(self, room: str) -> Secret | None:
        """A room's secret, or None where there is no such room."""
        seed, salt, hashed = await self.redis.hmget(keys.secret(room), "seed", "salt", "hash")
        return None if seed is None else Secret(seed, salt, hashed)

    # ---------------------------------------------------------------- players

    async def attach(self, room: str, player: str) -> int:
        """Make a new connection of a player the only one that may commit; returns its generation, 0 without a room."""
        return int(
            await self._scripts["attach"](
                keys=[keys.meta(room), keys.run(room, player), keys.events(room)],
                args=[f"H {player} ", " 1", STREAM_LENGTH, LIFETIME, keys.channel(room)],
            )
        )

    async def presence(self, room: str, player: str, generation: int, *, here: bool, tell: bool) -> int:
        """Say that a connection is still there, or gone; returns the player's newest generation."""
        event = write(Presence(player, generation, here)) if tell else b""
        return int(
            await self._scripts["presence"](
                keys=[keys.meta(room), keys.run(room, player), keys.events(room)],
                args=[generation, int(here), event, STREAM_LENGTH, keys.channel(room)],
            )
        )

    async def watched(self, room: str, node: str, count: int) -> int:
        """Say how many watch a room through a node; returns how many do through all."""
        return int(
            await self._scripts["watch"](
                keys=[keys.meta(room), keys.watchers(room), keys.events(room)],
                args=[node, count, WATCH_HOLDS, "W ", STREAM_LENGTH, LIFETIME, keys.channel(room)],
            )
        )

    async def say(self, room: str, text: str) -> bool:
        """Have everybody in a room told something; False where there is no such room."""
        return bool(
            await self._scripts["say"](
                keys=[keys.meta(room), keys.events(room)],
                args=[write(Said(text)), STREAM_LENGTH, LIFETIME, keys.channel(room)],
            )
        )

    async def commit(self, commit: Commit) -> Verdict:
        """Commit an action; the verdict is there when Redis has it."""
        return await self._commits.commit(commit)

    async def _commit_batch(self, commits: Sequence[Commit]) -> list[Verdict | Exception]:
        sent = perf_counter()
        found = await self._send_commits(commits)
        self.metrics.commit.observe(perf_counter() - sent)
        self.metrics.batch.observe(len(commits))
        forgotten = [at for at, verdict in enumerate(found) if isinstance(verdict, NoScriptError)]
        if forgotten:
            await self.redis.script_load(self._scripts["commit"].script)
            again = await self._send_commits([commits[at] for at in forgotten])
            for at, answer in zip(forgotten, again, strict=True):
                found[at] = answer
        return [
            answer if isinstance(answer, Exception) else _verdict(commit, answer)
            for commit, answer in zip(commits, found, strict=True)
        ]

    async def _send_commits(self, commits: Iterable[Commit]) -> list[Any]:
        script = self._scripts["commit"]
        async with self.redis.pipeline(transaction=False) as pipe:
            for one in commits:
                room, player = one.room, one.player
                event = Moved(
                    player, one.revision + 1, one.action, one.seen, one.up, one.moves, one.undos, one.home, one.over
                )
                pipe.evalsha(
                    script.sha,
                    4,
                    keys.meta(room),
                    keys.run(room, player),
                    keys.log(room, player),
                    keys.events(room),
                    player,
                    one.generation,
                    one.revision,
                    one.request,
                    one.action,
                    one.seen,
                    one.up,
                    one.moves,
                    one.undos,
                    int(one.home),
                    int(one.over),
                    int(one.first_home_ends),
                    write(event),
                    STREAM_LENGTH,
                    keys.channel(room),
                    LIFETIME,
                )
            return list(await pipe.execute(raise_on_error=False))

    async def log(self, room: str, player: str, first: int = 1, last: int | None = None) -> list[Entry]:
        """A player's committed actions from one revision to another, both included."""
        end = "+" if last is None else f"{last}-0"
        return [
            _entry(id_, fields) for id_, fields in await self.redis.xrange(keys.log(room, player), f"{first}-0", end)
        ]

    # ---------------------------------------------------------------- events

    async def events(self, room: str, after: int) -> list[Numbered] | None:
        """The events of a room after a number, in order; None when some of them, or the room, are kept no more."""
        async with self.redis.pipeline(transaction=False) as pipe:
            pipe.hget(keys.meta(room), "event")
            pipe.xrange(keys.events(room), f"{after + 1}-0", "+")
            newest, found = await pipe.execute()
        numbered = [
            Numbered(int(id_.split(b"-")[0]), int(fields[b"at"]), read(fields[b"event"])) for id_, fields in found
        ]
        last = after + len(numbered)
        gapless = [each.number for each in numbered] == list(range(after + 1, last + 1))
        return numbered if gapless and newest is not None and after <= int(newest) <= last else None

    @asynccontextmanager
    async def announcements(self) -> AsyncIterator[PubSub]:
        """The connection over which events are announced.

        It is never one of those that commands are sent over: what is read from it would be taken for their answers.
        """
        pool = self.redis.connection_pool
        apart = ConnectionPool(pool.connection_class, **pool.connection_kwargs)
        async with Redis.from_pool(apart) as redis, redis.pubsub() as pubsub:
            yield pubsub

    # ---------------------------------------------------------------- sessions

    async def keep_session(self, token_hash: str, player: str) -> None:
        """Keep a session."""
        await self.redis.set(keys.session(token_hash), player, ex=SESSION_LIFETIME)

    async def session(self, token_hash: str) -> str | None:
        """The player of a session, which is kept on; None where there is none any more."""
        player = await self.redis.getex(keys.session(token_hash), ex=SESSION_LIFETIME)
        return None if player is None else player.decode()


def _millis(time: tuple[int, int]) -> int:
    return time[0] * 1000 + time[1] // 1000


def _entry(id_: bytes, fields: dict[bytes, bytes]) -> Entry:
    return Entry(
        revision=int(id_.split(b"-")[0]),
        request=int(fields[b"id"]),
        action=fields[b"action"].decode(),
        seen=fields[b"seen"],
        up=int(fields[b"up"]),
        moves=int(fields[b"moves"]),
        undos=int(fields[b"undos"]),
        at=int(fields[b"at"]),
    )


def _verdict(commit: Commit, answer: list[Any]) -> Verdict:
    match answer:
        case [b"ok", at]:
            return Verdict("ok", at=int(at), revision=commit.revision + 1)
        case [b"again", *flat]:
            fields = dict(zip(flat[::2], flat[1::2], strict=True))
            entry = _entry(f"{commit.revision + 1}-0".encode(), fields)
            return Verdict("again", at=entry.at, revision=entry.revision, entry=entry)
        case [b"stale", revision]:
            return Verdict("stale", revision=int(revision))
        case [reason]:
            return Verdict(reason.decode())
    raise RedisError(f"the commit script answered {answer!r}")
