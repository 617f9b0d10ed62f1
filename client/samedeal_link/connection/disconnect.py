"""Errors for a connection that ends. The error decides whether the client reconnects."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Final

from msgspec.structs import replace
from websockets.exceptions import ConnectionClosed

from samedeal.errors import MalformedFrame
from samedeal.protocol.messages import Notice, Refused, ToClient
from samedeal.protocol_codes import PERMANENT_CLOSE_CODES, CloseCode, NoticeCode
from samedeal.terminal_text import printable
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.connection.link_events import Ended
from samedeal_link.connection.sanitize import decode_sanitized

PERMANENT_CLOSES: Final[dict[CloseCode, str]] = {
    CloseCode.VERSION: "The server speaks another version of the protocol. Update this client or the server.",
    CloseCode.BAD_FRAMES: "The server did not understand this client. Update this client or the server.",
    CloseCode.BANNED: "You are banned from this server.",
    CloseCode.TAKEN_OVER: "You have connected from somewhere else with the same session. This connection was closed.",
}
"""Sentences that tell the player why the client does not reconnect, by close code."""


@dataclass(eq=False)
class Disconnected(Exception):
    """The loss of a connection, after which the client reconnects. ``sentence`` is for the player.

    ``retry_after`` is the delay, in seconds, that the server asked for, or 0 if the server asked for none.
    ``immediately`` says that the first attempt to reconnect needs no delay. ``server_gone`` says that the
    server has stopped. ``moves`` says that nothing was lost, but the link should connect at the home of its room.
    """

    sentence: str
    retry_after: float = 0.0
    _: KW_ONLY
    immediately: bool = False
    server_gone: bool = False
    moves: bool = False

    def __str__(self) -> str:
        return self.sentence


class LinkEnded(Exception):
    """The end of a link, after which the client must not reconnect. ``ended`` is the event that says why."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.sentence)
        self.ended = ended


def close_code(closed: ConnectionClosed) -> int:
    """Return the code of the server's close frame, or 0 if there was no close frame."""
    return closed.rcvd.code if closed.rcvd is not None else 0


def reason_of(closed: ConnectionClosed) -> str:
    """Return a colon and the reason in the server's close frame. Without a reason, return an empty string."""
    reason = printable(closed.rcvd.reason).rstrip(".") if closed.rcvd is not None else ""
    return f": {reason}" if reason else ""


def disconnected(closed: ConnectionClosed) -> Disconnected:
    """Return the error that makes the client reconnect after the connection was closed."""
    if closed.rcvd is None:
        return Disconnected("The connection was lost.")
    immediately = close_code(closed) == CloseCode.RESTART
    return Disconnected(f"The server closed the connection{reason_of(closed)}.", immediately=immediately)


def close_error(closed: ConnectionClosed) -> Disconnected | LinkEnded:
    """Return the error for a closed connection. The close code decides whether this error lets the client reconnect."""
    code = close_code(closed)
    if code in PERMANENT_CLOSE_CODES:
        return LinkEnded(Ended(str(code), PERMANENT_CLOSES[CloseCode(code)]))
    return disconnected(closed)


def decode_or_end(frame: str | bytes) -> ToClient:
    """Decode and sanitize a frame of the server. Raise LinkEnded if the frame is malformed.

    A sentence for the player says whose it is, because only this program says which races are fair.
    """
    try:
        message = decode_sanitized(frame)
    except MalformedFrame as error:
        sentence = f"This client does not understand the server. {error} Update this client or the server."
        raise LinkEnded(Ended(ClientCode.BAD_MESSAGE, sentence)) from None
    if isinstance(message, Notice | Refused):
        source = "Message from the operator" if message.code == NoticeCode.SAID else "Server"
        return replace(message, message=f"{source}: {message.message}")
    return message
