"""The sentences about a race, and line input and output."""

from __future__ import annotations

import asyncio
import dataclasses
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.cards import Card
from samedeal.protocol.messages import (
    Phase,
    ProgressUpdate,
    RoomState,
    Seat,
    Standing,
    Tally,
)
from samedeal_client.panels.narration import Narrator
from samedeal_client.panels.race import card_location
from samedeal_client.terminal_io.line_io import LineReader, Printer, terminal_look
from samedeal_client.text.appearance import Look
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.verdict import Verdict
from samedeal_link.model.model import Model
from tests.client.boards import board
from tests.client.race_server import START, RaceServer
from tests.golden.golden_files import assert_answers, assert_sentences

NARRATOR = Narrator(Look(ascii=True))


@pytest.fixture
def server() -> RaceServer:
    return RaceServer()


def narrated(change: Callable[[Model, RaceServer], Model]) -> list[str]:
    """The sentences about a change of a race."""
    server = RaceServer()
    return NARRATOR.narrate(server.model, change(server.model, server))


def state(**changes: Any) -> Callable[[Model, RaceServer], Model]:
    return lambda model, server: model.after(replace(server.state("racing"), **changes))


def seats(*names: str, **changes: Any) -> tuple[Seat, ...]:
    return tuple(
        Seat(player={"ana": "me", "bo": "you"}.get(name, name), name=name, seat=number, **changes)
        for number, name in enumerate(names, 1)
    )


def tally(seat: int, **counts: int) -> Callable[[Model, RaceServer], Model]:
    return lambda model, server: model.after(ProgressUpdate(seat=seat, **counts))  # type: ignore[arg-type]


CHANGES: dict[str, Callable[[Model, RaceServer], Model]] = {
    "another player joins": state(players=seats("ana", "bo", "cleo")),
    "another player leaves": state(players=seats("ana")),
    "this player leaves": state(players=seats("bo")),
    "another player resigns": state(players=(*seats("ana"), Seat(player="you", name="bo", seat=2, resigned=True))),
    "this player resigns": state(players=(Seat(player="me", name="ana", seat=1, resigned=True), *seats("bo"))),
    "another player finishes": tally(2, foundation_cards=52, finished_at=START + 83_000),
    "this player finishes": state(
        tallies=(Tally(player="me", foundation_cards=52, finished_at=START + 83_000), Tally(player="you"))
    ),
    "rematch opens": state(next="k8"),
    "another player wants a rematch": state(next="k8", next_by="you"),
    "room closes": state(phase="closed"),
}


def waits(*, connected: bool = True, **changes: bool) -> Model:
    """What a client knows of a room in which this player and another one wait."""
    first, second = seats("ana", "bo")
    tallies = (Tally(player="me"), Tally(player="you", connected=connected))
    room = replace(RaceServer().state("open"), players=(first, replace(second, **changes)), tallies=tallies)
    return Model(me="me").after(room)


def starting(phase: Phase, countdown: int) -> list[str]:
    """The sentences when a waiting room with a countdown in seconds enters a phase."""
    server = RaceServer()
    race = server.held.race
    options = replace(race.options, countdown=countdown)
    before, after = (
        dataclasses.replace(
            server.model.after(replace(server.state(shown), options=options)),
            evidence=Evidence(terms=race.terms, commitment=race.commitment, phase=shown),
        )
        for shown in ("open", phase)
    )
    return NARRATOR.narrate(before, after)


def test_changes_are_narrated() -> None:
    lines = [f"{name}\t{line}" for name, change in CHANGES.items() for line in narrated(change)]
    lines += [f"countdown of {count} s\t{line}" for count in (3, 1, 0) for line in starting("countdown", count)]
    lines += [f"race starts\t{line}" for line in starting("racing", 3)]
    assert len(lines) == len(CHANGES) + 2 * 4  # with the words of the deal
    for what, gone in (("does not look", waits(away=True)), ("is not connected", waits(connected=False))):
        lines += [f"another player {what}\t{line}" for line in NARRATOR.narrate(waits(), gone)]
        lines += [f"another player {what} any more\t{line}" for line in NARRATOR.narrate(gone, waits())]
    lines += [f"a room with an absent player\t{NARRATOR.describe_room(waits(away=True))[-2].strip()}"]
    assert_sentences("narration", lines)


