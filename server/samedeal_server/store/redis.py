"""What the server asks of Redis, and nothing else: one method a question, each a script or a pipeline."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from time import perf_counter
from typing import Any, ClassVar, Final

from msgspec.structs import replace
from redis.asyncio.client import PubSub
from redis.exceptions import NoScriptError, RedisError

from samedeal.errors import Refused
from samedeal.protocol.codec import pack
from samedeal_server.limits import WINDOW
from samedeal_server.metrics import Metrics
from samedeal_server.race import Race, Run
from samedeal_server.receipts import KEY_BYTES
from samedeal_server.store import keys, layout
from samedeal_server.store.commits import Commit, Entry, GroupCommit, Verdict
from samedeal_server.store.database import Command, Database, Word, on
from samedeal_server.store.events import Changed, Moved, Numbered, Presence, Said, read, write

STREAM_LENGTH: Final = 2000
"""Events that a room's stream keeps at the least; who missed more gets a snapshot."""

LIFETIME: Final = 8 * 86_400
"""Seconds for which what belongs to a room is kept after the last thing that happened in it: longer than any room waits."""

CLOSED_LIFETIME: Final = 60
"""Seconds for which a closed room is kept: every node has heard of it by then, and its code is free again."""

SESSION_LIFETIME: Final = 30 * 86_400
"""Seconds for which an unused session is kept."""

GUEST_LIFETIME: Final = 3_600
"""Seconds for which an unused session is kept that has taken no seat yet, and watched nothing."""

WATCH_HOLDS: Final = 45_000
"""Milliseconds for which a node's count of spectators holds unless it is said again."""

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


class Script:
    """A script that Redis runs in one piece. It is named by its hash, and sent whole to a Redis that does not know it."""

    sources: ClassVar[dict[str, bytes]] = {}

    def __init__(self, name: str) -> None:
        lua = files(__package__) / "lua"
        source = (lua / "telling.lua").read_bytes() + (lua / f"{name}.lua").read_bytes()
        self._hash = hashlib.sha1(source, usedforsecurity=False).hexdigest()
        self.sources[self._hash] = source

    def __call__(self, keys: Sequence[str], *arguments: Word) -> Command:
        """The command that runs it. All keys share a hash tag."""
        return Command(keys[0], ("EVALSHA", self._hash, len(keys), *keys, *arguments))

    @classmethod
    def whole(cls, command: Command) -> Command:
        """The same command with the script itself in the place of its hash."""
        _, name, *words = command.words
        return Command(command.key, ("EVAL", cls.sources[str(name)], *words))


_OPEN: Final = Script("open")
_SETTLE: Final = Script("settle")
_ATTACH: Final = Script("attach")
_PRESENCE: Final = Script("presence")
_COMMIT: Final = Script("commit")
_WATCH: Final = Script("watch")
_SAY: Final = Script("say")
_CONFIRM: Final = Script("confirm")


