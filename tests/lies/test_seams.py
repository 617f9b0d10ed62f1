"""Lies and troubles at the seams of what the evidence keeps: each has a race of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as with_fields

from samedeal.options import Options
from samedeal.protocol import messages
from samedeal.protocol.messages import (
    Acked,
    Act,
    CommitShare,
    Join,
    Joined,
    Leave,
    ProgressUpdate,
    Refused,
    RevealShare,
    RoomState,
    Seat,
)
from samedeal.protocol_codes import RefusalCode
from samedeal.race.commands import KickCommand
from samedeal_client.panels.records import verified_lines
from samedeal_client.panels.verdict import compared
from samedeal_link.connection.link_events import SeatLost
from samedeal_link.evidence.evidence import MOST_BYTES, Evidence
from samedeal_link.evidence.observation import received, sent
from samedeal_link.evidence.verdict import RaceReading, verdict
from tests.client.scripted_server import ScriptedServer, connect
from tests.client.server_messages import drawing, room_state
from tests.lies.check import Outcome
from tests.lies.coherent import LIES
from tests.lies.enumeration import outcome
from tests.lies.seams import SEAMS, UNSEEN, DrawnByOneselfTwice, LeftForAna
from tests.lies.seen import Event
from tests.lies.worlds import PLANS, STEPS, Client, Plan, Server, hold, options, script

SEED = "5"
GOOD = ("fair", "checked")
FAIR = "Fair: nobody could choose the deal, it can be won, and all is as you saw it."


def judged(plan: Plan, client: str, server: type[Server] = Server) -> Outcome:
    held = hold(plan, SEED, server)
    return outcome(held, held.clients[client])


def racing(name: str = "joint", client: str = "ana") -> Evidence:
    """The evidence of a client once its cards have been dealt."""
    trail = hold(PLANS[name], SEED).clients[client].trail
    return next(seen.evidence for seen in trail if seen.evidence.phase == "racing" and seen.evidence.dealt)


# Lies


@pytest.mark.parametrize("name", SEAMS)
def test_lie_is_not_called_fair(name: str) -> None:
    seam = SEAMS[name]
    assert judged(seam.plan, seam.client, seam.liar).verdict.kind not in GOOD


@pytest.mark.parametrize("name", [name for name, seam in SEAMS.items() if "beyond" not in seam.plan.name])
def test_client_believes_nobody_less_without_the_lie(name: str) -> None:
    assert judged(SEAMS[name].plan, SEAMS[name].client).verdict.kind in GOOD


def test_deal_without_a_draw_that_is_said_to_be_drawn_twice_is_judged() -> None:
    assert judged(PLANS["random"], "ana", DrawnByOneselfTwice).verdict.kind not in GOOD


@pytest.mark.parametrize("name", UNSEEN)
def test_limit_of_the_verdict_is_one_still(name: str) -> None:
    seam = UNSEEN[name]
    found = judged(seam.plan, seam.client, seam.liar).verdict
    assert found.kind in GOOD
    assert found.clock == ""


def test_only_person_on_a_daily_deal_may_race_against_others_who_had_it() -> None:
    begun = racing("lone").begun
    assert begun
    assert [each.name for each in begun.earlier] == ["zed"]
    assert judged(PLANS["lone"], "ana").verdict.kind == "fair"
    assert judged(PLANS["daily"], "ana", LIES["Ghosts"]).verdict.kind == "wrong"


def test_daily_deal_of_another_day_was_perhaps_chosen() -> None:
    assert judged(PLANS["daily"], "ana").verdict.kind == "fair"
    assert judged(PLANS["daily"], "ana", LIES["DailyOfAnotherDay"]).verdict.kind == "checked"


def test_moves_that_are_refused_for_now_and_then_made_are_late() -> None:
    """A server may answer each move with *later* for as long as it likes."""
    known = racing()
    act, now = Act(id=9000, revision=0, action="draw"), known.heard_at + 1000
    known = sent(known, act, now)
    for _ in range(4):
        wait = Refused(to=act.id, code=RefusalCode.RATE_LIMITED, message="Wait.", revision=0, retry_after=5)
        known = received(known, wait, now + 15)
        now += 5000
        known = sent(known, act, now)
    known = received(known, Acked(to=act.id, time=now + known.clock.low, hash=bytes(8), receipt=b"r"), now + 15)
    assert "late" in known.mistimed


def test_race_does_not_begin_before_the_time_of_its_terms() -> None:
    """The tide of the enumeration begins a minute before the time that its room shows, and nobody minds."""
    found = judged(PLANS["tide"], "ana")
    record = found.reading.record
    assert record is not None
    assert record.start >= record.terms.options.start_at or found.verdict.kind not in GOOD


@pytest.mark.parametrize("plan", ["joint", "daily"])
def test_players_who_saw_other_players_have_other_result_words(plan: str) -> None:
    held = hold(PLANS[plan], SEED, LeftForAna)
    ana, bob = (outcome(held, held.clients[name]) for name in ("ana", "bob"))
    assert ana.names != bob.names
    assert ana.verdict.words != bob.verdict.words


def test_facts_that_a_server_can_add_without_end_are_dropped() -> None:
    """Facts about who is connected, lost seats and kicks are not among them."""
    known = with_fields(racing(), size=MOST_BYTES)
    rival = next(seat for seat in known.tallies if seat != known.seat)
    for times in range(10):
        known = received(known, ProgressUpdate(seat=rival, connected=bool(times % 2)), known.heard_at)
    assert "unfinished" in known.found


def test_facts_of_a_full_tide_have_room() -> None:
    """64 players make a move every two seconds for a quarter of an hour."""
    known = racing()
    size, clock = known.size, known.heard_at
    for move in range(1, 451):
        at, gained_at = (known.start + 2000 * number for number in (move, move // 9 * 9))
        counts: dict[str, Any] = {"moves": move, "foundation_cards": move // 9, "acted_at": at}
        update = ProgressUpdate(seat=2, **counts, last_progress_at=gained_at if move > 8 else 0)
        known = received(known, update, clock + 2000 * move).written()
    assert size + 63 * (known.size - size) < MOST_BYTES
    assert "unfinished" not in known.found


# Records that are read later


def test_seat_that_is_gone_after_the_race_leaves_the_evidence_as_it_was() -> None:
    """Otherwise nothing contradicts the record that the server gives later."""
    held = hold(PLANS["joint"], SEED)
    record = held.record_for(None)
    held.change(phase="closed", racers=())
    held.show()
    known = held.clients["ana"].seen.evidence
    assert record is not None
    assert compared(record, [known])


@pytest.mark.parametrize(("lie", "rows"), [("", []), ("EarlierDraw", ["went_back"])])
def test_verified_deal_is_chosen_by_nobody_only_if_the_evidence_says_so(lie: str, rows: list[str]) -> None:
    """A server that went back to an earlier draw may have liked that deal better."""
    found = judged(PLANS["joint"], "ana", LIES.get(lie, Server))
    assert list(found.verdict.rows) == rows
    record = found.reading.record
    assert record is not None
    lines = verified_lines(record, compared(record, [found.seen.evidence]), deep=True)
    assert any(line.startswith("Nobody chose it") for line in lines) is (not rows)


def test_two_records_after_a_failover_are_no_lie() -> None:
    """A player who was away when the race ended may read the record of an end that was lost, and then the new one."""
    found = judged(PLANS["joint"], "ana")
    record = found.reading.record
    assert record is not None
    lost = replace(record, end=record.end - 100)
    reading = RaceReading(lost, second=record.digest, answers=found.reading.answers)
    judgement = verdict(found.seen.evidence, reading)
    assert (judgement.kind, [*judgement.rows]) == ("unsure", ["changed_record", "other_results"])


# Links


async def test_race_that_was_given_up_counts_although_the_program_left_it_by_itself(tmp_path: Path) -> None:
    """The server opens the room anew when it knows the deal, and the program leaves, which is no act of the player."""
    server = ScriptedServer()
    async with server.listening(), connect(server, evidence_root=tmp_path) as (recorded, peer):
        await recorded.join(peer)
        await peer.send(drawing())
        promised = (await peer.receive(CommitShare)).commitment
        await peer.send(drawing(ana=promised, bob=b"\1" * 32))
        await peer.receive(RevealShare)
        await peer.abort()
        peer = await server.welcome()
        await peer.seat(generation=1)
        await peer.send(drawing(bytes(32)))
        await peer.receive(Leave)
        await recorded.until_is(SeatLost)
        assert recorded.link.witness.given_up() == 1


def test_race_that_the_player_left_after_the_reveal_counts_as_given_up() -> None:
    """A server that does not like a deal may look for another one for as long as players wait."""
    trail = hold(PLANS["joint"], SEED).clients["ana"].trail
    revealed = next(seen for seen in trail if seen.evidence.draws)
    gone = sent(revealed.evidence, Leave(id=9000), revealed.heard_at)
    assert gone.is_given_up


async def test_room_that_a_program_goes_on_to_deals_an_earlier_race() -> None:
    """The program itself says so, and asks for no more than the game."""
    server = ScriptedServer()
    async with server.listening(), connect(server) as (recorded, peer):
        await recorded.join(peer)
        await peer.send(room_state("k7", Options(hosted=False, start="full"), (), next="w9"))
        join = await peer.receive(Join)
        await peer.send(Joined(to=join.id, room="w9", seat=1, generation=1, revision=-1))
        peer = await server.welcome()
        await peer.seat("w9", generation=2)
        seats = Seat(player="p1", name="ana", seat=1), Seat(player="p9", name="mal", seat=2)
        await peer.send(room_state("w9", Options(deal="#77", limit=60, undo="off"), seats))
        await recorded.until_is(RoomState)
        assert recorded.link.evidence is not None
        assert recorded.link.evidence.contradiction


# Honest servers


def test_clock_that_was_set_back_is_no_lie() -> None:
    """A failover may set it back. The last action was made just before, and its answer was lost with the program."""
    held = Server(Plan("back", script("ana:join bob:join ana:start race ana:move bob:move*8 ana:ping*12"), _FOUR), SEED)
    held.run()
    ana = held.clients["ana"]
    held.now -= 3000
    for client in held.clients.values():
        client.skew += 3000
    STEPS["move"](held, ana)
    _fall_silent(held, ana)
    ana.happens(Event("restarted", ana.now))
    STEPS["limit"](held, None)
    ana.connect()
    held.settle()
    assert outcome(held, ana).verdict.kind != "wrong"


_FOUR = options(players=4)


def _fall_silent(held: Server, client: Client) -> None:
    """Handle what a client has sent, whose answers are lost."""
    held.present.remove(client)
    client.is_deaf = True
    held.settle()
    client.is_deaf = False


def test_player_who_was_removed_while_away_has_not_been_resigned_by_a_liar() -> None:
    held = Server(PLANS["joint"], SEED)
    for word in script("ana:join bob:join ana:ready bob:ready ana:start race ana:move bob:move"):
        held.step(word)
    ana = held.clients["ana"]
    ana.disconnect()
    held.apply(KickCommand(ana.player))
    ana.send(messages.Hello(id=0, name="ana", session="s"))
    ana.send(Join(id=0, room="friday"))
    held.settle()
    for word in script("bob:move bob:resign"):
        held.step(word)
    record = held.record_for(None)
    assert record is not None
    ((_, found),) = compared(record, [ana.seen.evidence])
    assert found.kind != "wrong"


def test_deal_that_is_drawn_again_after_all_have_left_is_no_lie_to_a_spectator() -> None:
    """The countdown stops, though all shares were known, and that of others begins with the next draw."""
    left = Plan("left alone", script("ana:join sue:watch ana:start ana:leave bob:join bob:start race bob:stuck"), _FOUR)
    assert judged(left, "bob").verdict.kind == "fair"
    assert judged(left, "sue").verdict.kind != "wrong"
