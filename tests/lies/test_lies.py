from __future__ import annotations

from dataclasses import replace
from itertools import chain, repeat

import pytest

from samedeal.protocol.messages import ProgressUpdate
from samedeal.verdict_rows import ROWS
from samedeal_link.evidence.verdict import RaceReading, Verdict, verdict
from tests.lies.changes import changed, changes
from tests.lies.check import judged
from tests.lies.coherent import LIES, UNSEEN
from tests.lies.enumeration import KINDS, enumerate_lies, outcome, removed
from tests.lies.histories import HISTORIES, History
from tests.lies.seen import Event, Seen
from tests.lies.troubles import TROUBLES, hold_troubled
from tests.lies.worlds import PLANS, Server, hold, script

SEED = "1"


@pytest.mark.parametrize("kind", KINDS)
def test_sample_of_lies_and_troubles_has_no_hole(kind: str) -> None:
    """Honest races are not sampled: each of them is fair."""
    assert enumerate_lies(SEED, sample=450, kinds=[kind]).holes == []


@pytest.mark.parametrize("most", [500, 1500, 3000])
def test_evidence_that_is_full_accuses_nobody(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_link.evidence.evidence.MOST_BYTES", most)
    found = [
        (client.seen.evidence, outcome(server, client).verdict)
        for server in map(hold, PLANS.values(), repeat(SEED))
        for client in server.clients.values()
    ]
    assert any(evidence.size > most for evidence, _ in found)
    for evidence, verdict_on in found:
        assert verdict_on.kind == "unsure" if "unfinished" in evidence.found else verdict_on.kind != "wrong"


def test_every_row_has_a_history() -> None:
    assert HISTORIES.keys() == ROWS.keys()


@pytest.mark.parametrize("row", ROWS)
def test_row_alone_decides_its_history(row: str) -> None:
    history = HISTORIES[row]
    assert any(row in found.rows for found in verdicts(history))
    with removed(row):
        others = verdicts(history)
    if history.what in TROUBLES and row in CAUSES:
        assert "wrong" in [found.kind for found in others]
    else:
        assert any(set(found.rows) <= {"out_of_draw"} - {row} for found in others)


@pytest.mark.parametrize("row", [row for row in ROWS if row != "out_of_draw"])
def test_row_says_nothing_of_the_honest_neighbour(row: str) -> None:
    history = HISTORIES[row]
    server = hold(PLANS[history.neighbour or history.plan], SEED)
    assert row not in outcome(server, server.clients[history.client]).verdict.rows


CAUSES = ("other_window", "lost_data")
"""Rows about honest troubles: without them, honest servers would be accused."""


def verdicts(history: History) -> list[Verdict]:
    """The verdicts on all histories of this kind."""
    plan, what = PLANS[history.plan], history.what
    if what in TROUBLES:
        troubled = hold_troubled(plan, SEED, history.trouble_at, history.client, TROUBLES[what])
        return [outcome(troubled, troubled.clients[history.client]).verdict]
    server = hold(plan, SEED, LIES.get(what, Server))
    client = server.clients[history.client]
    if what in LIES or not what:
        return [outcome(server, client).verdict]
    reading = server.read_for(client)
    return [judged(changed(client, each), reading) for each in changes(client) if each.kind == what]


def test_lie_may_be_fair_only_if_the_table_says_why() -> None:
    """Whoever adds a lie that programs cannot see has to say why this is right."""
    assert UNSEEN.keys() <= LIES.keys()


def test_races_given_up_are_counted() -> None:
    server = hold(PLANS["joint"], SEED)
    seen, reading = server.clients["ana"].seen, server.read_for(server.clients["ana"])
    again = RaceReading(reading.record, second=reading.second, answers=reading.answers, given_up=2)
    found = verdict(seen.evidence, again)
    assert found.kind == "fair"
    assert "2 races" in found.sentence


def test_evidence_survives_its_file() -> None:
    for plan in PLANS.values():
        for client in hold(plan, SEED).clients.values():
            seen: Seen = client.seen
            lines = list(chain(seen.file))
            assert sum(map(len, lines)) < 20_000


@pytest.mark.parametrize("word", ["cut", "restart", "forget"])
def test_clock_says_nothing_of_a_player_who_came_late(word: str) -> None:
    """A program may come into a running race with or without evidence of its beginning."""
    plan = replace(
        PLANS["joint"], script=script(f"ana:join bob:join ana:start ana:{word} race bob:move*9 ana:{word} limit")
    )
    server = hold(plan, SEED)
    seen = server.clients["ana"].seen
    assert seen.evidence.dealt
    assert verdict(seen.evidence, server.read_for(server.clients["ana"])).clock == ""


def test_rival_who_is_back_must_be_waited_for() -> None:
    """Otherwise a server could end a race early because a rival once had a bad connection."""
    client = hold(PLANS["joint"], SEED).clients["ana"]
    racing = next(seen for seen in client.trail if seen.evidence.phase == "racing")
    rival = next(seat for seat in racing.evidence.tallies if seat != racing.evidence.seat)
    for connected in (False, True, False):
        racing = racing.after(Event("received", client.now, ProgressUpdate(seat=rival, connected=connected)))
        assert (rival in racing.evidence.absent) is not connected


def test_race_that_began_without_the_player_counts_as_given_up() -> None:
    """A server may look at a deal with the player's share and then say that the player was silent."""
    server = hold(PLANS["joint"], SEED, LIES["SaidSilent"])
    assert [name for name, client in server.clients.items() if client.seen.evidence.is_given_up]
