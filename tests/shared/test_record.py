from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.deal import Deal
from samedeal.errors import CannotUndo, IllegalMove, MalformedText, SamedealError, UnknownGame
from samedeal.games import GAMES, Game
from samedeal.play import Undo
from samedeal.record import Record
from tests.golden.kept import HERE
from tests.shared.test_moves import transfers

SEED = Deal.parse("#4821").public_seed().hex()
TEXT = f"""samedeal record 1
game: willow
deal: #4821
seed: {SEED}
undo: free
player: Ana

1.204 3 0
2.871 undo
9.020 3 0
"""


def test_a_record_goes_through_text() -> None:
    record = Record.parse(TEXT)
    assert str(record) == TEXT
    assert record == Record(
        Game.named("willow"),
        Deal.parse("#4821"),
        bytes.fromhex(SEED),
        Undo.FREE,
        "Ana",
        ((1204, "3 0"), (2871, "undo"), (9020, "3 0")),
    )


actions = st.lists(
    st.tuples(st.integers(0, 999_999_999), st.one_of(transfers.map(str), st.sampled_from(["draw", "deal", "undo"])))
).map(lambda pairs: tuple(sorted(pairs)))


@given(
    st.builds(
        Record,
        st.sampled_from(list(GAMES.values())),
        st.sampled_from(["random", "#0", "#999999999", "daily 2026-11-21"]).map(Deal.parse),
        st.binary(min_size=32, max_size=32),
        st.sampled_from(Undo),
        st.sampled_from(["ana", "Ana B.", "名前", "é"]),
        actions,
    )
)
def test_every_record_goes_through_text(record: Record) -> None:
    assert Record.parse(str(record)) == record


@pytest.mark.parametrize(
    ("was", "now", "error", "sentence"),
    [
        (TEXT, "", MalformedText, "Line 1 of a record is 'samedeal record 1'"),
        ("record 1", "record one", MalformedText, "Line 1 of a record is 'samedeal record 1'"),
        (
            "record 1",
            "record 2",
            MalformedText,
            "This is a record of version 2, and this Samedeal reads version 1: update it",
        ),
        (
            "record 1",
            "record 0",
            MalformedText,
            "This is a record of version 0, and this Samedeal reads version 1: read it with an older one",
        ),
        ("game: willow\n", "", MalformedText, "Line 2 of a record says 'game: ...', not 'deal: #4821'"),
        (
            "game: willow",
            "game: wilow",
            UnknownGame,
            "'wilow' is not a game: choose one of athena, steve, phoenix, ace-of-hearts, willow",
        ),
        (
            "deal: #4821",
            "deal: today",
            MalformedText,
            (
                "Line 3 of a record: 'today' is not a deal: write 'random', a number "
                "from 0 to 999999999 as in '#4821', or 'daily', with a date as in 'daily 2026-11-21' or without"
            ),
        ),
        (
            "deal: #4821",
            "deal: daily",
            MalformedText,
            "Line 3 of a record: a daily deal has its date, as in 'daily 2026-11-21'",
        ),
        (SEED, SEED[1:], MalformedText, "Line 4 of a record: a seed is 64 hexadecimal digits in lower case"),
        (SEED, SEED.upper(), MalformedText, "Line 4 of a record: a seed is 64 hexadecimal digits in lower case"),
        ("undo: free", "undo: no", MalformedText, "Line 5 of a record: undo is free, no-reveal or off, not 'no'"),
        (
            "player: Ana",
            "player: ",
            MalformedText,
            "Line 6 of a record: A name can't be empty: give at least one letter, digit or sign",
        ),
        (
            "player: Ana",
            "player: \x1b[2J",
            MalformedText,
            "Line 6 of a record: A name can't hold U+001B: use letters, digits, punctuation and spaces",
        ),
        ("Ana\n\n", "Ana\n", MalformedText, "Line 7 of a record is blank; the moves follow"),
        (
            "1.204 3 0",
            "1.2 3 w",
            MalformedText,
            "Line 8 of a record: an action is seconds with three decimals and a move, as in '1.204 3 5'",
        ),
        (
            "1.204 3 0",
            "\u0661.204 3 0",
            MalformedText,
            "Line 8 of a record: an action is seconds with three decimals and a move, as in '1.204 3 5'",
        ),
        (
            "1.204 3 0",
            "1.204 3-w",
            MalformedText,
            (
                "Line 8 of a record: '3-w' is not a move: write a source and a target pile "
                "and the number of cards, as in '3 5', '3 5 x4' or '3 0', or 'draw' or 'deal'"
            ),
        ),
        ("9.020", "2.870", MalformedText, "Line 10 of a record lies before the line above it in time"),
    ],
)
def test_what_is_wrong_with_a_record(was: str, now: str, error: type[SamedealError], sentence: str) -> None:
    assert was in TEXT
    with pytest.raises(error) as caught:
        Record.parse(TEXT.replace(was, now))
    assert str(caught.value) == sentence


def test_a_replay() -> None:
    play = Record.parse(TEXT).replay()
    assert (play.revision, play.moves, play.undos) == (3, 2, 1)
    start = Record.parse(TEXT).start()
    assert play.board == start.act("3 0").board


@pytest.mark.parametrize(
    ("was", "now", "error", "sentence"),
    [
        ("9.020 3 0", "9.020 1 0", IllegalMove, "Action 3 (1 0) is not allowed: "),
        (
            "undo: free",
            "undo: off",
            CannotUndo,
            "Action 2 (undo) is not allowed: Nothing can be taken back: undo is off",
        ),
        ("deal: #4821", "deal: #4822", MalformedText, "The seed is not that of deal #4822"),
    ],
)
def test_a_record_that_can_not_be(was: str, now: str, error: type[SamedealError], sentence: str) -> None:
    assert was in TEXT
    with pytest.raises(error) as caught:
        Record.parse(TEXT.replace(was, now)).replay()
    assert str(caught.value).startswith(sentence)


def test_a_random_deal_is_replayed_from_its_seed() -> None:
    record = replace(Record.parse(TEXT), deal=Deal.parse("random"))
    assert record.replay() == Record.parse(TEXT).replay()


@pytest.mark.parametrize("game", GAMES)
def test_the_kept_records_can_be_won_only_as_they_are(game: str) -> None:
    record = Record.parse((HERE / "records" / f"{game}.txt").read_text())
    assert record.replay().board.won
    assert not replace(record, actions=record.actions[:-1]).replay().board.won
    with pytest.raises(IllegalMove):
        replace(record, actions=record.actions[1:]).replay()


def test_a_record_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Record.parse(TEXT).player = "Bo"  # type: ignore[misc]  # that it can't be done is the point
