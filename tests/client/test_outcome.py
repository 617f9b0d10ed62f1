from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samedeal.options import Options
from samedeal.protocol.messages import RoomState, Seat, Standing
from samedeal_client.text.appearance import Look
from samedeal_client.views.outcome import headline, personal_best, why_over
from tests.client.lone_player import ROOM
from tests.golden.golden_files import assert_sentences


def standings(text: str) -> list[Standing]:
    """Standings written as ``mira 5:52, ada 5:29, june 12``: finish times, or numbers of cards."""
    lines: list[Standing] = []
    for line in text.split(", "):
        name, result, *more = line.split()
        minutes, colon, seconds = result.partition(":")
        lines.append(
            Standing(
                place=lines[-1].place if "tied" in more else len(lines) + 1,
                player=name[0],
                name=name,
                foundation_cards=52 if colon else int(result),
                time=(60 * int(minutes) + int(seconds)) * 1000 if colon else 0,
                moves=1,
                undos=0,
                resigned="resigned" in more,
            )
        )
    return lines


RESULTS = (
    "mira 5:29, ada 5:52, june 9",
    "mira 5:29, ada 31, june 9",
    "mira 31, ada 30",
    "mira 31, ada 31",
    "ada 5:29, mira 5:52, june 9",
    "ada 5:29, june 31, mira 9",
    "ada 5:29, mira 9 resigned",
    "ada 9, mira 9",
    "mira 9, ada 9 tied, june 3",
    "mira 0 resigned, ada 0 tied resigned",
    "mira 3 resigned, ada 3 tied resigned",
    "mira 9 resigned, ada 2",
    "ada 9, mira 2, june 2 tied",
    "mira 5:52",
    "mira 12",
    "ada 5:29, june 5:52",
    "ada 12, june 3",
    "ada 3, june 3 tied, bo 3 tied",
    "ada 5:29",
)
"""Standings of a race of mira, or of a race that mira watched."""


def test_wording_of_headlines() -> None:
    assert_sentences("headlines", [f"{result}\t{headline(standings(result), 'm', 52, Look())}" for result in RESULTS])


ENDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("mira 5:29, ada 5:52", "", {}),
    ("mira 5:29, ada 9", "", {"limit": 351}),
    ("mira 5:29, ada 9", "ada bot", {}),
    ("mira 5:29, ada 9", "ada bot", {"end_when_settled": False}),
    ("mira 5:29, ada 9", "ada bot", {"first_finish_ends": True}),
    ("mira 5:29, ada 9", "ada stuck", {}),
    ("mira 5:29, ada 9, june 3", "ada stuck", {}),
    ("mira 5:29, ada 9, june 3 resigned", "ada stuck", {}),
    ("mira 5:29, ada 9, june 3", "ada stuck, june bot", {}),
    ("mira 5:29, ada 9", "ada resigned", {}),
    ("mira 5:29, ada 9", "", {"undo": "off"}),
)
"""Standings of a race, what is special about the players, and the options of the room."""


def finished_room(result: str, seats: str, options: dict[str, Any]) -> RoomState:
    """The room of a race that has ended."""
    marks = {line.split()[0]: line.split()[1] for line in seats.split(", ") if line}
    lines = [replace(line, bot=marks.get(line.name) == "bot") for line in standings(result)]
    seats_of = tuple(
        Seat(
            player=line.player,
            name=line.name,
            seat=1,
            resigned=line.resigned or marks.get(line.name) == "resigned",
            bot=line.bot,
            stuck=marks.get(line.name) == "stuck",
        )
        for line in lines
    )
    ended: dict[str, Any] = {
        "phase": "finished",
        "standings": tuple(lines),
        "starts": 0,
        "ends": 0,
        "finished_at": 352_000,
    }
    return replace(ROOM, options=Options(**options), players=seats_of, **ended)


def test_wording_of_why_a_race_is_over() -> None:
    lines = [
        f"{result}; {seats or '-'}; {options}\t{why_over(finished_room(result, seats, options)) or '(nothing)'}"
        for result, seats, options in ENDS
    ]
    assert_sentences("why a race is over", lines)


def test_wording_of_the_personal_best() -> None:
    lines = [f"best {best}\t{personal_best(352_000, best, 'Willow')}" for best in (None, 364_200, 352_000, 331_900)]
    assert_sentences("personal best", lines)
