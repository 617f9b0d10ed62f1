"""The notices that a server sends to players without having received a request. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from samedeal.joint_deal import MAX_DRAWS
from samedeal.protocol.messages import Notice
from samedeal.protocol_codes import NoticeCode


def _notice(code: NoticeCode, message: str) -> partial[Notice]:
    """Return a function that makes a notice with these values."""
    return partial(Notice, code=code, message=message)


def banned(sentence: str) -> Notice:
    """Return the notice that the player is banned from the server. ``sentence`` says until when."""
    return Notice(code=NoticeCode.BANNED, message=sentence)


closed: Final = _notice(NoticeCode.CLOSED, "The operator closed this room. Choose another one.")
"""Notice that the operator has closed the room."""


draining: Final = _notice(NoticeCode.DRAINING, "This server is stopping. Your client tries to reconnect.")
"""Notice that the node is stopping."""


ending: Final = _notice(
    NoticeCode.ENDING,
    "All players still racing are away or idle. Unless one of them makes a move, the race ends in about a minute.",
)
"""Notice that the race soon ends, because it waits only for players who are disconnected or idle."""


kicked: Final = _notice(NoticeCode.KICKED, "You were removed from this room permanently. Choose another one.")
"""Notice that the operator or the host has removed the player from the room."""


def said(text: str) -> Notice:
    """Return a message of the operator as a notice to players."""
    return Notice(code=NoticeCode.SAID, message=text)


def unseated(names: Iterable[str]) -> Notice:
    """Return the notice that the named players have lost their seats.

    These players did not commit to a share of the joint deal, or did not reveal it, in time.
    """
    return Notice(
        code=NoticeCode.UNSEATED,
        message=f"These players did not answer in time when the deal was drawn: {', '.join(names)}. "
        "They lost their seats.",
    )


not_drawn: Final = _notice(
    NoticeCode.NOT_DRAWN,
    f"The deal was drawn {MAX_DRAWS} times, and each time somebody left before it was known. "
    "This room is closed. Open another one with players whom you trust to stay.",
)
"""Notice that the room is closed because the last draw of the joint deal has failed too."""


def waiting(names: Iterable[str]) -> Notice:
    """Return the notice that the countdown is extended until the deal has been found.

    ``names`` are the players whose shares are missing. If it is empty, only the search for the deal is unfinished.
    """
    waits = " and ".join(names)
    what = (
        f"The deal is being drawn. Waiting for {waits} to answer."
        if waits
        else "Still looking for a deal that can be won."
    )
    return Notice(code=NoticeCode.WAITING, message=f"{what} The race starts in a few seconds.")


seated: Final = _notice(
    NoticeCode.SEATED, "You now have a seat in this room. You see no other boards until your race is over."
)
"""Notice to a spectator who has just taken a seat in the room."""
