"""The files of the web page, served on the same port as the players' WebSockets.

``/`` is the first screen, ``/ROOM`` shows the race in a room, and ``/s/CODE`` leads to that of a standing series. The
server sends the same document for the first two, without the first screen and its styles for a room, and a script in the
document reads the path. If the query is ``?embed``, other sites may show the document in an HTML frame. The document refers
to all other files by relative links. ``/qr/ROOM.svg`` is the QR code of the link to a room, and ``/qr/PATH/ROOM.svg`` if
the browser knows it below a path that a proxy removes.
"""

from __future__ import annotations

import gzip
import hashlib
import http
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import escape
from importlib.resources import files
from io import BytesIO
from pathlib import PurePath
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
import segno
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from samedeal.errors import MalformedText
from samedeal.game_json import games_json
from samedeal.games import GAMES, offered
from samedeal.names import AROUND_LINKS, SERIES, clean_room
from samedeal.protocol.messages import RoomLine
from samedeal.verdict_rows import ROWS
from samedeal_server.page.address import PREFIX, page_address, requested_address
from samedeal_server.page.bundles import BUNDLES, HOMES, PROGRAM, bundled, without_comments
from samedeal_server.page.previews import preview_tags

DOCUMENT: Final = "index.html"
"""The name of the file that is served for ``/`` and ``/ROOM``."""

WORKER: Final = "worker.js"
"""The name of the module that runs in workers. They have the policy of their own file."""

FOR_PROGRAMS: Final = ("msgpack.js", "samedeal.mjs")
"""The modules for the programs of others: one that is also served alone (PROTOCOL.md), and a client (JAVASCRIPT.md)."""

_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}

_STYLES: Final = ("page.css", "front.css")
_STYLES_OF_FRONT: Final = b'<link rel="stylesheet" href="front.css">\n'
_FRONT: Final = re.compile(rb'<template id="front">.*?</template>\n', re.DOTALL)
_GAMES: Final = "games.json"
_GAMES_MODULE: Final = "games.mjs"

ROWS_MODULE: Final = "rows.mjs"
"""The name of the module with the table of verdicts, without its sentences."""

SENTENCES_MODULE: Final = "sentences.mjs"
"""The name of the module with these sentences, which a browser does not load before the end of the race."""

_QR_CODE: Final = ("qr/", ".svg")
"""What comes before and after the code of a room in the path of its QR code."""

_OF_PROGRAMS: Final = "api/"
"""The beginning of paths that only programs ask for."""

_ROOM_COST: Final = 3
_QR_CODE_COST: Final = 35

_END_OF_HEAD: Final = b"</head>"
_END_OF_FOOTER: Final = b"</footer>"

METHODS: Final = ("GET", "HEAD")
"""The HTTP methods that are answered."""

_STATIC: Final = files(__package__) / "static"


def _inline_script() -> str:
    """Return the source that the policy allows for the script in the document: its hash.

    The script loads the page again, as soon as the server answers, if a part of it could not be loaded: browsers do not
    ask again. It is in the document because it could not be loaded either.
    """
    script = (_STATIC / DOCUMENT).read_bytes().partition(b"<script>")[2].partition(b"</script>")[0]
    return f"'sha256-{b64encode(hashlib.sha256(script).digest()).decode()}'"


_POLICY: Final = (
    "default-src 'none'; connect-src 'self'; img-src 'self'; manifest-src 'self'; worker-src 'self'; "
    f"script-src 'self' {_inline_script()}; "
    "style-src 'self'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types worker; "
    "frame-ancestors "
)
_POLICY_OF_OTHERS: Final = "default-src 'none'; frame-ancestors "
"""The policy of files that are neither the document nor a worker. It is short, because a browser loads many of them."""


@dataclass(frozen=True)
class File:
    """A file of the page: its content, and its ETag (``tag``), which is the same whether the content is compressed.

    The policy lacks the sites that may frame the file.
    """

    content_type: str
    policy: str
    plain: bytes
    tag: str

    @cached_property
    def packed(self) -> bytes:
        """The content, compressed with gzip."""
        return gzip.compress(self.plain, mtime=0)


