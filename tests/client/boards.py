"""Boards: written as text, kept as golden files, dealt, or reached by random moves."""

from __future__ import annotations

import random
from functools import lru_cache

from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.cards import HIDDEN, parse_pile
from samedeal.deal import Deal, shuffled
from samedeal.game import Game
from samedeal.games import GAMES, game_named
from tests.golden.golden_files import golden_text
from tests.shared.playouts import won_record

POSITIONS = ("start", "middle", "deepest")


def board(game: str, text: str) -> Board:
    """A board with only the cards of a text such as ``3: 9H [KS] | w: 2C``."""
    written = dict(pile.split(":") for pile in text.split("|")) if text else {}
    piles = {key.strip(): parse_pile(cards) for key, cards in written.items()}
    assert set(piles) <= set(game_named(game).keys)
    return Board(game_named(game), tuple(piles.get(key, b"") for key in game_named(game).keys))


@lru_cache(maxsize=32)
def golden_position(game: str, stage: str) -> Board:
    """A golden position: the start, one in mid-game, or the one with the deepest column of many random playouts."""
    name = f"screens/positions/{game}_{stage}.txt"
    return Board.parse(golden_text(name, lambda: str(_new_position(game, stage))))


def _new_position(game: str, stage: str) -> Board:
    """A golden position of a new game."""
    if stage == "start":
        return dealt(game, 4821)
    if stage == "middle":
        record = won_record(game)
        return record.plays(record.players[0])[len(record.actions) // 2].board
    boards = (playout(game_named(game), number, 160) for number in range(60))
    return max(boards, key=lambda board: max(len(board.piles[at]) for at in board.game.columns))


def dealt(game: str, number: int) -> Board:
    """A numbered deal of a game."""
    named = game_named(game)
    return Board.deal(named, shuffled(Deal.parse(f"#{number}").public_seed(), named.decks))


def with_other_hidden_cards(now: Board) -> Board:
    """The board with its unseen cards in the opposite order. It looks the same to its player."""
    hidden = [code for pile in now.piles for code in pile if code >= HIDDEN]
    piles = (bytes(hidden.pop() if code >= HIDDEN else code for code in pile) for pile in now.piles)
    return Board(now.game, tuple(piles))


def playout(game: Game, number: int, moves: int) -> Board:
    """A numbered deal after random moves, with a preference for moves to a foundation."""
    now = dealt(game.name, number)
    rng = random.Random(number)
    for _ in range(moves):
        legal = now.legal_moves()
        if not legal:
            break
        to_foundation = [move for move in legal if move.target == "0"]
        candidates = to_foundation if to_foundation and rng.random() < 0.4 else legal
        now = now.play(candidates[int(rng.random() * len(candidates))]).board
    return now


def reachable() -> st.SearchStrategy[Board]:
    """Boards of any game after random moves."""
    return st.builds(playout, st.sampled_from(list(GAMES.values())), st.integers(0, 999), st.integers(0, 160))
