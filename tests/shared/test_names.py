from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.errors import MalformedText
from samedeal.names import WIDEST_NAME, clean_name, clean_room, columns_of, printable


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


# ---------------------------------------------------------------- anybody's text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("Wait for the host.", "Wait for the host."),
        ("two  spaces ", "two  spaces "),
        ("Jürgen und 名前 🎉", "Jürgen und 名前 🎉"),
        ("a\x1b[2Jb", "a?[2Jb"),
        ("a\x1b]0;title\x07b", "a?]0;title?b"),
        ("a\x9b31mb", "a?31mb"),
        ("a\x90q\x9cb", "a?q?b"),
        ("a\r\nb\tc", "a??b?c"),
        ("a\x08\x08b\x7f", "a??b?"),
        ("a\u202eb\u202c", "a?b?"),
        ("a\u2066b\u2069", "a?b?"),
        ("a\u200eb\u200fc\u061c", "a?b?c?"),
        ("a\u200bb\u200cc\u200dd\u2060\ufeff", "a?b?c?d??"),
        ("a\u00adb\u034fc", "a?b?c"),
        ("a\u2028b\u2029c\u0085d", "a?b?c?d"),
        ("\u00a0\u3000\u2003", "???"),
        ("\u3164\u115f\u2800\uffa0", "????"),
        ("❤\ufe0f👍\U0001f3fd", "❤?👍?"),
        ("a\U000e0041\ue000\ud800\uffff\U0010ffff", "a?????"),
        ("\u0301a", "?a"),
        ("e\u0301\u0302\u0303\u0304\u0305", "e\u0301\u0302\u0303?\u0305"),
        ("Z" + "\u0316" * 100, "Z" + "\u0316" * 3 + ("?" + "\u0316" * 3) * 24 + "?"),
    ],
)
def test_what_is_shown_of_a_stranger_s_text(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


@pytest.mark.parametrize(
    ("text", "widest", "shown"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("名前名前", 8, "名前名前"),
        ("名前名前", 7, "名前名…"),
        ("名前名前", 6, "名前…"),
        ("ab" * 100_000, 4, "aba…"),
        ("ab", 1, "…"),
        ("a\u0301b\u0301c\u0301", 2, "a\u0301…"),
    ],
)
def test_what_is_shown_is_cut_to_its_width(text: str, widest: int, shown: str) -> None:
    assert printable(text, widest) == shown


@given(st.text(max_size=60), st.integers(1, 40))
def test_whatever_is_said_can_be_shown(text: str, widest: int) -> None:
    shown = printable(text, widest)
    assert columns_of(shown) <= widest
    assert shown.isprintable()
    assert not any(char in "\u2800\u3164\u115f" or "\ufe00" <= char <= "\ufe0f" for char in shown)
    assert printable(shown, widest) == shown
    if len(shown) == len(text) and "?" not in shown:
        assert shown == text or shown.endswith("…")


@given(st.text(max_size=30))
def test_a_name_is_shown_as_it_is(text: str) -> None:
    name, _ = clean_or_why(text)
    assert printable(name) == name
