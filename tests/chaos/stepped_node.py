"""A node whose clocks a round can step. Takes the options of samedeal-server::

    python -m tests.chaos.stepped_node --redis redis://127.0.0.1:6379/0

A test can't set the clock of the machine. Such a node adds the number of milliseconds in ``STEP_KEY`` to the time of Redis.
Its own clock jumps an hour ahead and back with each reading, because no race may depend on it.
A tide can start at any time on it, and its races are short.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

from msgspec.structs import replace

from samedeal.options import Options
from samedeal_server.cli import main
from samedeal_server.rooms import tide_rooms
from samedeal_server.store.redis_client import Argument, PrimaryClient
from samedeal_server.store.scripts import Script

STEP_KEY: Final = "chaos:step"

TIDE_LIMIT: Final = 12
"""The time limit of the races of a tide, in seconds."""

_TIME: Final = b"redis.call('TIME')"
_STEPPED_TIME: Final = f"""(function()
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2] + 1000 * (redis.call('GET', '{STEP_KEY}') or 0)
  return {{math.floor(now / 1000000), now % 1000000}}
end)()""".encode()

_HOUR: Final = 3600


def _stepped(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """Return a command that uses the stepped time."""
    match arguments:
        case ("TIME",):
            return "EVAL", b"return " + _STEPPED_TIME, 0
        case ("EVALSHA", script, *words):
            return "EVAL", Script.sources[str(script)].replace(_TIME, _STEPPED_TIME), *words
        case _:
            return arguments


def _short_race(*args: Any, **given: Any) -> Options:
    return replace(Options.scheduled(*args, **given), limit=TIDE_LIMIT)


@contextmanager
def short_tides() -> Iterator[None]:
    """Let tides start at any time, and be short."""
    with (
        mock.patch.object(tide_rooms, "has_tide", return_value=True),
        mock.patch.object(tide_rooms, "Options", SimpleNamespace(scheduled=_short_race)),
        mock.patch.object(tide_rooms, "_COUNTDOWN", 1),
    ):
        yield


def _run() -> int:
    send, read = PrimaryClient.send_batch, time.time
    jumps = cycle((0, _HOUR, 0, -_HOUR))

    async def send_stepped(
        client: PrimaryClient, commands: Sequence[tuple[Argument, ...]], *, durable: bool = False
    ) -> list[Any]:
        return await send(client, list(map(_stepped, commands)), durable=durable)

    with (
        mock.patch.object(PrimaryClient, "send_batch", send_stepped),
        mock.patch.object(time, "time", side_effect=lambda: read() + next(jumps)),
        short_tides(),
    ):
        return main()


if __name__ == "__main__":
    sys.exit(_run())
