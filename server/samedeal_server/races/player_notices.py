"""The notices that a server sends to players without a request. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from samedeal.protocol.messages import Notice
from samedeal.protocol_codes import NoticeCode


def banned(sentence: str) -> Notice:
    """Notice that the player is banned from the server. ``sentence`` says until when."""
    return Notice(code=NoticeCode.BANNED, message=sentence)


def closed() -> Notice:
    """Notice that the operator closed the room."""
    return Notice(code=NoticeCode.CLOSED, message="The operator closed this room. Choose another one.")


def draining() -> Notice:
    """Notice that the node is stopping."""
    return Notice(
        code=NoticeCode.DRAINING, message="This server is stopping. Your client reconnects to another one by itself."
    )


def ending() -> Notice:
    """Notice that the race waits only for players who are disconnected or idle, and finishes without them soon."""
    return Notice(
        code=NoticeCode.ENDING,
        message="All players still racing are away or idle. Unless one of them returns, the race ends in about a minute.",
    )


def kicked() -> Notice:
    """Notice that the operator or the host removed the player from the room."""
    return Notice(code=NoticeCode.KICKED, message="You were removed from this room permanently. Choose another one.")


def said(text: str) -> Notice:
    """Message of the operator to players."""
    return Notice(code=NoticeCode.SAID, message=text)


def unseated(names: Iterable[str]) -> Notice:
    """Notice that the named players lost their seats, because they did not reveal their shares of the joint deal in time."""
    return Notice(
        code=NoticeCode.UNSEATED,
        message=f"These players did not answer in time when the deal was drawn: {', '.join(names)}. "
        "They lost their seats, and the countdown begins again.",
    )


def waiting(names: Iterable[str]) -> Notice:
    """Notice that the countdown is extended, because the named players' shares or, without names, the deal is missing."""
    waits = " and ".join(names)
    what = (
        f"The deal is being drawn. Waiting for {waits} to answer."
        if waits
        else "Still looking for a deal that can be won."
    )
    return Notice(code=NoticeCode.WAITING, message=f"{what} The race starts in a few seconds.")


def seated() -> Notice:
    """Notice to a spectator that the same player has taken a seat over another connection."""
    return Notice(
        code=NoticeCode.SEATED,
        message="You now have a seat in this room. You see no other boards until your race is over.",
    )
