"""Verification of a deal after the race, with servers that cheat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from msgspec import structs

from samedeal.board import Board
from samedeal.deal import commitment, shuffled
from samedeal.deal_proof import DealProof, RevealedShare
from samedeal.deal_words import deal_words
from samedeal.joint_deal import mix, secret_commitment, share_commitment, won_candidates
from samedeal.protocol.messages import Seat
from samedeal_client.state.deal_check import DealCheck, DealVerification, Verdict
from samedeal_client.state.deal_verification import CHECKING, check_deal, verify_deal
from samedeal_client.state.draws import DrawProblem, OwnDraws
from samedeal_client.state.model import Model
from samedeal_client.state.own_play import OwnPlay
from tests.client.drawn_races import FIRST, JOINT, LAST, OWN, SHOWN, ZHANG, drawn, shares_of
from tests.client.race_server import RaceServer, chained, finished
from tests.client.server_messages import board_state
from tests.golden.golden_files import assert_sentences
from tests.shared.joint_deals import DAILY, public_deal


def played(game: str) -> RaceServer:
    server = RaceServer(game)
    for _ in range(10):
        server.ack(server.act(server.play.board.legal_moves()[-1]))
    return server


def check_of(model: Model) -> DealCheck | None:
    verification = check_deal(model)
    return verification.check if verification is not None else None


@pytest.mark.parametrize("game", ["willow", "athena", "steve", "phoenix", "ace-of-hearts"])
def test_honest_deal_is_proven(game: str) -> None:
    server = played(game)
    assert check_of(finished(server)) is DealCheck.SEED_AND_CARDS
    record = finished(server).record()
    assert record is not None
    assert record.replay().board == server.play.board


def test_deal_is_not_verified_before_the_seed_is_known() -> None:
    assert check_deal(RaceServer().model) is verify_deal(RaceServer().model) is None


def test_fair_deal_is_being_checked_until_the_race_is_verified() -> None:
    model = finished(played("willow"))
    assert verify_deal(model) == CHECKING
    result = DealVerification(DealCheck.SEED_AND_CARDS)
    assert verify_deal(replace(model, verification=result)) == result
    wrong = finished(played("willow"), seed=bytes(32))
    verification = verify_deal(wrong)
    assert verification is not None
    assert verification.verdict is Verdict.WRONG  # there is nothing to wait for


def test_client_that_missed_the_deal_verifies_only_the_seed() -> None:
    server = RaceServer()
    server.play = server.play.act(server.legal()[0])
    server.model = Model("me", "ana").after(server.state("racing"))
    server.send_board()
    assert finished(server).record() is None
    assert check_of(finished(server)) is DealCheck.SEED


OTHER_BOARD = Board.deal(JOINT.terms.game, shuffled(bytes(32), 1))


def in_room(model: Model, **changes: Any) -> Model:
    assert model.room is not None
    return replace(model, room=structs.replace(model.room, **changes))


def promised(proof: DealProof, **terms: Any) -> DealProof:
    """The proof of a server that has committed to other terms."""
    other = proof.terms._replace(**terms)
    return replace(proof, terms=other, commitment=secret_commitment(other, proof.secret))


def swapped(share: RevealedShare) -> DealProof:
    """The proof of a server that replaced a share, and then found the deal of the new shares."""
    commitment = share_commitment("friday", share.name, JOINT.draw, bytes(32))
    other = share._replace(share=bytes(32), commitment=commitment)
    return found([other if each is share else each for each in JOINT.shares])


def found(shares: Sequence[RevealedShare]) -> DealProof:
    """The proof of a server that drew the deal from these shares."""
    mixed = mix(JOINT.secret, [(each.seat, each.share) for each in shares])
    won = next(won_candidates(mixed, JOINT.terms.game, JOINT.terms.budget, range(1000)))
    return replace(JOINT, shares=tuple(shares), candidate=won.number, line=won.line)


def test_daily_deal_is_proven() -> None:
    proof = public_deal("phoenix")
    alone = (Seat(player="ana", name="ana", seat=1),)
    nothing: dict[str, Any] = {"seats": alone, "shares": (), "draws": OwnDraws()}
    assert check_of(drawn(proof, board=proof.board(), deal=DAILY, **nothing)) is DealCheck.PROOF_AND_CARDS
    for deal in ("daily 2026-11-22", "winnable", "winnable easy"):
        assert check_of(drawn(proof, board=proof.board(), deal=deal, **nothing)) is DealCheck.NOT_PROVEN
    assert check_of(drawn(deal=DAILY)) is DealCheck.NOT_PROVEN


def test_repeated_deal_is_one_that_the_server_chose() -> None:
    name = f"again {JOINT.mixed.hex()}"
    proof = public_deal("phoenix", name)
    alone = (Seat(player="ana", name="ana", seat=1),)
    nothing: dict[str, Any] = {"seats": alone, "shares": (), "draws": OwnDraws()}
    assert check_of(drawn(proof, board=proof.board(), deal=name, **nothing)) is DealCheck.REPEATED
    assert check_of(drawn(proof, board=proof.board(), deal=f"again {'0' * 64}", **nothing)) is DealCheck.NOT_PROVEN


def test_joint_deal_is_proven() -> None:
    assert check_of(drawn()) is DealCheck.PROOF_AND_CARDS
    assert check_of(replace(drawn(), own=OwnPlay())) is DealCheck.PROOF
    spectator = replace(drawn(), own=OwnPlay(), draws=OwnDraws(), delay=15)
    assert check_of(spectator) is DealCheck.WATCHED


def committed(proof: DealProof) -> Model:
    """The model of ana after a race in a room that showed the commitment of a proof."""
    return drawn(proof, commitment=proof.commitment)


def other_seed(**changes: Any) -> Model:
    """The model after a numbered deal whose seed the server has replaced."""
    return replace(finished(played("willow"), seed=bytes(32), **changes), **changes)


CHEATS: dict[str, Callable[[], Model]] = {
    "a numbered deal: another seed": other_seed,
    "a numbered deal: another commitment": lambda: replace(finished(played("willow")), commitment=bytes(32)),
    "a numbered deal: another seed and its commitment": lambda: replace(other_seed(), commitment=commitment(bytes(32))),
    "a random deal: another seed and its commitment": lambda: replace(
        other_seed(deal="random"), commitment=commitment(bytes(32))
    ),
    "a numbered deal: called random": lambda: finished(played("willow"), deal="random"),
    "another commitment": lambda: replace(drawn(), commitment=bytes(32)),
    "another kind": lambda: replace(drawn(), deal="random"),
    "another secret": lambda: drawn(replace(JOINT, secret=bytes(32))),
    "another candidate": lambda: drawn(replace(JOINT, candidate=JOINT.candidate + 1)),
    "a far candidate": lambda: drawn(replace(JOINT, candidate=1_009_444)),
    "a shorter line": lambda: drawn(replace(JOINT, line=JOINT.line[:-1])),
    "another draw": lambda: drawn(replace(JOINT, draw=1)),
    "another room": lambda: in_room(drawn(), room="saturday"),
    "no proof": lambda: in_room(drawn(), proof=""),
    "another share of the player": lambda: drawn(swapped(OWN)),
    "another share of another player": lambda: drawn(swapped(ZHANG)),
    "another share that was not shown": lambda: drawn(swapped(ZHANG), shares=()),
    "a share left out": lambda: drawn(found(JOINT.shares[:2]), shares=()),
    "other seats in the last draw": lambda: drawn(draws=OwnDraws((replace(LAST, seats=SHOWN[:2]),))),
    "another share in the last draw": lambda: drawn(draws=OwnDraws((replace(LAST, share=bytes(32)),))),
    "only the first draw": lambda: drawn(draws=OwnDraws((FIRST,))),
    "a problem in the draw": lambda: drawn(draws=OwnDraws((LAST,), problem=DrawProblem.NO_SEAT_LOST)),
    "other shares were shown": lambda: drawn(shares=shares_of(swapped(ZHANG))),
    "another board": lambda: drawn(board=OTHER_BOARD),
    "the draws were missed": lambda: drawn(draws=OwnDraws()),
    "a draw more": lambda: drawn(draws=OwnDraws((LAST, replace(LAST, number=3)))),
    "an earlier draw": lambda: drawn(draws=OwnDraws((LAST,), problem=DrawProblem.EARLIER_DRAW)),
    "another solver": lambda: committed(promised(JOINT, solver=2)),
    "another budget": lambda: committed(promised(JOINT, budget=310)),
    "a huge budget": lambda: committed(promised(JOINT, budget=999_999_999)),
    "another difficulty": lambda: drawn(deal="winnable hard"),
    "other seats, and an earlier draw": lambda: drawn(
        draws=OwnDraws((replace(LAST, seats=SHOWN[:2]),), problem=DrawProblem.EARLIER_DRAW)
    ),
}


def test_what_is_found_out_about_cheats() -> None:
    lines = []
    for case, cheat in CHEATS.items():
        verification = check_deal(cheat())
        assert verification is not None
        lines.append(f"{case}\t{verification.check.name.lower()} ({verification.verdict.name.lower()})")
    assert_sentences("cheated deals", lines)


def test_outcomes_are_explained() -> None:
    lines = [f"{check.name.lower()} ({check.verdict.name.lower()})\t{check.sentence}" for check in DealCheck]
    assert_sentences("deal verification", lines)


def test_words_are_known_when_the_shares_are() -> None:
    model = drawn()
    assert model.room is not None
    drawing = structs.replace(model.room, phase="countdown", draw=1, shares=())
    assert replace(model, room=drawing).deal_words == ""
    known = structs.replace(drawing, shares=shares_of(JOINT))
    words = deal_words(JOINT.commitment, [(share.seat, share.share) for share in JOINT.shares])
    assert replace(model, room=known).deal_words == words
    numbered = RaceServer().model
    assert numbered.room is not None
    assert numbered.deal_words == deal_words(numbered.room.commitment)
    assert replace(numbered, room=structs.replace(numbered.room, phase="open")).deal_words == ""


def test_chain_of_the_server_is_checked() -> None:
    """The record has the times of the server, so its chain has the head that the client computed last."""
    model = finished(chained())
    assert check_of(model) is DealCheck.SEED_AND_CARDS
    record = model.record()
    assert record is not None
    assert [time for time, _ in record.actions] == [1_000, 2_000, 3_000, 4_000, 5_000]
    assert list(record.heads(record.players[0]))[-1] == model.own.head
    server = RaceServer("athena")
    server.model = server.model.after(msgspec.structs.replace(board_state("k7", server.play), head=bytes(16)))
    assert check_of(finished(server)) is DealCheck.OTHER_ACTIONS
