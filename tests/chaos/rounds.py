"""A round: start the processes, race while faults are injected, and submit the evidence to the judge."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections import Counter
from collections.abc import Collection, Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final

from msgspec.structs import replace
from websockets.exceptions import WebSocketException

from samedeal.deal import Deal
from samedeal.options import Options, WantedOptions
from samedeal.protocol.admin import BackedUp, Ban, CloseRoom, Kick
from samedeal.protocol.messages import Acked, Create, Created
from samedeal.race.values import Race
from samedeal.record import Record
from samedeal_server.races.public_facts import RaceNews
from samedeal_server.rooms.race_now import LONGEST_WAIT
from samedeal_server.store import keys
from samedeal_server.store.connect import connect
from samedeal_server.store.events import RaceChanged, RacePatched, SequencedEvent
from samedeal_server.store.news import NewsId
from samedeal_server.store.redis_client import PrimaryClient
from samedeal_server.store.store import CLOSED_LIFETIME, STREAM_LENGTH, Store
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry.metrics import Metrics
from tests.chaos.bots import LinkRacer, Racer, Spectator
from tests.chaos.client_journal import Evidence, Journal, RoomEvidence, StoredKey, now
from tests.chaos.judge import judge
from tests.chaos.plan import TIDE_LIMIT, Fault, Plan, RoomPlan, TidePlan
from tests.chaos.player_model import PlayerModel
from tests.chaos.proxy import Proxy
from tests.chaos.stage import ProcessStage, Stage
from tests.chaos.strangers import flood
from tests.server.client import Client as Player
from tests.server.operator_client import TOKEN, Operator
from tests.server.races import RECORDS, seated
from tests.server.waiting import until

_LIMITS: Final = (
    *("--limit-rooms-per-address", "1000"),
    *("--limit-address-burst", "2000", "--limit-connections-per-address", "1000"),
    *("--limit-sessions-per-address", "10000", "--limit-guesses-per-address", "10000"),
    *("--limit-guesses-per-room", "10000"),
)
"""Limits of the nodes. All clients share one address, whose rate only the fault ``flood`` exceeds."""

HOUSE_KEY: Final = "the key of this house"

_LONGEST_DRAW: Final = 45
"""Timeout, in seconds, until a deal is found. A winnable deal is drawn again if players do not take part in time."""

_END_TIMEOUT: Final = 25.0
"""Timeout, in seconds, for clients to end after the longest race and the last fault."""


@cache
def winning_records() -> dict[str, Record]:
    """Return a won record for each game."""
    return {path.stem: Record.parse(path.read_text()) for path in sorted(RECORDS.glob("*.txt"))}


@dataclass(frozen=True)
class Outcome:
    """The violations that the judge found in a round, and counts of what happened in it. ``kept`` are bots of the house."""

    violations: tuple[str, ...]
    faults: Counter[str]
    racers: int
    acked: int
    finished: int
    tidal: int
    kept: int
    outages: tuple[float, ...]

    def __str__(self) -> str:
        faults = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.items()))
        return (
            f"{self.racers} racers, {self.acked} actions acked, {self.finished} finished, "
            f"{self.tidal} in a tide, {self.kept} of the house, "
            f"{len(self.outages)} outages of {median(self.outages or (0,)):.2f} s (median), "
            f"{max(self.outages, default=0):.1f} s (longest); {faults}"
        )


async def play_round(plan: Plan) -> Outcome:
    """Play a round with real processes and judge it. Removes all processes and files, however it ends."""
    with tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as scratch:
        options = node_options(Path(scratch))
        stage = ProcessStage(Path(scratch), *options, fails_over=plan.fails_over)
        chaos_round = Round(plan, stage)
        evidence = await chaos_round.play()
    return chaos_round.outcome(evidence)


def node_options(scratch: Path, *, house: bool = False) -> tuple[str, ...]:
    """Return the options of nodes, which may have a house. Creates the files with their secrets."""
    token_file, key_file = scratch / "token", scratch / "key"
    token_file.write_text(TOKEN)
    key_file.write_text(HOUSE_KEY)
    options = ("--admin-token-file", str(token_file), *_LIMITS)
    return (*options, "--house-key-file", str(key_file)) if house else options


class Round:
    """A round of races and faults on a stage. ``injected`` counts the faults."""

    def __init__(self, plan: Plan, stage: Stage) -> None:
        self.plan = plan
        self.injected: Counter[str] = Counter()
        self._stage = stage
        self._journals: list[Journal] = []
        self._banned: set[str] = set()
        self._repairs: set[asyncio.Task[None]] = set()
        self._codes = {room.code for room in plan.rooms}

    def outcome(self, evidence: Evidence) -> Outcome:
        """Judge the round."""
        away = [seconds for journal in evidence.journals for seconds in journal.outages]
        return Outcome(
            violations=tuple(judge(evidence)),
            faults=self.injected,
            racers=sum(not journal.is_spectator for journal in evidence.journals),
            acked=len({(journal.player, ack.to) for journal in evidence.journals for _, ack in journal.got(Acked)}),
            finished=sum(line.time > 0 for room in evidence.rooms.values() for line in room.race.result.standings),
            tidal=sum(len(room.race.racers) for room in evidence.rooms.values() if room.race.tide),
            kept=sum(racer.house for room in evidence.rooms.values() for racer in room.race.racers),
            outages=tuple(away),
        )

    async def play(self) -> Evidence:
        """Play the round, and return the evidence of it."""
        async with self._stage.running(self.plan.nodes) as proxy:
            await self._open_rooms()
            self._stage.begin()
            try:
                return await self._race(proxy)
            finally:
                await cancel_and_wait(self._repairs)

    async def _race(self, proxy: Proxy) -> Evidence:
        plan, url = self.plan, f"ws://127.0.0.1:{proxy.port}"
        async with AsyncExitStack() as stack:
            clients = [
                asyncio.create_task(self._run_client(url, room, number))
                for room in plan.rooms
                for number in range(room.options.players + room.spectators)
            ]
            if plan.tide is not None:
                come = partial(self._come_to_tide, url, plan.tide, now() + int(1000 * plan.tide.after))
                clients += [asyncio.create_task(come(number)) for number in range(plan.tide.racers)]
            if plan.lone:
                self._stage.start_house(url)
                clients.append(asyncio.create_task(self._race_now(url, plan.lone)))
            stack.push_async_callback(cancel_and_wait, clients)
            await self._inject_faults(proxy)
            calm = now()
            longest = max(
                room.options.limit + (_LONGEST_DRAW if Deal.parse(room.options.deal).has_proof else 0)
                for room in plan.rooms
            )
            if any(room.options.series > 1 for room in plan.rooms):
                longest += longest
            if plan.tide is not None:
                longest = max(longest, int(plan.tide.after) + TIDE_LIMIT + _LONGEST_DRAW)
            if plan.lone:
                longest = max(longest, int(plan.lone) + LONGEST_WAIT // 1000 + TIDE_LIMIT + _LONGEST_DRAW)
            patience = self._stage.patience + self._stage.stepped / 1000
            await asyncio.wait(clients, timeout=longest + patience + _END_TIMEOUT)
            for task in clients:
                if task.done() and (error := task.exception()) is not None:
                    self._stage.failures.append(f"a client failed: {error!r}")
        rooms, stored_keys, news = await self._collect_evidence()
        await self._stage.settle(rooms, self._journals)
        crashed = [
            f"{node.log.name}: crashed with exit code {node.code}"
            for node in self._stage.nodes
            if node.code is not None and not node.leaving
        ]
        left = await asyncio.gather(*(node.drain() for node in self._stage.nodes if not node.leaving))
        self._stage.failures += crashed + [problem for problem in left if problem]
        logs = [
            f"{node.log.name}: {line}"
            for node in self._stage.nodes
            for line in node.log.read_text(errors="replace").splitlines()
        ]
        secrets = [TOKEN, *(room.passphrase for room in plan.rooms if room.passphrase)]
        return Evidence(
            rooms,
            self._journals,
            stored_keys,
            logs,
            self._stage.failures,
            max(calm, self._stage.calm_at),
            self._banned,
            secrets,
            self._stage.lost,
            self._stage.stepped,
            news,
        )

    async def _open_rooms(self) -> None:
        opener = await Player.hello("ws://{}:{}".format(*self._stage.nodes[0].target), "opener")
        for room in self.plan.rooms:
            if room.reused:
                await self._use_code(room)
            options = WantedOptions.of(room.options)
            given: dict[str, Any] = {"room": room.code, "passphrase": room.passphrase, "window": room.window}
            await opener.expect(Created, Create, options=options, **given)
        await opener.close()

    async def _use_code(self, room: RoomPlan) -> None:
        """Open a room, kick one of its two players, close the room, and delete its keys that would expire soon."""
        host, port = self._stage.nodes[0].target
        url = f"ws://{host}:{port}"
        (ana, bob), operator = await seated(url, room=room.code, limit=60), await Operator.login(url)
        await operator.ask(Kick, room=room.code, player=ana.player)
        await operator.ask(CloseRoom, room=room.code)
        await bob.phase("closed")
        for connection in (ana, bob, operator):
            await connection.close()
        async with connect(self._stage.redis.url) as redis:
            assert isinstance(redis, PrimaryClient)
            async for key in redis.scan_iter(match=f"{keys.channel(room.code)}:*"):
                if 0 < await redis.ttl(key) <= CLOSED_LIFETIME:
                    await redis.delete(key)

    async def _run_client(self, url: str, room: RoomPlan, number: int, *, replaces: bool = False) -> None:
        """Run a client until its race is over. If it is kicked before the start, another one takes its place."""
        client = self._client(url, room, number, replaces=replaces)
        try:
            await client.run()
            if room.options.series > 1 and isinstance(client, Racer) and client.rematch_room.strip("-"):
                await self._race_again(url, room, client)
            if client.journal.excluded == "kicked":
                others = [client.act_without_seat()] if isinstance(client, Racer) else []
                if client.journal.phase == "open":
                    others.append(self._run_client(url, room, number, replaces=True))
                await asyncio.gather(*others)
        finally:
            await client.close_all()

    async def _race_again(self, url: str, room: RoomPlan, before: Racer) -> None:
        """Run the racer of a series in its second race. It may come too late for it."""
        self._codes.add(before.rematch_room)
        journal = Journal(before.journal.name, before.rematch_room, passphrase=room.passphrase, replaces=True)
        journal.tokens += before.journal.tokens[-1:]
        await self._run_racer(url, journal, room.options.undo, rematch=True)

    async def _come_to_tide(self, url: str, tide: TidePlan, start: int, number: int) -> None:
        journal = Journal(f"tidal-{number}", "", replaces=True)
        await self._run_racer(url, journal, Options().undo, tide=(tide.game, start))

    async def _race_now(self, url: str, after: float) -> None:
        await asyncio.sleep(after)
        await self._run_racer(url, Journal("lone", "", replaces=True), Options().undo, tide=("willow", 0))

    async def _run_racer(self, url: str, journal: Journal, undo: str, **how: Any) -> None:
        self._journals.append(journal)
        rng = self.plan.rng(journal.name, journal.room)
        racer = Racer(url, journal, rng, PlayerModel(rng, undo, ()), rng.choice([0.1, 0.2]), **how)
        try:
            await racer.run()
        finally:
            await racer.close_all()

    def _client(self, url: str, room: RoomPlan, number: int, *, replaces: bool) -> Racer | LinkRacer | Spectator:
        count = room.options.players
        watches = number >= count
        # The number of clients so far makes the name unique, because a name may be in a room only once.
        name = f"{'eye' if watches else 'bot'}-{number + 1}-{room.code.removeprefix('room-')}"
        name += f"-{len(self._journals)}" if replaces else ""
        journal = Journal(name, room.code, watches, room.passphrase, replaces)
        self._journals.append(journal)
        rng = self.plan.rng(name)
        if watches:
            return Spectator(url, journal, rng)
        solves = number < room.solvers
        winning_actions = [action for _, action in winning_records()[room.options.games[0]].actions]
        model = PlayerModel(rng, room.options.undo, winning_actions if solves else ())
        pace = rng.uniform(0.03, 0.06) if solves else room.slowness * rng.choice([0.05, 0.1, 0.3])
        # The judge needs all events of a room, and the stream keeps only the newest ones.
        pace = max(pace, count * room.options.limit / (0.8 * STREAM_LENGTH))
        if number >= count - room.links:
            return LinkRacer(url, journal, rng, model, pace)
        habit = room.habits[number] if number < len(room.habits) else "steady"
        return Racer(url, journal, rng, model, pace, habit)

    async def _inject_faults(self, proxy: Proxy) -> None:
        began = asyncio.get_running_loop().time()
        for fault in self.plan.faults:
            await asyncio.sleep(max(0.0, began + fault.at - asyncio.get_running_loop().time()))
            self.injected[fault.kind] += 1
            self._spawn(self._inject(fault, proxy))
        while self._repairs:
            await asyncio.wait(self._repairs)
        for node in self._stage.nodes:
            if node.frozen:
                node.thaw()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._repairs.add(task)
        task.add_done_callback(self._on_repaired)

    def _on_repaired(self, task: asyncio.Task[None]) -> None:
        self._repairs.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._stage.failures.append(f"the round failed: {error!r}")

    async def _inject(self, fault: Fault, proxy: Proxy) -> None:
        match fault.kind:
            case "kick" | "ban" | "close room" | "back up":
                await self._operate(fault)
            case "flood":
                private = [room.code for room in self.plan.rooms if room.passphrase]
                url = f"ws://127.0.0.1:{proxy.port}"
                self._stage.failures += await flood(url, private, Random(fault.which), max(2.0, fault.seconds))
            case "fail over":
                await self._all_have_started()
                await self._stage.inject(fault, proxy)
            case _:
                await self._stage.inject(fault, proxy)

    async def _all_have_started(self) -> None:
        """Wait until all races have started, because a lost start can't be recovered."""
        await until(lambda: all(has_started(room.code, self._journals) for room in self.plan.rooms))

    async def _operate(self, fault: Fault) -> None:
        """Act as the operator through a running node. A request that a fault interrupts may have had its effect."""
        room = self.plan.rooms[fault.which % len(self.plan.rooms)]
        players = [
            journal.player
            for journal in self._journals
            if journal.room == room.code and not journal.is_spectator and journal.player and not journal.excluded
            if journal.phase == "racing" or (fault.kind == "kick" and journal.phase == "open")
        ]
        player = Random(fault.which).choice(players or [""])
        if not (targets := self._stage.targets()):
            return  # the only node was just killed
        with suppress(OSError, TimeoutError, EOFError, WebSocketException):
            host, port = Random(fault.which).choice(targets)
            operator = await Operator.login(f"ws://{host}:{port}")
            match fault.kind:
                case "kick" if player:
                    await operator.ask(Kick, room=room.code, player=player)
                case "ban" if player:
                    self._banned.add(player)
                    await operator.ask(Ban, target=player, seconds=3600)
                case "close room":
                    await operator.ask(CloseRoom, room=room.code)
                case "back up":
                    self._stage.failures += await _back_up(operator)
                case _:
                    pass
            await operator.close()

    async def _collect_evidence(self) -> tuple[dict[str, RoomEvidence], list[StoredKey], list[RaceNews]]:
        rooms: dict[str, RoomEvidence] = {}
        async with connect(self._stage.redis.url) as redis:
            assert isinstance(redis, PrimaryClient)
            store = Store(redis, Metrics())
            self._codes |= await _rooms_with_racers(store, {journal.room for journal in self._journals} - {""})
            for room in sorted(self._codes):
                await _wait_for_end(store, room)
                if (found := await load_evidence(store, room)) is None:
                    self._stage.failures.append(f"{room}: a part of it is missing in Redis")
                else:
                    rooms[room] = found
            news = [each for _, each in await store.news.after(NewsId(0, 0))]
            stored = [await _stored_key(redis, key) async for key in redis.scan_iter(count=1000)]
        return rooms, [key for key in stored if key is not None], news


