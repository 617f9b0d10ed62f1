"""The journal of a race, and the record that is made from it after a client was killed."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.action_chain import RaceTerms
from samedeal.deal import Deal
from samedeal.deal_proof import DealProof
from samedeal.options import Options
from samedeal.protocol.messages import RoomState, Seat
from samedeal.record import Record, RecordedPlayer
from samedeal_client.bots.strategy import BotMemory, choose_move
from samedeal_client.net.client_session import ClientSession
from samedeal_client.state.draws import Draw, DrawProblem, ShownSeat
from samedeal_client.state.journal_file import Journal, JournalComparison, RaceJournals
from tests.client.race_server import RaceServer, chained, finished
from tests.client.referee import START, Referee, session_in, wait_until
from tests.client.server_messages import room_state
from tests.golden.golden_files import assert_sentences
from tests.shared.joint_deals import joint_deal


@contextlib.asynccontextmanager
async def client_of(referee: Referee, directory: Path) -> AsyncIterator[ClientSession]:
    """A new client in the referee's room, which is killed at the end."""
    fresh = Referee(referee.game.name, options=referee.options)
    fresh.play = referee.play
    fresh.time = referee.time
    fresh.journals = RaceJournals(directory)
    async with session_in(fresh.room, fresh, fresh.answer_requests()) as client:
        yield client
    referee.play = fresh.play


def files(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


async def play(client: ClientSession, count: int) -> None:
    """Play greedy moves, one after another."""
    memory = BotMemory(Random(1))
    referee = client.link
    assert isinstance(referee, Referee)
    for _ in range(count):
        referee.time += 1_500
        assert client.model.board is not None
        move = choose_move("greedy", client.model.board, memory)
        assert move is not None
        client.act(move)
        await wait_until(lambda: not client.model.own.pending)


async def finish(client: ClientSession) -> None:
    referee = client.link
    assert isinstance(referee, Referee)
    await referee.finish(seed=referee.seed)
    await wait_until(lambda: client.model.room is not None and client.model.room.phase == "finished")


async def test_race_of_a_killed_client_has_a_record(tmp_path: Path) -> None:
    """Its first action was refused, and so is not in the record."""
    referee = Referee("athena")
    async with client_of(referee, tmp_path) as client:
        assert isinstance(client.link, Referee)
        client.link.refuse_next_action = "Not now"
        await play(client, 6)
    async with client_of(referee, tmp_path) as client:
        await play(client, 4)
        await finish(client)
        assert client.model.record() is None
        record = client.record()
    assert record is not None
    assert len(record.actions) == 9
    assert record.actions[0][0] == referee.time + 3_000 - START
    assert record.replay().board == referee.play.board


async def test_race_played_partly_elsewhere_has_no_record(tmp_path: Path) -> None:
    referee = Referee("athena")
    async with client_of(referee, tmp_path / "here") as client:
        await play(client, 2)
    async with client_of(referee, tmp_path / "elsewhere") as client:
        await play(client, 2)
    async with client_of(referee, tmp_path / "here") as client:
        await play(client, 2)
        await finish(client)
        assert client.record() is None


async def test_damaged_journal_gives_no_record(tmp_path: Path) -> None:
    referee = Referee("athena")
    async with client_of(referee, tmp_path) as client:
        await play(client, 2)
    (path,) = files(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + "what is this\n", encoding="utf-8")
    async with client_of(referee, tmp_path) as client:
        await finish(client)
        assert client.record() is None


async def test_oldest_races_are_deleted(tmp_path: Path) -> None:
    for number in range(60):
        path = tmp_path / f"old-{number:02}.txt"
        path.write_text("", encoding="utf-8")
        os.utime(path, (number, number))
    async with client_of(Referee("athena"), tmp_path) as client:
        await play(client, 1)
    kept = [path.name for path in files(tmp_path) if path.name.startswith("old")]
    assert kept == [f"old-{number:02}.txt" for number in range(11, 60)]
    assert len(files(tmp_path)) == 50


async def test_unwritable_journal_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "no-directory").write_text("", encoding="utf-8")
    async with client_of(Referee("athena"), tmp_path / "no-directory") as client:
        await play(client, 2)
        await finish(client)
        assert client.record() is not None


def journaled(directory: Path) -> tuple[RaceJournals, Record]:
    """The journal of a race of five moves, in which the server sent heads, and the record of the race."""
    journals = RaceJournals(directory)
    record = finished(chained(journals), finished_at=START + 60_000).record()
    assert record is not None
    return journals, record


def altered(record: Record, *actions: tuple[int, str], **changes: Any) -> Record:
    """The record that a cheating server makes, with other actions of the player, or with other terms."""
    player = record.players[0]
    if actions:
        player = dataclasses.replace(player, actions=actions)
    return dataclasses.replace(record, terms=record.terms._replace(**changes), players=(player,))


def test_record_is_compared_with_the_journal(tmp_path: Path) -> None:
    journals, record = journaled(tmp_path)
    (same,) = journals.compare(record)
    assert same == JournalComparison("ana", 5)
    actions = record.actions
    cheats = {
        "a time": altered(record, *actions[:2], (3_001, actions[2][1]), *actions[3:]),
        "a move": altered(record, *actions[:2], (3_000, "undo"), *actions[3:]),
        "a move less": altered(record, *actions[:4]),
        "a move more": altered(record, *actions, (6_000, "draw")),
        "the limit": altered(record, limit=901),
        "the start": altered(record, start=START + 1),
        "the deal": altered(record, commitment=bytes(32)),
        "the name": dataclasses.replace(
            record, entrants=1, players=(dataclasses.replace(record.players[0], name="eve"),)
        ),
    }
    lines: list[str] = []
    for case, lying in cheats.items():
        (found,) = journals.compare(lying)
        lines.append(f"{case}\t{' '.join(found.differences)}")
    assert_sentences("records against a journal", lines)
    assert journals.compare(altered(record, room="other")) == []
    assert RaceJournals(tmp_path / "nothing").compare(record) == []