class PageFiles:
    """The files of the page, which are read once at start-up.

    ``public_url`` and ``door`` are the settings, and ``legal`` those for the footer: privacy notice, imprint and contact.
    """

    def __init__(self, public_url: str = "", door: str = "", legal: Sequence[str] = ()) -> None:
        self._door = door
        self._files = static_files(games_json(GAMES.values()) if offered() else b"")
        self._legal = legal_note(legal)
        self._public = page_address(public_url.rstrip("/")) if public_url else ""

    def respond(
        self,
        request: Request,
        room: RoomLine | None = None,
        prefix: str = "",
        *,
        encrypted: bool = False,
        leads_to: str = "",
    ) -> Response | None:
        """Return the response to a plain HTTP request. Return None if the request is a WebSocket handshake.

        ``room`` is what everybody may know about the room ``room_of(request)``. ``prefix`` is as in
        ``requested_address``. ``encrypted`` tells whether the browser uses TLS. ``leads_to`` is the room of the race
        of the standing series ``series_of(request)``.
        """
        if is_handshake(request):
            return None
        if request.method not in METHODS:
            response = refuse(http.HTTPStatus.METHOD_NOT_ALLOWED, _sentence("Only GET and HEAD are supported."))
        else:
            path, _, query = request.path.partition("?")
            address = requested_address(request.headers.get_all("Host"), self._public, prefix, encrypted=encrypted)
            if (file := self._find(path.removeprefix("/"), address, room)) is None:
                response = _elsewhere(path.removeprefix("/"), query, request.headers, leads_to)
            else:
                embedded = "embed" in parse_qs(query, keep_blank_values=True)
                response = respond_with(file, request.headers, "*" if embedded else "'none'")
        if request.method == "HEAD":
            response.body = b""
        return response

    def _find(self, name: str, address: str, room: RoomLine | None) -> File | None:
        """Return the file for a path without its first slash, or None if there is none."""
        if not name or _room_code(name):
            tags = preview_tags(address, room).encode()
            document = document_of(is_room=bool(name)).replace(_END_OF_HEAD, tags + _END_OF_HEAD)
            note = f"{door_note(self._door, address, _room_code(name))}{self._legal}".encode()
            return _document(document.replace(_END_OF_FOOTER, note + _END_OF_FOOTER))
        if name.startswith(_QR_CODE[0]) and name.endswith(_QR_CODE[1]):
            path, _, text = name.removesuffix(_QR_CODE[1]).rpartition("/")
            known, code = path.removeprefix(_QR_CODE[0].rstrip("/")), _room_code(text)
            if f"{known}/".endswith(f"/{SERIES}"):
                known, code = f"{known}/".removesuffix(f"/{SERIES}"), code and SERIES + code
            if not (code and address and PREFIX.fullmatch(known)):
                return None
            return _qr_code(f"{address}{'' if urlsplit(address).path else known}/{code}")
        return None if name == DOCUMENT else self._files.get(name)


@lru_cache(maxsize=2)
def document_of(*, is_room: bool) -> bytes:
    """Return the document for a room, or for the first screen."""
    document = (_STATIC / DOCUMENT).read_bytes()
    return _FRONT.sub(b"", document).replace(_STYLES_OF_FRONT, b"") if is_room else document


def legal_note(addresses: Sequence[str]) -> str:
    """Return a paragraph with links to what the law asks for, as far as the operator has given their addresses."""
    given = zip(("Privacy", "Imprint", "Contact"), addresses, strict=False)
    links = [(name, f"mailto:{url}" if "/" not in url else url) for name, url in given if url]
    line = " · ".join(f'<a href="{escape(url)}" rel="noopener">{name}</a>' for name, url in links)
    return f'\t<p class="legal">{line}</p>\n' if line else ""