async def _back_up(operator: Operator) -> list[str]:
    """Fetch a backup. Return a sentence if it is damaged. A backup may be refused or interrupted."""
    data, answer = await operator.back_up()
    if isinstance(answer, BackedUp) and (len(data), hashlib.sha256(data).digest()) != (answer.size, answer.digest):
        return ["a backup differs from its size or digest"]
    return []


async def _stored_key(redis: PrimaryClient, name: bytes) -> StoredKey | None:
    """Return the lifetime and the size of a key, or None if it has expired."""
    milliseconds, size = await redis.pttl(name), await redis.memory_usage(name, samples=0)
    if size is None:
        return None
    return StoredKey(name.decode(), None if milliseconds < 0 else milliseconds / 1000, size)


async def _wait_for_end(store: Store, room: str) -> None:
    """Wait until a race is over, even if all its players were kicked. Return after a timeout."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_TIMEOUT):
            while (found := await store.load(room)) is not None and found.race.phase not in ("finished", "closed"):  # noqa: ASYNC110  # Redis sets no event
                await asyncio.sleep(0.1)


async def _rooms_with_racers(store: Store, rooms: Collection[str]) -> set[str]:
    """Return those of the rooms to which clients came in which somebody has had a seat until the start."""
    races = await store.load_races(sorted(rooms))
    return {race.room for race in races if race is not None and race.racers}


def has_started(room: str, journals: Sequence[Journal]) -> bool:
    """Return whether a client of a room knows that the race has started."""
    return any(journal.room == room and journal.phase in ("racing", "finished", "closed") for journal in journals)


async def load_evidence(store: Store, room: str) -> RoomEvidence | None:
    """Load a room from Redis, or None if a part of it is missing."""
    found, secret, events = await store.load(room), await store.load_secret(room), await store.load_events(room, 0)
    if found is None or secret is None or events is None:
        return None
    logs = {racer.player: await store.load_log(room, racer.player) for racer in found.race.racers}
    return RoomEvidence(found.race, secret.deal.seed, logs, _with_whole_races(events), secret.deal.found)


def _with_whole_races(events: Sequence[SequencedEvent]) -> list[SequencedEvent]:
    """Return the events of a room. Each event of a change has the whole race."""
    whole: list[SequencedEvent] = []
    race: Race | None = None
    for each in events:
        event = each.event
        if isinstance(event, RacePatched):
            assert race is not None, "the first event of a race holds the whole race"
            event = event.apply(race)
        if isinstance(event, RaceChanged):
            race = event.race
        whole.append(replace(each, event=event))
    return whole
