"""The names of players as text on the screen, with a mark for bots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from samedeal.protocol.messages import Seat, Standing
from samedeal.terminal_text import columns_of
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import fit

_BOT: Final = "(bot)"
_MIN_SPACED: Final = len(_BOT) + 3
"""Minimum width, in columns, for a space between a shortened name and the mark of a bot."""


def player_name(name: str, look: Look, *, bot: bool) -> str:
    """Return a player's name in characters that ``look`` allows. If the player is a bot, ``(bot)`` follows the name."""
    shown = look.displayable(name)
    return f"{shown} {_BOT}" if bot else shown


def names_text(players: Iterable[Seat | Standing], look: Look) -> str:
    """Return the names of players, without marks, for a sentence."""
    names = [player_name(each.name, look, bot=False) for each in players]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def fit_player_name(name: str, look: Look, width: int, *, bot: bool) -> str:
    """Return a player's name, cut or padded to ``width`` columns.

    The mark of a bot is cut off only if ``width`` is too small for the mark.
    """
    whole = player_name(name, look, bot=bot)
    if not bot or columns_of(whole) <= width or width < len(_BOT):
        return fit(whole, width, look.glyphs.ellipsis)
    mark = f" {_BOT}" if width >= _MIN_SPACED else _BOT
    return fit(fit(look.displayable(name), width - len(mark), look.glyphs.ellipsis).rstrip() + mark, width)
