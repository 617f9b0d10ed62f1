"""The OpenAPI document of the read API, which follows from its routes and the structs of its answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

import samedeal
from samedeal_server.api.answers import ErrorAnswer
from samedeal_server.races.public_facts import RaceNews


@dataclass(frozen=True, kw_only=True)
class Described:
    """A path as the document describes it. ``schema`` is the class of its answer, if it has one.

    ``query`` has the names of its optional parameters. ``is_negotiated`` says that the answer is text or JSON, as the
    client prefers.
    """

    path: str
    summary: str
    schema: type[msgspec.Struct] | None = None
    query: tuple[str, ...] = ()
    is_negotiated: bool = False


def document(prefix: str, routes: Iterable[Described]) -> str:
    """Return the document for all ``routes`` below ``prefix``, and for the stream of news, as JSON."""
    routes = tuple(routes)
    kinds = (*(route.schema for route in routes if route.schema), RaceNews, ErrorAnswer)
    references, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(kinds, references, strict=True))
    error = _content("Refused: the message says why", schemas[ErrorAnswer])
    paths = {
        f"{prefix}{route.path}": {
            "get": {
                "summary": route.summary,
                "parameters": _parameters(route),
                "responses": {
                    "200": _content(
                        "The answer", schemas.get(route.schema, {"type": "object"}), text=route.is_negotiated
                    ),
                    "304": {"description": "The answer still has the ETag in If-None-Match"},
                    "default": error,
                },
            }
        }
        for route in routes
    }
    stream = {"description": "Server-sent events", "content": {"text/event-stream": {"schema": schemas[RaceNews]}}}
    paths[f"{prefix}/events"] = {
        "get": {"summary": "News of public races, one in the data of each event", "responses": {"200": stream}}
    }
    info = {"title": "Samedeal", "version": samedeal.__version__}
    whole = {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": components}}
    return msgspec.json.encode(whole).decode()


def _content(description: str, schema: dict[str, Any], *, text: bool = False) -> dict[str, Any]:
    kinds: dict[str, Any] = {"application/json": {"schema": schema}}
    if text:
        kinds["text/plain"] = {"schema": {"type": "string"}}
    return {"description": description, "content": kinds}


def _parameters(route: Described) -> list[dict[str, Any]]:
    text = {"type": "string"}
    named = [
        {"name": name, "in": "path", "required": True, "schema": text} for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    return named + [{"name": name, "in": "query", "schema": text} for name in route.query]
