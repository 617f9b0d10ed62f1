from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.errors import MalformedText
from samedeal.names import WIDEST_NAME, clean_name, clean_room, columns_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ana", "Ana"),
        ("  Ana  ", "Ana"),
        ("Ana   B.", "Ana B."),
        ("x", "x"),
        ("0", "0"),
        ("...", "..."),
        ("^_^", "^_^"),
        ("<b>&'\"\\", "<b>&'\"\\"),
        ("%s {0} $x", "%s {0} $x"),
        ("Jürgen", "Jürgen"),
        ("Ju\u0308rgen", "Jürgen"),
        ("Łukasz", "Łukasz"),
        ("名前", "名前"),
        ("\u1100\u1161\u11a8", "각"),
        ("Алиса", "Алиса"),
        ("דנה", "דנה"),
        ("سارة", "سارة"),
        ("पहाड़ों", "पहाड\u093cों"),
        ("สมชาย", "สมชาย"),
        ("♠♥♦♣", "♠♥♦♣"),
        ("🂡 ace", "🂡 ace"),
        ("🎉🎉", "🎉🎉"),
        ("x" * 20, "x" * 20),
        ("名" * 10, "名" * 10),
        ("e\u0301\u0316\u0320" * 20, unicodedata.normalize("NFC", "e\u0301\u0316\u0320") * 20),
    ],
)
def test_names(text: str, name: str) -> None:
    assert clean_name(text) == name
    assert clean_name(name) == name


LETTERS = ": use letters, digits, punctuation and spaces"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "A name can't be empty: give at least one letter, digit or sign"),
        ("    ", "A name can't be empty: give at least one letter, digit or sign"),
        ("x" * 21, "A name can't be wider than 20 columns: this one takes 21"),
        ("名" * 11, "A name can't be wider than 20 columns: this one takes 22"),
        ("🎉" * 11, "A name can't be wider than 20 columns: this one takes 22"),
        ("a" * 100_000, "A name can't be wider than 20 columns: this one takes 100000"),
        ("a\x00b", f"A name can't hold U+0000{LETTERS}"),
        ("a\x1b[2Jb", f"A name can't hold U+001B{LETTERS}"),
        ("a\x7fb", f"A name can't hold U+007F{LETTERS}"),
        ("a\x9bb", f"A name can't hold U+009B{LETTERS}"),
        ("a\nb", f"A name can't hold U+000A{LETTERS}"),
        ("a\tb", f"A name can't hold U+0009{LETTERS}"),
        ("a\u00a0b", f"A name can't hold U+00A0{LETTERS}"),
        ("a\u3000b", f"A name can't hold U+3000{LETTERS}"),
        ("a\u2028b", f"A name can't hold U+2028{LETTERS}"),
        ("a\u202eb", f"A name can't hold U+202E{LETTERS}"),
        ("a\u2066b", f"A name can't hold U+2066{LETTERS}"),
        ("a\u200fb", f"A name can't hold U+200F{LETTERS}"),
        ("a\u061cb", f"A name can't hold U+061C{LETTERS}"),
        ("a\u200bb", f"A name can't hold U+200B{LETTERS}"),
        ("a\u200db", f"A name can't hold U+200D{LETTERS}"),
        ("a\ufeffb", f"A name can't hold U+FEFF{LETTERS}"),
        ("a\u00adb", f"A name can't hold U+00AD{LETTERS}"),
        ("\u3164", f"A name can't hold U+3164{LETTERS}"),
        ("\u115f", f"A name can't hold U+115F{LETTERS}"),
        ("\u2800", f"A name can't hold U+2800{LETTERS}"),
        ("a\u034fb", f"A name can't hold U+034F{LETTERS}"),
        ("\u1161", f"A name can't hold U+1161{LETTERS}"),
        ("❤\ufe0f", f"A name can't hold U+FE0F{LETTERS}"),
        ("👍\U0001f3fd", f"A name can't hold U+1F3FD{LETTERS}"),
        ("a\U000e0041", f"A name can't hold U+E0041{LETTERS}"),
        ("a\ue000", f"A name can't hold U+E000{LETTERS}"),
        ("a\ud800", f"A name can't hold U+D800{LETTERS}"),
        ("a\uffff", f"A name can't hold U+FFFF{LETTERS}"),
        ("a\u20dd", f"A name can't hold U+20DD{LETTERS}"),
        ("\u0316a", "A combining mark (U+0316) in a name needs a letter before it"),
        ("a \u0316b", "A combining mark (U+0316) in a name needs a letter before it"),
        ("Z" + "\u0316" * 4, "A name can't pile more than 3 combining marks on one letter"),
        ("Z" + "\u0316" * 500, "A name can't pile more than 3 combining marks on one letter"),
    ],
)
def test_what_is_wrong_with_a_name(text: str, sentence: str) -> None:
    with pytest.raises(MalformedText) as caught:
        clean_name(text)
    assert str(caught.value) == sentence


def clean_or_why(text: str) -> tuple[str, str]:
    """The clean name, or the sentence that says why there is none."""
    try:
        return clean_name(text), ""
    except MalformedText as error:
        return "", str(error)


@given(st.text(max_size=30))
def test_a_clean_name_is_safe_to_print(text: str) -> None:
    name, why = clean_or_why(text)
    assert why.isprintable()
    if why:
        return
    assert clean_name(name) == name
    assert name.isprintable()
    assert 0 < columns_of(name) <= WIDEST_NAME
    assert name == name.strip()
    assert "  " not in name
    assert not any(
        unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        for char in name
    )


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("名前", 4), ("🎉", 2), ("♠", 1), ("▒", 1), ("Ａ", 2)],
)
def test_how_wide_a_text_is(text: str, columns: int) -> None:
    assert columns_of(text) == columns


@pytest.mark.parametrize(
    ("text", "room"),
    [
        ("friday", "friday"),
        (" Friday ", "friday"),
        ("k7m2qx", "k7m2qx"),
        ("a\n", "a"),
        ("a", "a"),
        ("a-b--c", "a-b--c"),
        ("x" * 24, "x" * 24),
    ],
)
def test_rooms(text: str, room: str) -> None:
    assert clean_room(text) == room
    assert clean_room(room) == room


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-",
        "-a",
        "a-",
        "a b",
        "a_b",
        "a/b",
        "a{b}",
        "é",
        "x" * 25,
        "a\nb",
        "..",
        "\u0661",
        "ſ",
        "x" * 10_000,
    ],
)
def test_other_texts_are_no_rooms(text: str) -> None:
    with pytest.raises(
        MalformedText, match="is not a room: its code is 1 to 24 letters, digits and inner dashes"
    ) as caught:
        clean_room(text)
    assert len(str(caught.value)) < 150
    assert str(caught.value).isprintable()
