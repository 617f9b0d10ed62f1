"""The outcomes of verifying the deal and the record of a race, each with a sentence for the player."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Verdict(Enum):
    """What an outcome means for the player.

    ``UNSURE`` means that something could not be checked. Nothing is called fair then.
    """

    FAIR = auto()
    CHECKING = auto()
    UNSURE = auto()
    WRONG = auto()


class DealCheck(Enum):
    """An outcome of verifying the deal and the record of a race: its verdict, and its sentence for the player."""

    def __init__(self, verdict: Verdict, sentence: str) -> None:
        self.verdict = verdict
        self.sentence = sentence

    SEED_AND_CARDS = (
        Verdict.FAIR,
        "Deal checked: the order of the cards was set before the race, and you got them in that order.",
    )
    SEED = (Verdict.FAIR, "Deal checked: the order of the cards was set before the race.")
    PROOF_AND_CARDS = (Verdict.FAIR, "Fair deal: nobody could choose it, it can be won, and you got its cards.")
    PROOF = (Verdict.FAIR, "Fair deal: nobody could choose it, and it can be won.")
    REPEATED = (Verdict.FAIR, "Deal of an earlier race, which the server chose: it can be won, and you got its cards.")
    WATCHED = (
        Verdict.FAIR,
        "Deal checked: it can be won, and it follows from what the players sent. Only they can tell that it was fair.",
    )
    CHECKING = (Verdict.CHECKING, "Checking the deal{detail}")
    MISSED_DRAW = (Verdict.UNSURE, "Deal not fully checked: this program was not there when the deal was drawn.")
    EARLIER_DRAW = (Verdict.UNSURE, "Deal not fully checked. {detail}")
    NOT_CHECKABLE = (Verdict.UNSURE, "The deal cannot be checked. {detail}")
    NOT_REPEATED = (Verdict.UNSURE, "Deal not fully checked: the search for it could not be repeated on this machine.")
    NO_RECORD = (Verdict.UNSURE, "Deal not fully checked: the server gave no record of the race.")
    OTHER_SEED = (Verdict.WRONG, "NOT a fair deal: the server changed the order of the cards after it was set.")
    OTHER_DEAL = (Verdict.WRONG, "NOT a fair deal: these are not the cards of deal {detail}.")
    OTHER_KIND = (Verdict.WRONG, "NOT a fair deal: the server changed how the cards are drawn.")
    OTHER_CARDS = (Verdict.WRONG, "NOT a fair deal: your cards were not dealt in the order that was set.")
    OTHER_ACTIONS = (
        Verdict.WRONG,
        "NOT a fair race: the server's list of your moves differs from the moves that you made.",
    )
    BROKEN_DRAW = (Verdict.WRONG, "NOT a fair deal. {detail}")
    NOT_PROVEN = (
        Verdict.WRONG,
        "NOT a fair deal: the server gave no valid proof of how the cards were drawn. {detail}",
    )
    NOT_FIRST = (Verdict.WRONG, "NOT a fair deal: the server picked one that it had to pass over. {detail}")
    BAD_RECORD = (Verdict.WRONG, "NOT a fair race: the server's record of it is wrong. {detail}")
    OTHER_RECORD = (Verdict.WRONG, "NOT a fair race: the server's record of it is not what you saw. {detail}")


@dataclass(frozen=True)
class DealVerification:
    """The outcome of verifying a deal and a record. ``detail`` completes the sentence of some outcomes."""

    check: DealCheck
    detail: str = ""

    @property
    def verdict(self) -> Verdict:
        """What the outcome means for the player."""
        return self.check.verdict

    @property
    def sentence(self) -> str:
        """The sentence for the player."""
        return self.check.sentence.format(detail=self.detail).rstrip()
