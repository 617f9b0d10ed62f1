"""What a test says whose golden file is not what it was."""

from __future__ import annotations

import pytest

from tests.golden.golden_files import first_difference
from tests.programs import lacking, missed


@pytest.mark.parametrize(
    ("kept", "text"), [("a\n", ""), ("", "a\n"), ("a\nb\n", "a\n"), ("a\n", "a\n\n"), ("a\n", "a")]
)
def test_every_difference_is_shown(kept: str, text: str) -> None:
    _, was, now = first_difference("a.txt", kept, text).splitlines()
    assert was.partition(":")[2].strip() != now.partition(":")[2].strip()


def test_run_ends_with_the_programs_that_were_missing() -> None:
    assert missed(["Skipped: this machine has no IPv6", "no bots"]) == []
    skipped = [f"Skipped: {lacking(names)}" for names in (["tmux"], ["tmux"], ["ssh", "tmux"])]
    assert missed(skipped) == [
        "1 test skipped without ssh, tmux",
        "2 tests skipped without tmux",
        "On Debian and Ubuntu: apt install openssh-client tmux",
    ]
