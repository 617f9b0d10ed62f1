"""Measures a door: the CPU time and memory of sessions, and how soon a key has an effect.

    samedeal door ws://127.0.0.1:7777 --port 2222 --limit-per-address 500 --limit-rate 10000
    python -m tests.load.door 2222 PID --words 'new --players 1 --start full --countdown 1' --until left --keys 30

Each session, or the first ``--typing`` of them, types ``--keys`` keys a minute: the space bar, which draws from the
stock, or those in ``--type``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import time

import asyncssh

from tests.load.processes import Usage


class _Session(asyncssh.SSHClientSession[str]):
    """A session that notes how long after a key something is drawn."""

    def __init__(self, until: str) -> None:
        self.until = until
        self.typed = 0.0
        self.echoes: list[float] = []
        self.begun = asyncio.Event()
        self.channel: asyncssh.SSHClientChannel[str]

    def connection_made(self, chan: asyncssh.SSHClientChannel[str]) -> None:
        self.channel = chan

    def data_received(self, data: str, datatype: object) -> None:
        if self.until in data:
            self.begun.set()
        if "What is your name" in data:
            self.channel.write("\r")
        if "\x1b]11;?" in data:
            self.channel.write("\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62c")
        if self.typed:
            self.echoes.append(time.perf_counter() - self.typed)
            self.typed = 0.0

    def type(self, key: str) -> None:
        self.typed = time.perf_counter()
        self.channel.write(key)


async def _open(port: int, number: int, words: str, until: str) -> tuple[asyncssh.SSHClientConnection, _Session]:
    """Open a session and wait until it shows a text."""
    connection = await asyncssh.connect(
        *("127.0.0.1", port),
        known_hosts=None,
        config=None,
        agent_path=None,
        username=f"player{number}",
        client_keys=[asyncssh.generate_private_key("ssh-ed25519")],
    )
    session = _Session(until)
    await connection.create_session(
        lambda: session, words or None, term_type="xterm-256color", term_size=(120, 40), request_pty="force"
    )
    await session.begun.wait()
    return connection, session


async def _measure(given: argparse.Namespace) -> None:
    before = Usage.of(given.pid)
    opened = [await _open(given.port, number, given.words, given.until) for number in range(given.sessions)]
    await asyncio.sleep(given.settle)
    start = Usage.of(given.pid)

    async def play(session: _Session, number: int) -> None:
        end, keys = time.monotonic() + given.seconds, itertools.cycle(given.type)
        keys_a_minute = given.keys if number < given.typing else 0
        await asyncio.sleep(number * 0.618 % 1 * 60 / max(given.keys, 1))
        while keys_a_minute and time.monotonic() < end:
            session.type(next(keys))
            await asyncio.sleep(60 / given.keys)
        await asyncio.sleep(max(end - time.monotonic(), 0))

    await asyncio.gather(*(play(session, number) for number, (_, session) in enumerate(opened)))
    end = Usage.of(given.pid)
    count = given.sessions
    print(f"to begin: {(start.cpu - before.cpu) / count * 1000:.0f} ms of CPU")
    print(f"then: {(end.cpu - start.cpu) / given.seconds / count:.2%} of a core", end=", ")
    print(f"{(end.memory - before.memory) / count / 1e6:.1f} MB a session")
    echoes = sorted(echo for _, session in opened for echo in session.echoes)
    if echoes:
        middle, late = echoes[len(echoes) // 2], echoes[int(len(echoes) * 0.99)]
        print(f"echo of {len(echoes)} keys: median {middle * 1000:.0f} ms, p99 {late * 1000:.0f} ms")
    for connection, _ in opened:
        connection.abort()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("pid", type=int, help="the process id of the door")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--words", default="")
    parser.add_argument("--until", default="Quit", help="what is shown once a session has begun, such as 'left'")
    parser.add_argument("--typing", type=int, default=10_000, help="number of sessions that type")
    parser.add_argument("--keys", type=float, default=0)
    parser.add_argument("--type", default=" ", help="the keys, one after another")
    parser.add_argument("--settle", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=30)
    asyncio.run(_measure(parser.parse_args()))


if __name__ == "__main__":
    main()
