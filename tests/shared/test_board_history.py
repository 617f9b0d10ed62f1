from __future__ import annotations

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.deal import shuffled
from samedeal.errors import CannotUndo, IllegalMove, MalformedText, SamedealError
from samedeal.games import GAMES
from samedeal.protocol_codes import RefusalCode
from tests.golden.golden_files import assert_sentences
from tests.shared.positions import position
from tests.shared.raised import error_of


def play(text: str = "1: 3S 2S AS", rule: Undo = Undo.NO_REVEAL, game: str = "willow") -> Play:
    return Play(position(game, text).board, rule)


REFUSED: list[tuple[str, type[SamedealError]]] = [
    ("1 0 x2", IllegalMove),
    ("draw", IllegalMove),
    ("one two", MalformedText),
    ("undo", CannotUndo),
    ("Undo", MalformedText),
]


def test_action_on_another_revision_is_stale() -> None:
    for action in ["1 0", "9 9 nonsense", "undo", "draw"]:
        for revision in [-1, 0, 2, 1_000_000]:
            at_one = play().act("1 0")
            error = error_of(at_one.act, action, revision)
            assert error.code is RefusalCode.STALE


NOT_UNDONE = [(Undo.OFF, ""), (Undo.OFF, "1 0"), (Undo.FREE, ""), (Undo.NO_REVEAL, ""), (Undo.NO_REVEAL, "1 0")]


def after(rule: Undo, actions: str) -> Play:
    """A play after some actions, of which ``1 0`` turns up a card for the first time."""
    now = play("1: [2C] AS | 2: 3D AH", rule, "athena")
    for action in filter(None, actions.split(",")):
        now = now.act(action)
    return now


def test_wording_of_refused_actions() -> None:
    lines = [f"{error.code}\t{error_of(play().act, action)}" for action, error in REFUSED]
    lines.append(f"{RefusalCode.STALE}\t{error_of(play().act, '1 0', 7)}")
    for rule, actions in NOT_UNDONE:
        now = after(rule, actions)
        assert str(error_of(now.act, UNDO)) == now.why_no_undo
        lines.append(f"{RefusalCode.CANNOT_UNDO}\t{now.why_no_undo}")
    assert after(Undo.FREE, "1 0").why_no_undo is None
    assert_sentences("engine: actions", list(dict.fromkeys(lines)))


def test_play_of_ten_thousand_moves_does_not_recurse() -> None:
    """Comparing, printing, copying or freeing a play never recurses along its history."""
    game = GAMES["athena"]
    one = other = Play(Board.deal(game, shuffled(bytes(32), game.decks)), Undo.FREE)
    for _ in range(10_000):
        one, other = one.act("draw"), other.act("draw")
    assert one == other
    assert repr(one) == repr(other)
    assert one.masked().act(UNDO).board == other.act(UNDO).board.masked()
    del one, other
