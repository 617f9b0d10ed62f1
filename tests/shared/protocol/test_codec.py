from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from samedeal.errors import BadOptions, MalformedFrame, MalformedText, SamedealError, UnknownGame
from samedeal.options import Options, WantedOptions
from samedeal.protocol.codec import LARGEST_FRAME, decode_to_client, decode_to_server, encode, pack, request_id, unpack
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Create,
    Created,
    Done,
    Held,
    Hello,
    Join,
    Joined,
    LateBoard,
    LateMove,
    Leave,
    ListRooms,
    Notice,
    Ping,
    Pong,
    Progress,
    Ready,
    Recover,
    Refused,
    Rematch,
    Resign,
    RoomLine,
    Rooms,
    RoomState,
    Seat,
    Standing,
    Start,
    Tally,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from tests.golden.kept import assert_kept
from tests.shared.protocol.strategies import TO_CLIENT, TO_SERVER, fields_of, plain, to_client, to_server

HASH = bytes.fromhex("973cbeefc3c33aec")

SAMPLES: tuple[ToServer | ToClient, ...] = (
    Hello(id=1, name="Ana"),
    Hello(id=1, name="Ana", session="s3cret", client="samedeal 0.1.0"),
    Ping(id=2),
    ListRooms(id=3),
    Create(id=4, options=WantedOptions()),
    Create(
        id=4,
        options=WantedOptions(
            games=("athena", "steve"), deal="#4821", players=4, start="at", start_at=1_795_000_000_000
        ),
        room="friday",
        passphrase="open sesame",
    ),
    Join(id=5, room="friday"),
    Join(id=5, room="friday", passphrase="open sesame", revision=12, event=40),
    Watch(id=6, room="friday"),
    Leave(id=7),
    Ready(id=8),
    Ready(id=8, ready=False),
    Start(id=9),
    Act(id=10, revision=0, action="3 5 x4"),
    Act(id=11, revision=1, action="undo"),
    Recover(
        id=14,
        revision=1,
        held=(Held(id=11, action="undo", at=1_795_000_000_000), Held(id=12, action="3 5", at=1_795_000_000_900)),
        receipt=bytes(range(16)),
    ),
    Resign(id=12),
    Rematch(id=13),
    Welcome(to=1, session="s3cret", player="p7k2", name="Ana", time=1_795_000_000_000, server="0.1.0", engine=1),
    Pong(to=2, time=1_795_000_000_000),
    Rooms(to=3, rooms=()),
    Rooms(
        to=3,
        rooms=(
            RoomLine(
                room="friday",
                game="willow",
                deal="#4821",
                phase="open",
                players=2,
                seats=8,
                private=False,
                spectators=True,
            ),
        ),
    ),
    Created(to=4, room="friday"),
    Joined(to=5, room="friday", seat=0, generation=1),
    Joined(to=5, room="friday", seat=0, generation=1_795_000_000_000, revision=12),
    Watching(to=6, room="friday", delay=15),
    Done(to=8),
    Acked(
        to=10,
        revision=1,
        seen=b"\x29\x3d",
        hash=HASH,
        up=3,
        moves=1,
        undos=0,
        at=1_795_000_000_000,
        receipt=bytes(range(16)),
    ),
    Acked(
        to=11, revision=2, seen=b"", hash=HASH, up=2, moves=1, undos=1, stuck=True, piles=(b"\x01\xc0", b"", b"\x2a")
    ),
    Refused(to=10, code="illegal", message="9H can't go on TC: a column builds down by one", revision=1),
    Refused(to=-1, code="bad_frame", message="Not a message of this protocol"),
    Refused(to=3, code="busy", message="Too many requests", retry_after=0.5),
    RoomState(
        room="friday",
        event=1,
        phase="open",
        game="willow",
        deal="random",
        options=Options(),
        private=False,
        host="p7k2",
        players=(Seat(player="p7k2", name="Ana", seat=0),),
        tallies=(Tally(player="p7k2"),),
        commitment=bytes(range(32)),
    ),
    RoomState(
        room="friday",
        event=9,
        phase="finished",
        game="willow",
        deal="#4821",
        options=Options(deal="#4821"),
        private=True,
        host="p7k2",
        players=(Seat(player="p7k2", name="Ana", seat=0, ready=True, out=True),),
        tallies=(
            Tally(
                player="p7k2",
                up=52,
                moves=85,
                undos=2,
                active=1_795_000_100_000,
                risen=1_795_000_100_000,
                home=1_795_000_100_000,
                connected=False,
            ),
        ),
        commitment=bytes(range(32)),
        starts=1_795_000_000_000,
        ends=1_795_000_900_000,
        watching=3,
        seed=bytes(32),
        next="saturday",
        standings=(
            Standing(place=1, player="p7k2", name="Ana", up=52, time=100_000, moves=85, undos=2),
            Standing(place=2, player="p9xx", name="Bo", up=12, time=0, moves=40, undos=0, out=True),
        ),
    ),
    BoardState(
        room="friday", revision=0, game="willow", piles=(b"\x01", b"\xc0\x2a", b""), hash=HASH, moves=0, undos=0
    ),
    Progress(tallies=(Tally(player="p7k2", up=3, moves=9, active=1_795_000_003_000, risen=1_795_000_003_000),)),
    LateBoard(player="p7k2", revision=4, piles=(b"\x01", b"\xc0"), moves=4, undos=0, at=1_795_000_001_000),
    LateMove(player="p7k2", revision=5, action="3 5", seen=b"\x29", at=1_795_000_002_000),
    Notice(code="draining", message="This server is going down: reconnect"),
)


