"""Write what this release stores, so that every later one can be tried with it: ``python -m tests.tools.release_data``.

Run it once for a release, with the oldest Redis that the tests use, because no older one can restore the backup. It writes
``tests/golden/releases/VERSION``, which is never written again: later releases must read it, and add theirs. What has
since come to be stored gets a folder of its own: ``python -m tests.tools.release_data 0.2.0-windows``.

======================  ================================================================================================
``store.backup``        a backup with races of all games and kinds of deals, records, and the sessions of ana and bob
``release.json``        the numbers of the formats, and what each room is, for ``tests/server/test_releases.py``
``home/``               what a client keeps: sessions, settings, the history, and evidence of the race in ``friday``
``records/``            the records of races
``*frames.txt``         a frame of each message
``transcripts/``        what clients and the server have sent in races
``samedeal.toml``       each setting of a node
======================  ================================================================================================
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec.structs import replace as with_fields

import samedeal
from samedeal.games import GAMES
from samedeal.options import WantedOptions
from samedeal.protocol.messages import Begin, Begun, Done, Rematch, Resign, Start
from samedeal.record import VERSION
from samedeal.solver.solve import SOLVER
from samedeal_link.connection.saved_sessions import FileSessions
from samedeal_server.config.load import load_config
from samedeal_server.config.setting_sources import describe
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.operators.backup import Writer
from samedeal_server.races.earlier import EarlierRace
from samedeal_server.store import schema
from tests.golden.golden_files import HERE
from tests.server.client import Client
from tests.server.live_nodes import PLENTY, Node, serving
from tests.server.races import draw, kept, read
from tests.server.windows import opened, take_part

FOLDER: Final = HERE / "releases"
TRANSCRIPTS: Final = HERE.parents[1] / "shared" / "conformance" / "transcripts"
SERVER: Final = "ws://localhost:7777"
PASSPHRASE: Final = "open sesame"
_LONG: Final = 7_200
"""The time limit of the races, in seconds. They go on after the restore, whose clock is that of the backup."""


class Rooms:
    """The rooms of a server, with races between ana and bob."""

    def __init__(self, node: Node, ana: Client, bob: Client) -> None:
        self.node, self.ana, self.bob = node, ana, bob
        self.found: dict[str, dict[str, Any]] = {}

    async def open(self, room: str, **options: Any) -> None:
        """Open a room, and let both players join it."""
        await self.ana.create(room, **{"limit": _LONG, **options})
        for client in (self.ana, self.bob):
            await client.join(room)

    async def race(self, room: str, moves: int = 3, **options: Any) -> None:
        """Open a room, start its race, and make some moves."""
        await self.open(room, **options)
        await self.begin(moves)

    async def begin(self, moves: int = 3) -> None:
        """Start the race in the room of both players, and make some moves."""
        players = (self.ana, self.bob)
        for client in players:
            client.inbox.clear()
        await self.ana.expect(Done, Start)
        if self.ana.shown is not None and self.ana.shown.deal == "winnable":
            await draw(*players)
        else:
            await asyncio.gather(*(client.dealt() for client in players))
        for seed, client in enumerate(players):
            for _ in range(moves):
                if client.play.board.legal_moves():
                    await client.acts(1, seed)

    async def end(self, room: str) -> None:
        """Let both players resign, and wait for the record."""
        for client in (self.ana, self.bob):
            await client.expect(Done, Resign)
        await kept(self.ana, room)

    async def describe(self) -> dict[str, Any]:
        """Return what a test must know of each room, by its code."""
        rooms = await self.node.store.index.newest(1_000)
        races = [race for race in await self.node.store.load_races(rooms) if race is not None]
        return {
            race.room: {
                "phase": race.phase,
                "players": [racer.name for racer in race.racers],
                "searched": race.is_searched,
                "description": race.description.hex(),
                "undo": race.options.undo,
                "window": race.window,
            }
            for race in sorted(races, key=lambda race: race.room)
        }


async def fill(rooms: Rooms) -> None:
    """Open rooms of all kinds, and race in them."""
    for game in GAMES:
        await rooms.race(f"game-{game}"[:24], games=(game,), deal="random")
    for name, deal in (("numbered", "#4821"), ("daily", "daily"), ("joint", "winnable")):
        await rooms.race(name, games=("willow",), deal=deal)
    for undo in ("free", "off"):
        await rooms.race(f"undo-{undo}", games=("athena",), deal="random", undo=undo)
    await rooms.race("ended", games=("willow",), deal="winnable")
    await rooms.end("ended")
    await rooms.race("series", games=("willow", "steve"), deal="random", series=3)
    await rooms.end("series")
    rematch = await rooms.ana.ask(Rematch)
    for client in (rooms.ana, rooms.bob):
        await client.join(rematch.room)
    await rooms.begin()
    await rooms.ana.create("private", PASSPHRASE, games=("willow",), deal="random", limit=_LONG)
    for client in (rooms.ana, rooms.bob):
        await client.join("private", passphrase=PASSPHRASE)
    await rooms.begin()
    await repeat(rooms)
    await rooms.open("open", games=("willow",), deal="winnable", countdown=3)
    await rooms.open("countdown", games=("willow",), deal="random", countdown=15)
    await rooms.ana.expect(Done, Start)
    await rooms.ana.phase("countdown")
    await open_windows(rooms)


async def open_windows(rooms: Rooms) -> None:
    """Leave a window in each state that it may have, and a standing series that has not opened yet."""
    players = (rooms.ana, rooms.bob)
    options = WantedOptions(games=("ace-of-hearts",), deal="winnable", limit=_LONG)
    now = await rooms.node.store.now()
    opens = tuple(now + 3_600_000 * (1 + 24 * day) for day in range(3))
    standing = with_fields(options, series=len(opens))
    await opened(rooms.ana, room="standing", options=standing, opens=opens)
    await rooms.ana.join("standing")
    begun = {"drawn": (), "begun": ("ana",), "ended": ("ana",), "over": ("ana", "bob")}
    for state in ("open", "closed", *begun):
        room = await opened(rooms.ana, room=f"window-{state}", options=options)
        for client in players:
            await client.join(room)
        if state != "open":
            await rooms.ana.expect(Done, Start)
        if state in begun:
            await take_part(*players)
        for client in players:
            if client.name in begun.get(state, ()):
                await client.expect(Begun, Begin)
                await client.dealt()
                await client.acts(3)
                if state != "begun":
                    await client.expect(Done, Resign)
    await kept(rooms.ana, "window-over")


async def repeat(rooms: Rooms) -> None:
    """Deal the deal of an earlier race again to ana alone."""
    rooms.ana.inbox.clear()
    await rooms.ana.create("alone", games=("willow",), deal="winnable", limit=_LONG)
    await rooms.ana.join("alone")
    race = (await rooms.node.rooms.load("alone")).race
    found = EarlierRace(f"again {'07' * 32}", SOLVER, race.search.budget, 9_000, (), ("b" * 20,))
    room = await rooms.node.rooms.creator.repeat(race, found)
    await rooms.ana.join(room)
    await rooms.ana.dealt()
    await rooms.ana.acts(2)


async def race_as_client(rooms: Rooms, home: Path) -> None:
    """Let the program of a player race against ana, and keep what it writes."""
    await rooms.ana.create("friday", games=("willow",), deal="winnable", limit=_LONG)
    await rooms.ana.join("friday")
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "samedeal_client", "join", rooms.node.url, "friday", "--name", "cleo"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**{key: value for key, value in os.environ.items() if not key.startswith("XDG_")}, "HOME": str(home)},
    )
    assert program.stdin is not None
    await rooms.ana.state(lambda state: state.room == "friday" and len(state.players) == 2)
    await rooms.ana.expect(Done, Start)
    await draw(rooms.ana)
    program.stdin.write(b"collect\n3\n4\nundo\nresign\nresign\n")
    await rooms.ana.state(lambda state: any(seat.resigned for seat in state.players))
    await rooms.ana.expect(Done, Resign)
    await rooms.ana.phase("finished")
    await kept(rooms.ana, "friday")
    program.stdin.write(b"quit\n")
    output, _ = await program.communicate()
    assert program.returncode == 0, output.decode()


def settings_file() -> str:
    """Return a file with each setting of a node, at its default."""
    lines = describe(load_config(Namespace(config=None))).splitlines()
    return "".join(f"{line.partition('  # ')[0]}\n" for line in lines if not line.startswith("data ="))


async def write(to: Path) -> None:
    """Write everything that this release stores into an empty directory."""
    home = to / "home"
    with TemporaryDirectory() as data:
        async with EmbeddedRedis(Path(data), "everysec") as url, serving(url, "n1", PLENTY) as node:
            rooms = Rooms(node, await node.player("ana"), await node.player("bob"))
            await race_as_client(rooms, home)
            await fill(rooms)
            for client in (rooms.ana, rooms.bob):
                FileSessions(to / "sessions.json").keep(SERVER, client.name, client.session)
            described = await rooms.describe()
            (to / "records").mkdir()
            for line in await node.store.records.before("", 100):
                (to / "records" / f"{line.room}.txt").write_bytes(await read(rooms.ana, line.race))
            (to / "store.backup").write_bytes(b"".join([part async for part in Writer(node.store).parts(1 << 16)]))
    numbers = {"engine": samedeal.ENGINE, "solver": SOLVER, "schema": schema.SCHEMA_VERSION, "record": VERSION}
    (to / "release.json").write_text(json.dumps({**numbers, "rooms": described}, indent=1) + "\n")
    for name in ("frames.txt", "admin-frames.txt"):
        shutil.copy(HERE / name, to)
    shutil.copytree(TRANSCRIPTS, to / "transcripts")
    (to / "samedeal.toml").write_text(settings_file())


def main() -> None:
    """Write the data of this release, unless it exists."""
    to = FOLDER / (sys.argv[1] if sys.argv[1:] else samedeal.__version__)
    if to.exists():
        sys.exit(f"{to} exists. Data of a release is never written again.")
    with TemporaryDirectory(dir=FOLDER) as scratch:
        made = Path(scratch) / "made"
        (made / "home").mkdir(parents=True)
        asyncio.run(write(made))
        for lock in made.rglob("*.lock"):
            lock.unlink()
        made.rename(to)
    print(f"wrote {to}")


if __name__ == "__main__":
    main()
