"""Records of finished races, ids of races, and the chains of players. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from samedeal.action_chain import first_head as head_before
from samedeal.action_chain import next_head
from samedeal.deal_proof import DealProof
from samedeal.names import ROOM_CODE
from samedeal.protocol.messages import AckedAction
from samedeal.race.values import Race, Racer
from samedeal.record import Record, RecordedPlayer
from samedeal.utc_text import utc_text
from samedeal_server.races.log_entry import LogEntry

_RACE_ID = re.compile(rf"(?P<room>{ROOM_CODE.pattern})\.[0-9]{{8}}-[0-9]{{6}}")


def race_id(race: Race) -> str:
    """Return the id of a race that has started: its room and the time of its start, such as ``friday.20261122-140543``.

    The id is unique, because a new room gets the same code only some time after this room has closed.
    """
    return f"{race.room}.{_start_text(race.starts)}"


def has_started_after(race: str, time: int) -> bool:
    """Return whether the race with an id has started after a time."""
    return race.rpartition(".")[2] > _start_text(time)


def _start_text(time: int) -> str:
    digits = utc_text(time).translate({ord(char): None for char in "-:TZ"})
    return f"{digits[:8]}-{digits[8:14]}"


def is_race_id(text: str) -> bool:
    """Return whether a text has the form of a race's id. The code of a room never has this form."""
    return _RACE_ID.fullmatch(text) is not None


def first_head(race: Race, racer: Racer, began: int = 0) -> bytes:
    """Return the head of a racer's chain before the racer's first action. In a window, the racer's clock ``began`` then."""
    return head_before(race.terms.digest, began or race.starts, racer.seat, racer.name, bot=racer.bot)


def follow_all(head: bytes, revision: int, began: int, actions: Iterable[AckedAction]) -> bytes:
    """Return the head of a chain after the actions in ``actions``.

    ``head`` and ``revision`` are the head and the revision before these actions. ``began`` is when the player's clock
    began, in milliseconds since 1970.
    """
    for number, action in enumerate(actions, revision + 1):
        head = next_head(head, number, action.time - began, action.action)
    return head


def build_record(race: Race, logs: Mapping[str, Iterable[LogEntry]]) -> Record:
    """Return the record of a finished race. ``logs`` holds all actions of each player."""
    standings = {line.player: line for line in race.result.standings}
    players = []
    for racer in sorted(race.racers, key=lambda racer: racer.seat):
        line = standings[racer.player]
        began = line.began_at or race.starts
        actions = tuple((entry.committed_at - began, entry.action) for entry in logs[racer.player])
        result = (line.place, line.foundation_cards, actions, line.time)
        player = RecordedPlayer(racer.seat, racer.name, *result, racer.bot, line.resigned, began_at=line.began_at)
        players.append(player)
    proof = DealProof.parse(race.result.proof) if race.result.proof else None
    times = race.starts, race.result.finished_at
    return Record(race.terms, race.commitment, *times, race.result.seed, len(players), tuple(players), proof)
