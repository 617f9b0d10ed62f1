from __future__ import annotations

from ast import literal_eval
from typing import Any

from msgspec.structs import replace

from samedeal.options import Options
from samedeal.protocol.messages import RoomState, Seat, Standing
from samedeal_client.panels.outcome import headline, personal_best, why_over
from samedeal_client.text.appearance import Look
from tests.client.server_messages import room_state, standing
from tests.golden.golden_files import assert_answers, assert_sentences


def standings(text: str) -> list[Standing]:
    """Standings written as ``mira 5:52, ada 5:29, june 12``: finish times, or numbers of cards."""
    lines: list[Standing] = []
    for line in text.split(", "):
        name, result, *more = line.split()
        minutes, colon, seconds = result.partition(":")
        lines.append(
            standing(
                lines[-1].place if "tied" in more else len(lines) + 1,
                name,
                52 if colon else int(result),
                name[0],
                time=(60 * int(minutes) + int(seconds)) * 1000 if colon else 0,
                resigned="resigned" in more,
            )
        )
    return lines


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
    given = Options(**options)
    return room_state("friday", given, seats_of, phase="finished", standings=tuple(lines), finished_at=352_000)


def told(heading: str, question: str) -> str:
    """The headline of some standings, or why a race is over with them, marks of the players, and options."""
    if heading == "Headlines":
        return headline(standings(question), "m", 52, Look())
    result, seats, options = question.split("; ")
    return why_over(finished_room(result, seats.strip("-"), literal_eval(options))) or "(nothing)"


def test_wording_of_outcomes() -> None:
    assert_answers("outcomes", told)


def test_wording_of_the_personal_best() -> None:
    lines = [f"best {best}\t{personal_best(352_000, best, 'Willow')}" for best in (None, 364_200, 352_000, 331_900)]
    assert_sentences("personal best", lines)
