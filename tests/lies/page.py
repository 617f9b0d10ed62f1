"""The page's functions for evidence and verdict, run by Node: what they make of the worlds that clients saw."""

from __future__ import annotations

import subprocess
import tempfile
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import msgspec

from samedeal.joint_deal import HIGHEST_DRAW
from samedeal.protocol.codec import encode
from samedeal.record import Record
from samedeal_link.evidence.verdict import RaceReading, Verdict
from tests.lies.seen import Seen, Told
from tests.shared.javascript import NODE, copy_page

_ENTRY: Final = Path(__file__).with_name("page.mjs")


@contextmanager
def page_files() -> Iterator[str]:
    """A folder with the modules of the page, or an empty text if Node is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        copy_page(Path(folder))
        yield folder if NODE is not None else ""


class Page:
    """A program that judges worlds with the functions of the page.

    It remembers the client after each step of the races that it is told to ``keep``. A world that begins as one of them
    costs only what comes after.
    """

    def __init__(self, folder: str) -> None:
        assert NODE is not None
        command = [NODE, str(_ENTRY), folder]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.clear()

    def clear(self) -> None:
        """Forget all races."""
        self._is_cleared = True
        self._kept: list[Told] = []
        self._numbers: dict[int, int] = {}
        self._messages: dict[int, int] = {}
        self._races: dict[bytes, list[Told]] = {}
        self._readings: dict[int, tuple[int, RaceReading]] = {}

    def keep(self, seen: Seen) -> None:
        """Remember a race of a client, of which other worlds are changes."""
        race = [*seen.steps()][::-1]
        (found,) = self._ask([{"from": _root(seen), "steps": [self._step(each) for each in race], "keep": True}])
        assert found == {}, found
        for number, step in enumerate(race, len(self._kept)):
            self._numbers[id(step)] = number
            self._messages.setdefault(id(step.message), number)
        self._kept += race
        self._races[msgspec.json.encode(_root(seen))] = race

    def judge(self, worlds: Sequence[tuple[Seen, RaceReading]]) -> list[dict[str, Any]]:
        """Return the page's verdicts on worlds: their kinds, sentences, rows, clocks and words."""
        return self._ask([self._world(seen, reading) for seen, reading in worlds])

    def close(self) -> None:
        """Stop the program."""
        self._process.communicate()

    def _ask(self, worlds: Sequence[Any]) -> list[dict[str, Any]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode({"clear": self._is_cleared, "worlds": worlds}) + b"\n")
        self._process.stdin.flush()
        self._is_cleared = False
        found: list[dict[str, Any]] = msgspec.json.decode(self._process.stdout.readline())
        return found

    def _world(self, seen: Seen, reading: RaceReading) -> dict[str, Any]:
        steps: list[Told] = [*takewhile(lambda step: id(step) not in self._numbers, seen.steps())][::-1]
        before = steps[0].before if steps else seen.told
        start: Any = self._numbers[id(before)] if before is not None else _root(seen)
        if before is None and (race := self._races.get(msgspec.json.encode(start))):
            pairs = takewhile(lambda pair: pair[0].is_like(pair[1]), zip(race, steps, strict=False))
            if same := sum(1 for _ in pairs):
                start, steps = self._numbers[id(race[same - 1])], steps[same:]
        return {"from": start, "steps": [self._step(each) for each in steps], "reading": self._reading(reading)}

    def _step(self, step: Told) -> tuple[Any, ...]:
        message: Any = step.message and self._messages.get(id(step.message))
        if message is None and step.message is not None:
            message = b64encode(encode(step.message)).decode()
        return step.what, message, step.now, step.answer

    def _reading(self, reading: RaceReading) -> Any:
        if id(reading) in self._readings:
            return self._readings[id(reading)][0]
        self._readings[id(reading)] = len(self._readings), reading
        return {
            "record": str(reading.record) if isinstance(reading.record, Record) else None,
            "fault": reading.fault,
            "second": reading.second.hex(),
            "answers": None
            if reading.answers is None
            else [{"outcome": str(each.outcome.value), "states": each.states} for each in reading.answers],
        }


def _root(seen: Seen) -> dict[str, Any]:
    asked = seen.asked
    return {
        "role": [asked.role, asked.room, msgspec.to_builtins(asked.wanted), asked.bot, asked.today],
        "player": seen.player,
        "name": seen.name,
        "shares": [seen.share(draw).hex() for draw in range(1, HIGHEST_DRAW + 1)],
    }


_FREE_DETAILS: Final = ("bad_record", "not_checkable", "not_first", "unknown_terms", "other_request", "no_record")
"""Rows whose details are sentences that each language has for itself."""


def difference(found: Verdict, seen: Seen, reading: RaceReading, page: dict[str, Any]) -> str:
    """Return how the page's verdict differs from ours, or an empty text."""
    if "error" in page or page["other"]:
        return str(page.get("error") or f"the page {page['other'][0]}")
    rows = dict(page["rows"])
    if (found.kind, list(found.rows)) != (page["kind"], [row for row, _ in page["rows"]]):
        return f"{found.kind} {dict(found.rows)}, on the page {page['kind']} {rows}"
    details = {row: (found.rows[row], rows[row]) for row in rows if row not in _FREE_DETAILS}
    if any(own != other for own, other in details.values()):
        return f"details: {details}"
    if "bad_record" not in dict(reading.faults) and (found.clock, found.words) != (page["clock"], page["words"]):
        return f"{found.clock} {found.words}, on the page {page['clock']} {page['words']}"
    if sorted(seen.words) != page["deal_words"]:
        return f"deal words {sorted(seen.words)}, on the page {page['deal_words']}"
    if not set(rows).intersection(_FREE_DETAILS) and found.sentence != page["sentence"]:
        return f"{found.sentence!r}, on the page {page['sentence']!r}"
    return ""
