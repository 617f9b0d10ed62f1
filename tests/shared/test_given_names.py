"""Names that the operator gives to players: until the first countdown they are the names, and later others see them."""

from __future__ import annotations

from typing import cast

import pytest
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.errors import RequestRefused
from samedeal.names import removed_name
from samedeal.options import Options
from samedeal.protocol.messages import Phase
from samedeal.race.commands import JoinCommand, LeaveCommand, RaceCommand, RenameCommand
from samedeal.race.openings import rematch, repetition
from samedeal.race.transitions import apply
from samedeal.race.values import DrawProgress, Race, RaceBefore
from tests.shared.race_values import SEED, changed, new_race

NOW = 5_000
BOB = JoinCommand("p2", "Bob", {})
KIND = RenameCommand("p2", "Kind")


def room(phase: str = "open", *, series: int = 1, **fields: object) -> Race:
    """A room in which Ana and Bob have seats, which has come to a phase."""
    race = after(new_race(options=Options(series=series)), JoinCommand("p1", "Ana", {}), BOB)
    return changed(race, phase=cast("Phase", phase), starts=1, ends=10 * NOW, **fields)


def after(race: Race, *commands: RaceCommand) -> Race:
    for command in commands:
        race, _ = apply(race, command, NOW)
    return race


def names(race: Race) -> list[str]:
    """The names of the racers, each with what is shown instead."""
    return [f"{racer.name} {racer.shown}".strip() for racer in race.racers]


def then(race: Race, *commands: RaceCommand) -> list[str]:
    """The names in the rematch of a race, after some commands."""
    finished = changed(race, phase="finished")
    return names(after(rematch(finished, "next", SEED, NOW), *commands))


def test_name_is_given_before_the_countdown_and_shown_later() -> None:
    found = [names(after(room(phase), KIND)) for phase in ("open", "countdown", "racing", "finished")]
    assert found == [["Ana", "Kind"], *3 * [["Ana", "Bob Kind"]]]


def test_name_is_only_shown_once_a_share_may_be_bound_to_it() -> None:
    """The room is open again after a draw in which everybody lost the seat."""
    assert names(after(room(number=1), KIND)) == ["Ana", "Bob Kind"]


def test_player_has_the_given_name_after_coming_back_and_in_rematches() -> None:
    race = after(room(), KIND, LeaveCommand("p2"), BOB)
    assert names(race) == ["Ana", "Kind"]
    assert then(race, BOB) == ["Kind"]
    assert then(after(room("racing"), KIND), BOB) == ["Kind"]
    assert names(after(repetition(race, "alone", Deal("random"), (), SEED, NOW), replace(BOB, player="p1"))) == ["Bob"]


def test_name_that_a_player_had_in_a_draw_stays_in_the_next_one() -> None:
    """Programs know by it who comes back. What others are shown stays, too."""
    race = changed(after(room(), KIND), number=1)
    assert names(after(race, RenameCommand("p2", "Other"), LeaveCommand("p2"), BOB)) == ["Ana", "Kind Other"]


def test_names_stay_in_a_series_whose_table_follows_from_records() -> None:
    race = after(room("racing", series=2), KIND)
    assert then(race, BOB) == ["Bob Kind"]
    assert then(race, BOB, RenameCommand("p2", "Other")) == ["Bob Other"]
    assert then(after(room(series=2), KIND), BOB) == ["Kind"]


def test_what_replaces_a_removed_name_is_only_shown() -> None:
    """Records know by it that a name was removed."""
    race = after(room(), RenameCommand("p2", removed_name(2)))
    assert names(race) == ["Ana", f"Bob {removed_name(2)}"]
    assert then(race, BOB) == [f"Bob {removed_name(2)}"]


def test_rematch_keeps_no_seat_for_a_player_whose_name_was_removed() -> None:
    removed = changed(after(room("racing"), RenameCommand("p2", removed_name(2))), phase="finished")
    assert rematch(removed, "next", SEED, NOW).before.players == ("p1",)


def test_name_of_another_racer_is_refused() -> None:
    with pytest.raises(RequestRefused, match="Ana"):
        apply(room(), RenameCommand("p2", "ANA"), NOW)
    taken = after(room(), KIND, LeaveCommand("p2"), JoinCommand("p3", "Kind", {}))
    with pytest.raises(RequestRefused, match="Kind"):
        apply(taken, BOB, NOW)


def test_player_can_get_the_first_name_back() -> None:
    back = RenameCommand("p2", "Bob")
    assert names(after(room(), KIND, back)) == ["Ana", "Bob"]
    assert names(after(room("racing"), KIND, back)) == ["Ana", "Bob"]
    assert then(after(room("racing"), KIND, back), BOB) == ["Bob"]
    assert apply(room(), back, NOW) == (room(), ())


def test_race_remembers_the_newest_names() -> None:
    given = shown = room()
    for number in range(150):
        player = f"q{number}"
        seat = JoinCommand(player, "Cid", {}), RenameCommand(player, f"Kind {number}"), LeaveCommand(player)
        given, shown = after(given, *seat), after(replace(shown, draw=DrawProgress(1)), *seat)
    expected = {f"q{number}": f"Kind {number}" for number in range(50, 150)}
    assert (given.before, shown.before) == (RaceBefore(given=expected), RaceBefore(shown=expected))
