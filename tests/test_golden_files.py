"""What a test says whose golden file is not what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import golden_files
from tests.golden.golden_files import assert_golden, first_difference
from tests.programs import lacking, missed


def test_failure_names_the_first_heading_and_line_that_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden_files, "HERE", tmp_path)
    monkeypatch.delenv("REGENERATE", raising=False)
    (tmp_path / "screens.txt").write_text("== start\ntitle\n\n== middle\ntitle\nkeys\n")
    with pytest.raises(pytest.fail.Exception) as failure:
        assert_golden("screens.txt", "== start\ntitle\n\n== middle\nother\nkeys\n")
    where, kept, now, again = str(failure.value).splitlines()
    assert where == "screens.txt:5, under '== middle':"
    assert (kept, now) == ("  kept: 'title\\n'", "  now:  'other\\n'")
    assert "REGENERATE=1" in again
    assert "tests/test_golden_files.py" in again


def test_long_line_is_shown_where_it_differs() -> None:
    long = "Welcome\n" + "x" * 13_000
    where, kept, now = first_difference("frames.txt", f"{long}a", f"{long}b").splitlines()
    assert where == "frames.txt:2, under 'Welcome':"
    assert (kept[-3:], now[-3:]) == ("xa'", "xb'")
    assert len(kept) < 100


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
