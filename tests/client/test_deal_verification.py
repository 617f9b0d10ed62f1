"""Verification of a deal after the race, with servers that cheat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from samedeal.action_chain import next_head
from samedeal.board import Board
from samedeal.deal import commitment
from samedeal.moves import DRAW
from samedeal_client.state.deal_verification import SENTENCES, DealCheck, verify_deal
from samedeal_client.state.model import Model, race_terms
from tests.client.race_server import START, RaceServer, finished
from tests.client.server_messages import board_state
from tests.golden.golden_files import assert_sentences


def played(game: str) -> RaceServer:
    server = RaceServer(game)
    for _ in range(10):
        server.ack(server.act(server.play.board.legal_moves()[-1]))
    return server


def check_of(model: Model) -> DealCheck | None:
    verification = verify_deal(model)
    return verification.check if verification is not None else None


@pytest.mark.parametrize("game", ["willow", "athena", "steve", "phoenix", "ace-of-hearts"])
def test_honest_deal_is_proven(game: str) -> None:
    server = played(game)
    verification = verify_deal(finished(server))
    assert verification is not None
    assert (verification.check, verification.holds) == (DealCheck.SEED_AND_CARDS, True)
    record = finished(server).record()
    assert record is not None
    assert record.replay().board == server.play.board


def test_deal_is_not_verified_before_the_seed_is_known() -> None:
    assert verify_deal(RaceServer().model) is None


@pytest.mark.parametrize(
    ("cheat", "check"),
    [
        (lambda server: finished(server, seed=bytes(32)), DealCheck.OTHER_SEED),
        (lambda server: replace(finished(server), commitment=bytes(32)), DealCheck.OTHER_SEED),
        (
            lambda server: replace(finished(server, seed=bytes(32), deal="random"), commitment=commitment(bytes(32))),
            DealCheck.OTHER_CARDS,
        ),
        (
            lambda server: replace(finished(server, seed=bytes(32)), commitment=commitment(bytes(32))),
            DealCheck.OTHER_DEAL,
        ),
    ],
)
def test_other_deal_is_detected(cheat: Callable[[RaceServer], Model], check: DealCheck) -> None:
    verification = verify_deal(cheat(played("willow")))
    assert verification is not None
    assert (verification.check, verification.holds) == (check, False)


def test_swapped_face_down_cards_are_detected() -> None:
    server = RaceServer("athena")
    stock = server.game.stock_at
    piles = list(server.play.board.piles)
    piles[stock] = piles[stock][:-4] + piles[stock][-1:] + piles[stock][-4:-1]
    server.play = replace(server.play, board=Board(server.game, tuple(piles)))
    server.ack(server.act(DRAW))
    assert check_of(finished(server)) is DealCheck.OTHER_CARDS


def test_client_that_missed_the_deal_verifies_only_the_seed() -> None:
    server = RaceServer()
    server.play = server.play.act(server.legal()[0])
    server.model = Model("me", "ana").after(server.state("racing"))
    server.send_board()
    assert finished(server).record() is None
    assert check_of(finished(server)) is DealCheck.SEED


def test_outcomes_are_explained() -> None:
    assert_sentences("deal verification", [f"{check}\t{SENTENCES[check]}" for check in DealCheck])


def chained(*cheats: bytes) -> Model:
    """A race in which the server sends heads. The last of them are replaced by ``cheats``."""
    server = RaceServer("athena")
    room = server.model.room
    assert room is not None
    head = race_terms(room).first_head(1, "ana", bot=False)
    server.model = server.model.after(msgspec.structs.replace(board_state("k7", server.play), head=head))
    for number in range(1, 6):
        act = server.act(server.play.board.legal_moves()[-1])
        head = next_head(head, number, 1_000 * number, act.action)
        told = [head] * (5 - len(cheats)) + list(cheats)
        answer = msgspec.structs.replace(server.answer(act), at=START + 1_000 * number, head=told[number - 1])
        server.model = server.model.after(answer)
    return finished(server)


def test_chain_of_the_server_is_checked() -> None:
    """The record has the times of the server, so its chain has the head that the server sent last."""
    model = chained()
    assert check_of(model) is DealCheck.SEED_AND_CARDS
    record = model.record()
    assert record is not None
    assert [time for time, _ in record.actions] == [1_000, 2_000, 3_000, 4_000, 5_000]
    assert list(record.heads(record.players[0]))[-1] == model.own.head
    assert check_of(chained(bytes(16))) is DealCheck.OTHER_ACTIONS
    assert check_of(chained(bytes(16), bytes(16))) is DealCheck.OTHER_ACTIONS
    server = RaceServer("athena")
    server.model = server.model.after(msgspec.structs.replace(board_state("k7", server.play), head=bytes(16)))
    assert check_of(finished(server)) is DealCheck.OTHER_ACTIONS
