"""``samedeal doctor URL`` with a real server, with other kinds of servers and without a server."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import SUBPROTOCOL, Done, Ping, Pong
from samedeal_link.connection import dial
from samedeal_link.connection.address import ServerAddress, parse_address
from samedeal_operate import connection_check
from samedeal_operate.doctor_results import Finding, Severity
from tests.client.command_line import run_samedeal
from tests.golden.golden_files import assert_sentences
from tests.server.certificates import Keys
from tests.server.local_server import local_server


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def found(url: str) -> dict[str, Finding]:
    """Diagnose the connection to a URL and return the findings by name."""
    return {finding.name: finding async for finding in connection_check.diagnose(parse_address(url))}


def verdicts(findings: dict[str, Finding]) -> dict[str, str]:
    assert all(bool(finding.advice) == (finding.severity is not Severity.OK) for finding in findings.values())
    return {name: finding.severity.value for name, finding in findings.items()}


async def web_page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer like a web server."""
    with suppress(OSError, asyncio.IncompleteReadError):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accept connections and send nothing."""
    await reader.read()


async def gibberish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Greet like a mail server."""
    writer.write(b"220 mail.example.org ready\r\n")
    await writer.drain()
    writer.close()


def in_time(ping: Ping) -> Pong:
    return Pong(to=ping.id, time=round(1000 * time.time()))


async def found_at(
    protocol: str, answers: Callable[[Ping], object], context: ssl.SSLContext | None = None
) -> dict[str, Finding]:
    """Diagnose a WebSocket server that answers pings, or does not."""

    async def talk(socket: ServerConnection) -> None:
        async for frame in socket:
            message = decode_to_server(frame)
            assert isinstance(message, Ping)
            if (answer := answers(message)) is not None:
                await socket.send(encode(answer))  # type: ignore[arg-type]  # tests answer with any object

    spoken = [Subprotocol(protocol)]
    async with serve(talk, "127.0.0.1", 0, subprotocols=spoken, close_timeout=0.2, ssl=context) as listener:
        port = next(iter(listener.sockets)).getsockname()[1]
        return await found(f"{'wss' if context else 'ws'}://localhost:{port}")


async def test_proxy_is_named_and_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_check, "STEP_TIMEOUT", 0.5)
    monkeypatch.setattr(dial, "OPEN_TIMEOUT", 0.5)
    async with local_server(web_page) as port:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "")
        findings = await found("ws://192.0.2.1:7777")
    assert list(findings) == ["proxy", "server"]
    assert "127.0.0.1" in findings["proxy"].result


def encrypting(keys: Keys) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(keys.cert, keys.key)
    return context


async def test_findings_and_their_sentences(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step that was taken has a line. Numbers, such as ports and milliseconds, are shown as N."""
    async with local_server(silence) as closed_port:
        pass
    async with local_server(web_page) as web, local_server(gibberish) as mail, local_server(silence) as silent:
        with monkeypatch.context() as impatient:
            impatient.setattr(connection_check, "STEP_TIMEOUT", 0.5)
            impatient.setattr(dial, "OPEN_TIMEOUT", 0.5)
            cases = {
                "TLS to a silent port": await found(f"wss://localhost:{silent}"),
                "silent server": await found_at(SUBPROTOCOL, lambda ping: None),
            }
        keys = Keys(tmp_path)
        async with local_server(web_page, encrypting(keys)) as port:
            cases["certificate that is not trusted"] = await found(f"wss://localhost:{port}")
        monkeypatch.setenv("SSL_CERT_FILE", str(keys.root))
        for case, days in (("trusted certificate", 99), ("certificate that expires", 3)):
            keys.renew(datetime.now(UTC) + timedelta(days=days))
            cases[case] = await found_at(SUBPROTOCOL, in_time, encrypting(keys))
        cases |= {
            "real server": await found(server),
            "closed port": await found(f"localhost:{closed_port}"),
            "unknown host": await found("no-such-host.invalid"),
            "web server": await found(f"localhost:{web}"),
            "mail server": await found(f"localhost:{mail}"),
            "TLS to a plain port": await found(f"wss://localhost:{mail}"),
            "another WebSocket server": await found_at("chat", lambda ping: None),
            "unexpected answer": await found_at(SUBPROTOCOL, lambda ping: Done(to=ping.id)),
            "wrong clock": await found_at(SUBPROTOCOL, lambda ping: Pong(to=ping.id, time=1_000_000_000_000)),
            "no TLS": {"TLS": connection_check.check_encryption(ServerAddress("ws://192.168.1.5:7777"), None, 0)},
        }
    lines = []
    for case, findings in cases.items():
        for (name, verdict), finding in zip(verdicts(findings).items(), findings.values(), strict=True):
            is_told = case in ("real server", "trusted certificate") or finding.severity is not Severity.OK
            told = f": {finding.result}{finding.advice and ' -> '}{finding.advice}" if is_told else ""
            lines.append(f"{case}, {name}\t{verdict}{told}")
    assert_sentences("doctor: the connection", sorted(re.sub(r"\d+(\.\d+)*", "N", line) for line in lines))


def test_command_prints_every_step_and_fails_with_one(server: str) -> None:
    done = run_samedeal("doctor", server)
    assert (done.returncode, done.stderr) == (0, "")
    steps = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("ok")]
    assert steps[-3:] == ["TLS", "server", "ping"]
    assert run_samedeal("doctor", "no-such-host.invalid").returncode == 1
