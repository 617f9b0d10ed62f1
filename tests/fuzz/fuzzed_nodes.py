"""Scripts that one connection sends to a real node. The node must answer each message once or close the connection.

A node serves some scripts, and must log no fault.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from redis import Redis
from structlog.testing import capture_logs

from samedeal.errors import MalformedFrame
from samedeal.protocol.codec import decode_to_client, encode
from samedeal.protocol.messages import SUBPROTOCOL, BoardState, Ping
from samedeal_server.embedded_redis.server import EmbeddedRedis
from tests.fuzz.damage import damaged_bytes, damaged_message
from tests.server.raw_client import BINARY, CLOSE, CONT, PING, TEXT, Wire, frame, handshake

_Stage = TypeVar("_Stage")

_INPUTS_PER_NODE: Final = 400
_NEW_SHARE: Final = 0.3
"""The share of scripts that are new. The others are damaged ones of the newest scripts."""

_NEWEST: Final = 50
_LAST_ID: Final = 987_654_321
"""The id of the last request of each connection."""


@dataclass(frozen=True)
class Step:
    """Data to send: a message as the payload of one frame, or raw bytes."""

    data: bytes
    raw: bool = False


Script = tuple[Step, ...]

RAW: Final = [
    Step(data, raw=True)
    for data in (
        *(frame(PING, b"x"), frame(TEXT, b"text"), frame(TEXT, b"\xff\xfe"), frame(CLOSE, b"\x03\xe8")),
        *(frame(CLOSE, b"\x03"), frame(BINARY, b"x", masked=False), frame(BINARY, b"x", reserved=4)),
        *(frame(BINARY, b"\x81", fin=False) + frame(CONT, b"\xa4"), frame(CONT, b"x"), frame(0x3, b"x")),
        *(frame(BINARY, b"x", length=1 << 40), frame(BINARY, b"x" * 17_000), frame(BINARY, b"")),
        frame(PING) * 700,
    )
]


def damaged_script(rng: Random, script: Script, others: list[Script], raw: Sequence[Step] = RAW) -> Script:
    """Drop, repeat, exchange and damage steps, and insert ``raw`` bytes and steps of ``others``."""
    steps = list(script)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(steps)) if steps else 0
        match rng.randrange(8):
            case 0 if steps:
                del steps[at]
            case 1 if steps:
                steps[at:at] = [steps[at]] * rng.choice((1, 1, 3))
            case 2:
                steps[at:at] = rng.choice(others)[: rng.randint(1, 4)]
            case 3 if raw:
                steps.insert(at, rng.choice(raw))
            case 4 if steps:
                steps[at] = Step(damaged_bytes(rng, steps[at].data), steps[at].raw)
            case 5 if len(steps) > 1:
                other = rng.randrange(len(steps))
                steps[at], steps[other] = steps[other], steps[at]
            case _ if steps and not steps[at].raw:
                steps[at] = Step(damaged_message(rng, steps[at].data))
    return tuple(steps[:40])


class BrokenPromise(Exception):
    """The code under test broke a promise. ``str()`` says which."""


class Campaign:
    """The scripts that a fuzzer has tried. ``broken`` has the broken promises, each with its script.

    ``make`` makes new scripts. Damage may insert ``raw`` bytes.
    """

    def __init__(self, name: str, seed: int, make: Callable[[Random], Script], raw: Sequence[Step] = RAW) -> None:
        self.rng = Random(seed)
        self.tried = 0
        self.broken: list[str] = []
        self._name = name
        self._make = make
        self._raw = raw
        self._newest: deque[Script] = deque(maxlen=_NEWEST)

    def __str__(self) -> str:
        return f"{self._name:9} {self.tried:8} inputs, {len(self.broken)} broken"

    def scripts(self, until: int, stop: int) -> Iterator[Script]:
        """Yield scripts until so many have been tried, or so many promises are broken."""
        while self.tried < until and len(self.broken) < stop:
            known = list(self._newest)
            is_new = not known or self.rng.random() < _NEW_SHARE
            script = self._make(self.rng)
            script = script if is_new else damaged_script(self.rng, self.rng.choice(known), [script, *known], self._raw)
            self._newest.append(script)
            self.tried += 1
            yield script

    @contextmanager
    def trying(self, script: Script) -> Iterator[None]:
        """Note if the block, which tries a script, breaks a promise."""
        try:
            yield
        except BrokenPromise as broken:
            text = repr(script)
            self.broken.append(f"{broken}: {text[:4000]} ({len(text)} characters)")


async def fuzz_nodes(
    campaign: Campaign,
    inputs: int,
    stop: int,
    start: Callable[[str, str], AbstractAsyncContextManager[_Stage]],
    send: Callable[[_Stage, Script], Awaitable[None]],
) -> Campaign:
    """Try a number of scripts on nodes. ``start`` starts a node on an empty Redis, and ``send`` sends it a script."""
    with TemporaryDirectory() as directory, capture_logs() as log:
        async with EmbeddedRedis(Path(directory), "everysec") as url:
            for first in range(0, inputs, _INPUTS_PER_NODE):
                with Redis.from_url(url) as redis:
                    redis.flushall()
                async with start(url, f"fuzzed-{first}") as stage:
                    for script in campaign.scripts(min(inputs, first + _INPUTS_PER_NODE), stop):
                        with campaign.trying(script), _no_faults(log):
                            await send(stage, script)
    return campaign


@contextmanager
def _no_faults(log: list[MutableMapping[str, Any]]) -> Iterator[None]:
    """Raise BrokenPromise if something was logged as an error before the end of the block. Empties the log."""
    try:
        yield
    finally:
        lines, log[:] = [*log], []
    if faults := [line for line in lines if line["event"] == "fault" or line["log_level"] in ("error", "critical")]:
        raise BrokenPromise(f"the node logged a fault: {faults[0]}")


async def send_script(
    url: str, script: Script, subprotocol: str = SUBPROTOCOL, decode: Callable[[bytes], object] = decode_to_client
) -> None:
    """Send a script over a new connection, wait for the answer to each message, and end with a ping."""
    wire = await Wire.open(url)
    try:
        await wire.send(handshake(Sec_WebSocket_Protocol=subprotocol))
        if b" 101 " not in await wire.head():
            raise BrokenPromise("the handshake was not answered")
        is_countable = True  # after raw bytes, answers can't be matched to messages
        for step in script:
            is_countable = is_countable and not step.raw
            await wire.send(step.data if step.raw else frame(BINARY, step.data))
            if is_countable and not await _answered(wire, decode, is_countable=True):
                return
        await wire.send(frame(BINARY, encode(Ping(id=_LAST_ID))))
        await _answered(wire, decode, _LAST_ID, is_countable=is_countable)
    finally:
        await wire.close()


async def _answered(
    wire: Wire, decode: Callable[[bytes], object], number: int | None = None, *, is_countable: bool
) -> bool:
    """Wait for the answer to a request, or to any. Return False once the connection is closed."""
    while True:
        try:
            got = await wire.frame()
        except TimeoutError:
            if not is_countable:  # the raw bytes were an incomplete frame, so later bytes completed it
                return False
            raise BrokenPromise("neither answered nor closed") from None
        if got is None or got[0] == CLOSE:
            return False
        if got[0] != BINARY:
            continue
        try:
            message: Any = decode(got[1])
        except MalformedFrame as error:
            raise BrokenPromise(f"the node sent a frame that is not a message: {error}") from error
        if hasattr(message, "to") and number in (None, message.to):
            return True
        if isinstance(message, BoardState) and message.revision > 1_000_000:
            raise BrokenPromise("a board beyond its bounds")
