"""The server as a process: start-up errors, draining, and what a killed server loses."""

from __future__ import annotations

import json
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from samedeal.protocol.messages import Acked, Act, Notice
from samedeal.protocol_codes import CloseCode
from tests.end_to_end.processes import Program, Programs
from tests.server.client import Client
from tests.server.races import athena_race, finish

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the servers are stopped by signals")


Starter = Callable[..., Awaitable[Program]]


@pytest.fixture
def start(programs: Programs, tmp_path: Path) -> Starter:
    """Return a function that starts a server with options. All servers have the same data."""

    async def start_server(*options: str) -> Program:
        own = ("-m", "samedeal_server", "--announce", "--port", "0", "--log-style", "json")
        options = ("--data", str(tmp_path / "data"), *options)
        return await programs.start(*own, *options)

    return start_server


async def url_of(server: Program) -> str:
    """Wait until a server listens, and return its address."""
    return (await server.expect(r"listening on (ws://\S+)"))[1]


async def resume(client: Client, url: str) -> Client:
    """Resume a player's seat through another server."""
    again = await Client.hello(url, client.session[:3], client.session)
    again.continue_with(client)
    await again.join(client.room, revision=client.revision)
    return again


async def test_startup_error_is_a_sentence(start: Starter) -> None:
    """``tests/server/test_startup_errors.py`` has all of them."""
    failed = await start("--redis", "redis://127.0.0.1:1")
    assert await failed.exit_code() == 1
    *logged, last = failed.text.strip().splitlines()
    assert last.startswith("samedeal-server: redis_unreachable: ")
    assert "Traceback" not in last
    assert [(event["level"], event["code"]) for event in map(json.loads, logged) if event["event"] == "failed"] == [
        ("error", "redis_unreachable")
    ]


async def test_bad_usage_is_exit_code_2(start: Starter) -> None:
    failed = await start("--port", "70000")
    assert await failed.exit_code() == 2
    assert "usage: samedeal-server" in failed.text


async def test_a_killed_node_loses_no_move(start: Starter, redis_url: str) -> None:
    """Invariant: any node, any room. When a node dies, its players reconnect once and lose no acked move."""
    one, two = await start("--redis", redis_url), await start("--redis", redis_url)
    ana, bob = await athena_race(await url_of(one), url := await url_of(two))
    acked = await ana.acts(20)
    await bob.acts(5)
    await ana.send(Act, id=900, revision=20, action="draw")  # the move counts once, whether or not it is acked
    one.signal(signal.SIGKILL)
    await one.exit_code()
    again = await resume(ana, url)
    last = await again.expect(Acked, Act, id=900, revision=20, action="draw")
    assert last.time >= acked[-1].time
    if again.revision == 20:
        again.apply("draw", last)
    await again.acts(5)
    ended = await finish(again, bob)
    assert {(line.name, line.moves) for line in ended.standings} == {("ana", 26), ("bob", 5)}


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
async def test_stopped_or_killed_embedded_redis_loses_no_acked_move(start: Starter, end: signal.Signals) -> None:
    """Invariant: acknowledged moves are as durable as the settings say. With ``always``, an acked move is on disk."""
    first = await start("--durability", "always")
    (ana,) = await athena_race(await url_of(first), names=["ana"])
    await ana.acts(30)
    first.signal(end)
    if end is signal.SIGINT:
        assert (await ana.until(Notice)).code == "draining"
        assert await ana.closed() == CloseCode.RESTART
    assert await first.exit_code() == (0 if end is signal.SIGINT else -end)
    assert "Traceback" not in first.text
    second = await start("--durability", "always")
    again = await resume(ana, await url_of(second))
    assert again.play.revision == 30
    await again.acts(5)
    assert (await finish(again)).standings[0].moves == 35
