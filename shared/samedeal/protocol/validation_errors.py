"""Errors of requests that can be decoded but are not valid. Their sentences say what msgspec says, and where."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from samedeal.errors import BadOptions, MalformedFrame, SamedealError, UnknownRequest
from samedeal.terminal_text import printable

_MAX_QUOTED: Final = 40
"""Maximum width, in columns, of the text that a sentence quotes from a request."""

_MAX_REASON: Final = 100
"""Maximum width, in columns, of the reason why a request is not valid. It may quote the request too."""

_UNKNOWN_OPTION: Final = re.compile(r"Object contains unknown field `(.*)` - at `\$\.options`", re.DOTALL)


def request_error(fields: Any, kinds: tuple[type[msgspec.Struct], ...], error: ValueError) -> SamedealError:
    """Return the error that tells a client why its request is not valid.

    ``fields`` is the decoded request. ``error`` says why it could not be converted to one of ``kinds``.
    """
    if (check := error.__cause__) is not None:  # a check of the message itself, not of the types of its fields
        return check.__cause__ if isinstance(check.__cause__, SamedealError) else BadOptions(str(check))
    if not isinstance(fields, dict) or not isinstance(fields.get("type"), str):
        return MalformedFrame("This is not a request of the protocol. A request is a map with a type and an id.")
    quoted, why = f"'{printable(fields['type'], _MAX_QUOTED)}'", str(error)
    if id_of(fields) >= 0 and fields["type"] not in {kind.__struct_config__.tag for kind in kinds}:
        return UnknownRequest(
            f"This server does not know the request {quoted}. Update the server, or use an older client."
        )
    if unknown := _UNKNOWN_OPTION.fullmatch(why):
        option = printable(unknown[1], _MAX_QUOTED)
        return BadOptions(f"This server does not know the option '{option}'. Leave it out, or update the server.")
    if isinstance(fields.get("options"), dict) and "`$.options" in why:
        return BadOptions(f"The options are not valid: {printable(why, _MAX_REASON)}.")
    return MalformedFrame(f"The request {quoted} is not valid: {printable(why, _MAX_REASON)}.")


def id_of(fields: Any) -> int:
    """Return the id of a decoded request, or -1 if it has no valid one."""
    found = fields.get("id") if isinstance(fields, dict) else None
    return found if type(found) is int and 0 <= found < 1 << 53 else -1
