"""The OpenAPI document of the read API, which follows from its routes and the structs of its answers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import msgspec
from websockets.http11 import Response

import samedeal
from samedeal.data_files import read_data
from samedeal_server.api.answers import STATUSES, ErrorAnswer

TEXT: Final = "text/plain"
JSON: Final = "application/json"
STREAM: Final = "text/event-stream"

_HEADERS: Final = {
    "ETag": {"description": "Send it back as If-None-Match.", "schema": {"type": "string"}},
    "Retry-After": {"description": "The time, in seconds, after which to ask again.", "schema": {"type": "integer"}},
}

_PARAMETERS: Final = read_data("samedeal_server.api", "parameters.toml", dict[str, dict[str, Any]])
"""What the document says about each parameter, by its name."""

_REFUSED_BY_ALL: Final = ("bad_method", "rate_limited", "server_full", "unavailable")


@dataclass(frozen=True)
class Route:
    """A path of the API.

    ``answer`` makes the answer: a struct, a text that is sent as it is, or a whole response. Its name is the id of the
    operation, and its docstring begins with the summary for the document. ``schema`` is the class of the answer, if it
    has one. ``query`` has the names of the optional parameters, ``kinds`` the types of content that a client may get, and
    ``refusals`` the codes of the errors that only some paths have.
    """

    path: str
    answer: Callable[..., Awaitable[msgspec.Struct | str | Response]]
    schema: type[msgspec.Struct] | None = None
    query: tuple[str, ...] = ()
    kinds: tuple[str, ...] = (JSON,)
    refusals: tuple[str, ...] = ()


@cache
def document(prefix: str, routes: tuple[Route, ...]) -> str:
    """Return the document for all ``routes`` below ``prefix`` as JSON."""
    structs = (*(route.schema for route in routes if route.schema), ErrorAnswer)
    references, components = msgspec.json.schema_components(structs, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(structs, references, strict=True))
    paths = {}
    for route in routes:
        answer = {JSON: schemas.get(route.schema, {"type": "object"}), TEXT: {"type": "string"}}
        content = {kind: {"schema": answer.get(kind, answer[JSON])} for kind in route.kinds}
        is_stream = STREAM in route.kinds
        found: dict[str, Any] = {"description": "The answer", "content": content}
        kept = {"headers": {"ETag": _HEADERS["ETag"]}}
        unchanged = {"304": {"description": "The answer still has the ETag in If-None-Match.", **kept}}
        responses = {"200": found} if is_stream else {"200": found | kept, **unchanged}
        asked = {
            "operationId": route.answer.__name__,
            "summary": (route.answer.__doc__ or "").partition("\n")[0],
            "parameters": list(_parameters(route, () if is_stream else ("If-None-Match",))),
            "responses": responses | _refused((*route.refusals, *_REFUSED_BY_ALL), schemas[ErrorAnswer]),
        }
        paths[f"{prefix}{route.path}"] = {"get": asked}
    info = {"title": "Samedeal", "version": samedeal.__version__}
    whole = {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": components}}
    return msgspec.json.encode(_without_closed_tuples(whole)).decode()


def _without_closed_tuples(schema: Any) -> Any:
    """Return a schema without ``items: false``, which generators of clients can't read. ``maxItems`` says the same."""
    if isinstance(schema, dict):
        return {key: _without_closed_tuples(value) for key, value in schema.items() if (key, value) != ("items", False)}
    return [_without_closed_tuples(value) for value in schema] if isinstance(schema, list) else schema


def _parameters(route: Route, further: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)\}", route.path):
        yield {"name": name, "in": "path", "required": True, **_PARAMETERS[name]}
    for name in (*route.query, *further):
        yield {"name": name, "in": "query" if name.islower() else "header", **_PARAMETERS[name]}


def _refused(codes: tuple[str, ...], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the responses to requests that are refused, by their statuses. Newer servers may have further codes."""
    by_status: defaultdict[str, list[str]] = defaultdict(list)
    for code in codes:
        by_status[str(int(STATUSES.get(code, 400)))].append(code)
    return {
        status: {
            "description": f"Refused: {', '.join(found)}.",
            "content": {JSON: {"schema": schema}},
            **({"headers": {"Retry-After": _HEADERS["Retry-After"]}} if status in ("429", "503") else {}),
        }
        for status, found in sorted(by_status.items())
    }
