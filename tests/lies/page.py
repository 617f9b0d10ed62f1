"""The page's functions for evidence and verdict, run by Node: what they make of the worlds that clients saw."""

from __future__ import annotations

import json
import subprocess
import tempfile
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

import msgspec

from samedeal.joint_deal import MAX_DRAWS
from samedeal.protocol.codec import encode
from samedeal.record import Record
from samedeal_client.state import observation, own_draws
from samedeal_client.state.verdict import RaceReading, Verdict
from tests.lies.changes import Change
from tests.lies.seen import Event, Seen
from tests.lies.worlds import Client
from tests.shared.javascript import NODE, copy_page

_ENTRY: Final = Path(__file__).with_name("page.mjs")

World = dict[str, Any]
"""What a client was told, and what it read, as JSON."""


def _packed(message: Any) -> str:
    return b64encode(encode(message)).decode()


@contextmanager
def _traced(steps: list[Any]) -> Iterator[None]:
    """Record all that the evidence is told."""
    sent, received, answer = observation.sent, observation.received, own_draws.answer

    def traced_sent(evidence: Any, request: Any, now: int) -> Any:
        steps.append(["sent", _packed(request), now])
        return sent(evidence, request, now)

    def traced_received(evidence: Any, message: Any, now: int) -> Any:
        steps.append(["received", _packed(message), now])
        return received(evidence, message, now)

    def traced_answer(evidence: Any, state: Any) -> Any:
        steps.append(["draws", _packed(state)])
        return answer(evidence, state)

    with (
        mock.patch.object(observation, "sent", traced_sent),
        mock.patch.object(observation, "received", traced_received),
        mock.patch.object(own_draws, "answer", traced_answer),
    ):
        yield


def world(start: Seen, events: Sequence[Event], reading: RaceReading) -> tuple[World, Seen]:
    """What a client sees and reads in a race, and the client after it."""
    steps: list[Any] = []
    seen = start
    with _traced(steps):
        for event in events:
            seen = seen.after(event)
            if event.kind in ("restarted", "forgot", "taken over"):
                steps.append([event.kind])
    asked = start.asked
    read = {
        "record": str(reading.record) if isinstance(reading.record, Record) else None,
        "reason": reading.reason,
        "error": reading.error,
        "second": reading.second.hex(),
        "answers": None
        if reading.answers is None
        else [{"outcome": str(each.outcome.value), "states": each.states} for each in reading.answers],
    }
    return {
        "asked": [asked.role, asked.room, msgspec.to_builtins(asked.wanted), asked.bot],
        "player": start.player,
        "name": start.name,
        "shares": [start.share(draw).hex() for draw in range(1, MAX_DRAWS + 1)],
        "steps": steps,
        "reading": read,
    }, seen


def client_world(client: Client, reading: RaceReading, change: Change | None = None) -> tuple[World, Seen]:
    """The world of a client, perhaps with a change of one message."""
    start = client.trail[0] if client.trail else client.seen
    events = list(client.events)
    if change is not None:
        events[change.at : change.until] = change.events
    return world(start, events, reading)


class Page:
    """A program that judges worlds with the functions of the page."""

    def __init__(self) -> None:
        assert NODE is not None
        self._folder = tempfile.TemporaryDirectory()
        copy_page(Path(self._folder.name))
        command = [NODE, str(_ENTRY), self._folder.name]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def judge(self, given: World) -> dict[str, Any]:
        """Return the page's verdict on a world: its kind, sentence, rows, clock and words."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(given) + "\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def close(self) -> None:
        """Stop the program."""
        self._process.communicate()
        self._folder.cleanup()


_FREE_DETAILS: Final = ("bad_record", "not_checkable", "not_first", "unknown_terms", "other_request", "no_record")
"""Rows whose details are sentences that each language has for itself."""


def difference(found: Verdict, seen: Seen, page: dict[str, Any]) -> str:
    """Return how the page's verdict differs from ours, or an empty text."""
    if "error" in page:
        return str(page["error"])
    rows = dict(page["rows"])
    if (found.kind, list(found.rows)) != (page["kind"], [row for row, _ in page["rows"]]):
        return f"{found.kind} {dict(found.rows)}, on the page {page['kind']} {rows}"
    details = {row: (found.rows[row], rows[row]) for row in rows if row not in _FREE_DETAILS}
    if any(own != other for own, other in details.values()):
        return f"details: {details}"
    if "bad_record" not in rows and (found.clock, found.words) != (page["clock"], page["words"]):
        return f"{found.clock} {found.words}, on the page {page['clock']} {page['words']}"
    if sorted(seen.words) != page["deal_words"]:
        return f"deal words {sorted(seen.words)}, on the page {page['deal_words']}"
    if not set(rows).intersection(_FREE_DETAILS) and found.sentence != page["sentence"]:
        return f"{found.sentence!r}, on the page {page['sentence']!r}"
    return ""
