"""The player's settings in ``settings.json`` in the configuration directory. Options of the command line override them."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from samedeal.games import DEFAULT_GAME
from samedeal.protocol.messages import TideTime
from samedeal_link.machine.paths import config_home, read_saved, write_private
from samedeal_link.machine.terminal import terminal


class Settings(Struct, frozen=True):
    """The settings. ``server`` is the address of the server that was joined last, and ``tides`` are its tides.

    ``limit`` (in minutes) and ``hints`` are for races that begin with Play or Host on the start screen. ``level`` is
    the level of the bots in races that begin with Play. If ``theme`` is empty, the theme suits the background of the
    terminal.
    """

    name: str = ""
    server: str = ""
    game: str = DEFAULT_GAME
    theme: str = ""
    ascii: bool = False
    four_color: bool = False
    motion: bool = True
    bell: bool = False
    limit: int = 15
    hints: Literal["against bots", "always", "never"] = "against bots"
    level: Literal["mixed", "patient", "greedy", "careful"] = "mixed"
    tides: tuple[TideTime, ...] = ()

    @property
    def play_arguments(self) -> list[str]:
        """The arguments of ``samedeal play`` for these settings."""
        hints = ["--no-hints"] if self.hints == "never" else []
        return [*self._limit_arguments, *hints, *([] if self.level == "mixed" else ["--level", self.level])]

    @property
    def room_arguments(self) -> list[str]:
        """The arguments of ``samedeal host`` and ``samedeal new`` for these settings."""
        return [*self._limit_arguments, *(["--hints"] if self.hints == "always" else [])]

    @property
    def _limit_arguments(self) -> list[str]:
        return [] if self.limit == Settings().limit else ["--limit", str(self.limit)]


def load_settings() -> Settings:
    """Return the settings that were saved last, or the defaults if there are none."""
    path = config_home() / "settings.json"
    kept: Settings | None = terminal().unsaved.kept.get(path)
    return kept or read_saved(path, Settings) or Settings()


def save_settings(settings: Settings) -> None:
    """Save the settings. Raise OSError if that fails: then they last as long as this program."""
    path = config_home() / "settings.json"
    with terminal().unsaved.keeping(path, settings):
        write_private(path, msgspec.json.format(msgspec.json.encode(settings)).decode() + "\n")


def remember_server(address: str, tides: tuple[TideTime, ...] = ()) -> None:
    """Save the address of a server that was joined, and its tides.

    A failure is ignored, since the player can type the address again.
    """
    settings = load_settings()
    if (settings.server, settings.tides) != (address, tides):
        try:
            save_settings(replace(settings, server=address, tides=tides))
        except OSError:
            return
