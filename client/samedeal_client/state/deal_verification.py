"""Verification that the server did not change the deal after the players saw the commitment to it.

After the race, the server reveals a seed or a proof, which is checked against the commitment.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.deal import Deal, commitment, shuffled
from samedeal.deal_proof import DealProof, RevealedShare
from samedeal.errors import SamedealError
from samedeal.joint_deal import share_commitment
from samedeal.protocol.messages import RoomState
from samedeal_client.state.model import Model

_LONGEST_CHAIN: Final = 64
"""Maximum number of shares in a player's chain. Each time the deal is drawn again, the player reveals the next share."""


class DealCheck(StrEnum):
    """The outcome of verifying a deal. ``SENTENCES`` explains each outcome."""

    SEED_AND_CARDS = "seed_and_cards"
    SEED = "seed"
    PROOF_AND_CARDS = "proof_and_cards"
    PROOF = "proof"
    OTHER_SEED = "other_seed"
    OTHER_DEAL = "other_deal"
    OTHER_CARDS = "other_cards"
    OTHER_ACTIONS = "other_actions"
    OTHER_SHARES = "other_shares"
    NOT_PROVEN = "not_proven"


SENTENCES: Final = {
    DealCheck.SEED_AND_CARDS: (
        "Deal checked: the order of the cards was set before the race, and you got them in that order."
    ),
    DealCheck.SEED: "Deal checked: the order of the cards was set before the race.",
    DealCheck.PROOF_AND_CARDS: "Fair deal: nobody could choose it, it can be won, and you got its cards.",
    DealCheck.PROOF: "Fair deal: nobody could choose it, and it can be won.",
    DealCheck.OTHER_SEED: "NOT a fair deal: the server changed the order of the cards after it was set.",
    DealCheck.OTHER_DEAL: "NOT a fair deal: these are not the cards of deal {deal}.",
    DealCheck.OTHER_CARDS: "NOT a fair deal: your cards were not dealt in the order that was set.",
    DealCheck.OTHER_ACTIONS: "NOT a fair race: the server's list of your moves differs from the moves that you made.",
    DealCheck.OTHER_SHARES: "NOT a fair deal: a player's random number was changed after it was set.",
    DealCheck.NOT_PROVEN: "NOT a fair deal: the server gave no valid proof of how the cards were drawn.",
}
"""The sentence for the player, by outcome."""

_FAIR: Final = frozenset((DealCheck.SEED_AND_CARDS, DealCheck.SEED, DealCheck.PROOF_AND_CARDS, DealCheck.PROOF))


@dataclass(frozen=True)
class DealVerification:
    """The outcome of verifying a deal, and a sentence for the player."""

    check: DealCheck
    sentence: str

    @property
    def holds(self) -> bool:
        """Whether the verification found nothing wrong."""
        return self.check in _FAIR


def verify_deal(model: Model) -> DealVerification | None:
    """Check the seed or the proof that the server has revealed. Return None if there is nothing to check yet.

    The seed or proof must match the first commitments that this client saw. If this client saw the player's first
    board, the board must come from the same deal. The player's actions must then lead from it to the present board.
    """
    room = model.room
    if room is None:
        return None
    deal = Deal.parse(room.deal)
    if model.own.chain_broken and (room.seed or room.proof):
        check = DealCheck.OTHER_ACTIONS
    elif deal.has_proof and (room.phase == "finished" or room.proof):
        check = _check_proof(model, room, deal)
    elif room.seed:
        check = _check_seed(model, room.seed, deal)
    else:
        return None
    return DealVerification(check, SENTENCES[check].format(deal=room.deal))


def _check_seed(model: Model, seed: bytes, deal: Deal) -> DealCheck:
    if commitment(seed) != model.commitment:
        return DealCheck.OTHER_SEED
    if deal.public and deal.public_seed() != seed:
        return DealCheck.OTHER_DEAL
    if model.own.first is None:
        return DealCheck.SEED
    board = Board.deal(model.game, shuffled(seed, model.game.decks))
    return DealCheck.SEED_AND_CARDS if _agrees_with_play(model, board) else DealCheck.OTHER_CARDS


def _check_proof(model: Model, room: RoomState, deal: Deal) -> DealCheck:
    proved = _proved(room.proof, deal)
    if proved is None:
        return DealCheck.NOT_PROVEN
    proof, board = proved
    if (proof.terms.room, proof.terms.game) != (room.room, model.game):
        return DealCheck.NOT_PROVEN
    if proof.commitment != model.commitment:
        return DealCheck.OTHER_SEED
    if model.share_commitments and not _has_shares(model, room.room, proof.shares):
        return DealCheck.OTHER_SHARES
    if model.own.first is None:
        return DealCheck.PROOF
    return DealCheck.PROOF_AND_CARDS if _agrees_with_play(model, board) else DealCheck.OTHER_CARDS


@lru_cache(maxsize=4)
def _proved(text: str, deal: Deal) -> tuple[DealProof, Board] | None:
    """Return the proof in ``text`` and the board that it deals.

    Return None if ``text`` is not a valid proof of ``deal``.

    Results are cached, because screens verify the deal each time they are drawn.
    """
    try:
        proof = DealProof.parse(text)
        proof.check_kind(deal)
        return proof, proof.check()
    except SamedealError:
        return None


def _has_shares(model: Model, room: str, shares: tuple[RevealedShare, ...]) -> bool:
    """Return whether all shares fit the commitments that the client saw when the countdown began.

    If this player took part in the deal, one of the shares must be the player's own.
    """
    for share in shares:
        committed = model.share_commitments.get((share.seat, share.name))
        if committed is None or not _leads_to(room, share, committed):
            return False
    own = model.seat
    took_part = own is not None and (own.seat, own.name) in model.share_commitments
    return not took_part or any(share.share in model.own_shares for share in shares)


def _leads_to(room: str, share: RevealedShare, committed: bytes) -> bool:
    """Return whether hashing a revealed share once or several times gives the commitment ``committed``.

    Each share of a player is the hash of the share that the player reveals if the deal is drawn again (DEALS.md).
    """
    link = share.commitment
    for _ in range(_LONGEST_CHAIN):
        if link == committed:
            return True
        link = share_commitment(room, share.name, link)
    return False


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
