"""Verification of a finished race: of its deal against what this client saw, and of its record against both.

After the race, the server reveals a seed or a proof, which is checked against the commitments that the room showed before.
``net.race_audit`` then fetches the record and repeats the search for the deal. DEALS.md, *What a player's program
checks*, explains all steps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.deal import Deal, commitment, shuffled
from samedeal.deal_proof import DealProof
from samedeal.errors import DealNotCheckable, SamedealError
from samedeal.protocol.messages import DrawnShare, RoomState
from samedeal.record import Record
from samedeal_client.state.deal_check import DealCheck, DealVerification, Verdict
from samedeal_client.state.draws import UNSURE_PROBLEMS, DrawProblem
from samedeal_client.state.journal_file import Journal, action_difference
from samedeal_client.state.model import Model, race_terms

CHECKING: Final = DealVerification(DealCheck.CHECKING, ".")
"""The verification of a finished race before the record and the search have been checked."""


def verify_deal(model: Model) -> DealVerification | None:
    """Return what is known about the deal of a race. Return None if there is nothing to check yet.

    As long as the checks that take time are running, the result is ``CHECKING``, unless the deal is wrong anyway.
    """
    found = model.verification or check_deal(model)
    return CHECKING if found is not None and found.verdict is Verdict.FAIR and model.verification is None else found


def check_deal(model: Model) -> DealVerification | None:
    """Check the seed or the proof that the server has revealed. Return None if there is nothing to check yet.

    The seed or proof must match what this client saw before. If this client saw the player's first board, the board must
    come from the same deal. The player's actions must then lead from it to the present board.
    """
    room = model.room
    if room is None:
        return None
    deal = Deal.parse(model.deal)
    if room.deal != model.deal:
        return DealVerification(DealCheck.OTHER_KIND)
    if model.own.chain_broken and (room.seed or room.proof):
        return DealVerification(DealCheck.OTHER_ACTIONS)
    if deal.has_proof and (room.phase == "finished" or room.proof):
        return _check_proof(model, room, deal)
    if room.seed:
        return _check_seed(model, room.seed, deal)
    return None


def _check_seed(model: Model, seed: bytes, deal: Deal) -> DealVerification:
    if commitment(seed) != model.commitment:
        return DealVerification(DealCheck.OTHER_SEED)
    if deal.public and deal.public_seed() != seed:
        return DealVerification(DealCheck.OTHER_DEAL, str(deal))
    if model.own.first is None:
        return DealVerification(DealCheck.SEED)
    board = Board.deal(model.game, shuffled(seed, model.game.decks))
    agrees = _agrees_with_play(model, board)
    return DealVerification(DealCheck.SEED_AND_CARDS if agrees else DealCheck.OTHER_CARDS)


def _check_proof(model: Model, room: RoomState, deal: Deal) -> DealVerification:
    proved = _proved(room.proof, deal)
    if isinstance(proved, DealVerification):
        return proved
    proof, board = proved
    if (proof.terms.room, proof.terms.game) != (room.room, model.game):
        return DealVerification(DealCheck.NOT_PROVEN, "It is the proof of another deal.")
    if proof.commitment != model.commitment:
        return DealVerification(DealCheck.OTHER_SEED)
    if (found := _check_draws(model, proof)) is not None and found.verdict is Verdict.WRONG:
        return found
    if model.own.first is not None and not _agrees_with_play(model, board):
        return DealVerification(DealCheck.OTHER_CARDS)
    if found is not None:
        return found
    if deal.kind == "again":
        return DealVerification(DealCheck.REPEATED)
    if not proof.public and (model.seat is None or model.delay is not None):
        return DealVerification(DealCheck.WATCHED)
    return DealVerification(DealCheck.PROOF if model.own.first is None else DealCheck.PROOF_AND_CARDS)


def _check_draws(model: Model, proof: DealProof) -> DealVerification | None:
    """Return what is wrong or unknown about the draws of a joint deal, or None if nothing is."""
    if proof.public:
        return None
    shares = tuple(DrawnShare(**share._asdict()) for share in proof.shares)
    rooms = [(room.room, room.seal, room.digest) for room in proof.others]
    shown = [(room.room, room.seal, room.digest) for room in model.rooms]
    if model.shares and (model.shares != shares or (all(digest for *_, digest in shown) and shown != rooms)):
        return _broken(DrawProblem.OTHER_SHARES)
    if model.delay is not None:
        return None
    found = [model.draws.problem]
    if model.seat is not None:
        found.append(model.draws.problem_of_shares(proof.draw, proof.shares, proof.seals))
    problems = sorted(filter(None, found), key=lambda problem: problem in UNSURE_PROBLEMS)
    if problems:
        return _broken(problems[0])
    missed = model.seat is not None and not model.draws.revealed
    return DealVerification(DealCheck.MISSED_DRAW) if missed else None


def _broken(problem: DrawProblem) -> DealVerification:
    check = DealCheck.EARLIER_DRAW if problem in UNSURE_PROBLEMS else DealCheck.BROKEN_DRAW
    return DealVerification(check, problem.value)


@lru_cache(maxsize=4)
def _proved(text: str, deal: Deal) -> tuple[DealProof, Board] | DealVerification:
    """Return the proof in ``text`` and the board that it deals, or what is wrong with it as a proof of ``deal``.

    Results are cached, because screens verify the deal each time they are drawn.
    """
    try:
        proof = DealProof.parse(text)
        board = proof.check()
        proof.check_kind(deal)
        proof.check_limits()
    except DealNotCheckable as error:
        return DealVerification(DealCheck.NOT_CHECKABLE, str(error))
    except SamedealError as error:
        return DealVerification(DealCheck.NOT_PROVEN, str(error))
    return proof, board


def _agrees_with_play(model: Model, board: Board) -> bool:
    """Return whether the player was dealt ``board``, and the player's actions lead from it to the present board."""
    if model.room is None or model.own.play is None or board.masked() != model.own.first:
        return False
    replayed = Play(board, model.room.options.undo_rule)
    try:
        for _, action in model.own.actions:
            replayed = replayed.act(action)
    except SamedealError:
        return False
    return replayed.board.state_hash() == model.own.play.board.state_hash()


