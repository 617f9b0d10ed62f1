from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.errors import MalformedText
from samedeal.names import LONGEST_NAME, WIDEST_NAME, clean_name, clean_room
from samedeal.protocol_codes import RefusalCode
from samedeal.terminal_text import columns_of, printable
from tests.golden.golden_files import assert_sentences
from tests.shared.raised import error_of, sentence_lines


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
        ("❤\ufe0f Ana", "❤ Ana"),
        ("👍\U0001f3fd", "👍"),
        ("👩\U0001f3fd\u200d⚕\ufe0f", "👩⚕"),
        ("x" * 20, "x" * 20),
        ("名" * 10, "名" * 10),
        ("e\u0301\u0316\u0320" * 13, unicodedata.normalize("NFC", "e\u0301\u0316\u0320") * 13),
    ],
)
def test_name_is_normalized(text: str, name: str) -> None:
    assert clean_name(text) == name
    assert clean_name(name) == name


BAD_NAMES = [
    "",
    "    ",
    "x" * 21,
    "名" * 11,
    "🎉" * 11,
    "e\u0301\u0316\u0320" * 14,
    "a" * 100_000,
    "a\x00b",
    "a\x1b[2Jb",
    "a\x7fb",
    "a\x9bb",
    "a\nb",
    "a\tb",
    "a\u00a0b",
    "a\u3000b",
    "a\u2028b",
    "a\u202eb",
    "a\u2066b",
    "a\u200fb",
    "a\u061cb",
    "a\u200bb",
    "a\u200db",
    "a\ufeffb",
    "a\u00adb",
    "\u3164",
    "\u115f",
    "\u2800",
    "a\u034fb",
    "\u1161",
    "\ufe0f",
    "a\U000e0041",
    "a\ue000",
    "a\ud800",
    "a\uffff",
    "a\u20dd",
    "\u0316a",
    "a \u0316b",
    "Z" + "\u0316" * 4,
    "Z" + "\u0316" * 500,
]


@pytest.mark.parametrize("text", BAD_NAMES)
def test_bad_name_is_rejected(text: str) -> None:
    assert error_of(clean_name, text).code is RefusalCode.MALFORMED


def test_wording_of_bad_names() -> None:
    assert_sentences("engine: names", sentence_lines(clean_name, BAD_NAMES))


def clean_or_why(text: str) -> tuple[str, str]:
    """The clean name, or the sentence of the refusal."""
    try:
        return clean_name(text), ""
    except MalformedText as error:
        return "", str(error)


@given(st.text(max_size=30))
def test_clean_name_is_safe_to_print(text: str) -> None:
    name, why = clean_or_why(text)
    assert why.isprintable()
    if why:
        return
    assert clean_name(name) == name
    assert name.isprintable()
    assert 0 < columns_of(name) <= WIDEST_NAME
    assert len(name.encode()) <= LONGEST_NAME
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
def test_columns_of_measures_terminal_width(text: str, columns: int) -> None:
    assert columns_of(text) == columns


@pytest.mark.parametrize(
    ("text", "room"),
    [
        ("friday", "friday"),
        (" Friday ", "friday"),
        ("k7m2qx", "k7m2qx"),
        ("a", "a"),
        ("a-b--c", "a-b--c"),
        ("x" * 24, "x" * 24),
    ],
)
def test_room_code_is_normalized(text: str, room: str) -> None:
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
        "\u212a",
        "friday\n",
        "\tfriday",
        "x" * 10_000,
    ],
)
def test_bad_room_code_is_rejected(text: str) -> None:
    error = error_of(clean_room, text)
    assert error.code is RefusalCode.MALFORMED
    assert len(str(error)) < 150
    assert str(error).isprintable()


def test_wording_of_bad_room_codes() -> None:
    assert_sentences("engine: room codes", sentence_lines(clean_room, ["", "-a", "x" * 10_000]))


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
def test_printable_replaces_unsafe_characters(text: str, shown: str) -> None:
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
def test_printable_cuts_to_width(text: str, widest: int, shown: str) -> None:
    assert printable(text, widest) == shown


@given(st.text(max_size=60), st.integers(1, 40))
def test_any_text_becomes_printable(text: str, widest: int) -> None:
    shown = printable(text, widest)
    assert columns_of(shown) <= widest
    assert shown.isprintable()
    assert not any(char in "\u2800\u3164\u115f" or "\ufe00" <= char <= "\ufe0f" for char in shown)
    assert printable(shown, widest) == shown
    if len(shown) == len(text) and "?" not in shown:
        assert shown == text or shown.endswith("…")


@given(st.text(max_size=30))
def test_clean_name_is_printed_unchanged(text: str) -> None:
    name, _ = clean_or_why(text)
    assert printable(name) == name
