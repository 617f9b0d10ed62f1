"""Errors of requests that can be decoded but are not valid.

Their sentences name the wrong field and its valid values.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, get_type_hints

import msgspec
from msgspec import inspect

from samedeal.errors import BadOptions, MalformedFrame, SamedealError, UnknownRequest
from samedeal.options import Options
from samedeal.terminal_text import printable

_MAX_QUOTED: Final = 40
"""Maximum width, in columns, of the text that a sentence quotes from a request."""


def request_error(fields: Any, kinds: tuple[type[msgspec.Struct], ...], error: ValueError) -> SamedealError:
    """Return the error that tells a client why its request is not valid.

    ``fields`` is the decoded request. ``error`` says why it could not be converted to one of ``kinds``.
    """
    if (check := error.__cause__) is not None:  # a check of the message itself, not of the types of its fields
        return check.__cause__ if isinstance(check.__cause__, SamedealError) else BadOptions(str(check))
    if not isinstance(fields, dict) or not isinstance(fields.get("type"), str):
        return MalformedFrame("This is not a request of the protocol. A request is a map with a type and an id.")
    tag = fields["type"]
    kind = next((kind for kind in kinds if kind.__struct_config__.tag == tag), None)
    quoted = f"'{printable(tag, _MAX_QUOTED)}'"
    if kind is None and _is_valid(fields.get("id"), _field_types(kinds[0])["id"]):
        return UnknownRequest(
            f"This server does not know the request {quoted}. Update the server, or use an older client."
        )
    for name, hint in _field_types(kind or kinds[0]).items():
        if name not in fields and name in _required(kind or kinds[0]):
            return MalformedFrame(f"The request {quoted} has no field '{name}'. Send that field too.")
        if name in fields and not _is_valid(fields[name], hint):
            if _is_options(hint) and isinstance(fields[name], dict):
                return _options_error(fields[name], hint)
            return MalformedFrame(
                f"The field '{name}' of the request {quoted} is not valid. It must be {_words(hint)}."
            )
    return MalformedFrame(f"The request {quoted} is not valid. Compare it with the description of the protocol.")


def _options_error(options: dict[Any, Any], kind: Any) -> BadOptions:
    types = _field_types(kind)
    for name, value in options.items():
        quoted = f"'{printable(name if isinstance(name, str) else repr(name), _MAX_QUOTED)}'"
        if name not in types:
            return BadOptions(f"This server does not know the option {quoted}. Leave it out, or update the server.")
        if not _is_valid(value, types[name]):
            return BadOptions(f"The option {quoted} is not valid. It must be {_words(types[name])}.")
    return BadOptions("The options are not valid. Compare them with the description of the protocol.")


@cache
def _field_types(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: hints[name] for name in kind.__struct_fields__}


@cache
def _required(kind: Any) -> frozenset[str]:
    return frozenset(field.name for field in msgspec.structs.fields(kind) if field.required)


def _is_options(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Options)


def _is_valid(value: Any, hint: Any) -> bool:
    try:
        msgspec.convert(value, hint, builtin_types=(bytes,))
    except ValueError:
        return False
    return True


def _words(hint: Any) -> str:
    """Return a description of the values of a type, such as ``a whole number from 10 to 7200``."""
    match inspect.type_info(hint):
        case inspect.IntType(ge=int(low), le=int(high)):
            return f"a whole number from {low} to {high}"
        case inspect.IntType(ge=low):
            return f"a whole number of at least {low}"
        case inspect.BoolType():
            return "true or false"
        case inspect.StrType(max_length=longest):
            return f"a text of at most {longest} characters"
        case inspect.BytesType(max_length=longest):
            return f"at most {longest} bytes"
        case inspect.LiteralType(values=values):
            return f"{', '.join(map(str, values[:-1]))} or {values[-1]}"
        case inspect.VarTupleType(min_length=least, max_length=most):
            return f"a list of {least} to {most} valid entries"
        case _:
            return "a map"