def test_entering_a_room_describes_it(server: RaceServer) -> None:
    room: RoomState = replace(server.state("open"), private=True)
    lines = NARRATOR.narrate(Model(me="me"), Model(me="me").after(room))
    assert_sentences("narration: a room", [f"line {number}\t{line}" for number, line in enumerate(lines, 1)])


STANDINGS = (
    Standing(place=1, player="you", name="bo", foundation_cards=52, time=83_000, moves=99, undos=0),
    Standing(place=2, player="me", name="ana", foundation_cards=4, time=0, moves=9, undos=2),
)


def test_the_end_has_standings_and_the_verdict(server: RaceServer) -> None:
    finished = dataclasses.replace(
        server.model.after(server.state("finished", standings=STANDINGS)), evidence=Evidence()
    )
    lines = NARRATOR.narrate(server.model, finished)
    assert lines[2].startswith("1st: bo, finished in 1:23, 99 moves.")
    assert lines[3].startswith("2nd: you, ")
    assert lines[-1] == "Checking the race."
    judged = dataclasses.replace(finished, verdict=Verdict("fair", "Fair.", clock="The clock.", words="amber fox"))
    assert NARRATOR.narrate(finished, judged) == ["Fair.", "The clock.", "Result words: amber fox"]
    assert NARRATOR.narrate(judged, judged) == []
    worse = dataclasses.replace(judged, verdict=Verdict("wrong", "NOT fair."))
    assert NARRATOR.narrate(judged, worse) == ["NOT fair."]
    searching = dataclasses.replace(finished, checking="Checking the deal: 1 of 2.")
    assert NARRATOR.narrate(finished, searching) == []


def test_rivals_line(server: RaceServer) -> None:
    model = server.model.after(ProgressUpdate(seat=2, foundation_cards=3, moves=7, connected=False))
    assert NARRATOR.rivals_line(model) == "bo 3/52 in 7 moves (away)"
    assert NARRATOR.rivals_line(Model()) == ""


def test_cards_are_located() -> None:
    athena = board("athena", "1: (KS) TC 9H | w: 2C 5S | stock: ?? (3C) | 01: AD")
    steve = board("steve", "1: 9H | 2: 9S 9S")
    cards = [(athena, card) for card in ("9H", "KS", "2C", "3C", "AD", "QD")] + [(steve, card) for card in ("9H", "9S")]
    lines = [
        f"{board.game.name} {card}\t{card_location(board, Card.parse(card), NARRATOR.look)}" for board, card in cards
    ]
    assert_sentences("locations of cards", lines)


def test_control_characters_are_not_printed() -> None:
    stream = io.StringIO()
    Printer(stream, colour=False).print_lines(["a\x1b[31mb\x07", "c\u202ed\u200be"])
    assert stream.getvalue() == "a?[31mb?\nc?d?e\n"


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_look_follows_the_terminal_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(heading: str, question: str) -> str:
        encoding, *variables = question.split()
        for name in ("TERM", "NO_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for variable in variables:
            monkeypatch.setenv(*variable.split("="))
        kind = Terminal if heading == "Terminals" else io.TextIOWrapper
        look = terminal_look(ascii_only=False, stream=kind(io.BytesIO(), encoding=encoding))
        return f"{'ASCII' if look.ascii else 'glyphs'}, {'colours' if look.colour else 'no colours'}"

    assert_answers("looks", answer)


async def lines_of(descriptor: int) -> list[str]:
    reader = LineReader(descriptor)
    lines = []
    async with asyncio.timeout(30):
        while (line := await reader.read_line()) is not None:
            lines.append(line)
    return lines


async def test_lines_are_assembled_from_pieces_of_a_pipe() -> None:
    """A long line is cut."""
    out, into = os.pipe()
    reading = asyncio.create_task(lines_of(out))
    for piece in (b"dr", b"aw\n3 5\r\n", b"\xff\n", b"x" * 50_000, b"\nlast"):
        await asyncio.to_thread(os.write, into, piece)
    os.close(into)
    assert await reading == ["draw", "3 5", "\ufffd", "x" * 1000, "last"]
    os.close(out)


async def test_lines_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "moves"
    path.write_text("draw\n" * 3000)
    descriptor = os.open(path, os.O_RDONLY)
    assert await lines_of(descriptor) == ["draw"] * 3000
    os.close(descriptor)
