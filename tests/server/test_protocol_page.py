"""PROTOCOL.md matches the code: messages, fields, bounds, codes and numbers."""

from __future__ import annotations

import re
from typing import Any, Final, get_args, get_type_hints

from msgspec import Struct
from websockets import http11

from samedeal import names, options
from samedeal.cards import DOWN, HIDDEN, Card
from samedeal.moves import DEAL, DRAW, TRANSFER
from samedeal.options import Options
from samedeal.protocol import codec, messages
from samedeal.protocol.messages import (
    Act,
    Begin,
    Join,
    ProgressUpdate,
    Tally,
    ToClient,
    ToServer,
    Watch,
)
from samedeal.protocol_codes import PERMANENT_CLOSE_CODES, CloseCode, NoticeCode, RefusalCode
from samedeal.race import due_times, progress, seats, values
from samedeal.verdict_rows import ROWS
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import NETWORK_FACTORS, WINDOW
from samedeal_server.connections import client_socket
from samedeal_server.gateway import rate_limits, request_handlers
from samedeal_server.gateway.room_entry import RoomEntry
from samedeal_server.rooms import cached_value, progress_updates, room_list
from samedeal_server.rooms.moves import MoveService
from samedeal_server.store import sessions, store
from tests.server.live_nodes import NodeMaker
from tests.server.pages import PAGE, cells, check_numbers, check_page, documented_fields, fields, section
from tests.server.plain_http import ask
from tests.shared.protocol.samples import SAMPLES

FLAT: Final = " ".join(PAGE.split())

REQUESTS: Final = get_args(ToServer)
TO_CLIENT: Final = get_args(ToClient)
MAPS: Final = [
    kind
    for kind in vars(messages).values()
    if isinstance(kind, type) and issubclass(kind, Struct) and kind.__module__ == messages.__name__
    if not issubclass(kind, messages.Message)
]
"""The maps that messages contain."""


def test_page_has_exactly_the_messages_maps_and_codes() -> None:
    answers = {kind: kind.__struct_config__.omit_defaults for kind in TO_CLIENT if kind is not ProgressUpdate}
    check_page(REQUESTS, answers, MAPS, RefusalCode, messages.SUBPROTOCOL, also=("Options", "ProgressUpdate"))


def test_page_has_the_numbers_of_requests() -> None:
    assert "a **request** with an `id` that the client chooses, an integer from 0 to 9007199254740991." in FLAT
    for kind in REQUESTS:
        assert fields(kind, with_defaults=False)[0] == ["`id`", "integer, 0 to 9007199254740991"]


def test_page_says_what_answers_each_request() -> None:
    handlers: dict[type, Any] = {Join: RoomEntry.join, Watch: RoomEntry.watch}
    handlers |= {Begin: MoveService.begin, Act: MoveService.act}
    answered: dict[str, set[str]] = {}
    for kind, request in request_handlers.REQUESTS.items():
        answer = get_type_hints(handlers.get(kind, request.handle))["return"].__name__
        assert f"Answer: `{answer}`" in section(f"### {kind.__name__}"), kind
        answered.setdefault(answer, set()).add(kind.__name__)
    for answer, kinds in answered.items():
        sentence = (
            " ".join(section(f"### {answer}").split()).partition(f"`{answer.lower()}` answers ")[2].partition(".")[0]
        )
        assert set(re.findall(r"`(\w+)`", sentence)) == kinds, answer


def test_page_says_which_messages_name_no_room() -> None:
    nameless = {kind.__name__ for kind in TO_CLIENT if not {"to", "room"} & set(kind.__struct_fields__)}
    sentence = re.search(r"[^.]* name no room:", FLAT)
    assert sentence
    assert set(re.findall(r"`(\w+)`", sentence[0])) == nameless


def test_samples_have_bytes_as_long_as_the_page_says() -> None:
    """Also those in lists and maps."""
    for sample in SAMPLES:
        _check_lengths(sample)


def _check_lengths(value: Struct) -> None:
    """Check the bytes in a message or map. What may be empty is so in some samples."""
    name = type(value).__name__
    _, *texts = re.split(rf"\n(?:### {name}\n|A map `{name}`|`{name}` is)", PAGE)
    meanings = {row[0].strip("`"): row[-1] for row in cells(texts[0])} if texts else {}
    for field in value.__struct_fields__:
        found = getattr(value, field)
        for each in found if isinstance(found, tuple) else (found,):
            if isinstance(each, Struct):
                _check_lengths(each)
            elif isinstance(each, bytes) and field not in ("piles", "seen", "text", "qr"):
                told = re.match("([0-9]+) bytes", meanings[field])
                assert told, (name, field)
                assert len(each) == int(told[1]) or (not each and "empty" in meanings[field]), (name, field)


