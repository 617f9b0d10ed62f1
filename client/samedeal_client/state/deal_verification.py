"""Verification that the server dealt what it had committed to, from the seed that it reveals after the race."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from samedeal.board import Board
from samedeal.deal import Deal, commitment, shuffled
from samedeal.errors import SamedealError
from samedeal_client.state.model import Model


class DealCheck(StrEnum):
    """The outcome of a verification."""

    SEED_AND_CARDS = "seed_and_cards"
    SEED = "seed"
    OTHER_SEED = "other_seed"
    OTHER_DEAL = "other_deal"
    OTHER_CARDS = "other_cards"
    OTHER_ACTIONS = "other_actions"


SENTENCES: Final = {
    DealCheck.SEED_AND_CARDS: "Fair deal: the order of the cards was fixed before the race. Yours were dealt in it.",
    DealCheck.SEED: "Fair deal: the order of the cards was fixed before the race.",
    DealCheck.OTHER_SEED: "NOT a fair deal: the server changed the order of the cards after it had fixed it.",
    DealCheck.OTHER_DEAL: "NOT a fair deal: these are not the cards of deal {deal}.",
    DealCheck.OTHER_CARDS: "NOT a fair deal: your cards were not dealt in the order that was fixed.",
    DealCheck.OTHER_ACTIONS: "NOT a fair race: the server's chain of your moves is not that of the moves you made.",
}
"""Sentences for the player."""


@dataclass(frozen=True)
class DealVerification:
    """The outcome of a verification, and a sentence for the player."""

    check: DealCheck
    sentence: str

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts the server's commitment."""
        return self.check in (DealCheck.SEED_AND_CARDS, DealCheck.SEED)


def verify_deal(model: Model) -> DealVerification | None:
    """Check the seed of a finished race against the commitment, and the cards against the seed.

    Return None while the seed is unknown. The commitment is the first one that this client saw. If this client saw the
    deal, the player's moves are replayed from the seed to check the cards.
    """
    room = model.room
    if room is None or not room.seed:
        return None
    check = DealCheck.OTHER_ACTIONS if model.own.chain_broken else _check(model, room.seed, Deal.parse(room.deal))
    return DealVerification(check, SENTENCES[check].format(deal=room.deal))


def _check(model: Model, seed: bytes, deal: Deal) -> DealCheck:
    if commitment(seed) != model.commitment:
        return DealCheck.OTHER_SEED
    if deal.public and deal.public_seed() != seed:
        return DealCheck.OTHER_DEAL
    record, play = model.record(), model.own.play
    if record is None or play is None:
        return DealCheck.SEED
    if Board.deal(model.game, shuffled(seed, model.game.decks)).masked() != model.own.first:
        return DealCheck.OTHER_CARDS
    try:
        end = record.replay()
    except SamedealError:
        return DealCheck.OTHER_CARDS
    same = end.board.state_hash() == play.board.state_hash()
    return DealCheck.SEED_AND_CARDS if same else DealCheck.OTHER_CARDS
