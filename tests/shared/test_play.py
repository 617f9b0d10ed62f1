from __future__ import annotations

import pytest

from samedeal.board import Board
from samedeal.deal import shuffled
from samedeal.errors import CannotUndo, IllegalMove, MalformedText, PlayError, StaleRevision, UnseenCard
from samedeal.games import GAMES
from samedeal.moves import Move
from samedeal.play import UNDO, Play, Undo
from tests.shared.positions import position


def play(text: str = "1: 3S 2S AS", rule: Undo = Undo.NO_REVEAL, game: str = "willow") -> Play:
    return Play(position(game, text).board, rule)


def test_every_accepted_action_raises_the_revision_by_one() -> None:
    start = play()
    first = start.act("1 0")
    second = first.act(Move("1", "0"))
    third = second.act(UNDO)
    assert [p.revision for p in (start, first, second, third)] == [0, 1, 2, 3]
    assert [(p.moves, p.undos) for p in (start, first, second, third)] == [(0, 0), (1, 0), (2, 0), (2, 1)]
    assert [p.last for p in (start, first, second, third)] == [None, first.last, second.last, first.last]
    assert third.board == first.board


@pytest.mark.parametrize(
    ("action", "error", "sentence"),
    [
        (
            "1 0 x2",
            IllegalMove,
            "2S AS can't be taken from column 1 together: a group must run down by one in alternating colours",
        ),
        ("draw", IllegalMove, "Willow has no draw: there is no stock"),
        (
            "one two",
            MalformedText,
            (
                "'one two' is not a move: write a source and a target pile and the number of cards, as in "
                "'3 5', '3 5 x4' or '3 0', or 'draw' or 'deal'"
            ),
        ),
        ("undo", CannotUndo, "There is no move to take back"),
        (
            "Undo",
            MalformedText,
            (
                "'Undo' is not a move: write a source and a target pile and the number of cards, as in "
                "'3 5', '3 5 x4' or '3 0', or 'draw' or 'deal'"
            ),
        ),
    ],
)
def test_malformed_and_illegal_are_different_errors(action: str, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        play().act(action)
    assert str(caught.value) == sentence
    assert type(caught.value) is error


@pytest.mark.parametrize("revision", [-1, 0, 2, 1_000_000])
@pytest.mark.parametrize("action", ["1 0", "9 9 nonsense", "undo", "draw"])
def test_an_action_made_on_another_revision_is_stale(revision: int, action: str) -> None:
    at_one = play().act("1 0")
    with pytest.raises(StaleRevision, match=f"^The move was made on revision {revision}, the board is at revision 1$"):
        at_one.act(action, revision=revision)


def test_an_action_made_on_this_revision_is_not() -> None:
    assert play().act("1 0", revision=0).act("1 0", revision=1).revision == 2


def test_a_refused_action_leaves_the_play_as_it_is() -> None:
    start = play()
    before = repr(start)
    for action in ("1 0 x2", "undo", "draw", "1 r"):
        with pytest.raises(PlayError):
            start.act(action)
    assert repr(start) == before


def test_what_the_last_action_turned_up() -> None:
    start = play("1: [2C] AS | stock: [...] [4C] (3H) [2S]", game="athena")
    assert start.seen == b""
    first = start.act("1 0")
    assert [hex(card) for card in first.seen] == ["0x2"]
    second = first.act("draw")
    assert [hex(card) for card in second.seen] == ["0x32", "0x4"]


def test_after_an_undo_nothing_is_seen() -> None:
    start = play("1: [2C] AS", Undo.FREE, "athena")
    assert start.act("1 0").act("undo").seen == b""


@pytest.mark.parametrize(
    ("rule", "actions", "why"),
    [
        (Undo.OFF, "", "Nothing can be taken back: undo is off in this race"),
        (Undo.OFF, "1 0", "Nothing can be taken back: undo is off in this race"),
        (Undo.FREE, "", "There is no move to take back"),
        (Undo.FREE, "1 0", None),
        (Undo.NO_REVEAL, "", "There is no move to take back"),
        (Undo.NO_REVEAL, "1 0", "The last move turned up a card, and this race doesn't take back what was seen"),
        (Undo.NO_REVEAL, "2 0", None),
        (Undo.NO_REVEAL, "1 0,2 0", None),
    ],
)
def test_why_there_is_no_undo(rule: Undo, actions: str, why: str | None) -> None:
    now = play("1: [2C] AS | 2: 3D AH", rule, "athena")
    for action in filter(None, actions.split(",")):
        now = now.act(action)
    assert now.why_no_undo == why
    if why is None:
        assert now.act(UNDO).undos == 1
    else:
        with pytest.raises(CannotUndo) as caught:
            now.act(UNDO)
        assert str(caught.value) == why


def test_a_masked_play_needs_the_faces() -> None:
    real = play("1: [2C] AS", game="athena")
    masked = real.masked()
    with pytest.raises(UnseenCard):
        masked.act("1 0")
    after = real.act("1 0")
    assert masked.act("1 0", faces=after.seen) == after.masked()
    assert masked.undo_rule is real.undo_rule


def test_a_play_is_frozen() -> None:
    with pytest.raises(AttributeError):
        play().revision = 3  # type: ignore[misc]  # that it can't be done is the point


def test_a_play_may_be_ten_thousand_moves_long() -> None:
    """No recursion along its past: not when it is compared, written, copied or let go of."""
    game = GAMES["athena"]
    one = other = Play(Board.deal(game, shuffled(bytes(32), game.decks)), Undo.FREE)
    for _ in range(10_000):
        one, other = one.act("draw"), other.act("draw")
    assert one == other
    assert repr(one) == repr(other)
    assert one.masked().act(UNDO).board == other.act(UNDO).board.masked()
    del one, other
