"""Verification of a deal after the race, with servers that cheat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from msgspec import structs

from samedeal.action_chain import next_head
from samedeal.board import Board
from samedeal.deal import commitment, shuffled
from samedeal.deal_proof import DealProof, RevealedShare
from samedeal.joint_deal import mix, share_commitment, won_candidates
from samedeal.moves import DRAW
from samedeal.protocol.messages import Joined, Seat
from samedeal_client.state.deal_verification import SENTENCES, DealCheck, verify_deal
from samedeal_client.state.model import Model, race_terms
from samedeal_client.state.own_play import OwnPlay
from tests.client.race_server import START, RaceServer, finished
from tests.client.server_messages import board_state
from tests.golden.golden_files import assert_sentences
from tests.shared.joint_deals import DAILY, daily_deal, joint_deal


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


JOINT = joint_deal("phoenix")
OWN, ZOE, ZHANG = JOINT.shares
SEATS = tuple(
    Seat(player=share.name, name=share.name, seat=share.seat, share_commitment=share.commitment)
    for share in JOINT.shares
)


OTHER_BOARD = Board.deal(JOINT.terms.game, shuffled(bytes(32), 1))


def without_proof(model: Model) -> Model:
    assert model.room is not None
    return replace(model, room=structs.replace(model.room, proof=""))


def drawn(
    proof: DealProof = JOINT,
    *,
    seats: tuple[Seat, ...] = SEATS,
    own: bytes = OWN.share,
    board: Board | None = None,
    deal: str = "winnable",
) -> Model:
    """The model of ana after a race on a joint deal, with the proof that the server gives."""
    server = RaceServer("phoenix", deal=deal, board=board or JOINT.board())
    commitment = (proof if proof.public else JOINT).commitment
    shown: dict[str, Any] = {"room": "friday", "players": seats, "commitment": commitment}
    model = Model("ana", "ana")
    for message in (
        Joined(to=2, room="friday", seat=1, generation=1),
        server.state("countdown", **shown),
        server.state("racing", **shown),
        board_state("friday", server.play),
    ):
        model = model.after(message)
    model, act = model.with_action(server.play.board.legal_moves()[0], 7, START)
    model = model.after(server.answer(act))
    return replace(model, own_shares=frozenset((own,))).after(server.state("finished", **shown, proof=str(proof)))


def swapped(share: RevealedShare) -> DealProof:
    """The proof of a server that replaced a share, and then found the deal of the new shares."""
    other = share._replace(share=bytes(32), commitment=share_commitment("friday", share.name, bytes(32)))
    mixed = [(each.seat, (other if each is share else each).share) for each in JOINT.shares]
    won = next(won_candidates(mix(JOINT.secret, mixed), JOINT.terms.game, JOINT.terms.budget, range(1000)))
    shares = tuple(other if each is share else each for each in JOINT.shares)
    return replace(JOINT, shares=shares, candidate=won.number, line=won.line)


def test_daily_deal_is_proven() -> None:
    proof = daily_deal("phoenix")
    alone = (Seat(player="ana", name="ana", seat=1),)
    assert check_of(drawn(proof, seats=alone, board=proof.board(), deal=DAILY)) is DealCheck.PROOF_AND_CARDS
    for deal in ("daily 2026-11-22", "winnable", "winnable easy"):
        assert check_of(drawn(proof, seats=alone, board=proof.board(), deal=deal)) is DealCheck.NOT_PROVEN
    for deal in (DAILY, "winnable hard"):
        assert check_of(drawn(deal=deal)) is DealCheck.NOT_PROVEN


def test_joint_deal_is_proven() -> None:
    assert check_of(drawn()) is DealCheck.PROOF_AND_CARDS
    earlier = tuple(
        structs.replace(seat, share_commitment=share_commitment("friday", seat.name, seat.share_commitment))
        for seat in SEATS
    )
    assert check_of(drawn(seats=earlier)) is DealCheck.PROOF_AND_CARDS  # the deal was drawn again
    spectator = replace(drawn(), own=OwnPlay(), share_commitments={}, own_shares=frozenset())
    assert check_of(spectator) is DealCheck.PROOF


@pytest.mark.parametrize(
    ("cheat", "check"),
    [
        (lambda: replace(drawn(), commitment=bytes(32)), DealCheck.OTHER_SEED),
        (lambda: drawn(replace(JOINT, secret=bytes(32))), DealCheck.NOT_PROVEN),
        (lambda: drawn(replace(JOINT, candidate=JOINT.candidate + 1)), DealCheck.NOT_PROVEN),
        (lambda: drawn(replace(JOINT, line=JOINT.line[:-1])), DealCheck.NOT_PROVEN),
        (lambda: without_proof(drawn()), DealCheck.NOT_PROVEN),
        (lambda: drawn(own=bytes(32)), DealCheck.OTHER_SHARES),
        (lambda: drawn(swapped(OWN)), DealCheck.OTHER_SHARES),
        (lambda: drawn(swapped(ZHANG)), DealCheck.OTHER_SHARES),
        (lambda: drawn(seats=SEATS[:2]), DealCheck.OTHER_SHARES),
        (lambda: drawn(board=OTHER_BOARD), DealCheck.OTHER_CARDS),
    ],
)
def test_cheated_joint_deal_is_detected(cheat: Callable[[], Model], check: DealCheck) -> None:
    verification = verify_deal(cheat())
    assert verification is not None
    assert (verification.check, verification.holds) == (check, False)


def test_joint_deal_of_another_room_is_detected() -> None:
    model = drawn()
    assert model.room is not None
    moved = replace(model, room=structs.replace(model.room, room="saturday"))
    assert check_of(moved) is DealCheck.NOT_PROVEN


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
        answer = msgspec.structs.replace(server.answer(act), time=START + 1_000 * number, head=told[number - 1])
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
