"""A review of a player's race, to find the action that lost the deal. Pure.

The review looks only at the actions that were not undone. Along these actions, a board that can't be won never leads
to a board that can. A binary search therefore finds the action: each run of the solver halves the range of actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from samedeal.board_history import UNDO
from samedeal.moves import Move
from samedeal.solver.solve import Answer, Outcome


def actions_kept(actions: Sequence[str]) -> tuple[int, ...]:
    """Return revision 0, which is the deal, and the revision after each action that was not undone."""
    kept = [0]
    for revision, action in enumerate(actions, 1):
        if action == UNDO:
            kept.pop()
        else:
            kept.append(revision)
    return tuple(kept)


@dataclass(frozen=True)
class Review:
    """The state of a review.

    ``revisions`` has the revisions of the boards under review, in order. ``answers`` has the solver's answers, by the
    index of the board in ``revisions``.
    """

    revisions: tuple[int, ...]
    answers: Mapping[int, Answer] = field(default_factory=dict)

    @property
    def last_won(self) -> int:
        """The index of the last board that is known to be winnable, or -1 if there is none."""
        return max(self._indexes(Outcome.WON), default=-1)

    @property
    def first_lost(self) -> int:
        """The index of the first board that is known to be lost. If there is none, the number of boards."""
        return min(self._indexes(Outcome.UNWINNABLE), default=len(self.revisions))

    @property
    def line(self) -> tuple[Move, ...]:
        """The moves that win from the last winnable board. There are none if no board is known to be winnable."""
        return self.answers[self.last_won].line if self.last_won >= 0 else ()

    def _indexes(self, outcome: Outcome) -> list[int]:
        return [index for index, answer in self.answers.items() if answer.outcome is outcome]

    def next_index(self) -> int | None:
        """Return the index of the board to search next, or None if the review is complete."""
        undecided = self._indexes(Outcome.UNDECIDED)
        # First halve the range between the last board that was won and the first one that was searched but not won.
        low = self.last_won
        high = min([self.first_lost, *undecided])
        if high - low > 1:
            return (low + high) // 2
        # Then halve the range between the last board that was won or left undecided, and the first lost one.
        low, high = max([low, *(index for index in undecided if index < self.first_lost)]), self.first_lost
        return (low + high) // 2 if high - low > 1 else None

    def with_answer(self, index: int, answer: Answer) -> Review:
        """Return the review with the solver's ``answer`` for the board at ``index``."""
        return Review(self.revisions, MappingProxyType({**self.answers, index: answer}))

    def sentence(self, actions: Sequence[str]) -> str:
        """Return the outcome in a sentence. ``actions`` are all actions of the player."""
        won, lost, last = self.last_won, self.first_lost, len(self.revisions) - 1
        if won == last:
            return "The deal could still be won at the end."
        if lost == 0:
            return "Nobody could win this deal."
        if won < 0:
            after = f" It was lost after step {self.revisions[lost]} at the latest." if lost <= last else ""
            return f"It is not known whether this deal could be won: the search took too long.{after}"
        until = f"The deal could still be won until step {self.revisions[won]}." if won else "The deal could be won."
        if lost == won + 1:
            revision = self.revisions[lost]
            return f"{until} Step {revision} ({actions[revision - 1]}) lost it."
        if lost <= last:
            return f"{until} It was lost after step {self.revisions[lost]}, if not before."
        return f"{until} What came after that could not be decided."
