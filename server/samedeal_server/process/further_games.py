"""The games of an operator: files in a directory, which are read once at start-up. The tides may be in them too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from samedeal.errors import MalformedGame
from samedeal.game_file import LONGEST_FILE
from samedeal.games import offer
from samedeal.options import Options
from samedeal.protocol.messages import TideTime
from samedeal.tides import tide_times
from samedeal_server.errors import StartupError


def offer_games(directory: Path | None) -> None:
    """Offer the games of the files in a directory, besides those of this release.

    Raise StartupError ``bad_game`` if a file is refused, or if there is none.
    """
    try:
        files = {path.stem: _text(path) for path in sorted(directory.glob("*.toml"))} if directory else {}
        if directory and not files:
            raise StartupError("no_game", directory=directory)
        for error in offer(files):
            raise error
    except MalformedGame as error:
        raise StartupError("bad_game", directory=directory, error=error) from None


def checked_tides(entries: Sequence[str]) -> tuple[TideTime, ...]:
    """Return the tides of the setting. Raise StartupError ``bad_game`` if a game does not exist, or has no joint deals."""
    times = tide_times(entries)
    for time in times:
        try:
            Options(games=(time.game,), deal="winnable")
        except ValueError as error:
            raise StartupError("bad_tide", error=error) from None
    return times


def _text(path: Path) -> str:
    """Return the text of a file, or its beginning if it is longer than any file of a game."""
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST_FILE + 9)
        return data.decode(errors="ignore" if len(data) > LONGEST_FILE + 8 else "strict")
    except OSError as error:
        raise MalformedGame(path.stem, 0, f"It can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise MalformedGame(path.stem, line, "There are bytes that are not UTF-8") from None
