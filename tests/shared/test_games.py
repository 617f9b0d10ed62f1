from __future__ import annotations

import pytest

from samedeal.errors import UnknownGame
from samedeal.games import GAMES, game_named


def test_game_is_found_by_name() -> None:
    for name in GAMES:
        game = game_named(name)
        assert str(game) == name
        assert eval(repr(game), {"game_named": game_named}) == game
        assert game is GAMES[name]
        assert {other for other in GAMES.values() if other == game} == {game}


def test_games_are_listed_in_order() -> None:
    assert list(GAMES)[:6] == ["athena", "steve", "phoenix", "ace-of-hearts", "willow", "klondike"]
    orders = [game.file.order for game in GAMES.values() if not game.file.variant_of]
    assert len(set(orders)) == len(orders)


def test_unknown_game_is_rejected() -> None:
    for name in ["", "hamlet", "Willow", "willow ", "ace of hearts", "x" * 10_000]:
        with pytest.raises(UnknownGame) as caught:
            game_named(name)
        assert len(str(caught.value)) < 100 + len(", ".join(GAMES))
