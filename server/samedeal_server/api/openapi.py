"""The OpenAPI document of the read API, which follows from its routes and the structs of its answers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

import msgspec
from websockets.http11 import Response

import samedeal
from samedeal_server.api.answers import ErrorAnswer

TEXT: Final = "text/plain"
JSON: Final = "application/json"


@dataclass(frozen=True)
class Route:
    """A path of the API.

    ``answer`` makes the answer: a struct, a text that is sent as it is, or a whole response. Its docstring begins with
    the summary for the document. ``schema`` is the class of the answer, if it has one. ``query`` has the names of the
    optional parameters, and ``kinds`` the types of content that a client may get.
    """

    path: str
    answer: Callable[..., Awaitable[msgspec.Struct | str | Response]]
    schema: type[msgspec.Struct] | None = None
    query: tuple[str, ...] = ()
    kinds: tuple[str, ...] = (JSON,)


@cache
def document(prefix: str, routes: tuple[Route, ...]) -> str:
    """Return the document for all ``routes`` below ``prefix`` as JSON."""
    structs = (*(route.schema for route in routes if route.schema), ErrorAnswer)
    references, components = msgspec.json.schema_components(structs, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(structs, references, strict=True))
    refused = {"description": "Refused", "content": {JSON: {"schema": schemas[ErrorAnswer]}}}
    unchanged = {"description": "The answer still has the ETag in If-None-Match"}
    paths = {}
    for route in routes:
        answer = {JSON: schemas.get(route.schema, {"type": "object"}), TEXT: {"type": "string"}}
        content = {kind: {"schema": answer.get(kind, answer[JSON])} for kind in route.kinds}
        responses = {"200": {"description": "The answer", "content": content}, "304": unchanged, "default": refused}
        summary = (route.answer.__doc__ or "").partition("\n")[0]
        names = [{"name": name, "in": "path", "required": True} for name in re.findall(r"\{(\w+)\}", route.path)]
        names += [{"name": name, "in": "query"} for name in route.query]
        parameters = [each | {"schema": {"type": "string"}} for each in names]
        asked = {"summary": summary, "parameters": parameters, "responses": responses}
        paths[f"{prefix}{route.path}"] = {"get": asked}
    info = {"title": "Samedeal", "version": samedeal.__version__}
    whole = {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": components}}
    return msgspec.json.encode(whole).decode()
