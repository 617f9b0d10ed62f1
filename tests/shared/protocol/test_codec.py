from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from samedeal.errors import BadOptions, MalformedFrame, MalformedText, SamedealError, UnknownGame, UnknownRequest
from samedeal.options import Options, WantedOptions
from samedeal.protocol.codec import LARGEST_FRAME, decode_to_client, decode_to_server, encode, pack, request_id, unpack
from samedeal.protocol.messages import (
    Acked,
    AckedAction,
    Act,
    BoardState,
    CommitShare,
    Create,
    Created,
    DeclareStuck,
    DelayedBoard,
    DelayedMove,
    Done,
    DrawnShare,
    FollowTable,
    GameDescription,
    Hello,
    Join,
    Joined,
    KickPlayer,
    Leave,
    ListRecords,
    ListRooms,
    LostSeat,
    Notice,
    Ping,
    Pong,
    ProgressUpdate,
    RaceNow,
    ReadRecord,
    Ready,
    RecordLine,
    RecordPart,
    Records,
    Recover,
    Refused,
    Rematch,
    Resign,
    RevealShare,
    RoomLine,
    Rooms,
    RoomState,
    Seat,
    Standing,
    Start,
    Tally,
    TideLine,
    TideTable,
    TideTime,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from tests.golden.golden_files import assert_golden, assert_sentences
from tests.shared.protocol.diagnostic import diagnostic
from tests.shared.protocol.strategies import TO_CLIENT, TO_SERVER, fields_of, plain, to_client, to_server
from tests.shared.raised import error_of

HASH = bytes.fromhex("973cbeefc3c33aec")

SAMPLES: tuple[ToServer | ToClient, ...] = (
    Hello(id=1, name="Ana"),
    Hello(id=1, name="Ana", session="s3cret", client="samedeal 0.1.0", games=(HASH,)),
    Ping(id=2),
    ListRooms(id=3),
    RaceNow(id=3, game="willow"),
    RaceNow(id=3, game="willow", tide=1_795_000_020_000),
    FollowTable(id=3, game="willow", tide=1_795_000_020_000, day=True),
    ListRecords(id=3),
    ReadRecord(id=3, race="friday"),
    ReadRecord(id=3, race="friday.20261122-140543", part=2, passphrase="open sesame"),
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
    CommitShare(id=5, draw=1, commitment=bytes(range(32))),
    RevealShare(id=5, draw=5, share=bytes(range(32))),
    Watch(id=6, room="friday"),
    Leave(id=7),
    Ready(id=8),
    Ready(id=8, ready=False),
    Start(id=9),
    KickPlayer(id=9, player="3f2a9c0d1e4b"),
    Act(id=10, revision=0, action="3 5 x4"),
    Act(id=11, revision=1, action="undo"),
    Recover(
        id=14,
        revision=1,
        actions=(
            AckedAction(id=11, action="undo", time=1_795_000_000_000),
            AckedAction(id=12, action="3 5", time=1_795_000_000_900),
        ),
        receipt=bytes(range(16)),
    ),
    Resign(id=12),
    DeclareStuck(id=15),
    Rematch(id=13),
    Welcome(
        to=1, session="s3cret", player="p7k2", name="Ana", time=1_795_000_000_000, server="0.1.0", engine=1, page=True
    ),
    Welcome(
        to=1,
        session="",
        player="p7k2",
        name="Ana",
        time=0,
        server="0.1.0",
        games=(GameDescription(name="house", text=b"[[piles]]"),),
        tides=(TideTime(minute=1170, game="willow"),),
    ),
    TideTable(
        game="willow",
        tide=1_795_000_020_000,
        day=False,
        people=18,
        bots=1,
        shown=("p7k2", "p8aa"),
        lines=(
            TideLine(player="p7k2", name="Ana", room="k3m9xq", foundation_cards=52, time=100_000, place=1),
            TideLine(player="p8aa", name="Robo", room="b2c3d4", foundation_cards=7, place=1, bot=True, racing=True),
        ),
    ),
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
    Records(to=3, records=()),
    Records(
        to=3,
        records=(
            RecordLine(
                race="friday.20261122-140543",
                room="friday",
                game="willow",
                deal="#4821",
                started=1_795_000_000_000,
                ended=1_795_000_900_000,
                players=2,
                size=1_234,
                winner="ana",
                time=312_004,
            ),
        ),
    ),
    RecordPart(to=3, race="friday.20261122-140543", part=0, parts=3, text=b"samedeal record 2"),
    Created(to=4, room="friday"),
    Joined(to=5, room="friday", seat=0, generation=1),
    Joined(to=5, room="friday", seat=0, generation=1_795_000_000_000, revision=12),
    Watching(to=6, room="friday", delay=15),
    Done(to=8),
    Acked(
        to=10,
        time=1_795_000_000_000,
        hash=HASH,
        receipt=bytes(range(16)),
        seen=b"\x29\x3d",
    ),
    Acked(
        to=11,
        time=1_795_000_000_400,
        hash=HASH,
        receipt=bytes(range(16)),
        piles=(b"\x01\xc0", b"", b"\x2a"),
        may_undo=False,
    ),
    Refused(
        to=10,
        code="illegal",
        message="9H can't go on TC. A column builds down by one in alternating colours.",
        revision=1,
    ),
    Refused(to=-1, code="bad_frame", message="This is not a message of the protocol."),
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
        players=(
            Seat(player="p7k2", name="Ana", seat=0, ready=True, resigned=True, stuck=True, share_commitment=bytes(32)),
        ),
        tallies=(
            Tally(
                player="p7k2",
                foundation_cards=52,
                moves=85,
                undos=2,
                acted_at=1_795_000_100_000,
                last_progress_at=1_795_000_100_000,
                finished_at=1_795_000_100_000,
                connected=False,
            ),
        ),
        commitment=bytes(range(32)),
        starts=1_795_000_000_000,
        ends=1_795_000_900_000,
        spectator_count=3,
        seed=bytes(32),
        next="saturday",
        standings=(
            Standing(place=1, player="p7k2", name="Ana", foundation_cards=52, time=100_000, moves=85, undos=2),
            Standing(place=2, player="p9xx", name="Bo", foundation_cards=12, time=0, moves=40, undos=0, resigned=True),
        ),
        finished_at=1_795_000_312_000,
        proof="samedeal deal 3\nroom: friday\n",
        draw=2,
        lost=(LostSeat(draw=1, seat=3, name="Cy", reason="silent"), LostSeat(draw=2, seat=2, name="Bo", reason="left")),
        shares=(DrawnShare(seat=1, name="Ana", commitment=bytes(range(32)), share=bytes(32)),),
    ),
    BoardState(
        room="friday", revision=0, game="willow", piles=(b"\x01", b"\xc0\x2a", b""), hash=HASH, moves=0, undos=0
    ),
    ProgressUpdate(seat=1, moves=9, acted_at=1_795_000_003_000),
    ProgressUpdate.of(2, Tally(player="p9xx", foundation_cards=3, moves=9, acted_at=1_795_000_003_000)),
    DelayedBoard(
        player="p7k2", revision=4, piles=(b"\x01", b"\xc0"), moves=4, undos=0, time=1_795_000_001_000, reached=(9_000,)
    ),
    DelayedMove(player="p7k2", revision=5, action="3 5", seen=b"\x29", time=1_795_000_002_000),
    Notice(code="draining", message="This server is going down: reconnect"),
)


def test_every_message_has_a_sample() -> None:
    assert {type(sample) for sample in SAMPLES} == {*TO_SERVER, *TO_CLIENT}


def test_frames_match_golden_file() -> None:
    """Each message as fields and as the bytes of its frame, in the format of ``tests/golden/frames.txt``."""
    lines = []
    for sample in SAMPLES:
        side = "to the server" if isinstance(sample, TO_SERVER) else "to the client"
        lines += [f"{type(sample).__name__} ({side})", diagnostic(fields_of(sample)), encode(sample).hex(" "), ""]
    assert_golden("frames.txt", "\n".join(lines))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_sample_round_trips(sample: ToServer | ToClient) -> None:
    decode: Any = decode_to_server if isinstance(sample, TO_SERVER) else decode_to_client
    assert decode(encode(sample)) == sample
    assert msgpack.unpackb(encode(sample)) == json_lists(fields_of(sample))


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
