from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from random import Random
from typing import Any, get_args

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samedeal.errors import BadOptions, MalformedFrame, MalformedText, UnknownGame, UnknownRequest
from samedeal.options import Options
from samedeal.protocol.admin import FromOperator, ToOperator
from samedeal.protocol.codec import LARGEST_FRAME, decode_to_client, decode_to_server, encode, pack, request_id, unpack
from samedeal.protocol.messages import Ping, Seat, ToClient, ToServer
from samedeal_link.connection.sanitize import decode_sanitized
from tests.fuzz.damage import damaged_bytes, damaged_message
from tests.golden.golden_files import assert_answers, assert_golden
from tests.shared.protocol.samples import entries
from tests.shared.protocol.strategies import TO_SERVER, fields_of, plain, to_client, to_server
from tests.shared.raised import error_of


@pytest.mark.parametrize(
    ("name", "kinds"), [("frames.txt", (ToServer, ToClient)), ("admin-frames.txt", (FromOperator, ToOperator))]
)
def test_frames_match_golden_file(name: str, kinds: tuple[Any, ...]) -> None:
    """Each message as fields and as the bytes of its frame."""
    samples = entries(name)
    assert_golden(name, "\n".join(map(str, samples)))
    assert {entry.name for entry in samples} == {kind.__name__ for union in kinds for kind in get_args(union)}
    for entry in samples:
        assert type(entry.message).__name__ == entry.name
        assert entry.decode(encode(entry.message)) == entry.message
        fields = msgpack.packb(fields_of(entry.message))  # in msgpack, tuples are lists
        assert msgpack.unpackb(encode(entry.message)) == msgpack.unpackb(fields)


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


@given(to_server, st.text(max_size=10), plain)
def test_unknown_field_is_ignored(message: ToServer, name: str, value: Any) -> None:
    """A newer client may send more fields."""
    fields = {**fields_of(message), f"x{name}": value}
    assert decode_to_server(msgpack.packb(fields)) == message


def test_rejected_frames_are_answered_as_the_page_says() -> None:
    def answer(heading: str, question: str) -> str:
        given = eval(question.split(": ", 1)[1] if heading == "Frames" else question)
        if heading != "Frames":
            request = {"type": "create", "id": 1, "options": given} if heading == "Options of a room" else given
            given = msgpack.packb(request)
        with pytest.raises(MalformedFrame):
            decode_to_client(given)
        error = error_of(decode_to_server, given)
        # What msgpack says in parentheses depends on its version.
        return f"{request_id(given)}, {error.code}: {re.sub(r'allow [(].+[)]', 'allow (...)', str(error))}"

    assert_answers("frames", answer)


@settings(max_examples=200)
@given(st.one_of(to_server, to_client), st.integers(0, 1 << 32))
def test_damaged_frame_is_a_message_or_refused_in_a_sentence(message: ToServer | ToClient, seed: int) -> None:
    """The decoders of both ends take it or leave it, and what they take they decode alike the second time."""
    rng = Random(seed)
    frame = rng.choice((damaged_message, damaged_bytes))(rng, encode(message))
    for decode in (decode_to_server, decode_to_client, decode_sanitized):
        if sentence := answer(decode, frame):
            assert sentence.isprintable()
            assert len(sentence) <= 400
            continue
        decoded: Any = decode(frame)
        again = encode(decoded)
        read = decode_to_client if decode is decode_sanitized else decode  # a sentence says once who says it
        assert len(again) > LARGEST_FRAME or read(again) == decoded or "nan" in repr(decoded)
    assert -1 <= request_id(frame) < 1 << 53


def test_false_length_costs_little_memory() -> None:
    """Invariant: everything is bounded. The decoder allocates memory for real content, not for declared lengths."""
    heads = "dc0100 dc1000 dcffff dd00000100 ddffffffff de0040a161 dfffffffffa161 c6ffffffff dbffffffff c9ffffffff05"
    for head in map(bytes.fromhex, f"{heads} 9f 8fa161 91 81a161".split()):
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


def answer(decode: Callable[[bytes], object], frame: bytes) -> str:
    """The sentence that refuses a frame; empty if the frame is valid."""
    try:
        decode(frame)
    except (MalformedFrame, MalformedText, UnknownGame, UnknownRequest, BadOptions) as error:
        return str(error)
    return ""


def test_packed_value_round_trips() -> None:
    for value in (Options(), (Seat(player="p", name="Ana", seat=0),), [1, b"2", "3"], {"a": 1}):
        kind: Any = type(value) if not isinstance(value, tuple) else tuple[Seat, ...]
        assert unpack(pack(value), kind) == value
    with pytest.raises(ValueError, match="Expected `str`, got `int`"):
        unpack(pack(1), str)
    with pytest.raises(ValueError, match="it is not msgpack"):
        unpack(b"\xc1", str)
