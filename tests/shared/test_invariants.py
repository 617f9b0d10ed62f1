"""Invariants of every board, move and play of every game."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.cards import DECK, DOWN, FACE, HIDDEN, UNSEEN, Card
from samedeal.errors import CannotUndo, IllegalMove, UnseenCard
from samedeal.games import game_named
from samedeal.moves import DEAL, DRAW, Move
from samedeal.policies import Kind
from tests.shared.playouts import boards, for_many_boards, plays, some_move


def thinkable_moves(board: Board) -> Iterator[Move]:
    """Every move that can be written for a game, legal or not, and some that cannot be written."""
    yield from (DRAW, DEAL, DRAW._replace(size=2), Move("", ""), Move("draw", "1"))
    index = board.game.index
    for source in {*index, "0", "9", "z"}:
        at = index.get(source, -1)
        counts = range(len(board.piles[at]) + 2) if at in board.game.columns else range(3)
        for target in {*index, "0", "9", "z"}:
            for count in counts:
                yield Move(source, target, count)


def outcome(board: Board, move: Move) -> Board | str:
    """The masked board after a move, or the refusal."""
    try:
        return board.play(move).board.masked()
    except (IllegalMove, UnseenCard) as error:
        return f"{error.code}: {error}"


def faces(board: Board) -> Counter[int]:
    return Counter(card & FACE for pile in board.piles for card in pile)


def all_seen(board: Board) -> tuple[bytes, ...]:
    """The piles as if every card had been seen."""
    return tuple(bytes(card & ~UNSEEN | DOWN if card >= UNSEEN else card for card in pile) for pile in board.piles)


@for_many_boards
@given(boards())
def test_cards_are_conserved(board: Board) -> None:
    assert board.check() is board
    assert faces(board) == Counter(board.game.deck)
    board.masked().check()


@for_many_boards
@given(boards())
def test_legal_moves_are_exactly_those_accepted(board: Board) -> None:
    legal = board.legal_moves()
    assert len(set(legal)) == len(legal)
    accepted = []
    for move in thinkable_moves(board):
        if not board.is_legal(move):
            with pytest.raises(IllegalMove):
                board.play(move)
            continue
        accepted.append(move)
        after, step = board.play(move)
        assert step.move == move
        assert after != board
        after.check()
    assert sorted(accepted) == sorted(legal)


@for_many_boards
@given(plays())
def test_undo_inverts_play(play: Play) -> None:
    board = play.board
    for move in board.legal_moves():
        after, step = board.play(move)
        back = after.undo(step)
        back.check()
        assert all_seen(back) == all_seen(board)
        unseen = sum(card >= UNSEEN for pile in board.piles for card in pile)
        assert unseen - sum(card >= UNSEEN for pile in back.piles for card in pile) == len(step.seen)
        if not step.seen:
            assert back == board


@for_many_boards
@given(plays(rule=Undo.NO_REVEAL))
def test_no_reveal_refuses_only_after_a_new_card(play: Play) -> None:
    for move in play.board.legal_moves():
        after = play.act(move)
        if after.seen:
            with pytest.raises(CannotUndo):
                after.act(UNDO)
        else:
            undone = after.act(UNDO)
            assert undone.board == play.board
            assert undone.past is play.past
            assert (undone.revision, undone.moves, undone.undos) == (after.revision + 1, after.moves, after.undos + 1)


@for_many_boards
@given(boards())
def test_masked_board_agrees_with_the_real_one(board: Board) -> None:
    masked = board.masked()
    assert masked == masked.masked()
    assert masked.state_hash() == board.state_hash()
    assert masked.legal_moves() == board.legal_moves()
    assert masked.stuck == board.stuck
    assert (masked.won, masked.foundation_cards) == (board.won, board.foundation_cards)
    for move in board.legal_moves():
        real = board.play(move)
        assert masked.turns_up(move) == board.turns_up(move) == len(real.step.seen)
        assert masked.is_null(move) == board.is_null(move)
        if real.step.seen:
            with pytest.raises(UnseenCard):
                masked.play(move)
        else:
            assert masked.play(move).board == real.board.masked()
        told = masked.play(move, real.step.seen)
        assert told.board == real.board.masked()
        assert told.step == real.step
        assert told.board.state_hash() == real.board.state_hash()
        assert told.board.undo(told.step) == real.board.undo(real.step).masked()


@for_many_boards
@given(plays(rule=Undo.NO_REVEAL), st.randoms(use_true_random=False))
def test_masked_play_follows_the_real_one(play: Play, chance: random.Random) -> None:
    real = Play(play.board, Undo.FREE)
    masked = real.masked()
    for _ in range(20):
        move = some_move(real.board, chance)
        action = UNDO if move is None or (real.last and chance.random() < 0.3) else str(move)
        if action == UNDO and not real.last:
            break
        real = real.act(action, real.revision)
        masked = masked.act(action, masked.revision, real.seen)
        assert (masked, masked.last) == (real.masked(), real.last)


@for_many_boards
@given(boards(), st.randoms(use_true_random=False))
def test_unseen_cards_do_not_influence_a_board(board: Board, chance: random.Random) -> None:
    unseen = [card for pile in board.piles for card in pile if card >= UNSEEN]
    chance.shuffle(unseen)
    fresh = iter(unseen)
    other = Board(
        board.game, tuple(bytes(next(fresh) if card >= UNSEEN else card for card in pile) for pile in board.piles)
    )
    other.check()
    for move in thinkable_moves(board):
        if not board.is_legal(move):
            assert outcome(other, move) == outcome(board, move)
    for _ in range(10):
        assert other.state_hash() == board.state_hash()
        assert other.legal_moves() == board.legal_moves()
        assert (other.stuck, other.won, other.foundation_cards) == (board.stuck, board.won, board.foundation_cards)
        blind = [move for move in board.legal_moves() if not board.turns_up(move)]
        if not blind:
            break
        move = chance.choice(blind)
        board, other = board.play(move).board, other.play(move).board


@for_many_boards
@given(plays(), plays())
def test_hashes_are_equal_iff_masked_boards_are(one: Play, two: Play) -> None:
    after = [one.board.play(move).board for move in one.board.legal_moves()]
    for board in (*after, two.board):
        for other in (one.board, *after):
            assert (board.state_hash() == other.state_hash()) == (board.masked() == other.masked())


def test_hashes_of_different_games_differ() -> None:
    empty = [Board(game, ()) for game in (game_named("willow"), game_named("athena"))]
    assert empty[0].state_hash() != empty[1].state_hash()


@for_many_boards
@given(boards())
def test_null_move_only_changes_a_place(board: Board) -> None:
    columns, cells = board.game.columns, board.game.cells
    rest = [at for at in range(len(board.piles)) if at not in (*columns, *cells)]
    for move in board.legal_moves():
        after = board.play(move).board
        same = all(
            sorted(after.piles[at] for at in places) == sorted(board.piles[at] for at in places)
            for places in (columns, cells)
        )
        same = same and all(after.piles[at] == board.piles[at] for at in rest)
        # With two decks, a card that moves between two equal cards can also lead to the same columns.
        target = board.game.index.get(move.target, -1)
        assert board.is_null(move) == (same and target in (*columns, *cells) and not board.piles[target])


@for_many_boards
@given(boards())
def test_stuck_iff_no_move_and_no_draw_helps(board: Board) -> None:
    """Draw through the stock twice, on a board where only seen cards are known."""
    game = board.game
    helps = any(
        move != DRAW and not board.is_null(move) and not board.is_worry_back(move) for move in board.legal_moves()
    )
    drawn = board
    if game.stock.to_waste:
        unseen = Counter(card & FACE for pile in board.piles for card in pile if card >= UNSEEN)
        for _ in range(2 * 24):
            if not drawn.is_legal(DRAW):
                break
            drawn = drawn.play(DRAW).board
            waste = drawn.piles[game.waste_at]
            helps = helps or bool(waste and unseen[waste[-1]])
            helps = helps or any(move.source == "w" for move in drawn.legal_moves())
    assert board.stuck == (not helps and not board.won)


@for_many_boards
@given(boards())
def test_position_round_trips_as_text(board: Board) -> None:
    for seen in (board, board.masked()):
        assert Board.parse(str(seen)) == seen
        assert eval(repr(seen), {"Board": Board}) == seen
        for move in seen.legal_moves():
            assert Move.parse(str(move)) == move


@for_many_boards
@given(boards())
def test_masked_board_holds_no_unseen_card(board: Board) -> None:
    for pile, group in zip(board.masked().piles, board.game.piles, strict=True):
        for card in pile:
            assert card == HIDDEN or card < UNSEEN
        if group.kind not in (Kind.COLUMN, Kind.STOCK):
            assert HIDDEN not in pile
    known = faces(board.masked())
    assert known[0] == sum(card >= UNSEEN for pile in board.piles for card in pile)
    assert all(known[card] <= board.game.deck.count(card) for card in map(Card, DECK))
