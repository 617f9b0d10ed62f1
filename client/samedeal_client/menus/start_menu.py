"""The start screen's choices, and the commands of ``samedeal`` that they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from samedeal.names import ROOM_CODE

WITHOUT_DOTS: Final = ("localhost",)
"""Words that are taken for names of servers, although they could be room codes."""


LONE_CODE: Final = "If this is a room code, type its server before it."
"""The advice for a word that may be a server or a room code."""

RESTART: Final = ("start",)
"""The choice that shows the start screen again, because a changed setting affects its look or its texts."""


_ASKING: Final = {"race": "race", "join": "join", "watch": "watch", "host": "host", "new": "host"}
"""The menu actions with a dialog that asks for an address, by the command that the dialog leads to."""


class FailedChoice(NamedTuple):
    """A command that the player has chosen on the start screen, and the reason why it has failed."""

    arguments: Sequence[str]
    reason: str

    @property
    def dialog(self) -> str:
        """The menu action whose dialog asked for the address, or an empty string if no dialog did.

        With ``--name``, the player wanted to return to the kept seat, and with ``--tide`` to enter a tide of the server.
        """
        command, *others = self.arguments
        asked = command in _ASKING and bool(others) and not {"--name", "--tide"}.intersection(others)
        return _ASKING[command] if asked else ""

    @property
    def typed(self) -> str:
        """The address and the room in the command, as text for the dialog."""
        typed = {"host": slice(0), "new": slice(1, 2), "race": slice(2, 3)}.get(self.arguments[0], slice(1, 3))
        return " ".join(self.arguments[typed])


class MenuChoice(NamedTuple):
    """A line of the menu: its action, its key, its name, and a description."""

    action: str
    key: str
    name: str
    description: str


MENU: Final = (
    MenuChoice("play", "p", "Play", "against three bots"),
    MenuChoice("race", "r", "Race now", "against people"),
    MenuChoice("tide", "t", "All at once", ""),
    MenuChoice("daily", "d", "Today", ""),
    MenuChoice("join", "j", "Join", "by link or server"),
    MenuChoice("host", "o", "Host", "and send the link"),
    MenuChoice("watch", "w", "Watch", "a race, as spectator"),
    MenuChoice("history", "h", "History", "races, best times"),
    MenuChoice("settings", "s", "Settings", "name, look, races"),
    MenuChoice("quit", "q", "Quit", ""),
)


def menu(seat: str, daily: str, tide: str = "") -> tuple[MenuChoice, ...]:
    """Return the lines of the menu.

    ``seat`` describes the player's kept seat, and ``tide`` the next tide of the player's server. Each of them is empty if
    there is none. ``daily`` is the title of today's game.
    """
    texts = {"daily": daily, "tide": tide}
    lines = tuple(
        line._replace(description=texts.get(line.action, line.description))
        for line in MENU
        if line.action != "tide" or tide
    )
    return (MenuChoice("back", "b", "Your seat", seat), *lines) if seat else lines


def starting_text(arguments: Sequence[str]) -> str:
    """Return the text that is shown until the command ``arguments`` draws its first screen."""
    return {"play": "Starting a race", "host": "Opening a room", "new": "Opening a room"}.get(
        arguments[0], "Connecting"
    )


def is_room_code(typed: str) -> bool:
    """Return whether a text is the code of a room rather than the address of a server."""
    word = typed.strip().lower()
    return bool(ROOM_CODE.fullmatch(word)) and word not in WITHOUT_DOTS


def address_words(typed: str) -> list[str]:
    """Return the words of a typed text that name an address and a room: at most two words.

    If the text begins with the command of an invitation, such as ``samedeal join``, leave these words out.
    """
    words = typed.split()
    if words[:1] == ["samedeal"]:
        words = words[2:] if words[1:2] in (["join"], ["watch"]) else words[1:]
    return words[:2]


def enter_arguments(command: str, typed: str, server: str) -> list[str]:
    """Return a command, ``join`` or ``watch``, and its arguments for a typed text.

    The text must contain an address or a room code. If it is only a room code, the room is on ``server``, the server
    that was joined last. If ``server`` is empty, the code is taken for the name of a server. For a server without a
    room the command is always ``join``, because the server's lobby lists the races that can be watched.
    """
    words = address_words(typed)
    if len(words) == 1 and server and is_room_code(words[0]):
        words = [server, *words]
    has_room = len(words) > 1 or "/" in words[0].partition("://")[2] or ("://" not in words[0] and "/" in words[0])
    return [command if has_room else "join", *words]