def diagnostic(value: Any) -> str:
    """A value as JSON, but bytes as ``h'00ff'``."""
    match value:
        case bytes():
            return f"h'{value.hex()}'"
        case dict():
            return "{" + ", ".join(f"{json.dumps(key)}: {diagnostic(inner)}" for key, inner in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(diagnostic, value)) + "]"
        case _:
            return json.dumps(value)


def test_every_message_has_a_sample() -> None:
    assert {type(sample) for sample in SAMPLES} == {*TO_SERVER, *TO_CLIENT}


def test_golden_frames() -> None:
    """Each message as fields and as the bytes of its frame, as ``tests/golden/frames.txt`` keeps them."""
    lines = []
    for sample in SAMPLES:
        side = "to the server" if isinstance(sample, TO_SERVER) else "to the client"
        lines += [f"{type(sample).__name__} ({side})", diagnostic(fields_of(sample)), encode(sample).hex(" "), ""]
    assert_kept("frames.txt", "\n".join(lines))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_samples_are_read_again(sample: ToServer | ToClient) -> None:
    decode: Any = decode_to_server if isinstance(sample, TO_SERVER) else decode_to_client
    assert decode(encode(sample)) == sample
    assert msgpack.unpackb(encode(sample)) == json_lists(fields_of(sample))


def json_lists(value: Any) -> Any:
    """A value with lists where it has tuples, which msgpack doesn't tell apart."""
    match value:
        case dict():
            return {key: json_lists(inner) for key, inner in value.items()}
        case list() | tuple():
            return [json_lists(inner) for inner in value]
        case _:
            return value


@given(to_server)
def test_messages_to_the_server_go_through_frames(message: ToServer) -> None:
    frame = encode(message)
    assert decode_to_server(frame) == message
    assert len(frame) <= LARGEST_FRAME
    assert request_id(frame) == message.id


@given(to_client)
def test_messages_to_the_client_go_through_frames(message: ToClient) -> None:
    assert decode_to_client(encode(message)) == message


@given(st.one_of(to_server, to_client))
def test_messages_of_one_side_are_none_of_the_other(message: ToServer | ToClient) -> None:
    decode: Any = decode_to_client if isinstance(message, TO_SERVER) else decode_to_server
    with pytest.raises(MalformedFrame, match=r"^Not a message of this protocol: Invalid value"):
        decode(encode(message))


@given(to_server)
def test_fields_with_a_default_may_be_left_out(message: ToServer) -> None:
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
def test_fields_that_are_not_known_are_passed_over(message: ToServer, name: str, value: Any) -> None:
    """A newer client may say more."""
    fields = {**fields_of(message), f"x{name}": value}
    assert decode_to_server(msgpack.packb(fields)) == message


UNPACKED = r"not msgpack as it is used here \(.+\)"

