"""A race told in sentences, and what of it reaches a terminal."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.cards import Card
from samedeal.protocol.messages import Progress, RoomLine, RoomState, Seat, Standing, Tally
from samedeal_client.rooms.model import Model
from samedeal_client.text.lines import LineReader, Printer, terminal_look
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Span
from samedeal_client.views.narration import Narrator, room_lines
from tests.client.boards import board
from tests.client.test_model import START, Server

NARRATOR = Narrator(Look(ascii=True))


def told(change: Callable[[Model, Server], Model]) -> list[str]:
    """What is told when a race is changed."""
    server = Server()
    return NARRATOR.tell(server.model, change(server.model, server))


def state(**changes: Any) -> Callable[[Model, Server], Model]:
    return lambda model, server: model.after(replace(server.state("racing"), **changes))


def seats(*names: str, **changes: Any) -> tuple[Seat, ...]:
    return tuple(
        Seat(player={"ana": "me", "bo": "you"}.get(name, name), name=name, seat=number, **changes)
        for number, name in enumerate(names, 1)
    )


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (state(), []),
        (state(players=seats("ana", "bo", "cleo")), ["cleo has come in."]),
        (state(players=seats("ana")), ["bo has left."]),
        (state(players=seats("bo")), ["You have left."]),
        (state(players=(*seats("ana"), Seat(player="you", name="bo", seat=2, out=True))), ["bo is out of the race."]),
        (state(players=(Seat(player="me", name="ana", seat=1, out=True), *seats("bo"))), ["You are out of the race."]),
        (state(next="k8"), ["The rematch is open in room k8: type again to join it."]),
        (state(phase="closed"), ["This room is closed."]),
        (lambda model, server: model.after(Progress(tallies=(Tally(player="you", up=9),))), []),
        (
            lambda model, server: model.after(Progress(tallies=(Tally(player="you", up=52, home=START + 83_000),))),
            ["bo is home, in 01:23!"],
        ),
        (
            lambda model, server: model.after(Progress(tallies=(Tally(player="me", up=52, home=START + 83_000),))),
            ["You are home, in 01:23!"],
        ),
    ],
)
def test_changes(change: Callable[[Model, Server], Model], lines: list[str]) -> None:
    assert told(change) == lines


@pytest.mark.parametrize(
    ("phase", "countdown", "line"),
    [
        ("countdown", 3, "The race starts in 3 seconds."),
        ("countdown", 1, "The race starts in 1 second."),
        ("countdown", 0, "The race starts now."),
        ("racing", 3, "Go! The race ends 15:00 after its start at the latest."),
    ],
)
def test_how_a_race_begins(phase: Any, countdown: int, line: str) -> None:
    server = Server()
    options = replace(server.options, countdown=countdown)
    before = server.model.after(replace(server.state("open"), options=options))
    assert NARRATOR.tell(before, before.after(replace(server.state(phase), options=options))) == [line]


def test_a_room_that_is_entered_is_told_whole() -> None:
    server = Server()
    room: RoomState = replace(server.state("open"), private=True)
    lines = NARRATOR.tell(Model(me="me"), Model(me="me").after(room))
    assert lines[0].startswith("Room k7: Willow, ")
    assert lines[0].endswith("It has a passphrase.")
    assert "  Players   2 of 8: ana (you); bo" in lines
    assert lines[-1] == "You are the host: type start when everybody is here."


def test_a_refused_move_is_told_with_its_reason_once() -> None:
    server = Server()
    act = server.act(server.legal()[0])
    before = server.model
    server.refuse(act)
    assert NARRATOR.tell(before, server.model) == [f"{act.action} was taken back: No."]
    again = server.model.after(Progress(tallies=(Tally(player="you", up=1),)))
    assert NARRATOR.tell(server.model, again) == []


def test_the_end_is_told_with_standings_and_the_check() -> None:
    standings = (
        Standing(place=1, player="you", name="bo", up=52, time=83_000, moves=99, undos=0),
        Standing(place=2, player="me", name="ana", up=4, time=0, moves=9, undos=2),
    )
    server = Server()
    lines = NARRATOR.tell(server.model, server.model.after(server.state("finished", standings=standings)))
    assert lines[0] == "The race is over."
    assert lines[2].split()[:5] == ["1", "bo", "52/52", "01:23", "99"]
    assert lines[3].split()[1:4] == ["2", "ana", "(you)"]
    assert lines[-1].startswith("Checked: the seed is the one committed to beforehand")


def test_rivals() -> None:
    server = Server()
    model = server.model.after(Progress(tallies=(Tally(player="you", up=3, moves=7, connected=False),)))
    assert NARRATOR.rivals(model) == "bo 3/52 in 7 moves (away)"
    assert NARRATOR.rivals(Model()) == ""


@pytest.mark.parametrize(
    ("card", "where"),
    [
        ("9H", "9H lies in column 1, on top."),
        ("KS", "KS lies face down in column 1, under 2 cards."),
        ("2C", "2C lies in waste, under 1 card."),
        ("3C", "3C lies in stock, on top."),
        ("AD", "AD lies in foundation 01, on top."),
        ("QD", "QD has not been seen yet."),
    ],
)
def test_where_a_card_is(card: str, where: str) -> None:
    now = board("athena", "1: (KS) TC 9H | w: 2C 5S | stock: ?? (3C) | 01: AD")
    assert NARRATOR.find(now, Card.parse(card)) == where


def test_of_two_decks_there_may_be_another() -> None:
    now = board("steve", "1: 9H | 2: 9S 9S")
    assert NARRATOR.find(now, Card.parse("9H")) == "9H lies in column 1, on top; another one has not been seen yet."
    assert NARRATOR.find(now, Card.parse("9S")) == "9S lies in column 2, on top; lies in column 2, under 1 card."


def test_rooms_in_a_list() -> None:
    line = RoomLine(
        room="k7", game="steve", deal="#7", phase="open", players=2, seats=8, private=True, spectators=False
    )
    heading, row = room_lines([line], Look(ascii=True))
    assert row.split() == ["k7", "Steve", "#7", "open", "2/8", "passphrase,", "nobody", "may", "watch"]
    assert heading.index("game") == row.index("Steve")


def test_a_room_in_the_list_whose_boards_are_seen_at_once_says_so() -> None:
    line = RoomLine(
        room="k7", game="steve", deal="#7", phase="open", players=2, seats=8, private=False, spectators=True, delay=0
    )
    assert room_lines([line], Look())[1].endswith(" boards are shown at once")


# ---------------------------------------------------------------- lines in and out


def test_nothing_but_text_is_printed() -> None:
    stream = io.StringIO()
    Printer(stream, colour=False).say(["a\x1b[31mb\x07", "c\u202ed\u200be"])
    assert stream.getvalue() == "a?[31mb?\nc?d?e\n"


def test_colours_are_for_terminals_that_have_them() -> None:
    row = (Span("9H", "red"), Span(" "), Span("9S", "black"))
    plain, coloured = io.StringIO(), io.StringIO()
    Printer(plain, colour=False).show([row])
    Printer(coloured, colour=True).show([row])
    assert plain.getvalue() == "9H 9S\n"
    assert coloured.getvalue() == "\x1b[31m9H\x1b[0m 9S\n"


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("encoding", "environment", "look"),
    [
        ("utf-8", {"TERM": "xterm"}, Look(ascii=False, colour=True)),
        ("ascii", {"TERM": "xterm"}, Look(ascii=True, colour=True)),
        ("utf-8", {"TERM": "xterm", "NO_COLOR": "1"}, Look(ascii=False, colour=False)),
        ("utf-8", {"TERM": "dumb"}, Look(ascii=False, colour=False)),
        ("utf-8", {}, Look(ascii=False, colour=False)),
    ],
)
def test_the_look_suits_the_terminal(
    encoding: str, environment: dict[str, str], look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert terminal_look(ascii_only=False, stream=Terminal(encoding)) == look


def test_what_is_no_terminal_gets_no_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert terminal_look(ascii_only=True, stream=stream) == Look(ascii=True, colour=False)


async def lines_of(descriptor: int) -> list[str]:
    reader = LineReader(descriptor)
    lines = []
    async with asyncio.timeout(5):
        while (line := await reader.line()) is not None:
            lines.append(line)
    return lines


async def test_lines_come_from_a_pipe_in_whatever_pieces(tmp_path: Path) -> None:
    out, into = os.pipe()
    reading = asyncio.create_task(lines_of(out))
    for piece in (b"dr", b"aw\n3 5\r\n", b"\xff\n", b"last"):
        os.write(into, piece)
    os.close(into)
    assert await reading == ["draw", "3 5", "�", "last"]
    os.close(out)


async def test_lines_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "moves"
    path.write_text("draw\n" * 3000)
    descriptor = os.open(path, os.O_RDONLY)
    assert await lines_of(descriptor) == ["draw"] * 3000
    os.close(descriptor)


async def test_a_line_without_end_is_cut() -> None:
    out, into = os.pipe()
    reading = asyncio.create_task(lines_of(out))
    await asyncio.to_thread(os.write, into, b"x" * 50_000 + b"\n3 5\n")
    os.close(into)
    assert await reading == ["x" * 1000, "3 5"]
    os.close(out)
