"""Many clients violate the WebSocket protocol and HTTP at once, and a server process keeps serving others."""

from __future__ import annotations

import asyncio
import json
import signal

from samedeal.protocol.messages import Ping, Pong
from tests.end_to_end.processes import Programs
from tests.server.broken_frames import BREAKS, NO_HANDSHAKES
from tests.server.client import Client
from tests.server.raw_client import Wire


async def closed_with(url: str, sent: object) -> object:
    """Send bytes after the handshake and return the close code."""
    assert isinstance(sent, bytes)
    wire = await Wire.greeted(url)
    sending = asyncio.create_task(wire.send(sent))
    code = await wire.ended()
    await sending
    await wire.close()
    return code


async def is_answered_with(url: str, sent: object, status: object) -> bool:
    """Return whether the server's answer to ``sent``, instead of a handshake, has ``status``. Empty means no answer."""
    assert isinstance(sent, bytes)
    assert isinstance(status, bytes)
    wire = await Wire.open(url)
    sending = asyncio.create_task(wire.send(sent))
    head = await wire.head()
    await sending
    await wire.close()
    return status in head.split(b"\r\n")[0] and bool(status) == bool(head)


async def test_broken_clients_do_not_harm_a_server(programs: Programs, redis_url: str) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    url, server = await programs.server(redis_url, more=("--log-level", "debug"))
    client = await Client.hello(url, "bystander")
    breaks = [param.values for param in BREAKS]
    codes = asyncio.gather(*(closed_with(url, sent) for sent, _ in breaks))
    heads = asyncio.gather(*(is_answered_with(url, *param.values) for param in NO_HANDSHAKES))
    while not (codes.done() and heads.done()):
        await client.expect(Pong, Ping)
    assert codes.result() == [code for _, code in breaks]
    assert all(heads.result())
    await client.close()
    server.signal(signal.SIGTERM)
    assert await server.exit_code() == 0
    lines = [json.loads(line) for line in server.text.splitlines() if line.startswith("{")]
    events = [line["event"] for line in lines]
    assert events.count("connected") == events.count("disconnected") > len(breaks)
    assert not [line for line in lines if line["level"] in ("error", "critical") or "exception" in line]
