"""The outcomes of verifying the deal and the record of a race, each with a sentence for the player."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Final


class Verdict(Enum):
    """What an outcome means for the player.

    ``UNSURE`` means that something could not be checked. Nothing is called fair then.
    """

    FAIR = auto()
    CHECKING = auto()
    UNSURE = auto()
    WRONG = auto()


class DealCheck(StrEnum):
    """An outcome of verifying the deal and the record of a race. ``OUTCOMES`` explains each outcome."""

    SEED_AND_CARDS = "seed_and_cards"
    SEED = "seed"
    PROOF_AND_CARDS = "proof_and_cards"
    PROOF = "proof"
    REPEATED = "repeated"
    WATCHED = "watched"
    CHECKING = "checking"
    MISSED_DRAW = "missed_draw"
    EARLIER_DRAW = "earlier_draw"
    NOT_CHECKABLE = "not_checkable"
    NOT_REPEATED = "not_repeated"
    NO_RECORD = "no_record"
    OTHER_SEED = "other_seed"
    OTHER_DEAL = "other_deal"
    OTHER_KIND = "other_kind"
    OTHER_CARDS = "other_cards"
    OTHER_ACTIONS = "other_actions"
    BROKEN_DRAW = "broken_draw"
    NOT_PROVEN = "not_proven"
    NOT_FIRST = "not_first"
    BAD_RECORD = "bad_record"
    OTHER_RECORD = "other_record"


OUTCOMES: Final = {
    DealCheck.SEED_AND_CARDS: (
        Verdict.FAIR,
        "Deal checked: the order of the cards was set before the race, and you got them in that order.",
    ),
    DealCheck.SEED: (Verdict.FAIR, "Deal checked: the order of the cards was set before the race."),
    DealCheck.PROOF_AND_CARDS: (
        Verdict.FAIR,
        "Fair deal: nobody could choose it, it can be won, and you got its cards.",
    ),
    DealCheck.PROOF: (Verdict.FAIR, "Fair deal: nobody could choose it, and it can be won."),
    DealCheck.REPEATED: (
        Verdict.FAIR,
        "Deal of an earlier race, which the server chose: it can be won, and you got its cards.",
    ),
    DealCheck.WATCHED: (
        Verdict.FAIR,
        "Deal checked: it can be won, and it follows from what the players sent. Only they can tell that it was fair.",
    ),
    DealCheck.CHECKING: (Verdict.CHECKING, "Checking the deal{detail}"),
    DealCheck.MISSED_DRAW: (
        Verdict.UNSURE,
        "Deal not fully checked: this program was not there when the deal was drawn.",
    ),
    DealCheck.EARLIER_DRAW: (Verdict.UNSURE, "Deal not fully checked. {detail}"),
    DealCheck.NOT_CHECKABLE: (Verdict.UNSURE, "The deal cannot be checked. {detail}"),
    DealCheck.NOT_REPEATED: (
        Verdict.UNSURE,
        "Deal not fully checked: the search for it could not be repeated on this machine.",
    ),
    DealCheck.NO_RECORD: (
        Verdict.UNSURE,
        "Deal not fully checked: the server gave no record of the race.",
    ),
    DealCheck.OTHER_SEED: (
        Verdict.WRONG,
        "NOT a fair deal: the server changed the order of the cards after it was set.",
    ),
    DealCheck.OTHER_DEAL: (Verdict.WRONG, "NOT a fair deal: these are not the cards of deal {detail}."),
    DealCheck.OTHER_KIND: (Verdict.WRONG, "NOT a fair deal: the server changed how the cards are drawn."),
    DealCheck.OTHER_CARDS: (Verdict.WRONG, "NOT a fair deal: your cards were not dealt in the order that was set."),
    DealCheck.OTHER_ACTIONS: (
        Verdict.WRONG,
        "NOT a fair race: the server's list of your moves differs from the moves that you made.",
    ),
    DealCheck.BROKEN_DRAW: (Verdict.WRONG, "NOT a fair deal. {detail}"),
    DealCheck.NOT_PROVEN: (
        Verdict.WRONG,
        "NOT a fair deal: the server gave no valid proof of how the cards were drawn. {detail}",
    ),
    DealCheck.NOT_FIRST: (Verdict.WRONG, "NOT a fair deal: the server picked one that it had to pass over. {detail}"),
    DealCheck.BAD_RECORD: (Verdict.WRONG, "NOT a fair race: the server's record of it is wrong. {detail}"),
    DealCheck.OTHER_RECORD: (
        Verdict.WRONG,
        "NOT a fair race: the server's record of it is not what you saw. {detail}",
    ),
}
"""The verdict and the sentence for the player, by outcome."""


@dataclass(frozen=True)
class DealVerification:
    """The outcome of verifying a deal and a record. ``detail`` completes the sentence of some outcomes."""

    check: DealCheck
    detail: str = ""

    @property
    def verdict(self) -> Verdict:
        """What the outcome means for the player."""
        return OUTCOMES[self.check][0]

    @property
    def sentence(self) -> str:
        """The sentence for the player."""
        return OUTCOMES[self.check][1].format(detail=self.detail).rstrip()
