"""The way to a server as ``samedeal doctor URL`` finds it: to a real one, and to all that is none."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import SUBPROTOCOL, Done, Ping, Pong
from samedeal_client.net import way as the_way
from samedeal_client.net.address import Address, parse_address
from samedeal_client.text.findings import Finding, Verdict
from tests.end_to_end.company import serving

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

FAR = ("proxy", "name", "port", "TLS", "server", "ping")


@pytest.fixture(scope="module")
def server(redis_server: str) -> Iterator[str]:
    """The address of a real server."""
    with serving(redis_server) as address:
        yield address


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(the_way, "PATIENCE", 0.5)
    for name in ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def found(url: str) -> dict[str, Finding]:
    """What is found on the way, by name."""
    return {finding.name: finding async for finding in the_way.way(parse_address(url))}


def verdicts(findings: dict[str, Finding]) -> dict[str, str]:
    assert all(bool(finding.advice) == (finding.verdict is not Verdict.OK) for finding in findings.values())
    return {name: finding.verdict.value for name, finding in findings.items()}


@contextlib.asynccontextmanager
async def listening(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A port at which something listens."""
    ends: list[asyncio.StreamWriter] = []

    async def serving(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends.append(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await handler(reader, writer)
        writer.close()

    async with await asyncio.start_server(serving, "127.0.0.1", 0, ssl=context) as listener:
        yield listener.sockets[0].getsockname()[1]
    for end in ends:
        if not end.is_closing():
            end.transport.abort()
    await asyncio.gather(*(end.wait_closed() for end in ends), return_exceptions=True)


async def web_page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """An ordinary web server."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    await writer.drain()


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Something that takes connections and says nothing."""
    await reader.read()


async def gibberish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A mail server, say."""
    writer.write(b"220 mail.example.org ready\r\n")
    await writer.drain()


# ---------------------------------------------------------------- without TLS


async def test_the_way_to_a_real_server_is_well(server: str) -> None:
    findings = await found(server)
    assert verdicts(findings) == {"name": "ok", "port": "ok", "TLS": "ok", "server": "ok", "ping": "ok"}
    assert "on this machine" in findings["TLS"].said
    assert SUBPROTOCOL in findings["server"].said
    assert "ms there and back" in findings["ping"].said


async def test_a_closed_port_ends_the_way() -> None:
    async with listening(silence) as port:
        pass
    findings = await found(f"localhost:{port}")
    assert verdicts(findings) == {"name": "ok", "port": "fail"}
    assert f"nothing listens at port {port} of localhost" in findings["port"].said
    assert "samedeal serve" in findings["port"].advice


async def test_a_host_that_is_none() -> None:
    findings = await found("no-such-host.invalid")
    assert verdicts(findings) == {"name": "fail"}


async def test_a_web_server_is_no_server_of_ours() -> None:
    async with listening(web_page) as port:
        findings = await found(f"localhost:{port}")
    assert verdicts(findings) == {"name": "ok", "port": "ok", "TLS": "ok", "server": "fail"}
    assert "is not a Samedeal server: it answers with HTTP 200" in findings["server"].said


async def test_a_mail_server_is_no_server_of_ours() -> None:
    async with listening(gibberish) as port:
        findings = await found(f"localhost:{port}")
    assert verdicts(findings)["server"] == "fail"
    assert "does not answer as a web server does" in findings["server"].said


async def speaking(protocol: str, answers: Callable[[Ping], object]) -> contextlib.AbstractAsyncContextManager[object]:
    async def talk(socket: ServerConnection) -> None:
        async for frame in socket:
            message = decode_to_server(frame)
            assert isinstance(message, Ping)
            answer = answers(message)
            if answer is not None:
                await socket.send(encode(answer))  # type: ignore[arg-type]  # a test answers what it likes

    return serve(talk, "127.0.0.1", 0, subprotocols=[Subprotocol(protocol)], close_timeout=0.2)


async def found_at(protocol: str, answers: Callable[[Ping], object]) -> dict[str, Finding]:
    async with await speaking(protocol, answers) as listener:
        port = next(iter(listener.sockets)).getsockname()[1]  # type: ignore[attr-defined]  # a server of websockets
        return await found(f"localhost:{port}")


async def test_another_websocket_server_is_no_server_of_ours() -> None:
    findings = await found_at("chat", lambda ping: None)
    assert verdicts(findings)["server"] == "fail"


async def test_a_server_that_falls_silent() -> None:
    findings = await found_at(SUBPROTOCOL, lambda ping: None)
    assert verdicts(findings) == {"name": "ok", "port": "ok", "TLS": "ok", "server": "ok", "ping": "fail"}
    assert "says hello and then nothing" in findings["ping"].said


async def test_a_server_that_answers_something_else() -> None:
    assert verdicts(await found_at(SUBPROTOCOL, lambda ping: Done(to=ping.id)))["ping"] == "fail"


async def test_a_clock_that_is_wrong() -> None:
    findings = await found_at(SUBPROTOCOL, lambda ping: Pong(to=ping.id, time=1_000_000_000_000))
    assert verdicts(findings)["ping"] == "warn"
    assert "min ahead of the server's" in findings["ping"].said


async def test_without_tls_to_another_machine_is_said() -> None:
    finding = await the_way.in_clear(Address("ws://192.168.1.5:7777"))
    assert (finding.verdict, "wss://" in finding.advice) == (Verdict.WARN, True)


async def test_a_proxy_is_named_and_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(web_page) as port:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "")
        findings = await found("ws://192.0.2.1:7777")
    assert list(findings) == ["proxy", "server"]
    assert "127.0.0.1" in findings["proxy"].said


# ---------------------------------------------------------------- with TLS

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificates with openssl")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and certificates of it for localhost: ``long`` and ``short`` ones, by how long they last."""
    home = tmp_path_factory.mktemp("tls")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=home, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(
        "req",
        "-x509",
        *key,
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-days",
        "100",
        "-subj",
        "/CN=authority",
        "-addext",
        "keyUsage=critical,keyCertSign",
    )
    # From Python 3.13 on a certificate must say who has signed it.
    (home / "names").write_text("subjectAltName=DNS:localhost\nauthorityKeyIdentifier=keyid")
    for name, days in (("long", "99"), ("short", "3")):
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=localhost")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-days", days, "-out", f"{name}.pem")
    return home


def encrypting(certificates: Path, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / f"{name}.pem", certificates / f"{name}.key")
    return context


@needs_openssl
@pytest.mark.parametrize(("name", "wanted"), [("long", "ok"), ("short", "warn")])
async def test_a_trusted_certificate(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, name: str, wanted: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))
    async with listening(web_page, encrypting(certificates, name)) as port:
        findings = await found(f"wss://localhost:{port}")
    assert verdicts(findings) == {"name": "ok", "port": "ok", "TLS": wanted, "server": "fail"}
    assert "TLSv1.3" in findings["TLS"].said


