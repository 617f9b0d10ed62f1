"""The journal of a race, and the record that is made from it after a client was killed."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from samedeal.action_chain import next_head
from samedeal.record import Record
from samedeal_client.bots.strategy import BotMemory, choose_move
from samedeal_client.net.client_session import ClientSession
from samedeal_client.state.journal_file import ActionJournal, JournalComparison, compare_with_journals
from samedeal_client.state.model import race_terms
from tests.client.race_server import RaceServer, finished
from tests.client.referee import START, Referee, wait_until
from tests.client.server_messages import board_state
from tests.golden.golden_files import assert_sentences


@contextlib.asynccontextmanager
async def client_of(referee: Referee, directory: Path) -> AsyncIterator[ClientSession]:
    """A new client in the referee's room, which is killed at the end."""
    fresh = Referee(referee.game.name, options=referee.options)
    fresh.play = referee.play
    fresh.time = referee.time
    client = ClientSession(fresh, journal=ActionJournal(directory))
    tasks = [asyncio.create_task(fresh.answer_requests()), asyncio.create_task(client.run())]
    try:
        await client.join(fresh.room)
        await wait_until(lambda: client.model.board is not None)
        yield client
    finally:
        referee.play = fresh.play
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
    await referee.deliver(replace(referee.state(), phase="finished", seed=referee.seed))
    await wait_until(lambda: client.model.room is not None and client.model.room.phase == "finished")


async def test_race_of_a_killed_client_has_a_record(tmp_path: Path) -> None:
    referee = Referee("athena")
    async with client_of(referee, tmp_path) as client:
        await play(client, 5)
    async with client_of(referee, tmp_path) as client:
        await play(client, 4)
        await finish(client)
        assert client.model.record() is None
        record = client.record()
    assert record is not None
    assert len(record.actions) == 9
    assert record.actions[0][0] == referee.time + 1_500 - START
    assert record.replay().board == referee.play.board


async def test_refused_action_is_not_in_the_record(tmp_path: Path) -> None:
    referee = Referee("athena")
    async with client_of(referee, tmp_path) as client:
        link = client.link
        assert isinstance(link, Referee)
        link.refuse_next_action = "Not now"
        await play(client, 3)
    async with client_of(referee, tmp_path) as client:
        await finish(client)
        record = client.record()
    assert record is not None
    assert len(record.actions) == 2


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
        (tmp_path / f"{number:020}-old.txt").write_text("", encoding="utf-8")
    async with client_of(Referee("athena"), tmp_path) as client:
        await play(client, 1)
    kept = files(tmp_path)
    assert len(kept) == 50
    assert kept[0].name.endswith("11-old.txt")


async def test_unwritable_journal_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "no-directory").write_text("", encoding="utf-8")
    async with client_of(Referee("athena"), tmp_path / "no-directory") as client:
        await play(client, 2)
        await finish(client)
        assert client.record() is not None


def journaled(directory: Path) -> tuple[ActionJournal, Record]:
    """The journal of a race of five moves, in which the server sent heads, and the record of the race."""
    server = RaceServer("athena")
    room = server.model.room
    assert room is not None
    journal = ActionJournal(directory)
    head = race_terms(room).first_head(1, "ana", bot=False)
    server.model = server.model.after(replace(board_state("k7", server.play), head=head))
    for number in range(1, 6):
        act = server.act(server.play.board.legal_moves()[-1])
        journal.append(server.model)
        head = next_head(head, number, 1_000 * number, act.action)
        server.model = server.model.after(replace(server.answer(act), time=START + 1_000 * number, head=head))
        journal.append_acked(server.model)
    record = finished(server, finished_at=START + 60_000).record()
    assert record is not None
    return journal, record


def altered(record: Record, *actions: tuple[int, str], **changes: Any) -> Record:
    """The record that a cheating server makes, with other actions of the player, or with other terms."""
    player = record.players[0]
    if actions:
        player = dataclasses.replace(player, actions=actions)
    return dataclasses.replace(record, terms=record.terms._replace(**changes), players=(player,))


def test_record_is_compared_with_the_journal(tmp_path: Path) -> None:
    _, record = journaled(tmp_path)
    (same,) = compare_with_journals(record, tmp_path)
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
        (found,) = compare_with_journals(lying, tmp_path)
        lines.append(f"{case}\t{found.difference}")
    assert_sentences("records against a journal", lines)
    assert compare_with_journals(altered(record, room="other"), tmp_path) == []
    assert compare_with_journals(record, tmp_path / "nothing") == []


def test_action_after_the_end_need_not_be_in_the_record(tmp_path: Path) -> None:
    """The server counts no move that is committed while it computes the standings."""
    _, record = journaled(tmp_path)
    ended = dataclasses.replace(altered(record, *record.actions[:4]), end=START + 5_000)
    (found,) = compare_with_journals(ended, tmp_path)
    assert not found.difference
