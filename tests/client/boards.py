"""Boards to draw: written as text, kept as goldens, or reached by playing at random."""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path

from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.cards import parse_pile
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES, Game
from samedeal.position import parse_position

SCREENS = Path(__file__).parent.parent / "golden" / "screens"
STAGES = ("start", "middle", "deepest")


def board(game: str, text: str) -> Board:
    """A board with the cards that are written, ``3: 9H [KS] | w: 2C``, and no others."""
    written = dict(pile.split(":") for pile in text.split("|")) if text else {}
    piles = {key.strip(): parse_pile(cards) for key, cards in written.items()}
    assert set(piles) <= set(Game.named(game).keys)
    return Board(Game.named(game), tuple(piles.get(key, b"") for key in Game.named(game).keys))


@lru_cache(maxsize=32)
def kept(game: str, stage: str) -> Board:
    """A position kept beside the goldens: the start, one in mid-game, and the deepest of many random playouts."""
    return parse_position((SCREENS / "positions" / f"{game}_{stage}.txt").read_text(encoding="utf-8"))


def playout(game: Game, number: int, moves: int) -> Board:
    """A numbered deal after random moves, those to a foundation somewhat likelier."""
    now = Board.deal(game, shuffled(Deal.parse(f"#{number}").public_seed(), game.decks))
    rng = random.Random(number)
    for _ in range(moves):
        legal = now.legal_moves()
        if not legal:
            break
        up = [move for move in legal if move.target == "0"]
        choice = up if up and rng.random() < 0.4 else legal
        now = now.play(choice[int(rng.random() * len(choice))]).board
    return now


def reachable() -> st.SearchStrategy[Board]:
    """Any board that random play comes to."""
    return st.builds(playout, st.sampled_from(list(GAMES.values())), st.integers(0, 999), st.integers(0, 160))