class Store:
    """Redis, asked in the words of races. Every method raises ``redis.RedisError`` when Redis does not answer.

    What is acknowledged to players is kept by replicas first, where that was asked for: open, settle, attach, commit and
    keep_session. What is only read may be newer than that; ``confirm`` says that it is kept.
    """

    def __init__(self, redis: Database, metrics: Metrics | None = None) -> None:
        self.metrics = metrics or Metrics()
        # What redis-py answers has no types here; it is converted at once.
        self.redis: Any = redis
        self.receipt_key = b""
        self._commits = GroupCommit(self._commit_batch)

    async def ask(self, *commands: Command, kept: bool = False) -> list[Any]:
        """Send commands and return their answers; ``kept`` as in Database. Raises the first error among them."""
        answers = await self._attempt(commands, kept=kept)
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    async def _attempt(self, commands: Sequence[Command], *, kept: bool = False) -> list[Any]:
        answers: list[Any] = await self.redis.attempt(commands, kept=kept)
        unknown = [at for at, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
        if unknown:
            found = await self.redis.attempt([Script.whole(commands[at]) for at in unknown], kept=kept)
            for at, answer in zip(unknown, found, strict=True):
                answers[at] = answer
        return answers

    async def check_layout(self) -> None:
        """Whether what is kept here can be shared. Raises StartupError where it can't."""
        (marks,) = await self.ask(on("HGETALL", keys.LAYOUTS))
        layout.check(marks.items(), await self.now() - 1000 * LIFETIME)

    async def mark_layout(self) -> None:
        """Say which layout is written here."""
        await self.ask(on("HSET", keys.LAYOUTS, *layout.mark(await self.now())))

    async def probe(self) -> str:
        """Write something that does not matter, as a sign that writes are taken; returns what part takes none, if any."""
        await self.ask(on("SET", keys.PROBE, "1", "PX", 1000), kept=True)
        return ""

    async def share_key(self) -> None:
        """Have the key under which receipts are made: the one that is kept, or a new one for all nodes."""
        _, self.receipt_key = await self.ask(
            on("SET", keys.RECEIPTS, secrets.token_bytes(KEY_BYTES), "NX"), on("GET", keys.RECEIPTS), kept=True
        )

    async def now(self) -> int:
        """The one clock: milliseconds since 1970."""
        (time,) = await self.ask(Command(keys.ROOMS, ("TIME",)))
        return _millis(time)

    async def confirm(self, room: str) -> None:
        """Return when replicas have all that was written to a room before, where they are to have it."""
        if self.redis.replicas:
            await self.ask(_CONFIRM([keys.meta(room)]), kept=True)

    # ---------------------------------------------------------------- races

    async def open(self, race: Race, secret: Secret) -> bool:
        """Open a room; False when there is one of that code."""
        # The index first: an entry without a room is swept away, a room without an entry would be lost.
        await self.ask(on("ZADD", keys.ROOMS, "NX", race.created, race.room))
        room = race.room
        opening = _OPEN(
            [keys.meta(room), keys.secret(room), keys.events(room), keys.watchers(room)],
            *(pack(race), race.phase, secret.seed, secret.salt, secret.hash, LIFETIME, *layout.WRITTEN),
        )
        (opened,) = await self.ask(opening, kept=True)
        await self.ask(on("ZADD", keys.DUE, "NX", race.due(), room))
        return bool(opened)

    async def load(self, room: str) -> Snapshot | None:
        """A room's race and runs, or None where there is no such room.

        Raises Refused ``other_version`` for one that only another version of Samedeal can serve.
        """
        time, (version, event, ends, *race_fields), watching = await self.ask(
            Command(keys.meta(room), ("TIME",)),
            on("HMGET", keys.meta(room), "version", "event", "ends", *_RACE_FIELDS),
            on("HGET", keys.watchers(room), ":all"),
        )
        if version is None:
            return None
        race = replace(layout.read_race(room, *race_fields), ends=int(ends))
        return Snapshot(race, int(version), int(event), _millis(time), await self.runs(race), int(watching or 0))

    async def races(self, rooms: Sequence[str]) -> list[Race | None]:
        """The races of rooms, None where there is no such room, or none that can be served here."""
        found = await self.ask(*(on("HMGET", keys.meta(room), "ends", *_RACE_FIELDS) for room in rooms))
        races: list[Race | None] = [None] * len(rooms)
        for at, (room, (ends, *race_fields)) in enumerate(zip(rooms, found, strict=True)):
            if ends is not None:
                with suppress(Refused):
                    races[at] = replace(layout.read_race(room, *race_fields), ends=int(ends))
        return races

    async def runs(self, race: Race) -> dict[str, Run]:
        """How far each player of a race has come."""
        found = await self.ask(*(on("HMGET", keys.run(race.room, racer.player), *_RUN_FIELDS) for racer in race.racers))
        return {
            racer.player: Run(**{name: int(value or 0) for name, value in zip(_RUN_FIELDS, values, strict=True)})
            for racer, values in zip(race.racers, found, strict=True)
        }

    async def settle(self, before: Snapshot, race: Race, what: tuple[str, ...], by: str) -> bool:
        """Put a race in the place of the one it was made from; False when another change came first."""
        room = race.room
        players = [racer.player for racer in (*before.race.racers, *race.racers)]
        owned = {key for player in players for key in (keys.run(room, player), keys.log(room, player))}
        settling = _SETTLE(
            [keys.meta(room), keys.events(room), keys.secret(room), keys.watchers(room), *sorted(owned)],
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
        )
        (number,) = await self.ask(settling, kept=True)
        if number:
            await self.index(race)
        return bool(number)

    async def index(self, race: Race) -> None:
        """Have the indexes say of a race what it says itself."""
        if race.phase == "closed":
            await self.ask(on("ZREM", keys.ROOMS, race.room), on("ZREM", keys.DUE, race.room))
        else:
            await self.ask(on("ZADD", keys.ROOMS, race.created, race.room), on("ZADD", keys.DUE, race.due(), race.room))

    async def postpone(self, room: str, due: int) -> None:
        """Have the index say that time has nothing for a room before ``due``, until its own nodes say otherwise."""
        await self.ask(on("ZADD", keys.DUE, "XX", due, room))

    async def forget(self, room: str) -> None:
        """Take a room out of the indexes if it is no more."""
        (exists,) = await self.ask(on("EXISTS", keys.meta(room)))
        if not exists:
            await self.ask(on("ZREM", keys.ROOMS, room), on("ZREM", keys.DUE, room))

    async def count_rooms(self) -> int:
        """How many rooms there are, about."""
        (count,) = await self.ask(on("ZCARD", keys.ROOMS))
        return int(count)

    async def newest_rooms(self, most: int) -> list[str]:
        """The codes of the newest rooms, newest first."""
        (found,) = await self.ask(on("ZREVRANGE", keys.ROOMS, 0, most - 1))
        return [room.decode() for room in found]

    async def due_rooms(self, now: int, most: int) -> list[str]:
        """The codes of rooms that time has something for."""
        (found,) = await self.ask(on("ZRANGEBYSCORE", keys.DUE, "-inf", now, "LIMIT", 0, most))
        return [room.decode() for room in found]

    async def secret(self, room: str) -> Secret | None:
        """A room's secret, or None where there is no such room."""
        ((seed, salt, hashed),) = await self.ask(on("HMGET", keys.secret(room), "seed", "salt", "hash"))
        return None if seed is None else Secret(seed, salt, hashed)

    # ---------------------------------------------------------------- players

    async def attach(self, room: str, player: str) -> int:
        """Make a new connection of a player the only one that may commit; returns its generation, 0 without a room."""
        attaching = _ATTACH(
            [keys.meta(room), keys.run(room, player), keys.events(room)],
            *(f"H {player} ", " 1", STREAM_LENGTH, LIFETIME, keys.channel(room)),
        )
        (generation,) = await self.ask(attaching, kept=True)
        return int(generation)

    async def presence(self, room: str, player: str, generation: int, *, here: bool, tell: bool) -> int:
        """Say that a connection is still there, or gone; returns the player's newest generation."""
        event = write(Presence(player, generation, here)) if tell else b""
        saying = _PRESENCE(
            [keys.meta(room), keys.run(room, player), keys.events(room)],
            *(generation, int(here), event, STREAM_LENGTH, keys.channel(room)),
        )
        (newest,) = await self.ask(saying)
        return int(newest)

    async def watched(self, room: str, node: str, count: int) -> int:
        """Say how many watch a room through a node; returns how many do through all."""
        counting = _WATCH(
            [keys.meta(room), keys.watchers(room), keys.events(room)],
            *(node, count, WATCH_HOLDS, "W ", STREAM_LENGTH, LIFETIME, keys.channel(room)),
        )
        (all_of_them,) = await self.ask(counting)
        return int(all_of_them)

    async def say(self, room: str, text: str) -> bool:
        """Have everybody in a room told something; False where there is no such room."""
        saying = _SAY(
            [keys.meta(room), keys.events(room)],
            *(write(Said(text)), STREAM_LENGTH, LIFETIME, keys.channel(room)),
        )
        (said,) = await self.ask(saying, kept=True)
        return bool(said)

    async def commit(self, commit: Commit) -> Verdict:
        """Commit an action; the verdict is there when Redis has it."""
        return await self._commits.commit(commit)

    async def _commit_batch(self, commits: Sequence[Commit]) -> list[Verdict | Exception]:
        sent = perf_counter()
        found = await self._attempt([_commit(each) for each in commits], kept=True)
        self.metrics.commit.observe(perf_counter() - sent)
        self.metrics.batch.observe(len(commits))
        return [
            answer if isinstance(answer, Exception) else _verdict(commit, answer)
            for commit, answer in zip(commits, found, strict=True)
        ]

    async def log(self, room: str, player: str, first: int = 1, last: int | None = None) -> list[Entry]:
        """A player's committed actions from one revision to another, both included."""
        end = "+" if last is None else f"{last}-0"
        (found,) = await self.ask(on("XRANGE", keys.log(room, player), f"{first}-0", end))
        return [_entry(id_, fields) for id_, fields in found]

    # ---------------------------------------------------------------- events

    async def events(self, room: str, after: int) -> list[Numbered] | None:
        """The events of a room after one, in order; None when not all of them are there any more, or never were that one."""
        newest, found = await self.ask(
            on("HGET", keys.meta(room), "event"), on("XRANGE", keys.events(room), f"({after}-0", "+")
        )
        numbered = [
            Numbered(int(id_.split(b"-")[0]), int(fields[b"after"]), int(fields[b"at"]), read(fields[b"event"]))
            for id_, fields in found
        ]
        if newest is None:
            return None
        numbers = [after, *(each.number for each in numbered)]
        unbroken = numbers[:-1] == [each.after for each in numbered]
        whole = int(newest) <= numbers[-1] if numbered else int(newest) == after
        return numbered if unbroken and whole else None

    @asynccontextmanager
    async def announcements(self) -> AsyncIterator[PubSub]:
        """The connection over which events are announced.

        It is never one of those that commands are sent over: what is read from it would be taken for their answers.
        """
        async with self.redis.listener() as redis, redis.pubsub() as pubsub:
            yield pubsub

    # ---------------------------------------------------------------- sessions

    async def keep_session(self, token_hash: str, player: str, *, long: bool) -> None:
        """Keep a session: for long, or for as long as a newcomer may take to find a room."""
        key, lifetime = (
            (keys.session(token_hash), SESSION_LIFETIME) if long else (keys.guest(token_hash), GUEST_LIFETIME)
        )
        await self.ask(on("SET", key, player, "EX", lifetime), kept=True)

    async def session(self, token_hash: str) -> tuple[str, bool] | None:
        """The player of a session, which is kept on, and whether for long; None where there is none any more."""
        player, guest = await self.ask(
            on("GETEX", keys.session(token_hash), "EX", SESSION_LIFETIME),
            on("GETEX", keys.guest(token_hash), "EX", GUEST_LIFETIME),
        )
        found = player or guest
        return None if found is None else (found.decode(), player is not None)

    # ---------------------------------------------------------------- guesses

    async def count_guess(self, room: str, network: str, window: int) -> tuple[int, int]:
        """Count a passphrase that is tried; returns how many were in this window, from the network and from all."""
        of_network, _, of_all, _ = await self.ask(
            *(
                command
                for key in (keys.guesses(room, window, network), keys.guesses(room, window))
                for command in (on("INCR", key), on("EXPIRE", key, 2 * WINDOW))
            )
        )
        return int(of_network), int(of_all)

    async def take_back_guess(self, room: str, network: str, window: int) -> None:
        """Count one passphrase less, since it was the right one."""
        await self.ask(*(on("DECR", keys.guesses(room, window, *of)) for of in ((network,), ())))


def _commit(one: Commit) -> Command:
    room, player = one.room, one.player
    event = Moved(player, one.revision + 1, one.action, one.seen, one.up, one.moves, one.undos, one.home, one.over)
    return _COMMIT(
        [keys.meta(room), keys.run(room, player), keys.log(room, player), keys.events(room)],
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
        one.at or "",
    )


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
        case [b"fenced", generation]:
            return Verdict("fenced", generation=int(generation))
        case [b"stale", revision]:
            return Verdict("stale", revision=int(revision))
        case [reason]:
            return Verdict(reason.decode())
    raise RedisError(f"the commit script answered {answer!r}")
