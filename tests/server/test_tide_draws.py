"""The draws of rooms that share one deal: pure, with several rooms that nodes look at late and in any order."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.deal_proof import DealProof, RoomShares, mix_of
from samedeal.errors import RequestRefused
from samedeal.joint_deal import MAX_DRAWS, secret_commitment, share_commitment, won_candidates
from samedeal.options import Options
from samedeal.protocol.codec import pack, unpack
from samedeal.solver.solve import SOLVER
from samedeal_server.races.race import (
    ROOMS_TIMEOUT,
    SHARE_TIMEOUT,
    CloseCommand,
    CommitShareCommand,
    DealSecret,
    FixDealCommand,
    FoundDeal,
    JoinCommand,
    LeaveCommand,
    Progress,
    Race,
    RaceCommand,
    Racer,
    ResignCommand,
    RevealShareCommand,
    TickCommand,
    apply,
)
from samedeal_server.store.race_patches import RacePatch
from tests.server.expected_errors import refused
from tests.server.race_values import new_race
from tests.shared.joint_deals import some_bytes

START: Final = 1_795_000_060_000
CODES: Final = ("brook", "cove", "dune")
GROUP: Final = (*CODES, "never-opened")


def opened(code: str, *names: str) -> Race:
    options = Options(
        games=("ace-of-hearts",), deal="winnable", players=4, start="at", start_at=START, countdown=10, hosted=False
    )
    racers = tuple(Racer(name, name, seat, seated_at=START - 50_000) for seat, name in enumerate(names, 1))
    given: dict[str, Any] = {"options": options, "deal": "winnable", "solver": SOLVER, "budget": 100_000}
    race = new_race(code, created=START - 60_000, racers=racers, tide=START, group=GROUP, **given)
    return replace(race, commitment=secret_commitment(race.terms, some_bytes(code)))


class Tide:
    """Rooms of a tide, with all their earlier states: a slow node may still have any of these."""

    def __init__(self, **names: str) -> None:
        self.now = START - 10_000
        self.past = {code: [opened(code, *of_room.split())] for code, of_room in names.items()}

    def race(self, code: str) -> Race:
        return self.past[code][-1]

    def apply(self, code: str, command: RaceCommand) -> tuple[str, ...]:
        before = self.race(code)
        race, events = apply(before, command, self.now)
        assert unpack(pack(RacePatch.between(before, race)), RacePatch).apply(before) == race
        self.past[code].append(race)
        return events

    def tick(self, code: str, age: int = 0) -> tuple[str, ...]:
        """Tick a room on a node that knows the other rooms as they were ``age`` changes ago."""
        others = tuple(races[max(0, len(races) - 1 - age)] for room, races in self.past.items() if room != code)
        progress = {racer.player: Progress(connected=True, last_seen=self.now) for racer in self.race(code).racers}
        return self.apply(code, TickCommand(progress, DealSecret(some_bytes(code)), others=others))

    def act(self, code: str, name: str, what: str) -> None:
        draw = self.race(code).draw
        share = some_bytes(f"{name} {draw}")
        commands: dict[str, RaceCommand] = {
            "commit": CommitShareCommand(name, draw, share_commitment(code, name, draw, share)),
            "reveal": RevealShareCommand(name, draw, share),
            "leave": LeaveCommand(name),
        }
        with suppress(RequestRefused):
            self.apply(code, commands[what])

    def all(self, what: str = "", *codes: str) -> None:
        """Let all players do something, and tick all rooms."""
        for code in codes or self.past:
            for racer in self.race(code).racers if what else ():
                self.act(code, racer.player, what)
        for code in codes or self.past:
            self.tick(code)

    def contributions(self, code: str) -> list[tuple[str, bytes, bytes]]:
        """What the deal of a room follows from, with the room itself."""
        race = self.race(code)
        own = race.room_shares(some_bytes(code))
        return sorted(
            [(own.room, own.seal, own.digest), *((each.room, each.seal, each.digest) for each in race.others)]
        )


def drawn(**names: str) -> Tide:
    tide = Tide(**names)
    for what in ("", "commit", "reveal", ""):
        tide.all(what)
    return tide


moves = st.tuples(st.sampled_from(CODES), st.integers(0, 2), st.sampled_from(("commit", "reveal", "leave")))
looks = st.tuples(st.sampled_from(CODES), st.integers(0, 9), st.just("tick"))
waits = st.tuples(st.sampled_from((0, 1_000, SHARE_TIMEOUT)), st.just(0), st.just("wait"))
together = st.tuples(st.just(""), st.just(0), st.sampled_from(("commit", "reveal")))


@settings(max_examples=300)
@given(st.lists(st.one_of(moves, looks, looks, waits, together), max_size=60))
def test_rooms_that_draw_have_one_deal_and_none_hangs(story: list[tuple[str | int, int, str]]) -> None:
    tide = Tide(brook="ana bob", cove="cid dan eve", dune="fay")
    for where, number, what in story:
        if what == "wait":
            tide.now += int(where)
        elif not where:
            tide.all(what)
        elif what == "tick":
            tide.tick(str(where), number)
        else:
            names = [racer.player for racer in tide.past[str(where)][0].racers]
            tide.act(str(where), names[number % len(names)], what)
    for _ in range(2 * MAX_DRAWS):
        for what in ("commit", "reveal", ""):
            tide.now += 100
            tide.all(what)
    there = [code for code in CODES if tide.race(code).phase != "closed"]
    assert all(tide.race(code).needs_search for code in there)
    for code in there:
        assert tide.contributions(code) == tide.contributions(there[0])
        assert set(there) <= {room for room, _, _ in tide.contributions(code)}
        race = tide.race(code)
        assert set(range(1, race.draw)) <= {each.draw for each in race.lost} | {each.draw for each in race.elsewhere}
    # What was shown with the commitments of a draw did not change in it, and nobody revealed before.
    for races in tide.past.values():
        shown = {race.draw: [(each.room, each.seal) for each in race.others] for race in races if race.is_met}
        for race in races:
            if race.others or any(racer.share for racer in race.racers):
                assert race.is_met
                assert [(each.room, each.seal) for each in race.others] == shown[race.draw]


def test_shares_are_revealed_only_when_all_rooms_are_sealed() -> None:
    tide = Tide(brook="ana bob", cove="cid", dune="")
    tide.all()
    assert [tide.race(code).phase for code in CODES] == ["countdown", "countdown", "closed"]
    tide.all("commit", "brook")
    assert tide.race("brook").waits_for_rooms
    with pytest.raises(RequestRefused, match=r"."):
        tide.apply("brook", RevealShareCommand("ana", 1, some_bytes("ana 1")))
    tide.all("commit", "cove")
    tide.all()
    assert [[each.room for each in tide.race(code).others] for code in CODES[:2]] == [["cove"], ["brook"]]
    tide.all("reveal", "brook")
    assert tide.race("brook").shares
    assert not tide.race("brook").needs_search
    tide.all("reveal", "cove")
    tide.all()
    assert tide.race("brook").needs_search
    assert tide.contributions("brook") == tide.contributions("cove")


def test_lost_seat_lets_all_rooms_draw_again() -> None:
    """Cid does not reveal, after all others have. The others are told who it was, and five draws are the most."""
    tide = Tide(brook="ana bob cy dot eli", cove="cid dan", dune="eve")
    tide.all()
    tide.all("commit")
    tide.all("reveal", "brook", "dune")
    tide.act("cove", "dan", "reveal")
    tide.now += SHARE_TIMEOUT
    tide.tick("cove")
    tide.all()
    assert [tide.race(code).draw for code in CODES] == [2, 2, 2]
    assert not tide.race("brook").shares
    for code in ("brook", "dune"):
        assert [line[1:] for line in tide.race(code).elsewhere] == [("cove", 1, "silent", "cid")]
    for draw in range(2, MAX_DRAWS + 1):
        tide.all("commit")
        assert tide.race("dune").draw == draw
        tide.act("brook", tide.race("brook").racers[0].player, "leave")
        tide.all()
    assert {tide.race(code).phase for code in CODES} == {"closed"}


@pytest.mark.parametrize("what", ["left before its shares", "left after its shares", "closed by the operator"])
def test_room_that_closes_does_not_stop_the_others(what: str) -> None:
    tide = Tide(brook="ana", cove="cid", dune="eve")
    tide.all()
    tide.all("commit")
    if what == "left after its shares":
        tide.act("dune", "eve", "reveal")
    if what == "closed by the operator":
        tide.act("dune", "eve", "reveal")
        tide.apply("dune", CloseCommand())
    else:
        tide.act("dune", "eve", "leave")
    for each in ("reveal", "", "commit", "reveal", ""):
        tide.all(each)
    assert tide.race("dune").phase == "closed"
    is_there = what != "left before its shares"
    assert [room for room, _, _ in tide.contributions("brook")] == ["brook", "cove", *["dune"] * is_there]
    assert tide.contributions("brook") == tide.contributions("cove")
    assert tide.race("brook").draw == (1 if is_there else 2)


def test_room_closes_that_waits_in_vain() -> None:
    """The others are sealed but the store has lost them, or their nodes cannot tick them any more."""
    tide = Tide(brook="ana", cove="cid")
    tide.all("", "brook")
    tide.all("commit", "brook")
    tide.past["cove"] = [replace(opened("cove", "cid"), phase="countdown", draw=1, reveal_by=tide.now)]
    tide.now += ROOMS_TIMEOUT - 1
    assert "closed" not in tide.tick("brook")
    tide.now += 1
    assert tide.tick("brook") == ("not_met", "closed")

    lost = drawn(brook="ana", cove="cid")
    del lost.past["cove"]
    assert lost.tick("brook") == ("not_met", "closed")


def test_nobody_enters_once_the_list_of_rooms_is_fixed() -> None:
    tide = Tide(brook="ana", cove="")
    late = JoinCommand("bob", "bob", {})
    for code in ("brook", "cove"):
        with refused("no_tide"):
            tide.apply(code, late)
    tide.now -= 1
    assert tide.apply("cove", late) == ("joined",)


def test_all_rooms_start_together_and_end_together() -> None:
    """The first room with the deal sets the start. No room shows its proof before all are over."""
    tide = drawn(brook="ana", cove="cid")
    rooms = tuple(sorted(tide.race(code).room_shares(some_bytes(code)) for code in ("brook", "cove")))
    race = tide.race("brook")
    won = next(won_candidates(mix_of(rooms), race.game, race.budget, range(100)))
    line = ", ".join(map(str, won.line))
    found = FoundDeal(1, race.shares, won.number, line, rooms)
    assert tide.apply("brook", FixDealCommand(replace(found, rooms=rooms[:1]))) == ()
    tide.now = START - 1_000
    assert tide.apply("brook", FixDealCommand(found)) == ("deal_found", "start_set")
    of_cove = replace(found, shares=tide.race("cove").shares)
    tide.now += 500
    tide.apply("cove", FixDealCommand(of_cove, tide.race("brook").starts))
    assert tide.race("cove").starts == tide.race("brook").starts == START + 2_000

    def tick(code: str, deal: FoundDeal) -> tuple[str, ...]:
        others = tuple(races[-1] for room, races in tide.past.items() if room != code)
        return tide.apply(code, TickCommand({}, DealSecret(some_bytes(code), deal), others=others))

    tide.now = START + 5_000
    tide.apply("brook", ResignCommand("ana"))
    assert tick("brook", found)[-1:] == ("over",)
    assert (tide.race("brook").over_at, tide.race("brook").ends) == (tide.now, tide.now)
    tide.now += 7_000
    assert tick("brook", found) == ()
    assert (tide.race("brook").phase, tide.race("brook").proof) == ("racing", "")
    tide.apply("cove", ResignCommand("cid"))
    tick("cove", of_cove)
    for code, deal in (("cove", of_cove), ("brook", found)):
        assert tick(code, deal) == ("finished",)
        proof = DealProof.parse(tide.race(code).proof)
        assert tide.race(code).finished_at == tide.race(code).over_at
        assert sorted(proof.rooms) == list[RoomShares](rooms)
        proof.check_deeply()
