"""The player's settings in ``settings.json`` in the configuration directory. Options of the command line override them."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from samedeal.games import DEFAULT_GAME
from samedeal.protocol.messages import TideTime
from samedeal_link.machine.paths import config_home, write_private
from samedeal_link.machine.terminal import terminal

_FILE: Final = "settings.json"


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
    """Return the settings that were saved last, or the defaults if there are none.

    A file that cannot be read, because it is damaged or of another release, is renamed, and the player is told.
    """
    path = config_home() / _FILE
    try:
        data = terminal().unsaved.kept.get(path) or path.read_bytes()
        return msgspec.json.decode(data, type=Settings)
    except (ValueError, RecursionError):
        with suppress(OSError):
            path.replace(path.with_name(f"{_FILE}.unread"))
            terminal().unsaved.tell(f"{path} is damaged or of another release, and was renamed to {_FILE}.unread.")
    except OSError:
        pass
    return Settings()


def save_settings(settings: Settings) -> None:
    """Save the settings. Raise OSError if that fails: then they last as long as this program."""
    path, text = config_home() / _FILE, msgspec.json.format(msgspec.json.encode(settings)).decode() + "\n"
    with terminal().unsaved.keeping(path, text):
        write_private(path, text)


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