def test_acknowledged_action_is_missed_whatever_the_end(tmp_path: Path) -> None:
    """A server that acknowledges a move counts it, so it cannot say that the race ended before."""
    journals, record = journaled(tmp_path)
    ended = dataclasses.replace(altered(record, *record.actions[:3]), end=START + 3_500)
    (found,) = journals.compare(ended)
    assert "action 4" in found.differences[0]
    assert "and 1 more" in found.differences[0]


PROOF = joint_deal("ace-of-hearts")


def drawing(seats: tuple[Seat, ...]) -> RoomState:
    """The first draw of the deal of ``PROOF``, for players in these seats."""
    options = Options(games=("ace-of-hearts",), deal="winnable")
    return room_state("friday", options, seats, phase="countdown", draw=1, commitment=PROOF.commitment)


def drawn_journal(directory: Path, *, seat: int = 1, name: str = "ana") -> RaceJournals:
    """The journal of a player who has taken part in the two draws of ``PROOF``, and left before the race."""
    journals = RaceJournals(directory)
    seats = tuple(Seat(player=share.name, name=share.name, seat=share.seat) for share in PROOF.shares)
    state = drawing(seats)
    shown = tuple(ShownSeat(share.seat, share.name, share.commitment) for share in PROOF.shares)
    journals.keep_share(state, name, bytes(32))
    journals.keep_draw(state, name, Draw(1, (*shown, ShownSeat(6, "zoe k", bytes(32))), bytes(32)))
    state = replace(state, draw=2)
    journals.keep_share(state, name, PROOF.shares[0].share)
    journals.keep_draw(state, name, Draw(2, shown, PROOF.shares[0].share))
    return journals


def test_draws_are_kept(tmp_path: Path) -> None:
    drawn_journal(tmp_path)
    (path,) = files(tmp_path)
    journal = Journal.parse(path.read_text(encoding="utf-8").splitlines())
    assert journal.shares == {1: bytes(32), 2: PROOF.shares[0].share}
    assert [draw.number for draw in journal.draws] == [1, 2]
    assert journal.draws[1].has_shares(PROOF.shares)
    assert journal.draws[0].seats[-1] == ShownSeat(6, "zoe k", bytes(32))


def test_every_damaged_line_is_found(tmp_path: Path) -> None:
    drawn_journal(tmp_path)
    (path,) = files(tmp_path)
    lines = [*path.read_text(encoding="utf-8").splitlines(), "start 5", "0 12 draw", "+0 10 - draw"]
    Journal.parse(lines)
    for number, line in enumerate(lines):
        damaged = [*lines[:number], line[: len(line) // 2].rstrip("0123456789abcdef") + "?", *lines[number + 1 :]]
        with pytest.raises((ValueError, KeyError)):
            Journal.parse(damaged)
    with pytest.raises((ValueError, KeyError)):
        Journal.parse([])


def drawn_record(proof: DealProof) -> Record:
    """The record of a race on a joint deal in which nobody moved."""
    terms = RaceTerms("friday", 0, proof.terms.game, Deal.parse("winnable"), "off", 900, START, proof.commitment)
    players = tuple(RecordedPlayer(share.seat, share.name, 1, 0, ()) for share in proof.shares)
    return Record(terms, START + 900_000, b"", len(players), players, proof)


def test_problem_of_a_draw_is_told_later(tmp_path: Path) -> None:
    """Even if the player lost the seat, and so is not in the record."""
    for name, seat in (("ana", 1), ("mia", 9)):
        journals = RaceJournals(tmp_path / name)
        state = drawing((Seat(player=name, name=name, seat=seat),))
        journals.keep_problem(state, name, DrawProblem.DENIED)
        (found,) = journals.compare(drawn_record(PROOF))
        assert found.differences == (DrawProblem.DENIED.value,)


def test_what_was_found_after_the_race_is_told_later(tmp_path: Path) -> None:
    journals, record = journaled(tmp_path)
    model = finished(RaceServer("athena"))
    journals.keep_finding(model, "NOT a fair deal: \x1b[2J")
    (found,) = journals.compare(record)
    assert len(found.differences) == 1
    assert "NOT a fair deal" in found.differences[0]
    assert "\x1b" not in found.differences[0]


def test_deal_of_the_record_is_compared_with_the_draws(tmp_path: Path) -> None:
    journals = drawn_journal(tmp_path)
    (same,) = journals.compare(drawn_record(PROOF))
    assert same == JournalComparison("ana", 0, drew=True)
    one, two, three = PROOF.shares
    for lying in (
        dataclasses.replace(PROOF, shares=(one, two, three._replace(commitment=bytes(32)))),
        dataclasses.replace(PROOF, shares=(one, two)),
        dataclasses.replace(PROOF, shares=(one, two, three, three._replace(seat=6, name="eve"))),
        dataclasses.replace(PROOF, shares=(one._replace(share=bytes(32)), two, three)),
        dataclasses.replace(PROOF, draw=3),
    ):
        (found,) = journals.compare(drawn_record(lying))
        assert found.differences == (DrawProblem.OTHER_SHARES.value,)
    (found,) = journals.compare(drawn_record(dataclasses.replace(PROOF, draw=1)))
    assert found.differences == (DrawProblem.EARLIER_DRAW.value,)
    (found,) = journals.compare(dataclasses.replace(drawn_record(PROOF), proof=None, seed=bytes(32)))
    assert found.differences
