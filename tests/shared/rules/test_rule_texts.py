"""Five games, sentence by sentence of their rule texts, and their rulings R12 to R29."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.shared.positions import after, cases, dealt, moves, state
from tests.shared.rules import ace_of_hearts, athena, phoenix, steve, willow

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

TEXTS = {"ace-of-hearts": ace_of_hearts, "athena": athena, "phoenix": phoenix, "steve": steve, "willow": willow}


def of_all_games(table: str) -> list[ParameterSet]:
    """The cases in the tables with this name, each with its game."""
    return [case for game, text in TEXTS.items() for case in cases(getattr(text, table), game)]


@pytest.mark.parametrize(("game", "pile", "cards"), of_all_games("DEALT"))
def test_deal_gives_the_pile(game: str, pile: str, cards: str) -> None:
    assert dealt(game, pile) == cards


@pytest.mark.parametrize(("game", "position", "actions", "outcome"), of_all_games("MOVES"))
def test_move_has_its_outcome(game: str, position: str, actions: str, outcome: str) -> None:
    assert after(game, position, actions) == outcome


@pytest.mark.parametrize(("game", "position", "legal"), of_all_games("LEGAL"))
def test_legal_moves_are_listed(game: str, position: str, legal: str) -> None:
    assert moves(game, position) == legal


@pytest.mark.parametrize(("game", "position", "standing"), of_all_games("STATES"))
def test_position_has_its_state(game: str, position: str, standing: str) -> None:
    assert state(game, position) == standing
