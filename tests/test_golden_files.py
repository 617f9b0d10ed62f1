"""What a test says whose golden file is not what it was."""

from __future__ import annotations

import pytest

from tests.golden.golden_files import first_difference


@pytest.mark.parametrize(
    ("kept", "text"), [("a\n", ""), ("", "a\n"), ("a\nb\n", "a\n"), ("a\n", "a\n\n"), ("a\n", "a")]
)
def test_every_difference_is_shown(kept: str, text: str) -> None:
    _, was, now = first_difference("a.txt", kept, text).splitlines()
    assert was.partition(":")[2].strip() != now.partition(":")[2].strip()
