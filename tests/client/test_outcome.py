from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.options import Options
from samedeal.protocol.messages import RoomState, Seat, Standing
from samedeal_client.text.appearance import Look
from samedeal_client.views.outcome import headline, personal_best, why_over


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


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("mira 5:29, ada 5:52, june 9", "You won! 1st of 3, 0:23 ahead of ada."),
        ("mira 5:29, ada 31, june 9", "You won! 1st of 3, 21 cards ahead of ada."),
        ("mira 31, ada 30", "You won! 1st of 2, 1 card ahead of ada."),
        ("mira 31, ada 31", "You won! 1st of 2, level with ada but earlier."),
        ("ada 5:29, mira 5:52, june 9", "You finished! 2nd of 3, 0:23 behind ada."),
        ("ada 5:29, june 31, mira 9", "3rd of 3, 22 cards behind june."),
        ("ada 5:29, mira 9 resigned", "You resigned. 2nd of 2, 43 cards behind ada."),
        ("ada 9, mira 9", "2nd of 2, level with ada but later."),
        ("mira 9, ada 9 tied, june 3", "A tie! You share 1st place with ada."),
        ("mira 0 resigned, ada 0 tied resigned", "You resigned."),
        ("mira 3 resigned, ada 3 tied resigned", "You resigned. You share 1st place with ada."),
        ("mira 9 resigned, ada 2", "You resigned. 1st of 2, 7 cards ahead of ada."),
        ("ada 9, mira 2, june 2 tied", "A tie! You share 2nd place with june."),
        ("mira 5:52", "You finished!"),
        ("mira 12", "You placed 12 of 52 cards."),
        ("ada 5:29, june 5:52", "ada won in 5:29, 0:23 ahead of june."),
        ("ada 12, june 3", "ada won with 12 of 52 cards, 9 cards ahead of june."),
        ("ada 3, june 3 tied, bo 3 tied", "A tie! ada, june and bo share 1st place."),
        ("ada 5:29", "ada won in 5:29."),
    ],
)
def test_headline(result: str, text: str) -> None:
    assert headline(standings(result), "m", 52, Look()) == text


WAITED = "Ended early: those still racing were away or idle."


@pytest.mark.parametrize(
    ("result", "seats", "options", "text"),
    [
        ("mira 5:29, ada 5:52", "", {}, ""),
        ("mira 5:29, ada 9", "", {"limit": 351}, "Time's up!"),
        ("mira 5:29, ada 9", "ada bot", {}, "Only bots were still playing."),
        ("mira 5:29, ada 9", "ada bot", {"end_when_settled": False}, WAITED),
        ("mira 5:29, ada 9", "ada bot", {"first_finish_ends": True}, "The first player to finish ended it."),
        ("mira 5:29, ada 9", "ada stuck", {}, "All people still playing were stuck."),
        ("mira 5:29, ada 9, june 3", "ada stuck", {}, WAITED),
        ("mira 5:29, ada 9, june 3 resigned", "ada stuck", {}, "All people still playing were stuck."),
        ("mira 5:29, ada 9, june 3", "ada stuck, june bot", {}, "All people still playing were stuck."),
        ("mira 5:29, ada 9", "ada resigned", {}, ""),
        ("mira 5:29, ada 9", "", {"undo": "off"}, "Ended early: those racing had no moves, or were away."),
    ],
)
def test_why_a_race_is_over(result: str, seats: str, options: dict[str, Any], text: str) -> None:
    marks = {line.split()[0]: line.split()[1] for line in seats.split(", ") if line}
    lines = [replace(line, bot=marks.get(line.name) == "bot") for line in standings(result)]
    room = RoomState(
        room="friday",
        event=1,
        phase="finished",
        game="willow",
        deal="random",
        options=Options(**options),
        private=False,
        host="m",
        players=tuple(
            Seat(
                player=line.player,
                name=line.name,
                seat=1,
                resigned=line.resigned or marks.get(line.name) == "resigned",
                bot=line.bot,
                stuck=marks.get(line.name) == "stuck",
            )
            for line in lines
        ),
        tallies=(),
        commitment=b"",
        standings=tuple(lines),
        finished_at=352_000,
    )
    assert why_over(room) == text


@pytest.mark.parametrize(
    ("best", "text"),
    [
        (None, "Your time: 5:52."),
        (364_200, "Your time: 5:52. A new best in Willow, 0:12 faster!"),
        (352_000, "Your time: 5:52. Your best in Willow is 5:52."),
        (331_900, "Your time: 5:52. Your best in Willow is 5:31."),
    ],
)
def test_time_against_the_personal_best(best: int | None, text: str) -> None:
    assert personal_best(352_000, best, "Willow") == text
