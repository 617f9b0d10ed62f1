"""The refusals of operators' requests: one function for each code of ``OperatorRefusalCode`` (ADMIN.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from samedeal.errors import RequestRefused, SamedealError
from samedeal.protocol.messages import Refused as RefusedMessage
from samedeal.protocol_codes import OperatorRefusalCode, RefusalCode
from samedeal.terminal_text import printable

_MAX_QUOTED: Final = 60
"""Maximum number of columns quoted from a request."""


class OperatorRefused(RequestRefused):
    """Refusal of an operator's request."""


def login_first() -> OperatorRefused:
    """Refuse a first message other than ``Login``."""
    return OperatorRefused(OperatorRefusalCode.LOGIN_FIRST, "You are not logged in. Send the token first.")


def login_once() -> OperatorRefused:
    """Refuse a ``Login`` after a successful one."""
    return OperatorRefused(OperatorRefusalCode.LOGIN_ONCE, "You are already logged in. Send your requests.")


def bad_token() -> OperatorRefused:
    """Refuse a wrong token."""
    return OperatorRefused(OperatorRefusalCode.BAD_TOKEN, "This is not the server's token. Check it and try again.")


def too_many_tries(wait: float) -> OperatorRefused:
    """Refuse a token from a network that has sent too many wrong tokens. ``wait`` is in seconds."""
    return OperatorRefused(
        OperatorRefusalCode.TOO_MANY_TRIES, "Too many wrong tokens came from your address. Try again later.", wait
    )


def no_player(room: str, player: str) -> OperatorRefused:
    """Refuse to kick a player who is not in the room."""
    return OperatorRefused(
        OperatorRefusalCode.NO_PLAYER,
        f"No player in {room} has the name or id {_quoted(player)}. List the players with samedeal admin room.",
    )


def no_ban(target: str) -> OperatorRefused:
    """Refuse to lift a ban that does not exist."""
    return OperatorRefused(
        OperatorRefusalCode.NO_BAN, f"{_quoted(target)} is not banned. List the bans with samedeal admin bans."
    )


def too_many_bans(maximum: int) -> OperatorRefused:
    """Refuse a ban beyond the maximum number of bans."""
    return OperatorRefused(
        OperatorRefusalCode.TOO_MANY_BANS, f"There are already {maximum} bans. Lift some, or ban a network."
    )


def nothing_said() -> OperatorRefused:
    """Refuse a message to players that has no text."""
    return OperatorRefused(OperatorRefusalCode.NOTHING_SAID, "The message to players is empty. Write some text.")


def no_condition() -> OperatorRefused:
    """Refuse to close rooms without a condition."""
    return OperatorRefused(
        OperatorRefusalCode.NO_CONDITION,
        "This would close all rooms. Say which: empty ones, idle ones, or those with players from an address.",
    )


def no_node(name: str, nodes: Iterable[str]) -> OperatorRefused:
    """Refuse to drain a node if its name matches none of the running nodes, or several."""
    return OperatorRefused(
        OperatorRefusalCode.NO_NODE, f"{_quoted(name)} does not name exactly one node. Choose from {', '.join(nodes)}."
    )


def node_required(nodes: Iterable[str]) -> OperatorRefused:
    """Refuse to drain if there are several nodes and the request names none."""
    return OperatorRefused(
        OperatorRefusalCode.NODE_REQUIRED, f"There are several nodes. Name the one to drain: {', '.join(nodes)}."
    )


def last_node(name: str) -> OperatorRefused:
    """Refuse to drain the last ready node, unless the operator insists."""
    return OperatorRefused(
        OperatorRefusalCode.LAST_NODE,
        f"{name} is the last ready node, and without it nobody can race. To drain it anyway, add --yes.",
    )


def busy() -> OperatorRefused:
    """Refuse a backup while another one is being made."""
    return OperatorRefused(
        OperatorRefusalCode.BUSY, "This node is already making a backup. Wait until it is done.", retry_after=10
    )


def no_room(room: str) -> RequestRefused:
    """Refuse a request about a room that does not exist."""
    return RequestRefused(RefusalCode.NO_ROOM, f"There is no room {_quoted(room)}. List the rooms.")


def unavailable() -> RequestRefused:
    """Refuse a request that failed because the store is unavailable. The request may have taken effect."""
    return RequestRefused(
        RefusalCode.UNAVAILABLE,
        "The server lost its connection to the store. The request may or may not have taken effect.",
        retry_after=1.0,
    )


def to_message(request: int, error: SamedealError) -> RefusedMessage:
    """Convert an error to the answer to a request."""
    wait = error.retry_after or 0 if isinstance(error, RequestRefused) else 0
    return RefusedMessage(to=request, code=error.code, message=str(error), retry_after=wait)


def _quoted(text: str) -> str:
    return repr(printable(text, _MAX_QUOTED))
