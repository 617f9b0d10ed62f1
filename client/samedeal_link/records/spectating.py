"""A spectator's choices: which boards are shown, and on which page. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

PLAYER_KEYS: Final = "123456789abcdefg"
"""The keys that choose a player: by seat, or in a room with more seats by the place of the board on its page."""


class Watched(NamedTuple):
    """The race that is watched.

    ``players`` are in the order of their places, and ``boards`` has the players whose boards are known. ``keys`` maps
    players to their keys. ``pages`` is the number of pages of the board grid.
    """

    players: tuple[str, ...] = ()
    boards: Collection[str] = ()
    keys: Mapping[str, str] = MappingProxyType({})
    pages: int = 1


@dataclass(frozen=True)
class Spectating:
    """The spectator's choices.

    ``zoomed`` is the player whose board is shown alone, or empty if all boards are shown.
    """

    zoomed: str = ""
    page: int = 0

    def press(self, key: str, watched: Watched) -> Spectating | None:
        """Return the choices after a key, or None if the key does nothing while watching."""
        if len(key) == 1 and key in PLAYER_KEYS:
            return self.zoom(next((player for player, own in watched.keys.items() if own == key), ""), watched)
        match key:
            case "0" | "escape":
                return replace(self, zoomed="")
            case "up" | "down":
                return self._zoom_neighbour(-1 if key == "up" else 1, watched)
            case "pageup" | "pagedown":
                page = self.page + (1 if key == "pagedown" else -1)
                return replace(self, page=min(max(page, 0), watched.pages - 1))
            case _:
                return None

    def zoom(self, player: str, watched: Watched) -> Spectating | None:
        """Return the choice of only the board of ``player``, or None if there is no such board."""
        return replace(self, zoomed=player) if player in watched.boards else None

    def _zoom_neighbour(self, step: int, watched: Watched) -> Spectating | None:
        players = watched.players
        if self.zoomed not in players:
            return self
        return self.zoom(players[(players.index(self.zoomed) + step) % len(players)], watched)

    def limited_to(self, watched: Watched) -> Spectating:
        """Return the choices that are still possible with ``watched``.

        If the page no longer exists, the last page is shown. If the board that was shown alone is gone, all boards are
        shown.
        """
        gone = self.zoomed not in watched.players or self.zoomed not in watched.boards
        return replace(self, zoomed="" if gone else self.zoomed, page=min(self.page, watched.pages - 1))
