"""The page for browsers as HTTP: which files are served where, with which headers, and what is refused."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable
from html import unescape
from importlib.resources import files
from io import BytesIO
from typing import Any

import msgspec
import pytest
import segno

from samedeal.options import Options, WantedOptions
from samedeal.protocol.messages import Done, RoomLine, Start
from samedeal_server.config.limits import Limits
from samedeal_server.page.bundles import BUNDLES, HOMES, bundled
from samedeal_server.page.files import (
    DOCUMENT,
    FOR_PROGRAMS,
    ROWS_MODULE,
    SENTENCES_MODULE,
    WORKER,
    document_of,
    door_note,
    make_file,
    static_files,
)
from samedeal_server.page.previews import preview_tags
from tests.golden.golden_files import assert_answered
from tests.server.live_nodes import NodeMaker
from tests.server.plain_http import ask
from tests.server.races import seated
from tests.shared.javascript import check_syntax, needs_node

STATIC = files("samedeal_server.page") / "static"
NAMES = sorted(file.name for file in STATIC.iterdir() if not file.name.endswith(".png"))
PICTURES = sorted(file.name for file in STATIC.iterdir() if file.name.endswith(".png"))
"""Icons and the picture of previews, which no script loads."""

SCRIPTS = {name for name in NAMES if name.endswith((".js", ".mjs"))} - {"headless.mjs", "samedeal.mjs"}
LARGEST_FRONT = 48 * 1024
"""Maximum size, in bytes, of all files that a browser loads for the first screen, with its board, compressed."""

LARGEST_WATCHING = 40 * 1024
"""Maximum size, in bytes, of all files together that a browser loads to watch a race, compressed."""

LARGEST_RACING = 68 * 1024
"""Maximum size, in bytes, of all files that a racer loads from the link to the last move, compressed."""

LARGEST = 100 * 1024
"""Maximum size, in bytes, of all files together, compressed: also those of the replay, of checks, and of the solver."""


FILES = static_files(b"")
"""The files as they are sent."""


def packed(names: Iterable[str]) -> int:
    return sum(len(FILES[name].packed) for name in names)


def imported(name: str) -> set[str]:
    """A bundle and all bundles that it imports when it is loaded."""
    found, left = set[str](), {name}
    while left:
        found.add(bundle := left.pop())
        left |= set(re.findall(r'^import.* from "\./(.*)"', FILES[bundle].plain.decode(), re.MULTILINE)) - found
    return found


def test_page_is_small() -> None:
    """Who watches a race loads neither a board to play on nor a replay.

    Until the race has ended, nobody loads the check of the deal, with the solver.
    """
    names = {name for name in FILES if not name.endswith((".png", ".json"))} - {*FOR_PROGRAMS, DOCUMENT}
    front, room = (len(make_file(DOCUMENT, document_of(is_room=is_room)).packed) for is_room in (False, True))
    both = names - BUNDLES.keys() - {"front.css", "page.css"} | imported("page.js")
    assert front + packed(both | {"page.css", "front.css"} | imported("front.js")) <= LARGEST_FRONT
    assert room + packed(both | {"page.css"} | imported("race_screen.js")) <= LARGEST_WATCHING
    assert room + packed(both | {"page.css", WORKER} | imported("seat.js")) <= LARGEST_RACING
    assert front + packed(names) <= LARGEST


def test_bundles_are_named_where_they_are_first_needed() -> None:
    """Otherwise a browser would find one after the other, which takes seconds on a slow network."""
    document = (STATIC / "index.html").read_text()
    assert set(re.findall(r'"modulepreload" href="(.*?)"', document)) == (all_screens := imported("page.js"))
    (named,) = re.findall(r'(\["front.*?\]) : (\[.*?\])', document)
    front, watching = ({f"{name}.js" for name in json.loads(names)} for names in named)
    assert front == imported("front.js") - all_screens
    assert watching == imported("race_screen.js") - all_screens
    assert imported("seat.js") - all_screens - watching == {"seat.js", "witness.js", "table.js", "dealing.js"}


def test_every_module_is_in_one_bundle_after_those_that_it_imports() -> None:
    modules = [module for modules in BUNDLES.values() for module in modules]
    assert sorted(modules) == sorted(SCRIPTS | {ROWS_MODULE, SENTENCES_MODULE})
    for module in SCRIPTS:
        bundle = BUNDLES[HOMES[module]]
        text = (STATIC / module).read_text()
        near = set(re.findall(r' from "\./(.*)"', text)) & set(bundle)
        assert near <= set(bundle[: bundle.index(module)]), module
        loaded = re.findall(r"\bimport\((.*?)\)", text)
        assert all(re.fullmatch(r'"\./[a-z_]+\.js"', name) for name in loaded), module


def test_every_bundle_is_used() -> None:
    loaded = {"page.js", WORKER}
    for name in BUNDLES:
        loaded |= set(re.findall(r'import\("\./(.*?)"\)', FILES[name].plain.decode()))
    assert set().union(*map(imported, loaded)) == BUNDLES.keys()


@needs_node
def test_bundle_is_a_module() -> None:
    """It would not be one if two of its modules had the same name at their top level."""
    check_syntax(*(FILES[bundle].plain for bundle in (*BUNDLES, *FOR_PROGRAMS)))


def test_unknown_import_or_export_is_refused() -> None:
    for line in (
        'import "./dom.js"',
        'import * as dom from "./dom.js"',
        'import dom from "./dom.js"',
        'import {byId as id} from "./dom.js"',
        "export default 1",
        "export {one}",
        "export let one",
        'export * from "./dom.js"',
        "export const {one} = two",
    ):
        with pytest.raises(ValueError, match=r"page\.js"):
            bundled("page.js", dict.fromkeys(SCRIPTS, b"") | {"page.js": line.encode()})


def test_bundle_is_its_modules_one_after_the_other() -> None:
    hashes = b'import {a, b as c} from "./dom.js"\n\nexport const next = 1\n'
    piles = b'import {next} from "./hash.js"\nimport { a } from "./link.js"\nimport("./hand.js")\nexport class X {}\n'
    sources = dict.fromkeys(BUNDLES["piles.js"], b"") | {"hash.js": hashes, "piles.js": piles}
    assert bundled("piles.js", sources).decode().splitlines() == [
        'import {a, b as c} from "./page.js"',
        *("export const next = 1", 'import("./dealing.js")', "export class X {}"),
    ]


def test_worker_is_named() -> None:
    assert re.findall(r'new URL\("(.*?)"', (STATIC / "start_worker.js").read_text()) == [WORKER]


def test_form_offers_room_options() -> None:
    """The first value of each is the usual one, apart from the deal."""
    fields = re.findall(r'<select name="(\w+)">(.+)</select>', (STATIC / "index.html").read_text())
    assert len(fields) > 5
    for name, choices in fields:
        if name in ("window", "every"):  # of the request, not of the options
            continue
        values = [json.loads(one or other) for one, other in re.findall(r"""value=(?:'(.+?)'|"(.+?)")""", choices)]
        offered = [getattr(msgspec.convert({name: value}, WantedOptions), name) for value in values]
        assert len(set(offered)) > 1
        assert name == "deal" or offered[0] == getattr(Options(), name)


def test_what_looks_like_a_comment_in_a_text_is_kept() -> None:
    """Anybody may write the texts of games."""
    games = b'{"a": "b = c, import(d) // e"}'
    assert b"export const DESCRIBED = " + games + b"\n" in static_files(games)["piles.js"].plain


def test_page_has_no_markup_from_text() -> None:
    """Scripts set text and attributes, so that names and rooms can be anything."""
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|DOMParser")
    assert [name for name in NAMES if forbidden.search((STATIC / name).read_text())] == []


def test_page_loads_nothing_from_elsewhere() -> None:
    texts = {name: (STATIC / name).read_text().replace("http://www.w3.org/2000/svg", "") for name in NAMES}
    assert [name for name, text in texts.items() if re.search(r"https?://\w|url\(|@import", text)] == []


async def test_files_are_served(node: NodeMaker) -> None:
    one = await node()
    for name in {*NAMES, *PICTURES} - {DOCUMENT, "headless.mjs"} - SCRIPTS | BUNDLES.keys():
        answer = await ask(one.url, f"/{name}")
        assert answer.status == 200, name
        assert answer.body == FILES[name].plain


SETTINGS: dict[str, dict[str, Any]] = {
    "usual": {},
    "behind a trusted proxy": {"trusted_proxies": ("127.0.0.1",)},
    "at wss://a/cards": {"public_url": "wss://a/cards"},
    "at samedeal://a": {"public_url": "samedeal://a"},
    "without the page": {"page": False},
    "with one connection too many from the address": {"limits": Limits(connections_per_address=1)},
    "with no connection left": {"limits": Limits(connections=1)},
}
TOLD = ("allow", "location", "content-encoding", "retry-after", "access-control-allow-origin")


async def test_requests_are_answered(node: NodeMaker) -> None:
    nodes = {name: await node(**settings) for name, settings in SETTINGS.items()}
    for one in nodes.values():
        await one.player()

    async def answered(settings: str, request: str) -> str:
        line, *headers = request.split(" | ")
        method, path = line.split(" ")
        more = {name.replace("-", "_"): value.strip() for name, _, value in (each.partition(":") for each in headers)}
        url = nodes[settings].url
        answer = await ask(url, path, method, **more)
        told = [f"{answer.status} {answer.headers['content-type']}"]
        told += [f"{name}: {answer.headers[name]}" for name in TOLD if name in answer.headers]
        assert method != "HEAD" or not answer.body
        if answer.status == 200 and method != "HEAD":
            if (ancestors := answer.policy["frame-ancestors"]) != "'none'":
                told.append(f"framed by {ancestors}")
            if "html" in answer.headers["content-type"]:
                picture = preview(answer.body).get("image", "")
                link = picture.replace("preview.png", "friday")
                told.append(f"picture {picture}")
                for at in ("", "/cards"):  # the path at which the browser has the page
                    code = await ask(url, f"/qr{at}/friday.svg", **more)
                    below = link.replace("/friday", f"{at}/friday") if "/cards" not in link else link
                    assert (code.status, code.body) == (200, svg(below)) if link else code.status == 404
        return ", ".join(told)

    refused = nodes["usual"].metric("handshakes_refused_total", reason="malformed")
    await assert_answered("page_requests", answered)
    assert nodes["usual"].metric("handshakes_refused_total", reason="malformed") == refused + 2


async def test_compressed_file_is_the_same(node: NodeMaker) -> None:
    one = await node()
    for path in ("/page.css", "/friday"):
        plain, packed = await ask(one.url, path), await ask(one.url, path, Accept_Encoding="gzip")
        assert gzip.decompress(packed.body) == plain.body
        assert packed.headers["etag"] == plain.headers["etag"]
        assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


async def test_unchanged_file_is_not_sent_again(node: NodeMaker) -> None:
    one = await node()
    tag = (await ask(one.url, "/page.js", Accept_Encoding="gzip")).headers["etag"]
    for held in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        for encoding in ("", "gzip"):
            answer = await ask(one.url, "/page.js", If_None_Match=held, Accept_Encoding=encoding)
            assert (answer.status, answer.body) == (304, b"")
            assert (answer.headers["etag"], answer.headers["vary"]) == (tag, "Accept-Encoding")
            assert "content-encoding" not in answer.headers
    assert (await ask(one.url, "/page.js", If_None_Match='"other"')).status == 200


async def test_headers_protect_the_page(node: NodeMaker) -> None:
    """Scripts come only from the page. The one policy for trusted types gives only the address of the worker."""
    one = await node()
    scripts = ("worker-src", "script-src", "require-trusted-types-for", "trusted-types")
    for path in ("/friday", f"/{WORKER}", "/page.js", "/nothing.js"):
        answer = await ask(one.url, path)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.policy["default-src"] == "'none'"
        assert "unsafe" not in answer.headers["content-security-policy"]
        told = [re.sub(r"[\w+/]{43}=", "", answer.policy.get(name, "")) for name in scripts]
        if path in ("/friday", f"/{WORKER}"):
            assert told == ["'self'", "'self' 'sha256-'", "'script'", "worker"]
        else:  # other files are sent without what they do not need
            assert told == [""] * 4


@pytest.mark.parametrize(("path", "served"), [("/page.js", 20), ("/", 20), ("/friday", 12), ("/qr/friday.svg", 2)])
async def test_requests_are_charged_what_they_cost(node: NodeMaker, path: str, served: int) -> None:
    one = await node(Limits(address_rate=0.001, address_burst=100))
    assert [(await ask(one.url, path)).status for _ in range(served + 1)] == [200] * served + [429]


def preview(document: bytes) -> dict[str, str]:
    """The texts of the preview in a document. The document contains nothing else that the file does not."""
    without = re.sub(rb"<meta property=.*\n", b"", document)
    assert without == document_of(is_room=b'id="front"' not in without)
    found = re.findall(r'<meta property="og:(.*?)" content="([^"<>]*)">', document.decode())
    return {name: unescape(text) for name, text in found}


async def test_pasted_link_has_a_preview(node: NodeMaker) -> None:
    one = await node()
    (mira,) = await seated(one, names=["mira"], room="friday", games=("athena",), players=3)
    shown = preview((await ask(one.url, "/friday?embed", Host="Cards.example.org:81")).body)
    assert shown["title"] == "Athena, room friday"
    assert shown["description"].startswith("2 of 3 seats free.")
    assert "url" not in shown  # it would be wrong if the server does not know below which path a proxy serves it
    picture = await ask(one.url, shown["image"].removeprefix("http://cards.example.org:81"))
    assert (picture.status, picture.headers["content-type"]) == (200, "image/png")
    tag = (await ask(one.url, "/friday")).headers["etag"]
    assert (await ask(one.url, "/friday", If_None_Match=tag)).status == 304
    await mira.expect(Done, Start)
    await mira.dealt()
    answer = await ask(one.url, "/friday", If_None_Match=tag)
    assert preview(answer.body)["description"].startswith("The race is on: 1 player,")


async def test_preview_of_a_private_room_tells_nothing(node: NodeMaker) -> None:
    one = await node()
    mira = await one.player("mira")
    await mira.create("friday", games=("athena",), passphrase="sesam open")
    private, missing = [(await ask(one.url, f"/{room}")).body for room in ("friday", "monday")]
    assert preview(private)["title"] == "Samedeal"
    assert private == missing.replace(b"monday", b"friday")


def test_texts_in_a_preview_are_only_text() -> None:
    line = RoomLine(room='"><b>', game="athena", deal="random", phase="open", players=1, seats=2, spectators=True)
    tags = preview_tags('https://a/"><script>', line)
    assert "<b>" not in tags
    assert "<script>" not in tags
    assert unescape(tags).count('"><b>') == 1


def svg(link: str) -> bytes:
    """The QR code of a link as the page shows it."""
    segno.make(link, error="m", micro=False).save(
        expected := BytesIO(), "svg", xmldecl=False, omitsize=True, light="#fff"
    )
    return expected.getvalue()


async def test_footer_has_what_the_law_asks_for(node: NodeMaker) -> None:
    legal = {"privacy_url": "https://a.example/p?x=1&y", "imprint_url": "https://a.example/i", "contact": "a@a.example"}
    one, other = await node(**legal), await node(imprint_url="https://a.example/i")
    text = (await ask(one.url, "/friday")).body.decode()
    links = dict(re.findall(r'<a href="([^"]*)" rel="noopener">(\w+)</a>', text))
    expected = {legal["privacy_url"]: "Privacy", legal["imprint_url"]: "Imprint", "mailto:a@a.example": "Contact"}
    assert {unescape(url): name for url, name in links.items()} == expected
    assert text.index("legal") < text.index("</footer>")
    assert (await ask(other.url, "/")).body.decode().count("noopener") == 1


def test_page_names_the_door_with_its_host_key() -> None:
    for door, page, room, command in [
        ("", "https://a", "friday", ""),
        (":2222 SHA256:k", "https://a:7777", "friday", "ssh -t -p 2222 a friday"),
        ("b:22 SHA256:k", "https://a", "", "ssh -t b"),
        (":2222 SHA256:k", "", "friday", ""),
    ]:
        note = door_note(door, page, room)
        assert (f"<code>{command}</code>" in note, "SHA256:k" in note) == (bool(command), bool(command))
