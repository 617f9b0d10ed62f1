from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from typing import Any, get_args

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from samedeal.errors import BadOptions, MalformedFrame, MalformedText, SamedealError, UnknownGame, UnknownRequest
from samedeal.options import Options
from samedeal.protocol.admin import FromOperator, ToOperator
from samedeal.protocol.codec import LARGEST_FRAME, decode_to_client, decode_to_server, encode, pack, request_id, unpack
from samedeal.protocol.messages import (
    Ping,
    Seat,
    ToClient,
    ToServer,
)
from tests.golden.golden_files import assert_golden, assert_sentences
from tests.shared.protocol.samples import entries
from tests.shared.protocol.strategies import TO_SERVER, fields_of, plain, to_client, to_server
from tests.shared.raised import error_of


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("frames.txt", (ToServer, ToClient)), ("admin-frames.txt", (FromOperator, ToOperator))],
)
def test_frames_match_golden_file(name: str, kinds: tuple[Any, ...]) -> None:
    """Each message as fields and as the bytes of its frame."""
    samples = entries(name)
    assert_golden(name, "\n".join(map(str, samples)))
    assert {entry.name for entry in samples} == {kind.__name__ for union in kinds for kind in get_args(union)}
    for entry in samples:
        assert type(entry.message).__name__ == entry.name
        assert entry.decode(encode(entry.message)) == entry.message
        assert msgpack.unpackb(encode(entry.message)) == json_lists(fields_of(entry.message))


def json_lists(value: Any) -> Any:
    """A value with lists instead of tuples, which are the same in msgpack."""
    match value:
        case dict():
            return {key: json_lists(inner) for key, inner in value.items()}
        case list() | tuple():
            return [json_lists(inner) for inner in value]
        case _:
            return value


@given(to_server)
def test_message_to_server_round_trips(message: ToServer) -> None:
    frame = encode(message)
    assert decode_to_server(frame) == message
    assert len(frame) <= LARGEST_FRAME
    assert request_id(frame) == message.id


@given(to_client)
def test_message_to_client_round_trips(message: ToClient) -> None:
    assert decode_to_client(encode(message)) == message


@given(st.one_of(to_server, to_client))
def test_messages_of_both_sides_are_disjoint(message: ToServer | ToClient) -> None:
    decode: Any = decode_to_client if isinstance(message, TO_SERVER) else decode_to_server
    with pytest.raises(MalformedFrame):
        decode(encode(message))


@given(to_server)
def test_field_with_default_may_be_left_out(message: ToServer) -> None:
    fields = fields_of(message)
    for name, value in fields_of(type(message)(**{n: getattr(message, n) for n in required(message)})).items():
        if name not in ("type", *required(message)) and fields[name] == value:
            del fields[name]
    assert decode_to_server(msgpack.packb(fields)) == message


def required(message: Struct) -> list[str]:
    defaults = message.__struct_defaults__
    names = message.__struct_fields__
    keyword_only = len(names) - len(defaults)
    return [
        name for at, name in enumerate(names) if at < keyword_only or "NODEFAULT" in repr(defaults[at - keyword_only])
    ]


@given(to_server, st.text(max_size=10), plain)
def test_unknown_field_is_ignored(message: ToServer, name: str, value: Any) -> None:
    """A newer client may send more fields."""
    fields = {**fields_of(message), f"x{name}": value}
    assert decode_to_server(msgpack.packb(fields)) == message


MALFORMED = {
    "empty": b"",
    "no msgpack": b"\xc1",
    "cut short": encode(Ping(id=1))[:-1],
    "numbers for keys": b"\x81\x01\x01",
    "an extension": b"\xc7\x01\x05\x00",
    "a time": b"\xd6\xff\x00\x00\x00\x00",
    "bad UTF-8": b"\x81\xa4type\xa2\xff\xfe",
    "a huge list": b"\xdd\xff\xff\xff\xff",
    "a huge map": b"\xdf\xff\xff\xff\xff",
    "deep": b"\x91" * 5000 + b"\x01",
    "two messages": encode(Ping(id=1)) * 2,
    "no map": b"\x01",
    "a list": b"\x91\x01",
    "less deep": b"\x91" * 500 + b"\x01",
    "an empty map": b"\x80",
}


@pytest.mark.parametrize("frame", MALFORMED.values(), ids=MALFORMED)
def test_malformed_frame_is_rejected(frame: bytes) -> None:
    for decode in (decode_to_server, decode_to_client):
        with pytest.raises(MalformedFrame):
            decode(frame)
    assert request_id(frame) == -1


@pytest.mark.parametrize(
    "head",
    [
        b"\xdc\x01\x00",
        b"\xdc\x10\x00",
        b"\xdc\xff\xff",
        b"\xdd\x00\x00\x01\x00",
        b"\xdd\xff\xff\xff\xff",
        b"\xde\x00\x40\xa1a",
        b"\xdf\xff\xff\xff\xff\xa1a",
        b"\xc6\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x05",
        b"\x9f",
        b"\x8f\xa1a",
        b"\x91",
        b"\x81\xa1a",
    ],
)
def test_false_length_costs_little_memory(head: bytes) -> None:
    """Invariant: everything is bounded. The decoder allocates memory for real content, not for declared lengths."""
    frame = (head * LARGEST_FRAME)[:LARGEST_FRAME]
    tracemalloc.start()
    try:
        assert request_id(frame) == -1
        assert answer(decode_to_server, frame)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 200 * LARGEST_FRAME


def test_last_of_duplicate_fields_counts() -> None:
    assert decode_to_server(b"\x83\xa4type\xa4ping\xa2id\x01\xa2id\x02") == Ping(id=2)