REFUSED = {
    "empty": (b"", UNPACKED),
    "no msgpack": (b"\xc1", UNPACKED),
    "cut short": (encode(Ping(id=1))[:-1], UNPACKED),
    "numbers for keys": (b"\x81\x01\x01", UNPACKED),
    "an extension": (b"\xc7\x01\x05\x00", UNPACKED),
    "a time": (b"\xd6\xff\x00\x00\x00\x00", UNPACKED),
    "bad UTF-8": (b"\x81\xa4type\xa2\xff\xfe", UNPACKED),
    "a huge list": (b"\xdd\xff\xff\xff\xff", UNPACKED),
    "a huge map": (b"\xdf\xff\xff\xff\xff", UNPACKED),
    "deep": (b"\x91" * 5000 + b"\x01", UNPACKED),
    "two messages": (encode(Ping(id=1)) * 2, "there are bytes after its end"),
    "no map": (b"\x01", "Expected `object`, got `int`"),
    "a list": (b"\x91\x01", "Expected `object`, got `array`"),
    "less deep": (b"\x91" * 500 + b"\x01", "Expected `object`, got `array`"),
    "an empty map": (b"\x80", "Object missing required field `type`"),
}


@pytest.mark.parametrize(("frame", "sentence"), REFUSED.values(), ids=REFUSED)
def test_malformed_frames(frame: bytes, sentence: str) -> None:
    for decode in (decode_to_server, decode_to_client):
        with pytest.raises(MalformedFrame, match=f"^Not a message of this protocol: {sentence}$"):
            decode(frame)


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
def test_lengths_that_are_not_true_cost_little(head: bytes) -> None:
    """Invariant 9: everything is bounded. Room is made for what a frame holds, not for what it says that it holds."""
    frame = (head * LARGEST_FRAME)[:LARGEST_FRAME]
    tracemalloc.start()
    try:
        assert request_id(frame) == -1
        assert answer(decode_to_server, frame)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 200 * LARGEST_FRAME


def test_of_a_field_that_comes_twice_the_last_one_counts() -> None:
    assert decode_to_server(b"\x83\xa4type\xa4ping\xa2id\x01\xa2id\x02") == Ping(id=2)


def test_a_text_frame_is_no_message() -> None:
    for decode in (decode_to_server, decode_to_client):
        with pytest.raises(MalformedFrame, match=r"^A message is a binary frame of msgpack; this one was text$"):
            decode('{"type": "ping", "id": 1}')
    assert request_id('{"type": "ping", "id": 1}') == -1


WRONG = [
    ({"type": "nonsense", "id": 1}, "Invalid value 'nonsense' - at `$.type`"),
    ({"type": b"ping", "id": 1}, "Expected `str`, got `bytes` - at `$.type`"),
    ({"type": 1, "id": 1}, "Expected `str`, got `int` - at `$.type`"),
    ({"type": "ping"}, "Object missing required field `id`"),
    ({"type": "ping", "id": -1}, "Expected `int` >= 0 - at `$.id`"),
    ({"type": "ping", "id": 1 << 53}, "Expected `int` <= 9007199254740991 - at `$.id`"),
    ({"type": "ping", "id": 1.5}, "Expected `int`, got `float` - at `$.id`"),
    ({"type": "ping", "id": True}, "Expected `int`, got `bool` - at `$.id`"),
    ({"type": "ping", "id": "1"}, "Expected `int`, got `str` - at `$.id`"),
    ({"type": "ping", "id": None}, "Expected `int`, got `null` - at `$.id`"),
    ({"type": "hello", "id": 1, "name": "x" * 129}, "Expected `str` of length <= 128 - at `$.name`"),
    ({"type": "hello", "id": 1, "name": b"ana"}, "Expected `str`, got `bytes` - at `$.name`"),
    ({"type": "join", "id": 1, "room": "x" * 25}, "Expected `str` of length <= 24 - at `$.room`"),
    ({"type": "join", "id": 1, "room": "x", "revision": -2}, "Expected `int` >= -1 - at `$.revision`"),
    ({"type": "act", "id": 1, "revision": 0, "action": "x" * 17}, "Expected `str` of length <= 16 - at `$.action`"),
    ({"type": "act", "id": 1, "revision": -1, "action": "3 5"}, "Expected `int` >= 0 - at `$.revision`"),
    ({"type": "ready", "id": 1, "ready": 1}, "Expected `bool`, got `int` - at `$.ready`"),
    ({"type": "create", "id": 1, "options": None}, "Expected `object`, got `null` - at `$.options`"),
    ({"type": "create", "id": 1, "options": {"players": 17}}, "Expected `int` <= 16 - at `$.options.players`"),
    ({"type": "create", "id": 1, "options": {"undo": "maybe"}}, "Invalid enum value 'maybe' - at `$.options.undo`"),
    ({"type": "create", "id": 1, "options": {"games": []}}, "Expected `array` of length >= 1 - at `$.options.games`"),
    ({"type": "create", "id": 1, "options": {"speed": 2}}, "Object contains unknown field `speed` - at `$.options`"),
    ({"type": "welcome", "to": 1}, "Invalid value 'welcome' - at `$.type`"),
]