def _elsewhere(name: str, query: str, request: Headers, leads_to: str) -> Response:
    """Return the response for a path at which there is nothing, but which may lead to a room.

    A mangled link leads to its room, and a browser otherwise to the list of rooms. The way there is relative, because a
    proxy may have removed a part of the path.
    """
    room = leads_to or _room_code(unquote(name).strip(f"{AROUND_LINKS}/"))
    if name.startswith(_OF_PROGRAMS) or (not room and "text/html" not in _listed(request, "Accept")):
        return refuse(http.HTTPStatus.NOT_FOUND, _sentence("There is no such page. / lists the rooms to watch."))
    more = "&".join(filter(None, ("" if room else "lost", query)))
    response = refuse(http.HTTPStatus.FOUND, _sentence("This page has another address."))
    response.headers["Location"] = f"{'../' * name.count('/')}{room or './'}{more and f'?{more}'}"
    return response


def door_note(door: str, page: str, room: str) -> str:
    """Return a paragraph that says how to play over ssh. It is empty without a ``door``, the setting.

    ``page`` is the address of the page, whose host the door has unless the setting names another one.
    """
    if not door:
        return ""
    address, _, host_key = door.partition(" ")
    host, _, port = address.rpartition(":")
    host = host or urlsplit(page).hostname or ""
    if not host:
        return ""
    command = f"ssh -t{'' if port == '22' else f' -p {port}'} {host} {room}".strip()
    line = f"<code>{escape(command)}</code> (host key <code>{escape(host_key)}</code>)"
    return f'\t<details class="terminals"><summary>For terminals</summary>{line}</details>\n'


def room_of(request: Request) -> str:
    """Return the code of the room whose document is requested, or an empty string."""
    return _room_code(request.path.partition("?")[0].removeprefix("/"))


def series_of(request: Request) -> str:
    """Return the code of the standing series that is requested, or an empty string."""
    path = request.path.partition("?")[0].removeprefix("/")
    return _room_code(path.removeprefix(SERIES)) if path.startswith(SERIES) else ""


def request_cost(request: Request) -> int:
    """Return the cost, in moves, of a request in addition to that of its connection.

    The server looks up the room of a document or a series, and draws each QR code, which takes as long as eight other
    requests.
    """
    if request.path.startswith(f"/{_QR_CODE[0]}"):
        return _QR_CODE_COST
    return _ROOM_COST if room_of(request) or series_of(request) else 0


def is_handshake(request: Request) -> bool:
    """Return whether a request is a WebSocket handshake.

    Some of its headers may be missing, because proxies remove them.
    """
    upgrades = ",".join(request.headers.get_all("Upgrade")).lower().split(",")
    return "websocket" in (upgrade.strip() for upgrade in upgrades) or "Sec-WebSocket-Key" in request.headers


def _room_code(text: str) -> str:
    """Return the code of a room, or an empty string if the text is no such code."""
    try:
        return clean_room(text)
    except MalformedText:
        return ""


@lru_cache(maxsize=256)
def _document(content: bytes) -> File:
    return make_file(DOCUMENT, content)


def qr_rows(text: str) -> tuple[bytes, ...]:
    """Return the rows of a QR code with its margin, with a byte for each module: 1 is dark."""
    return tuple(map(bytes, segno.make(text, error="l", micro=False).matrix_iter(border=4)))


@lru_cache(maxsize=256)
def _qr_code(link: str) -> File:
    """Return a link as a QR code, with the bright margin that readers of QR codes need."""
    picture = BytesIO()
    segno.make(link, error="m", micro=False).save(picture, "svg", xmldecl=False, omitsize=True, light="#fff")
    return make_file("qr.svg", picture.getvalue())


def table_modules() -> dict[str, bytes]:
    """Return the modules with the table of verdicts by their names: verdicts and excuses of all rows, and sentences."""
    rows = {name: (row.verdict, *row.excuses) for name, row in ROWS.items()}
    sentences = {name: row.sentence for name, row in ROWS.items()}
    return {
        ROWS_MODULE: b"export const ROWS = %b\n" % msgspec.json.encode(rows),
        SENTENCES_MODULE: b"export const SENTENCES = %b\n" % msgspec.json.encode(sentences),
    }


