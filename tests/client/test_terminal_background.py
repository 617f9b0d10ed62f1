from __future__ import annotations

from ast import literal_eval

import pytest

from samedeal_client.terminal_io import terminal_background
from samedeal_client.terminal_io.terminal_background import BACKGROUND_QUERY, has_dark_background
from tests.golden.golden_files import assert_answers


def test_background_is_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(_: str, question: str) -> str:
        answers = {BACKGROUND_QUERY: literal_eval(question)}
        monkeypatch.setattr(terminal_background, "query_terminal", answers.__getitem__)
        return "dark" if has_dark_background() else "light"

    assert_answers("backgrounds", answer)
