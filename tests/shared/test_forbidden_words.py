"""Words that names must not have."""

from __future__ import annotations

import pytest

from samedeal.errors import RequestRefused
from samedeal.forbidden_words import ForbiddenWords
from tests.golden.golden_files import HERE

RUDE = (HERE / "rude-words.txt").read_text()
NAMES = [name for line in (HERE / "innocent-names.txt").read_text().splitlines() for name in line.split(", ")]


def test_innocent_names_are_allowed() -> None:
    words = ForbiddenWords(RUDE)
    assert len(NAMES) >= 200
    assert [name for name in NAMES if words.forbids(name)] == []


WRITTEN = "shit, SHIT, Holy Shit, sh1t, $h!t, shit99, the-shit-7, s.h.i.t, S H I T, ѕhіt, ｓｈｉｔ, shït, śhít"


@pytest.mark.parametrize("name", WRITTEN.split(", "))
def test_word_is_found_however_it_is_written(name: str) -> None:
    assert ForbiddenWords("shit").forbids(name)
    assert not ForbiddenWords("ship").forbids(name)


def test_words_in_a_row_are_forbidden_together() -> None:
    words = ForbiddenWords("heil hitler")
    assert [words.forbids(name) for name in ("heil-hitler", "Heil  H1tler 3", "heil", "hitler heil")] == [1, 1, 0, 0]


@pytest.mark.parametrize(("text", "line"), [("good\n\nx\n", 3), ("# all\n" + "long" * 20, 2), ("...", 1)])
def test_wrong_line_is_named(text: str, line: int) -> None:
    with pytest.raises(RequestRefused, match=f"^Line {line} of the words: ") as caught:
        ForbiddenWords(text)
    assert caught.value.code == "bad_words"
