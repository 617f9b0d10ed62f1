"""The reason and the wording of each refusal of the rules."""

from __future__ import annotations

import pytest

from samedeal.errors import IllegalMove, RuleReason
from samedeal.moves import Move
from tests.golden.golden_files import assert_sentences
from tests.shared.positions import position

REFUSED: list[tuple[RuleReason, str, str, Move]] = [
    (RuleReason.NO_SUCH_ACTION, "willow", "", Move("draw", "")),
    (RuleReason.NO_SUCH_ACTION, "athena", "", Move("deal", "")),
    (RuleReason.NO_SUCH_ACTION, "steve", "", Move("draw", "")),
    (RuleReason.STOCK_EMPTY, "athena", "1: ...", Move("draw", "")),
    (RuleReason.STOCK_EMPTY, "steve", "1: ...", Move("deal", "")),
    (RuleReason.EMPTY_COLUMN, "spider", "2: 2D | t: 3D", Move("deal", "")),
    (RuleReason.UNKNOWN_PILE, "willow", "", Move("8", "1")),
    (RuleReason.UNKNOWN_PILE, "yukon", "", Move("q", "t")),
    (RuleReason.UNKNOWN_PILE, "spider", "", Move("w", "1")),
    (RuleReason.UNKNOWN_PILE, "athena", "", Move("1", "q")),
    (RuleReason.SAME_PILE, "willow", "", Move("1", "1")),
    (RuleReason.NOT_A_SOURCE, "willow", "01: AC", Move("01", "1")),
    (RuleReason.NOT_A_SOURCE, "athena", "", Move("stock", "1")),
    (RuleReason.EMPTY_SOURCE, "willow", "", Move("1", "2")),
    (RuleReason.EMPTY_SOURCE, "athena", "", Move("w", "2")),
    (RuleReason.NO_CARDS, "willow", "1: AC", Move("1", "2", 0)),
    (RuleReason.TOO_FEW_CARDS, "willow", "1: AC", Move("1", "2", 2)),
    (RuleReason.TOO_FEW_CARDS, "willow", "1: 3D 2C", Move("1", "2", 3)),
    (RuleReason.FACE_DOWN, "athena", "1: (3D) 2C", Move("1", "2", 2)),
    (RuleReason.NOT_A_GROUP, "willow", "1: 9D 2C", Move("1", "2", 2)),
    (RuleReason.NOT_A_GROUP, "steve", "1: KC QD JC TD 9C 8D 7C", Move("1", "2", 7)),
    (RuleReason.NOT_A_GROUP, "willow", "q: 9D 8C", Move("q", "2", 2)),
    (
        RuleReason.TOO_MANY_CARDS,
        "freecell",
        "1: 9D 8C | 2: TC | 3: KC | 4: KD | 5: KH | 6: KS | 7: QD | 8: ... | q: AC | w: AD | e: AH | r: AS",
        Move("1", "2", 2),
    ),
    (
        RuleReason.TOO_MANY_CARDS,
        "freecell",
        "1: 9D 8C 7D | 3: KC | 4: KD | 5: KH | 6: KS | 7: QD | 8: ... | q: AC | e: AH | r: AS",
        Move("1", "2", 3),
    ),
    (RuleReason.BETWEEN_FOUNDATIONS, "steve", "01: AC", Move("01", "0")),
    (RuleReason.NAMED_FOUNDATION, "willow", "1: AC", Move("1", "01")),
    (RuleReason.NOT_A_TARGET, "phoenix", "1: AC", Move("1", "q")),
    (RuleReason.NOT_A_TARGET, "athena", "1: AC", Move("1", "w")),
    (RuleReason.ONE_AT_A_TIME, "willow", "1: 2C AD", Move("1", "0", 2)),
    (RuleReason.ONE_AT_A_TIME, "willow", "1: 2C AD | q: 2D", Move("1", "q", 2)),
    (RuleReason.ONE_AT_A_TIME, "freecell", "1: 9D 8C", Move("1", "q", 2)),
    (RuleReason.NOT_COMPLETE, "spider", "1: KS QS JS", Move("1", "0", 3)),
    (RuleReason.NOT_COMPLETE, "spider", "1: AS", Move("1", "0")),
    (RuleReason.NOT_ON_CARD, "freecell", "1: QC | q: KD", Move("1", "q")),
    (RuleReason.NOT_ON_EMPTY, "athena", "1: QC", Move("1", "2")),
    (RuleReason.NOT_ON_EMPTY, "willow", "1: QC", Move("1", "q")),
    (RuleReason.NOT_ON_EMPTY, "willow", "1: QC", Move("1", "0")),
    (RuleReason.NOT_ON_EMPTY, "ace-of-hearts", "1: AC", Move("1", "0")),
    (RuleReason.NOT_ON_CARD, "athena", "1: QC | 2: KS", Move("1", "2")),
    (RuleReason.NOT_ON_CARD, "steve", "1: QC | 2: QS", Move("1", "2")),
    (RuleReason.NOT_ON_CARD, "willow", "1: QC | q: KS", Move("1", "q")),
    (RuleReason.NOT_ON_CARD, "willow", "1: QC | 01: AC", Move("1", "0")),
    (RuleReason.NOT_ON_CARD, "steve", "1: QC | 01: AC | 02: AC 2C", Move("1", "0")),
    (RuleReason.NOT_ON_CARD, "ace-of-hearts", "1: 3C | 01: AH", Move("1", "0")),
]


def test_every_reason_has_a_case() -> None:
    assert {reason for reason, *_ in REFUSED} == set(RuleReason)


def test_illegal_move_has_its_reason_and_wording() -> None:
    sentences = []
    for reason, game, text, move in REFUSED:
        board = position(game, text).board
        assert move not in board.legal_moves()
        with pytest.raises(IllegalMove) as caught:
            board.play(move)
        assert caught.value.reason is reason
        sentences.append(f"{reason}\t{caught.value}")
    assert_sentences("engine: illegal moves", sentences)
