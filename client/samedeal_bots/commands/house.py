"""``samedeal house``: bots that keep people company on a server."""

from __future__ import annotations

import argparse
import asyncio
import os
from dataclasses import replace
from pathlib import Path
from random import SystemRandom
from typing import Final

from samedeal.terminal_text import printable
from samedeal_bots.commands.bot import stop_at_end_of_input
from samedeal_link.errors import Failure
from samedeal_link.machine.signals import until_stopped

_NICE: Final = 10
_KEY: Final = "SAMEDEAL_HOUSE_KEY"
"""The environment variable with the key. A server that runs a house sets it."""

_SHORTEST_KEY: Final = 16
"""Minimum length of a key, in characters, as the server wants it."""


def run(given: argparse.Namespace) -> int:
    """Run the house until a signal, and return the exit code."""
    from samedeal_bots.house import House
    from samedeal_link.connection.address import parse_address

    key = os.environ.get(_KEY, "")
    if given.key_file or not key:
        key = _read_key(given.key_file)
    address = replace(parse_address(given.url), certificate=given.certificate)

    def report(sentence: str) -> None:
        print(f"house: {printable(sentence)}", flush=True)

    async def keep() -> int:
        if given.exit_with_stdin:
            stop_at_end_of_input()
        await House(address, key, given.bots, report, SystemRandom()).run()
        return 0

    os.nice(_NICE)  # its races must not slow down those of people
    return asyncio.run(until_stopped(keep()))


def _read_key(file: str | None) -> str:
    if not file:
        raise Failure("A house needs its key. Give the file that the server reads with --key-file.", 2)
    try:
        key = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Failure(f"Cannot read the key of the house from {file!r}: {reason}.") from None
    if len(key) < _SHORTEST_KEY:
        raise Failure(f"The key of the house in {file!r} is too short. Use at least {_SHORTEST_KEY} characters.")
    return key
