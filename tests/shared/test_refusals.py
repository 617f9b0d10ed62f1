"""The reason and the wording of each refusal of the rules: ``tests/golden/answers/refusals.txt``."""

from __future__ import annotations

import pytest

from samedeal.errors import IllegalMove, RuleReason
from samedeal.moves import Move
from tests.golden.golden_files import assert_answers
from tests.shared.positions import position


def test_illegal_move_has_its_reason_and_wording() -> None:
    reasons = set()

    def answer(reason: str, question: str) -> str:
        """The refusal of a move, which may be one that can't be written."""
        game, _, rest = question.partition(" @ ")
        text, _, words = rest.rpartition(": move ")
        source, *more = words.split(" ")
        size = int(more.pop().removeprefix("x")) if more and more[-1].startswith("x") else 1
        board, move = position(game, text).board, Move(source, more[0] if more else "", size)
        assert move not in board.legal_moves()
        with pytest.raises(IllegalMove) as caught:
            board.play(move)
        assert caught.value.reason == reason
        reasons.add(caught.value.reason)
        return str(caught.value)

    assert_answers("refusals", answer)
    assert reasons == set(RuleReason)
