"""Files and documents have what follows from the games."""

from __future__ import annotations

import pytest

from tests.tools.game_texts import ROOT, texts

TEXTS = texts()


@pytest.mark.parametrize("name", TEXTS)
def test_text_follows_from_the_games(name: str) -> None:
    """``make games`` writes them."""
    assert (ROOT / name).read_text(encoding="utf-8") == TEXTS[name]