def check_record(model: Model, record: Record, journal: Journal | None) -> DealVerification | None:
    """Check the server's record of the whole race. Return what is wrong with it, or None.

    The record must be right in itself, and must say what this client saw: the terms of the race, the deal, the
    standings, and the player's acknowledged actions, which ``journal`` has if it is not None. This takes as long as
    playing all moves.
    """
    room = model.room
    if room is None:
        return None
    try:
        if record.proof is not None:
            record.proof.check_kind(record.deal)
        record.check()
    except DealNotCheckable as error:
        return DealVerification(DealCheck.NOT_CHECKABLE, str(error))
    except SamedealError as error:
        return DealVerification(DealCheck.BAD_RECORD, str(error))
    difference = _record_difference(model, room, record, journal)
    return DealVerification(DealCheck.OTHER_RECORD, difference) if difference else None


def _record_difference(model: Model, room: RoomState, record: Record, journal: Journal | None) -> str:
    if record.terms != race_terms(room) or not record.is_whole:
        return "It is the record of another race, or lacks players."
    if (str(record.proof) if record.proof else "") != room.proof or record.seed != room.seed:
        return "It has another deal."
    shown = {(line.name, line.place, line.foundation_cards, line.time) for line in room.standings}
    if shown != {(each.name, each.place, each.foundation_cards, each.finish_time) for each in record.players}:
        return "It has other results."
    seat = model.seat
    if seat is None or model.delay is not None:
        return ""
    player = next((each for each in record.players if (each.seat, each.name) == (seat.seat, seat.name)), None)
    if player is None:
        return "You are not in it."
    if journal is not None:
        return action_difference(record, player, journal.acked.values())
    if model.own.first is not None and player.actions != model.own.actions:
        return "It has other moves of yours."
    return ""
