"""Many clients violate the WebSocket protocol and HTTP at once, and a server process keeps serving others."""

from __future__ import annotations

import asyncio
import json
import signal

from samedeal.protocol.messages import Ping, Pong
from tests.end_to_end.processes import Programs
from tests.golden.golden_files import asked_on, assert_answers
from tests.server.broken_frames import AFTER, PAGE, answer
from tests.server.client import Client


async def test_broken_clients_do_not_harm_a_server(programs: Programs, redis_url: str) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    url, server = await programs.server("--redis", redis_url, "--log-level", "debug")
    client = await Client.hello(url, "bystander")
    asked = list(asked_on(PAGE))
    answering = asyncio.gather(*(answer(url, *line) for line in asked))
    while not answering.done():
        await client.expect(Pong, Ping)
    given = dict(zip(asked, answering.result(), strict=True))
    assert_answers(PAGE, lambda *line: given[line])
    await client.close()
    server.signal(signal.SIGTERM)
    assert await server.exit_code() == 0
    lines = [json.loads(line) for line in server.text.splitlines() if line.startswith("{")]
    events = [line["event"] for line in lines]
    assert events.count("connected") == events.count("disconnected") > sum(heading == AFTER for heading, _ in asked)
    assert not [line for line in lines if line["level"] in ("error", "critical") or "exception" in line]