@lru_cache(maxsize=2)
def static_files(games: bytes) -> Mapping[str, File]:
    """Return the files by their names, with bundles instead of modules. ``games`` is the JSON of the games, if not ours."""
    contents = {found.name: found.read_bytes() for found in _STATIC.iterdir()}
    contents[_GAMES] = games or contents[_GAMES]
    contents[_GAMES_MODULE] = b"export const DESCRIBED = %b\n" % contents[_GAMES].rstrip()
    contents |= table_modules()
    contents |= {name: without_comments(contents[name]) for name in _STYLES}
    bundles = {name: bundled(name, contents) for name in (*BUNDLES, PROGRAM[-1])}
    names = contents.keys() - HOMES.keys() - {*PROGRAM} | BUNDLES.keys() | {*FOR_PROGRAMS}
    return {name: make_file(name, bundles.get(name) or contents[name]) for name in names}


def make_file(name: str, content: bytes) -> File:
    """Return a file with this content. The end of its name decides its type."""
    policy = _POLICY if name.endswith((DOCUMENT, WORKER)) else _POLICY_OF_OTHERS
    return File(_TYPES[PurePath(name).suffix], policy, content, hashlib.sha256(content).hexdigest()[:20])


def respond_with(file: File, request: Headers, ancestors: str = "'none'") -> Response:
    """Return the response with a file, or 304 if the browser has it. ``ancestors`` are the sites that may frame it."""
    headers = Headers(
        [
            ("ETag", f'W/"{file.tag}"'),  # weak, because it stands for the content with and without compression
            ("Cache-Control", "no-cache"),  # the browser asks each time whether the file has changed
            ("Vary", "Accept-Encoding"),
            ("Content-Security-Policy", file.policy + ancestors),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Connection", "close"),
        ]
    )
    if _matches(request, file.tag):
        return Response(http.HTTPStatus.NOT_MODIFIED.value, http.HTTPStatus.NOT_MODIFIED.phrase, headers)
    body = file.plain
    if _accepts_gzip(request) and len(file.packed) < len(body):
        headers["Content-Encoding"], body = "gzip", file.packed
    headers["Content-Type"] = file.content_type
    headers["Content-Length"] = str(len(body))
    return Response(http.HTTPStatus.OK.value, http.HTTPStatus.OK.phrase, headers, body)


def refuse(status: http.HTTPStatus, reason: File) -> Response:
    """Return the response that refuses a request. ``reason`` is for people or programs."""
    response = respond_with(reason, Headers())
    response.status_code, response.reason_phrase = status.value, status.phrase
    del response.headers["ETag"], response.headers["Cache-Control"]
    response.headers["Cache-Control"] = "no-store"
    if status is http.HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = ", ".join(METHODS)
    return response


def _sentence(text: str) -> File:
    return make_file("sentence.txt", f"{text}\n".encode())


def _listed(headers: Headers, name: str) -> list[str]:
    """Return the elements of a header whose value is a comma-separated list."""
    return [element.strip() for element in ",".join(headers.get_all(name)).split(",")]


def _accepts_gzip(headers: Headers) -> bool:
    """Return whether a client lists gzip as an encoding that it accepts, and not with the weight 0."""
    listed = ["".join(element.lower().split()).partition(";") for element in _listed(headers, "Accept-Encoding")]
    return any(encoding == "gzip" and not re.fullmatch(r"q=0(\.0*)?", weight) for encoding, _, weight in listed)


def _matches(headers: Headers, tag: str) -> bool:
    """Return whether the browser already has the current content, compressed or not. ``tag`` is its ETag."""
    held = {element.removeprefix("W/").strip('"') for element in _listed(headers, "If-None-Match")}
    return tag in held or "*" in held
