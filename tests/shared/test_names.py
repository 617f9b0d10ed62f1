from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from samedeal.errors import MalformedText
from samedeal.names import LONGEST_NAME, WIDEST_NAME, clean_name
from samedeal.terminal_text import columns_of, printable


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