async def test_page_has_the_paths_that_are_answered(node: NodeMaker) -> None:
    one = await node()
    paths = [path for row in cells(section("## The page for browsers")) for path in re.findall("`([^`]+)`", row[0])]
    assert len(paths) > 6
    for path in paths:
        asked = path.replace("ROOM", "friday").replace("RACE", "friday.20261122-140543").replace("...", "games")
        assert (await ask(one.url, asked)).status == 200, path
    assert (await ask(one.url, "/api/")).status == 404


def test_page_has_progress_as_the_fields_of_a_tally() -> None:
    seat, *others = fields(ProgressUpdate, with_defaults=False)
    text = section("### ProgressUpdate")
    assert documented_fields(text, with_defaults=False) == [seat]
    assert "The other fields are those of `Tally`, apart from `player` and `began_at`." in text
    assert others == fields(Tally, with_defaults=False)[1:-1]


def test_page_says_where_each_fact_of_a_verdict_is() -> None:
    points = re.split(r"^- ", section("#### What a client checks"), flags=re.MULTILINE)[1:]
    told = [re.findall(r"\(((?:\d\d?,\s+)*\d\d?)\)", point) for point in points]
    assert all(told)
    assert {int(each) for facts in told for numbers in facts for each in numbers.split(",")} == {
        row.fact for row in ROWS.values()
    }


def test_page_has_all_options_with_bounds() -> None:
    assert documented_fields(section("### Options"), with_defaults=True) == fields(Options, with_defaults=True)


def test_page_has_every_notice() -> None:
    assert set(NoticeCode) == set(re.findall(r"`([a-z_]+)`:", section("### Notice")))


def test_page_has_every_close_code() -> None:
    rows = {code: row for row in cells(section("## Close codes")) for code in map(int, row[0].split(", "))}
    assert set(rows) == set(CloseCode) - {CloseCode.NOT_LOGGED_IN} | {1000, 1001, 1002, 1007, 1009, 1011}
    assert {code for code, row in rows.items() if row[2] == "no"} == PERMANENT_CLOSE_CODES


def test_page_has_the_numbers_of_the_code() -> None:
    modules = (
        *(cached_value, client_socket, codec, http11, names, options, progress),
        *(progress_updates, rate_limits, room_list, seats, sessions, values),
    )
    known: dict[str, Any] = {module.__name__.rpartition(".")[2]: module for module in modules}
    known |= {"limits": Limits(), "WINDOW": WINDOW, "NETWORK_FACTORS": NETWORK_FACTORS}
    check_numbers("protocol_numbers", known, PAGE)
    assert due_times.ROOM_LIFETIME == 3_600_000  # "an hour"
    assert due_times.EMPTY_LIFETIME == 300_000  # "five minutes"
    assert seats.SCHEDULED_ABSENT_AFTER == 3_600_000  # "for an hour"
    assert store.CLOSED_LIFETIME == 60  # "within a minute"
    assert "ping every 20 seconds" in FLAT
    assert client_socket.PING_INTERVAL == 20


def test_page_has_the_cost_of_every_request() -> None:
    text = FLAT.partition("As requests count: ")[2].partition(". ")[0]
    costs = {name: int(part.split()[-1]) for part in text.split("; ") for name in re.findall(r"`(\w+)`", part)}
    assert costs == {kind.__name__: request_handlers.REQUESTS[kind].cost for kind in REQUESTS}


def test_page_has_the_bits_of_a_card() -> None:
    assert f"`{int(Card.parse('TH')):#x}` is the ten of hearts, face up, and `{Card.parse('TH') | DOWN:#x}`" in FLAT
    assert f"is `{HIDDEN:#x}`, whatever it is" in FLAT
    suits = re.findall(r"`0x([0-3])0` (\w+)", section("## Boards"))
    assert [Card.parse(f"A{suit[0].upper()}").suit for _, suit in suits] == [int(digit) for digit, _ in suits]


def test_page_has_the_text_of_a_move() -> None:
    pattern = TRANSFER.pattern.replace("(?:", "(")
    assert f"    {DRAW} | {DEAL} | {pattern}\n" in PAGE
