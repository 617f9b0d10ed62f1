from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.board_history import Play, Undo
from samedeal.deal import Deal
from samedeal.errors import CannotUndo, IllegalMove, MalformedText, SamedealError, UnknownGame
from samedeal.games import GAMES, Game
from samedeal.record import Record
from tests.golden.golden_files import HERE, assert_sentences
from tests.shared.move_strategies import transfers
from tests.shared.raised import error_of

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


def test_record_round_trips_as_text() -> None:
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


def test_record_of_a_bot_is_marked() -> None:
    marked = TEXT.replace("Ana\n", "Ana\nbot: yes\n")
    assert Record.parse(marked) == replace(Record.parse(TEXT), bot=True)
    assert str(Record.parse(marked)) == marked


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
        st.booleans(),
    )
)
def test_every_record_round_trips_as_text(record: Record) -> None:
    assert Record.parse(str(record)) == record


MALFORMED = [
    (TEXT, "", MalformedText),
    ("record 1", "record one", MalformedText),
    ("record 1", "record 2", MalformedText),
    ("record 1", "record 0", MalformedText),
    ("game: willow\n", "", MalformedText),
    ("game: willow", "game: wilow", UnknownGame),
    ("deal: #4821", "deal: today", MalformedText),
    ("deal: #4821", "deal: daily", MalformedText),
    (SEED, SEED[1:], MalformedText),
    (SEED, SEED.upper(), MalformedText),
    ("undo: free", "undo: no", MalformedText),
    ("player: Ana", "player: ", MalformedText),
    ("player: Ana", "player: \x1b[2J", MalformedText),
    ("Ana\n\n", "Ana\n", MalformedText),
    ("Ana\n\n", "Ana\nbot: yes\n", MalformedText),
    ("Ana\n\n", "Ana\nbot: no\n\n", MalformedText),
    ("1.204 3 0", "1.2 3 w", MalformedText),
    ("1.204 3 0", "\u0661.204 3 0", MalformedText),
    ("1.204 3 0", "1.204 3-w", MalformedText),
    ("9.020", "2.870", MalformedText),
]

IMPOSSIBLE = [
    ("9.020 3 0", "9.020 1 0", IllegalMove),
    ("undo: free", "undo: off", CannotUndo),
    ("deal: #4821", "deal: #4822", MalformedText),
]


def replay(text: str) -> Play:
    return Record.parse(text).replay()


@pytest.mark.parametrize(("was", "now", "error"), MALFORMED)
def test_malformed_record_is_rejected(was: str, now: str, error: type[SamedealError]) -> None:
    assert was in TEXT
    assert type(error_of(Record.parse, TEXT.replace(was, now))) is error


@pytest.mark.parametrize(("was", "now", "error"), IMPOSSIBLE)
def test_impossible_record_is_rejected(was: str, now: str, error: type[SamedealError]) -> None:
    assert was in TEXT
    assert type(error_of(replay, TEXT.replace(was, now))) is error


def test_wording_of_bad_records() -> None:
    lines = [
        f"{was[:24]!a} to {now[:24]!a}\t{error_of(replay, TEXT.replace(was, now))}"
        for was, now, _ in MALFORMED + IMPOSSIBLE
    ]
    assert_sentences("engine: records", lines)


def test_replay_reaches_the_board() -> None:
    play = Record.parse(TEXT).replay()
    assert (play.revision, play.moves, play.undos) == (3, 2, 1)
    start = Record.parse(TEXT).start()
    assert play.board == start.act("3 0").board


def test_random_deal_is_replayed_from_its_seed() -> None:
    record = replace(Record.parse(TEXT), deal=Deal.parse("random"))
    assert record.replay() == Record.parse(TEXT).replay()


@pytest.mark.parametrize("game", GAMES)
def test_damaged_golden_record_does_not_win(game: str) -> None:
    record = Record.parse((HERE / "records" / f"{game}.txt").read_text())
    assert record.replay().board.won
    assert not replace(record, actions=record.actions[:-1]).replay().board.won
    with pytest.raises(IllegalMove):
        replace(record, actions=record.actions[1:]).replay()


def test_record_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Record.parse(TEXT).player = "Bo"  # type: ignore[misc]  # that it can't be done is the point
