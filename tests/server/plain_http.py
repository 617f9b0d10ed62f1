"""Plain HTTP requests to a node or to its health listener, over a connection of their own each."""

from __future__ import annotations

from dataclasses import dataclass

from tests.server.raw_client import HANDSHAKE, Wire, handshake


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def policy(self) -> dict[str, str]:
        parts = (part.strip().partition(" ") for part in self.headers["content-security-policy"].split(";"))
        return {name: value for name, _, value in parts}


async def request(url: str, path: str = "/", method: str = "GET", **headers: str | None) -> Wire:
    """Send a request. Return the connection."""
    wire = await Wire.open(url)
    await wire.send(handshake(f"{method} {path} HTTP/1.1", **(dict.fromkeys(HANDSHAKE) | {"Host": "a"} | headers)))
    return wire


async def ask(url: str, path: str = "/", method: str = "GET", **headers: str) -> Answer:
    wire = await request(url, path, method, **headers)
    head, body = await wire.head(), await wire.eof()
    await wire.close()
    status, *lines = head.decode().strip().split("\r\n")
    return Answer(
        int(status.split()[1]),
        {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)},
        body,
    )