@pytest.mark.parametrize(
    ("fields", "sentence"), WRONG, ids=[f"{at} {sentence}" for at, (_, sentence) in enumerate(WRONG)]
)
def test_fields_that_are_wrong(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(MalformedFrame) as caught:
        decode_to_server(msgpack.packb(fields))
    assert str(caught.value) == f"Not a message of this protocol: {sentence}"


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        (
            {"games": ["klondike"]},
            UnknownGame,
            "'klondike' is not a game: choose one of athena, steve, phoenix, ace-of-hearts, willow",
        ),
        (
            {"deal": "tomorrow"},
            MalformedText,
            (
                "'tomorrow' is not a deal: write 'random', a number from 0 to 999999999 as in '#4821', "
                "or 'daily', with a date as in 'daily 2026-11-21' or without"
            ),
        ),
        (
            {"start": "at"},
            BadOptions,
            "start 'at' goes with start_at, a time in milliseconds since 1970, and no other start does",
        ),
    ],
)
def test_rooms_that_can_not_be(options: dict[str, Any], error: type[SamedealError], sentence: str) -> None:
    with pytest.raises(error) as caught:
        decode_to_server(msgpack.packb({"type": "create", "id": 1, "options": options}))
    assert type(caught.value) is error
    assert str(caught.value) == sentence


def answer(decode: Callable[[bytes], object], frame: bytes) -> str:
    """The sentence for a frame, empty when it can be read."""
    try:
        decode(frame)
    except (MalformedFrame, MalformedText, UnknownGame, BadOptions) as error:
        return str(error)
    return ""


def assert_answered(frame: bytes) -> None:
    """A frame is read, or refused in one printable sentence that is not long."""
    for decode in (decode_to_server, decode_to_client):
        sentence = answer(decode, frame)
        assert sentence.isprintable()
        assert not sentence or 20 < len(sentence) < 300
    assert -1 <= request_id(frame) < 1 << 53


@given(st.binary(max_size=200))
def test_any_bytes_are_answered(frame: bytes) -> None:
    assert_answered(frame)


@given(plain)
def test_any_value_is_answered(value: Any) -> None:
    assert_answered(msgpack.packb(value))


@given(st.one_of(to_server, to_client), st.data())
def test_any_damage_is_answered(message: ToServer | ToClient, data: st.DataObject) -> None:
    frame = bytearray(encode(message))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(frame) - 1))
        end = data.draw(st.integers(at, min(len(frame), at + 4)))
        frame[at:end] = data.draw(st.binary(max_size=4))
        if not frame:
            break
    assert_answered(bytes(frame))


@given(st.one_of(to_server, to_client), st.data(), plain)
def test_any_wrong_field_is_answered(message: ToServer | ToClient, data: st.DataObject, value: Any) -> None:
    fields = fields_of(message)
    fields[data.draw(st.sampled_from(sorted(fields)))] = value
    assert_answered(msgpack.packb(fields))


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
def test_the_id_of_a_frame_that_can_not_be_read(fields: Any, expected: int) -> None:
    assert request_id(msgpack.packb(fields)) == expected


@pytest.mark.parametrize("frame", [frame for frame, _ in REFUSED.values()], ids=REFUSED)
def test_a_broken_frame_has_no_id(frame: bytes | str) -> None:
    assert request_id(frame) == -1


def test_what_is_kept_goes_through_bytes() -> None:
    for value in (Options(), (Seat(player="p", name="Ana", seat=0),), [1, b"2", "3"], {"a": 1}):
        kind: Any = type(value) if not isinstance(value, tuple) else tuple[Seat, ...]
        assert unpack(pack(value), kind) == value
    with pytest.raises(ValueError, match="Expected `str`, got `int`"):
        unpack(pack(1), str)
    with pytest.raises(ValueError, match="not msgpack as it is used here"):
        unpack(b"\xc1", str)
