"""Standing series: when the windows of their races open and close, and who keeps a seat."""

from __future__ import annotations

from dataclasses import replace as with_fields
from itertools import pairwise

import pytest
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.errors import RequestRefused
from samedeal.joint_deal import HIGHEST_DRAW, MAX_DRAWS, MAX_OPENINGS
from samedeal.names import removed_name
from samedeal.options import LONGEST_SERIES
from samedeal.protocol.messages import TableLine
from samedeal.race.commands import (
    FixDealCommand,
    GiveUpDealCommand,
    JoinCommand,
    KickCommand,
    LeaveCommand,
    LinkRematchCommand,
    RenameCommand,
    ResignCommand,
    StartCommand,
)
from samedeal.race.due_times import WINDOW_LIFETIME, awaits_next, due_at
from samedeal.race.held_race import HeldRace
from samedeal.race.openings import first_race, rematch
from samedeal.race.values import SHORTEST_DOORS, DealSecret, FoundDeal, Race
from tests.shared.windows import CREATED, HOUR, OPTIONS, SECRET, away, joined, refusal, with_deal, with_shares

DAY = 24 * HOUR
FIRST = CREATED + 4 * HOUR
DAILY = tuple(FIRST + each * DAY for each in range(LONGEST_SERIES))


def first(opens: tuple[int, ...] = DAILY, window: int = DAY, **options: int) -> HeldRace:
    """The first race of a standing series, whose doors are open."""
    wanted = replace(OPTIONS, **{"series": len(opens), **options})
    given = "friday", wanted, Deal.parse(wanted.deal), SECRET, CREATED
    return HeldRace(first_race(*given, window=window // 1000, opens=opens), DealSecret(SECRET))


def following(held: HeldRace, now: int) -> HeldRace:
    """The next race of the series, whose room a node opens."""
    return HeldRace(rematch(held.race, f"friday-{held.race.round + 2}", SECRET, now), DealSecret(SECRET))


def raced(held: HeldRace, now: int) -> HeldRace:
    """The race after all have drawn its deal and resigned."""
    players = [racer.player for racer in held.race.racers]
    held = with_shares(held.passed(now).passed(now), *players, now=now)
    held = with_deal(held, now)
    for player in players:
        held = held.begun(player, now).told(ResignCommand(player), now)
    return held.passed(now)


def test_window_opens_by_itself_at_its_time() -> None:
    held = joined("ana", "ben", held=first())
    assert (held.race.doors_close_at, held.race.ends) == (FIRST, FIRST + DAY - SHORTEST_DOORS)
    assert held.state(CREATED).opens == DAILY
    assert due_at(held.race) == FIRST
    assert refusal(held, StartCommand("ana"), CREATED) == "not_host"
    assert held.passed(FIRST - 1).race.phase == "open"
    assert held.passed(FIRST).race.phase == "countdown"


def test_first_window_leaves_time_to_enter() -> None:
    soon = CREATED + 1
    race = first((soon, soon + DAY)).race
    assert race.doors_close_at == CREATED + SHORTEST_DOORS


def test_next_race_is_due_as_soon_as_a_race_is_over() -> None:
    over = raced(joined("ana", "ben", held=first()), FIRST + HOUR)
    assert over.race.phase == "finished"
    assert due_at(over.race) == FIRST + HOUR
    assert awaits_next(over.race, FIRST + HOUR)
    assert over.passed(FIRST + 30 * DAY).race.phase == "finished", "the next race needs a room first"
    linked = over.told(LinkRematchCommand("friday-2"), FIRST + HOUR)
    assert not awaits_next(linked.race, FIRST + HOUR)
    assert due_at(linked.race) == FIRST + HOUR + WINDOW_LIFETIME


def test_seats_are_kept_and_new_players_enter_between_the_races() -> None:
    held = raced(joined("ana", "ben", "cid", held=first()), FIRST + HOUR).told(KickCommand("ben"), FIRST + HOUR)
    held = following(held, FIRST + HOUR)
    seats = [(racer.player, racer.name, racer.seat) for racer in held.race.racers]
    assert seats == [("ana", "Ana", 1), ("cid", "Cid", 3)]
    assert not any(racer.resigned for racer in held.race.racers)
    held = joined("dan", held=held, now=FIRST + 2 * HOUR)
    assert [racer.player for racer in held.race.racers] == ["ana", "cid", "dan"]
    assert held.race.host == "ana"
    left = held.told(LeaveCommand("cid"), FIRST + 2 * HOUR).passed(FIRST + DAY)
    assert (left.race.phase, len(left.race.racers)) == ("countdown", 2)
    assert refusal(left, LinkRematchCommand("friday-3"), FIRST + DAY) == "not_over"


def test_who_comes_too_late_is_told_when_the_next_race_opens() -> None:
    held = joined("ana", held=first()).passed(FIRST)
    with pytest.raises(RequestRefused, match="The next one opens in 5 h"):
        held.told(JoinCommand("cid", "Cid", {}), FIRST + DAY - 5 * HOUR)


def test_player_whose_name_was_removed_has_no_seat_in_the_next_race() -> None:
    """Their sessions are gone, so the race would wait for them until its window closes."""
    removed = raced(joined("ana", "ben", held=first()), FIRST).told(RenameCommand("ben", removed_name(2)), FIRST)
    assert [racer.player for racer in following(removed, FIRST).race.racers] == ["ana"]


def test_table_grows_with_races_that_are_over() -> None:
    held = raced(joined("ana", "ben", held=first()), FIRST)
    after = following(held, FIRST + HOUR)
    assert [line.races for line in after.race.table] == [1, 1]
    assert after.race.before.rooms == ("friday",)
    assert after.race.terms.options.series == LONGEST_SERIES


def test_who_never_began_has_no_race_in_the_table() -> None:
    held = joined("ana", "ben", "cid", held=first()).passed(FIRST).passed(FIRST)
    held = with_deal(with_shares(held, "ana", "ben", "cid", now=FIRST), FIRST)
    over = held.begun("ana", FIRST).begun("ben", FIRST + HOUR).passed(FIRST + DAY)
    limit = 1000 * OPTIONS.limit
    assert over.race.table == (TableLine(1, "ana", "Ana", 1, 0.5, limit), TableLine(1, "ben", "Ben", 1, 0.5, limit))


def test_all_races_open_at_their_times() -> None:
    """Also if nobody is ever done before a window closes."""
    held, opened = joined("ana", held=first()), []
    while held.race.goes_on:
        opened.append(held.race.doors_close_at)
        assert held.passed(held.race.ends).race.ends == held.race.opens[1] - SHORTEST_DOORS
        held = following(held, held.race.ends)
    opened.append(held.race.doors_close_at)
    assert opened == [*DAILY]
    over = raced(held, opened[-1])
    assert not awaits_next(over.race, opened[-1])
    assert over.race.round == LONGEST_SERIES - 1
    later = rematch(over.race, "again", SECRET, over.race.ends)
    assert (later.opens, later.before.rooms, later.racers) == ((), (), ())


def test_race_whose_deal_nobody_has_drawn_is_missed() -> None:
    held = away(joined("ana", held=first()), "ana").passed(FIRST).passed(FIRST)
    assert refusal(held, LinkRematchCommand("friday-2"), held.race.ends - 1) == "not_over"
    assert due_at(held.race) == FIRST + DAY - SHORTEST_DOORS
    held = held.passed(FIRST + DAY)
    assert held.race.phase == "countdown", "the next race needs a room first"
    assert awaits_next(held.race, FIRST + DAY)
    linked = held.told(LinkRematchCommand("friday-2"), FIRST + DAY)
    assert linked.told(LinkRematchCommand("other"), FIRST + DAY).race.next == "friday-2"
    assert linked.passed(FIRST + DAY).race.phase == "closed"
    after = following(held, FIRST + DAY)
    assert after.race.table == ()
    assert after.race.before.rooms == ("friday",)


@pytest.mark.parametrize("how", ["lost", "given up", "late"])
def test_lost_draws_do_not_end_the_series(how: str) -> None:
    held = joined("ana", held=first()).passed(FIRST).passed(FIRST)
    if how == "lost":
        last = replace(held.race.draw, number=MAX_DRAWS, reveal_by=FIRST)
        held = with_fields(held, race=replace(held.race, draw=last)).passed(FIRST)
    else:
        held = with_shares(held, "ana", now=FIRST)
        assert held.race.needs_search
        found = FoundDeal(1, held.race.draw.shares, 0, "draw")
        command = GiveUpDealCommand(1) if how == "given up" else FixDealCommand(found)
        held = held.told(command, FIRST if how == "given up" else FIRST + DAY)
        assert held.race.needs_search
    for now in (FIRST + 1, FIRST + HOUR):
        held = held.passed(now)
        assert (held.race.phase, held.race.draw.seats) == ("countdown", () if how == "lost" else (1,))
    assert awaits_next(held.passed(FIRST + DAY).race, FIRST + DAY)


def test_host_opens_the_doors_again_after_lost_draws() -> None:
    held = joined("ana", held=first()).passed(FIRST).passed(FIRST)
    last = replace(held.race.draw, number=MAX_DRAWS, reveal_by=FIRST)
    lost = with_fields(held, race=replace(held.race, draw=last)).passed(FIRST)
    again = lost.told(StartCommand("ana"), FIRST)
    assert (again.race.phase, again.race.doors_close_at) == ("open", FIRST + (again.race.ends - FIRST) // 4)
    assert again.told(StartCommand("ana"), FIRST).race.phase == "countdown"
    often = with_fields(lost, race=replace(lost.race, reopened=(FIRST,) * (MAX_OPENINGS - 1)))
    often = with_fields(often, race=replace(often.race, draw=replace(last, number=HIGHEST_DRAW, seats=())))
    assert refusal(often, StartCommand("ana"), FIRST) == "race_started"
    assert not often.state(FIRST).waits_for_host
    assert often.passed(FIRST).race.phase == "countdown", "the series goes on"


def test_servers_that_were_down_open_what_is_left() -> None:
    """Nodes are down for days. Races that are over by then are missed, and the present one has the rest of its window."""
    held = away(joined("ana", held=first()), "ana")
    now, missed = DAILY[3] + HOUR, 0
    while awaits_next((held := held.passed(now).passed(now)).race, now):
        held, missed = following(held, now), missed + 1
    assert (missed, held.race.phase, held.race.ends) == (3, "countdown", DAILY[4] - SHORTEST_DOORS)


def test_series_ends_when_all_have_given_up_their_seats() -> None:
    held = following(raced(joined("ana", held=first()), FIRST), FIRST)
    assert held.told(LeaveCommand("ana"), FIRST).passed(FIRST + DAY).race.phase == "closed"


def test_window_closes_before_the_next_one_opens_when_summer_time_begins() -> None:
    shifted = tuple(each - (HOUR if number > 1 else 0) for number, each in enumerate(DAILY))
    race = following(joined("ana", held=first(shifted)), FIRST + DAY).race
    assert race.ends + SHORTEST_DOORS == shifted[2] == race.opens[0] + DAY - HOUR


@pytest.mark.parametrize(
    ("opens", "window"),
    [
        ((FIRST,), DAY),
        ((CREATED, CREATED + DAY), DAY),
        ((FIRST + 8 * DAY, FIRST + 9 * DAY), DAY),
        ((FIRST, FIRST + DAY), DAY + 2 * HOUR),
        ((FIRST, FIRST + HOUR // 2), HOUR),
        ((FIRST + DAY, FIRST), DAY),
        ((FIRST, FIRST + 8 * DAY), DAY),
        ((FIRST, FIRST + DAY), 0),
    ],
)
def test_series_that_has_no_such_times(opens: tuple[int, ...], window: int) -> None:
    with pytest.raises(RequestRefused) as caught:
        first(opens, window)
    assert caught.value.code == "bad_options"


def test_number_of_races_is_the_number_of_times() -> None:
    with pytest.raises(RequestRefused):
        first(series=3)


def test_times_leave_room_for_each_window() -> None:
    weekly = tuple(FIRST + each * 7 * DAY for each in range(4))
    race: Race = first(weekly, 3 * DAY).race
    assert race.ends == FIRST + 3 * DAY
    assert all(later - earlier == 7 * DAY for earlier, later in pairwise(race.opens))
