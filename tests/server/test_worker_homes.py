"""Where the rooms of a server with several workers have their homes."""

from __future__ import annotations

from array import array
from collections import Counter
from pathlib import Path

import pytest

from samedeal.options import WantedOptions
from samedeal.protocol.messages import Create, Created, Done, ListRooms, Rematch, Rooms, Start
from samedeal_server.process.worker_homes import VARIABLE, WorkerHomes
from tests.server.live_nodes import Node
from tests.server.races import finish

ROOMS = [f"/r/room-{number}" for number in range(2_000)]


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkerHomes:
    """Homes among four workers, each of which may have 200 connections, so that it is enough for 100."""
    monkeypatch.setenv(VARIABLE, f"1:4:{tmp_path}")
    return WorkerHomes.of_this_worker(200)


def with_connections(homes: WorkerHomes, *connections: int) -> dict[str, int]:
    """The home of each room when the workers have these connections."""
    homes.loads[:] = memoryview(array("I", connections))
    return {room: homes.home(room) for room in ROOMS}


@pytest.mark.parametrize(
    ("connections", "shares"),
    [
        ([0, 0, 0, 0], [100, 0, 0, 0]),
        ([0, 0, 0, 90], [100, 0, 0, 0]),
        ([100, 25, 0, 0], [80, 20, 0, 0]),
        ([100, 100, 50, 0], [40, 40, 20, 0]),
        ([500, 500, 500, 500], [25, 25, 25, 25]),
        ([700, 430, 430, 440], [0, 33, 33, 33]),
    ],
)
def test_homes_are_on_as_many_workers_as_connections_need(
    homes: WorkerHomes, connections: list[int], shares: list[int]
) -> None:
    counts = Counter(with_connections(homes, *connections).values())
    assert [100 * counts[worker] / len(ROOMS) for worker in range(1, 5)] == pytest.approx(shares, abs=3)


def test_rooms_move_only_to_workers_that_are_needed_more(homes: WorkerHomes) -> None:
    before, after = with_connections(homes, 100, 50, 0, 0), with_connections(homes, 100, 100, 20, 0)
    moved = Counter((before[room], after[room]) for room in ROOMS if before[room] != after[room])
    assert moved.keys() == {(1, 2), (1, 3), (2, 3)}


def test_drained_worker_is_no_home(homes: WorkerHomes) -> None:
    before = with_connections(homes, 500, 500, 500, 500)
    second = WorkerHomes(homes.directory, 2, 4, 100)
    second.loads[1] = 500
    second.give_away()
    after = with_connections(homes, 500, 500, 500, 500)
    assert {before[room] for room in ROOMS if before[room] != after[room]} == {2}
    assert {*after.values()} == {1, 3, 4}
    homes.give_away()
    assert {*with_connections(homes, 0, 0, 0, 0).values()} == {3}
    for number in (3, 4):
        WorkerHomes(homes.directory, number, 4, 100).give_away()
    assert homes.home("/r/friday") == 1  # nobody else takes it
    assert WorkerHomes(homes.directory, 2, 4, 100).home("/r/friday") == 2  # it was started again


def test_one_room_cannot_overload_a_worker(homes: WorkerHomes) -> None:
    for _ in range(1_000):
        homes.loads[homes.home("/r/friday") - 1] += 1
    assert max(homes.loads) <= 1.25 * 250 + 17
    assert min(homes.loads) > 0


def test_other_paths_stay_where_they_are(homes: WorkerHomes) -> None:
    assert {homes.home(path) for path in ("/", "/w/friday", "/friday")} == {1}
    assert homes.home("/r/friday?page") == homes.home("/r/friday")


async def test_server_names_one_path_for_all_races_of_a_room(one: Node) -> None:
    """Numbered rooms have homes of their own; the rematches of one of them stay at its home."""
    ana = await one.player()
    options = WantedOptions(games=("willow",), deal="random", countdown=0)
    for room in ("league-1", "league-2"):
        created = await ana.expect(Created, Create, room=room, options=options)
        assert created.path == (await ana.join(room)).path == f"/r/{room}"
    for room in ("league-2-2", "league-2-3"):
        ana.inbox.clear()  # of what the race before has told
        await ana.expect(Done, Start)
        await ana.dealt()
        await finish(ana)
        created = await ana.expect(Created, Rematch)
        assert (created.room, created.path) == (room, "/r/league-2")
        assert (await ana.join(room)).path == "/r/league-2"
    lines = {line.room: line.path for line in (await ana.expect(Rooms, ListRooms)).rooms}
    assert lines["league-2-3"] == "/r/league-2"
    assert lines["league-1"] == "/r/league-1"
