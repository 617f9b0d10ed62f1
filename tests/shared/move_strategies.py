"""Hypothesis strategies for moves."""

from __future__ import annotations

from hypothesis import strategies as st

from samedeal.games import GAMES
from samedeal.moves import Move

keys = sorted({key for game in GAMES.values() for key in game.keys} - {"stock"})


transfers = st.builds(
    Move,
    st.sampled_from(keys),
    st.sampled_from([key for key in keys if not key.startswith("0")] + ["0"]),
    st.integers(1, 99),
)
