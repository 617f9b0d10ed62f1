"""The levels at which bots play, from the weakest to the strongest."""

from __future__ import annotations

from typing import Final, Literal, get_args

Level = Literal["random", "greedy", "careful"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)

MIXES: Final[dict[str, tuple[Level, ...]]] = {"mixed": LEVELS[::-1], **{level: (level,) for level in LEVELS}}
"""Mixes of bots by name. The bots of a mix get the levels of the mix in turn."""
