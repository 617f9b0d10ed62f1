"""Deals, plays and counts that must never change, because records depend on them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.cards import pile_text
from samedeal.deal import Deal, shuffled
from samedeal.errors import CannotUndo
from samedeal.game import Game
from samedeal.games import GAMES, game_named
from tests.golden.golden_files import assert_golden
from tests.shared.playouts import FAMILIES, numbered

DEALS = ("#0", "#1", "#4821", "#999999999")
STEPS = 60


def test_deals_match_golden_files() -> None:
    for game in GAMES:
        known = game_named(game)
        texts = []
        for name in DEALS:
            board = Board.deal(known, shuffled(Deal.parse(name).public_seed(), known.decks))
            assert Board.parse(str(board)) == board
            texts.append(f"; deal {name}\n{board}")
        assert_golden(f"deals/{game}.txt", "\n".join(texts))


def playthrough(game: Game) -> Iterator[str]:
    """A play of some moves and undos as text. The boards alone determine the moves."""
    play = Play(numbered(game, 4821), Undo.NO_REVEAL)
    yield f"{game.title}, deal #4821, undo {play.undo_rule.value}\n\n{play.board}"
    for step in range(1, STEPS + 1):
        legal = play.board.legal_moves()
        yield f"hash {play.board.state_hash().hex()}, {play.board.foundation_cards} up{', stuck' * play.board.stuck}"
        yield f"legal: {', '.join(map(str, legal)) or 'none'}\n"
        choice = int.from_bytes(hashlib.sha256(f"{step} {play.board.state_hash().hex()}".encode()).digest()[:4], "big")
        action = UNDO if choice % 8 == 0 or not legal else str(legal[choice // 8 % len(legal)])
        before = play.board.piles
        try:
            play = play.act(action)
        except CannotUndo as error:
            yield f"{step}. {action}: {error}"
            continue
        yield f"{step}. {action}" + (f", turns up {pile_text(play.seen)}" if play.seen else "")
        for key, was, now in zip(game.keys, before, play.board.piles, strict=True):
            if was != now:
                yield f"   {key}: {pile_text(now)}".rstrip()
    yield f"\n{play.board}\n{play.moves} moves, {play.undos} undos, {play.board.foundation_cards} up"


def test_playthroughs_match_golden_files() -> None:
    for game in FAMILIES:
        assert_golden(f"playthroughs/{game}.txt", "\n".join(playthrough(game_named(game))) + "\n")