@needs_openssl
async def test_a_certificate_of_nobody_known(certificates: Path) -> None:
    async with listening(web_page, encrypting(certificates, "long")) as port:
        findings = await found(f"wss://localhost:{port}")
    assert verdicts(findings) == {"name": "ok", "port": "ok", "TLS": "fail"}
    assert "not trusted" in findings["TLS"].said


async def test_tls_to_a_port_without_it() -> None:
    async with listening(gibberish) as port:
        findings = await found(f"wss://localhost:{port}")
    assert verdicts(findings) == {"name": "ok", "port": "ok", "TLS": "fail"}
    assert f"ws://localhost:{port}" in findings["TLS"].advice


async def test_tls_to_a_port_that_says_nothing() -> None:
    async with listening(silence) as port:
        findings = await found(f"wss://localhost:{port}")
    assert verdicts(findings)["TLS"] == "fail"


# ---------------------------------------------------------------- the command


def doctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "samedeal_client", "doctor", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_goes_the_way(server: str) -> None:
    done = doctor(server)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("ok")][-5:] == list(FAR[1:])


def test_the_command_fails_where_the_way_ends() -> None:
    done = doctor("no-such-host.invalid")
    assert done.returncode == 1
    assert "fail  name" in done.stdout


def test_an_address_that_is_none_is_bad_usage() -> None:
    done = doctor("two words")
    assert done.returncode == 2
    assert done.stderr.startswith("samedeal: 'two words' is not an address")