def test_text_frame_is_rejected() -> None:
    for decode in (decode_to_server, decode_to_client):
        with pytest.raises(MalformedFrame):
            decode('{"type": "ping", "id": 1}')
    assert request_id('{"type": "ping", "id": 1}') == -1


WRONG: list[dict[str, Any]] = [
    {"type": b"ping", "id": 1},
    {"type": 1, "id": 1},
    {"type": "ping"},
    {"type": "ping", "id": -1},
    {"type": "ping", "id": 1 << 53},
    {"type": "ping", "id": 1.5},
    {"type": "ping", "id": True},
    {"type": "ping", "id": "1"},
    {"type": "ping", "id": None},
    {"type": "hello", "id": 1, "name": "x" * 129},
    {"type": "hello", "id": 1, "name": b"ana"},
    {"type": "join", "id": 1, "room": "x" * 25},
    {"type": "join", "id": 1, "room": "x", "revision": -2},
    {"type": "act", "id": 1, "revision": 0, "action": "x" * 17},
    {"type": "act", "id": 1, "revision": -1, "action": "3 5"},
    {"type": "ready", "id": 1, "ready": 1},
    {"type": "create", "id": 1, "options": None},
    {"type": "recover", "id": 1, "revision": 0, "actions": [], "receipt": b""},
    {"type": "recover", "id": 1, "revision": 0, "actions": [{}], "receipt": b""},
    {"type": "act", "id": 1},
    {"type": "nonsense"},
    {"type": "nonsense", "id": "1"},
    {"type": "welcome", "to": 1},
]

UNKNOWN: list[dict[str, Any]] = [
    {"type": "nonsense", "id": 1},
    {"type": "welcome", "id": 1, "to": 1},
    {"type": "\x1b[2J" * 500, "id": 1},
]


@pytest.mark.parametrize("fields", UNKNOWN, ids=lambda fields: fields["type"][:8])
def test_request_of_another_version_is_recognized(fields: dict[str, Any]) -> None:
    with pytest.raises(UnknownRequest):
        decode_to_server(msgpack.packb(fields))


IMPOSSIBLE_ROOMS: list[tuple[dict[str, Any], type[SamedealError]]] = [
    ({"games": ["hamlet"]}, UnknownGame),
    ({"deal": "tomorrow"}, MalformedText),
    ({"start": "at"}, BadOptions),
    ({"hosted": False}, BadOptions),
    ({"players": 17}, BadOptions),
    ({"players": "two"}, BadOptions),
    ({"undo": "maybe"}, BadOptions),
    ({"hints": "yes"}, BadOptions),
    ({"games": []}, BadOptions),
    ({"deal": "x" * 33}, BadOptions),
    ({"speed": 2}, BadOptions),
    ({"speed\x1b[2J" * 100: 2}, BadOptions),
]


def create(options: dict[str, Any]) -> bytes:
    """The frame of a request for a room."""
    frame: bytes = msgpack.packb({"type": "create", "id": 1, "options": options})
    return frame


@pytest.mark.parametrize(("options", "error"), IMPOSSIBLE_ROOMS)
def test_impossible_room_is_rejected(options: dict[str, Any], error: type[SamedealError]) -> None:
    assert type(error_of(decode_to_server, create(options))) is error


def test_wording_of_rejected_frames() -> None:
    frames: dict[str, bytes | str] = {**MALFORMED, "text": '{"type": "ping", "id": 1}'}
    frames |= {str(fields)[:60]: msgpack.packb(fields) for fields in [*WRONG, *UNKNOWN]}
    frames |= {str(options)[:60]: create(options) for options, _ in IMPOSSIBLE_ROOMS}
    errors = {case: error_of(decode_to_server, frame) for case, frame in frames.items()}
    # What msgpack says in parentheses depends on its version.
    lines = [
        f"{error.code}, {case}\t{re.sub(r'allow [(].+[)]', 'allow (...)', str(error))}"
        for case, error in errors.items()
    ]
    assert_sentences("engine: frames", lines)


def answer(decode: Callable[[bytes], object], frame: bytes) -> str:
    """The sentence that refuses a frame; empty if the frame is valid."""
    try:
        decode(frame)
    except (MalformedFrame, MalformedText, UnknownGame, UnknownRequest, BadOptions) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", [b"", b"deal", 7, None, 1.5])
def test_option_whose_name_is_no_text_is_refused(name: Any) -> None:
    frame = msgpack.packb({"type": "create", "id": 0, "options": {name: None}})
    with pytest.raises(SamedealError):
        decode_to_server(frame)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"type": "nonsense", "id": 7}, 7),
        ({"id": 0}, 0),
        ({"id": (1 << 53) - 1}, (1 << 53) - 1),
        ({"id": 1 << 53}, -1),
        ({"id": -1}, -1),
        ({"id": True}, -1),
        ({"id": 1.0}, -1),
        ({"id": "7"}, -1),
        ({"id": [7]}, -1),
        ({b"id": 7}, -1),
        ({"to": 7}, -1),
        ([7], -1),
        (7, -1),
        (None, -1),
    ],
)
def test_request_id_of_malformed_frame_is_found(fields: Any, expected: int) -> None:
    assert request_id(msgpack.packb(fields)) == expected


def test_packed_value_round_trips() -> None:
    for value in (Options(), (Seat(player="p", name="Ana", seat=0),), [1, b"2", "3"], {"a": 1}):
        kind: Any = type(value) if not isinstance(value, tuple) else tuple[Seat, ...]
        assert unpack(pack(value), kind) == value
    with pytest.raises(ValueError, match="Expected `str`, got `int`"):
        unpack(pack(1), str)
    with pytest.raises(ValueError, match="it is not msgpack"):
        unpack(b"\xc1", str)
