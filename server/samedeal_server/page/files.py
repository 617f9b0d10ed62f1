"""The files of the web page, served on the same port as the players' WebSockets.

``/`` lists the rooms and records, and ``/ROOM`` shows the race in a room. The server sends the same document for both,
and a script in the document reads the path. If the query is ``?embed``, other sites may show the document in an HTML
frame. The document refers to all other files by relative links.
"""

from __future__ import annotations

import gzip
import hashlib
import http
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from typing import Final
from urllib.parse import parse_qs

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from samedeal.errors import MalformedText
from samedeal.names import clean_room

DOCUMENT: Final = "index.html"
"""The name of the file that is served for ``/`` and ``/ROOM``."""

_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

_METHODS: Final = ("GET", "HEAD")

_POLICY: Final = (
    "default-src 'none'; connect-src 'self'; img-src 'self'; script-src 'self'; worker-src 'self'; style-src 'self'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types deep-check; "
    "frame-ancestors "
)


@dataclass(frozen=True)
class File:
    """A file of the page: its content, and the same content compressed with gzip (``packed``). ``tag`` is its ETag."""

    content_type: str
    plain: bytes
    packed: bytes
    tag: str


class PageFiles:
    """The files of the page, which are read once at start-up."""

    def __init__(self) -> None:
        folder = files(__package__) / "static"
        self._files = {found.name: _file(found.name, found.read_bytes()) for found in folder.iterdir()}

    def respond(self, request: Request) -> Response | None:
        """Return the response to a plain HTTP request. Return None if the request is a WebSocket handshake."""
        if is_handshake(request):
            return None
        if request.method not in _METHODS:
            response = _sentence(http.HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and HEAD are supported.")
            response.headers["Allow"] = ", ".join(_METHODS)
        else:
            path, _, query = request.path.partition("?")
            name = _file_name(path)
            if (file := self._files.get(name)) is None:
                response = _sentence(http.HTTPStatus.NOT_FOUND, "There is no such page. / lists the rooms to watch.")
            else:
                embedded = "embed" in parse_qs(query, keep_blank_values=True)
                response = _respond_with(file, request.headers, "*" if embedded else "'none'")
        if request.method == "HEAD":
            response.body = b""
        return response


def is_handshake(request: Request) -> bool:
    """Return whether a request is a WebSocket handshake.

    Some of its headers may be missing, because proxies remove them.
    """
    upgrades = ",".join(request.headers.get_all("Upgrade")).lower().split(",")
    return "websocket" in (upgrade.strip() for upgrade in upgrades) or "Sec-WebSocket-Key" in request.headers


def _file_name(path: str) -> str:
    """Return the name of the file to serve for a path. The file need not exist."""
    name = path.removeprefix("/")
    try:
        return DOCUMENT if not name or clean_room(name) else ""
    except MalformedText:
        return "" if name == DOCUMENT else name


def _file(name: str, content: bytes) -> File:
    packed = gzip.compress(content, mtime=0)
    return File(_TYPES[PurePath(name).suffix], content, packed, hashlib.sha256(content).hexdigest()[:20])


def _respond_with(file: File, request: Headers, ancestors: str) -> Response:
    compressed = _accepts_gzip(request)
    tag = f'"{file.tag}-gzip"' if compressed else f'"{file.tag}"'
    headers = Headers(
        [
            ("ETag", tag),
            ("Cache-Control", "no-cache"),  # the browser asks each time whether the file has changed
            ("Vary", "Accept-Encoding"),
            ("Content-Security-Policy", _POLICY + ancestors),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Connection", "close"),
        ]
    )
    if _matches(request, file.tag):
        return Response(http.HTTPStatus.NOT_MODIFIED.value, http.HTTPStatus.NOT_MODIFIED.phrase, headers)
    body = file.packed if compressed else file.plain
    headers["Content-Type"] = file.content_type
    headers["Content-Length"] = str(len(body))
    if compressed:
        headers["Content-Encoding"] = "gzip"
    return Response(http.HTTPStatus.OK.value, http.HTTPStatus.OK.phrase, headers, body)


def _sentence(status: http.HTTPStatus, sentence: str) -> Response:
    body = f"{sentence}\n".encode()
    headers = Headers(
        [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", "default-src 'none'"),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Connection", "close"),
        ]
    )
    return Response(status.value, status.phrase, headers, body)


def _listed(headers: Headers, name: str) -> list[str]:
    """Return the elements of a header whose value is a comma-separated list."""
    return [element.strip() for element in ",".join(headers.get_all(name)).split(",")]


def _accepts_gzip(headers: Headers) -> bool:
    for element in _listed(headers, "Accept-Encoding"):
        coding, _, weight = element.lower().partition(";")
        if coding.strip() == "gzip":
            return weight.replace(" ", "").rstrip("0.") != "q="
    return False


def _matches(headers: Headers, tag: str) -> bool:
    """Return whether the browser already has the current content, compressed or not.

    ``tag`` is the ETag of the content. A proxy that compresses content marks the ETag as weak, with ``W/``.
    """
    held = {
        element.removeprefix("W/").strip('"').removesuffix("-gzip") for element in _listed(headers, "If-None-Match")
    }
    return tag in held or "*" in held
