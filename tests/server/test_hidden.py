"""Invariant: hidden stays hidden. Until a race ends, no message to a client depends on cards that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from msgspec import Struct

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.cards import FACE, UNSEEN
from samedeal.deal import shuffled
from samedeal.games import game_named
from samedeal.protocol.codec import decode_to_client, unpack
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    DelayedBoard,
    DelayedMove,
    Done,
    ProgressUpdate,
    Resign,
    RoomState,
    Start,
    ToClient,
)
from samedeal.protocol.messages import Refused as Refusal
from tests.server.client import Client
from tests.server.live_nodes import NodeMaker

RACERS_HEAR: dict[str, set[str]] = {
    "welcome": set(),
    "created": set(),
    "joined": set(),
    "done": set(),
    "refused": set(),
    "progressupdate": set(),
    "roomstate": {"commitment", "seed", "players"},
    "boardstate": {"piles", "hash", "head"},
    "acked": {"seen", "hash", "piles", "receipt", "head"},
}
"""The messages that a racer may be sent, each with its fields that may hold bytes, which is where cards would be."""


def with_bytes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(with_bytes, value.values()))
    if isinstance(value, list):
        return any(map(with_bytes, value))
    return isinstance(value, bytes)


async def a_race(node: NodeMaker, game: str, delay: int) -> tuple[Client, Client, Client]:
    """A race of ana and bob, over two nodes, that wat watches; each has made moves and mistakes."""
    one, two = await node(), await node()
    ana, bob, wat = await one.player("ana"), await two.player("bob"), await two.player("wat")
    room = await ana.create(games=(game,), undo="free", delay=delay)
    for client in (ana, bob):
        client.undo = Undo.FREE
        await client.join(room)
    await wat.watch(room)
    await ana.expect(Done, Start)
    await bob.dealt()
    await ana.dealt()
    for client, seed in ((ana, 1), (bob, 2)):
        for number in range(12):
            if number % 4 == 3 or not client.play.board.legal_moves():
                await client.act(UNDO)
            await client.acts(1, seed + 10 * number)
            for action in ("1 2 x9", "7 6", "2 1 x2", "3 0", "w 4"):
                answer = await client.ask(Act, revision=client.play.revision, action=action)
                if isinstance(answer, Acked):
                    client.apply(action, answer)
    return ana, bob, wat


def before_the_end(client: Client) -> Iterator[tuple[bytes, ToClient]]:
    for frame in client.frames:
        assert isinstance(frame, bytes)
        message = decode_to_client(frame)
        if isinstance(message, RoomState) and message.phase == "finished":
            return
        yield frame, message


@pytest.mark.parametrize("game", ["athena", "steve", "ace-of-hearts"])
async def test_racer_is_sent_no_unseen_card_or_rival_board_and_spectators_what_was_seen(
    node: NodeMaker, game: str
) -> None:
    ana, bob, wat = await a_race(node, game, delay=0)
    for client in (ana, bob):
        await shown(wat, client)
        await client.expect(Done, Resign)
    ended = await ana.phase("finished")
    dealt = Board.deal(game_named(game), shuffled(ended.seed, game_named(game).decks))
    for client in (ana, bob):
        truth: Play | None = None
        for frame, message in before_the_end(client):
            fields = unpack(frame, dict[str, Any])
            allowed = RACERS_HEAR[fields["type"]]
            assert {name for name, value in fields.items() if with_bytes(value)} <= allowed, message
            assert ended.seed not in frame
            assert ended.seed.hex().encode() not in frame
            if isinstance(message, RoomState):
                assert (message.seed, message.proof) == (b"", "")
                assert not any(seat.share_commitment for seat in message.players)
                assert (message.draw, message.lost, message.shares) == (0, (), ())
            if isinstance(message, ProgressUpdate | Refusal):
                assert not with_bytes(fields)
            if isinstance(message, BoardState):
                assert message.piles == dealt.masked().piles
                truth = Play(dealt, Undo.FREE)
            if isinstance(message, Acked):
                # The hash and the turned-up cards of the ack are those of a legal action on the real board.
                assert truth is not None
                truth = next(
                    after
                    for after in reached(truth, message)
                    if (after.board.state_hash(), after.seen) == (message.hash, message.seen)
                )
                if message.piles:
                    assert message.piles == truth.board.masked().piles
    assert shown_to(wat) == {
        client.player: {card & FACE for pile in client.play.board.piles for card in pile if card < UNSEEN}
        for client in (ana, bob)
    }


def shown_to(spectator: Client) -> dict[str, set[int]]:
    """The cards that a spectator was shown before the end, by their players."""
    faces: dict[str, set[int]] = {}
    for _, message in before_the_end(spectator):
        if isinstance(message, DelayedBoard):
            cards = {card & FACE for pile in message.piles for card in pile if card < UNSEEN}
            faces.setdefault(message.player, set()).update(cards)
        elif isinstance(message, DelayedMove):
            faces[message.player].update(message.seen)
    return faces


def reached(play: Play, acked: Acked) -> Iterator[Play]:
    """The plays that one action leads to."""
    if acked.piles:
        yield play.act(UNDO)
        return
    for move in play.board.legal_moves():
        yield play.act(move)


async def shown(watcher: Client, client: Client) -> None:
    """Wait until a spectator has been shown all that a player has done."""
    await watcher.until(Struct, partial(is_late, client.player, client.play.revision))


def is_late(player: str, revision: int, message: Struct) -> bool:
    return isinstance(message, DelayedBoard | DelayedMove) and (message.player, message.revision) == (player, revision)
