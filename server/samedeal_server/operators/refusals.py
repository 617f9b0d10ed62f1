"""Functions that make the refusals of operators' requests, one for each code of ``OperatorRefusalCode`` (ADMIN.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from samedeal.errors import RequestRefused, refusal
from samedeal.protocol_codes import OperatorRefusalCode
from samedeal.terminal_text import printable

_MAX_QUOTED: Final = 60
"""Maximum number of columns that a refusal quotes from a request."""


login_first: Final = refusal(OperatorRefusalCode.LOGIN_FIRST, "You are not logged in. Send the token first.")
"""Refusal because the first message of an operator is not ``Login``."""


login_once: Final = refusal(OperatorRefusalCode.LOGIN_ONCE, "You are already logged in. Send your requests.")
"""Refusal because the operator is already logged in."""


bad_token: Final = refusal(OperatorRefusalCode.BAD_TOKEN, "This is not the server's token. Check it and try again.")
"""Refusal because the token is wrong."""


def too_many_tries(wait: float) -> RequestRefused:
    """Refusal because too many wrong tokens came from the operator's network.

    ``wait`` is the time in seconds until the next try.
    """
    return RequestRefused(
        OperatorRefusalCode.TOO_MANY_TRIES, "Too many wrong tokens came from your address. Try again later.", wait
    )


def no_player(room: str, player: str) -> RequestRefused:
    """Refusal because the player to kick is not in the room."""
    return RequestRefused(
        OperatorRefusalCode.NO_PLAYER,
        f"No player in {room} has the name or id {_quoted(player)}. List the players with samedeal admin room.",
    )


def no_ban(target: str) -> RequestRefused:
    """Refusal because the ban to lift does not exist."""
    return RequestRefused(
        OperatorRefusalCode.NO_BAN, f"{_quoted(target)} is not banned. List the bans with samedeal admin bans."
    )


def too_many_bans(maximum: int) -> RequestRefused:
    """Refusal because there is already the maximum number of bans."""
    return RequestRefused(
        OperatorRefusalCode.TOO_MANY_BANS, f"There are already {maximum} bans. Lift some, or ban a network."
    )


nothing_said: Final = refusal(OperatorRefusalCode.NOTHING_SAID, "The message to players is empty. Write some text.")
"""Refusal because a message to players has no text."""


no_condition: Final = refusal(
    OperatorRefusalCode.NO_CONDITION,
    "This would close all rooms. Say which: empty ones, idle ones, or those with players from an address.",
)
"""Refusal because a request to close rooms has no condition, and would close all of them."""


def no_node(name: str, nodes: Iterable[str]) -> RequestRefused:
    """Refusal because the name of the node to drain matches none of the running nodes, or several."""
    return RequestRefused(
        OperatorRefusalCode.NO_NODE, f"{_quoted(name)} does not name exactly one node. Choose from {', '.join(nodes)}."
    )


def node_required(nodes: Iterable[str]) -> RequestRefused:
    """Refusal because a request to drain names no node although there are several."""
    return RequestRefused(
        OperatorRefusalCode.NODE_REQUIRED, f"There are several nodes. Name the one to drain: {', '.join(nodes)}."
    )


def last_node(name: str) -> RequestRefused:
    """Refusal because the node to drain is the last ready one, and ``force`` is not set."""
    return RequestRefused(
        OperatorRefusalCode.LAST_NODE,
        f"{name} is the last ready node, and without it nobody can race. To drain it anyway, add --yes.",
    )


busy: Final = refusal(
    OperatorRefusalCode.BUSY, "This node is already making a backup. Wait until it is done.", retry_after=10
)
"""Refusal because this node is already making a backup."""


def _quoted(text: str) -> str:
    return repr(printable(text, _MAX_QUOTED))
