"""Messages of the operator protocol on the wire."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.errors import MalformedFrame, UnknownRequest
from samedeal.options import Options
from samedeal.protocol.admin import (
    BackedUp,
    Backup,
    BackupPart,
    Ban,
    BanLine,
    BanList,
    CloseRoom,
    CloseRooms,
    Drain,
    FromOperator,
    Granted,
    Kick,
    ListBans,
    ListServerRooms,
    Login,
    NodeLine,
    Phases,
    RedisLine,
    RoomsClosed,
    RoomShown,
    Say,
    ServerRooms,
    ShowRoom,
    Status,
    Survey,
    ToOperator,
    Unban,
    Whereabouts,
)
from samedeal.protocol.codec import decode_from_operator, decode_to_client, decode_to_operator, decode_to_server, encode
from samedeal.protocol.messages import Done, Hello, Refused, RoomLine, RoomState, Seat, Tally
from tests.golden.golden_files import assert_golden
from tests.shared.protocol.diagnostic import diagnostic
from tests.shared.protocol.strategies import fields_of

FROM_OPERATOR: tuple[type, ...] = get_args(FromOperator)
TO_OPERATOR: tuple[type, ...] = get_args(ToOperator)

NODE = NodeLine(
    node="alpha-7-1a2b",
    version="0.1.0",
    started=1_795_000_000_000,
    last_seen=1_795_000_100_000,
    address="ws://10.0.0.7:7777",
    connections=12,
    players=8,
    spectator_count=3,
    rooms=4,
    moves=31.5,
    median=1.0,
    p99=5.0,
    load=0.25,
    memory=48_000_000,
)
STATE = RoomState(
    room="friday",
    event=9,
    phase="racing",
    game="willow",
    deal="random",
    options=Options(),
    private=False,
    host="0123456789ab",
    players=(Seat(player="0123456789ab", name="Ana", seat=1),),
    tallies=(Tally(player="0123456789ab", foundation_cards=3, moves=9),),
    commitment=bytes(range(32)),
    starts=1_795_000_000_000,
    ends=1_795_000_900_000,
)

SAMPLES: tuple[FromOperator | ToOperator, ...] = (
    Login(id=1, token="sixteen or more characters"),
    Status(id=2),
    ListServerRooms(id=3, limit=10),
    ShowRoom(id=4, room="friday"),
    Kick(id=5, room="friday", player="Ana"),
    Ban(id=6, target="203.0.113.0/24", seconds=3600, reason="a flood of bots"),
    Unban(id=7, target="203.0.113.0/24"),
    ListBans(id=8),
    Say(id=9, text="Ten minutes more", room="friday"),
    CloseRoom(id=10, room="friday"),
    CloseRooms(id=14, idle=3600, empty=True, target="203.0.113.0/24"),
    RoomsClosed(to=14, rooms=3),
    Drain(id=11, node="1a2b"),
    Backup(id=12),
    Granted(to=1, node="alpha-7-1a2b", server="samedeal 0.1.0", time=1_795_000_100_000),
    Survey(
        to=2,
        time=1_795_000_101_000,
        nodes=(NODE,),
        phases=Phases(open=1, racing=2, finished=1),
        redis=RedisLine(
            version="9.1.2", latency=0.5, memory=995_912, clients=3, commands=120, problem="r1:6379 is down (timeout)"
        ),
    ),
    ServerRooms(
        to=3,
        rooms=(
            RoomLine(
                room="friday",
                game="willow",
                deal="random",
                phase="racing",
                players=1,
                seats=8,
                private=False,
                spectators=True,
                starts=1_795_000_000_000,
            ),
        ),
        total=1,
    ),
    RoomShown(
        to=4,
        state=STATE,
        whereabouts=(
            Whereabouts(player="0123456789ab", node="alpha-7-1a2b", address="203.0.113.7", time=1_795_000_000_000),
        ),
    ),
    BanList(to=8, bans=(BanLine(target="203.0.113.0/24", since=1_795_000_000_000, until=0, reason="a flood of bots"),)),
    Done(to=5),
    BackupPart(to=12, data=b"samedeal backup 1\n"),
    BackedUp(to=12, size=18, digest=bytes(32), rooms=0, sessions=0),
    Refused(to=1, code="bad_token", message="That is not this server's token"),
)


def decoded(sample: FromOperator | ToOperator) -> Any:
    return (decode_from_operator if isinstance(sample, FROM_OPERATOR) else decode_to_operator)(encode(sample))


def test_every_message_has_a_sample() -> None:
    assert {type(sample) for sample in SAMPLES} == {*FROM_OPERATOR, *TO_OPERATOR}


def test_frames_match_golden_file() -> None:
    lines = []
    for sample in SAMPLES:
        side = "from an operator" if isinstance(sample, FROM_OPERATOR) else "to an operator"
        lines += [f"{type(sample).__name__} ({side})", diagnostic(fields_of(sample)), encode(sample).hex(" "), ""]
    assert_golden("admin-frames.txt", "\n".join(lines))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_sample_round_trips(sample: FromOperator | ToOperator) -> None:
    assert decoded(sample) == sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_operator_and_player_messages_are_disjoint(
    sample: FromOperator | ToOperator,
) -> None:
    shared = isinstance(sample, (Done, Refused, ListServerRooms))
    for decode in (decode_to_server, decode_to_client):
        try:
            decode(encode(sample))
        except (MalformedFrame, UnknownRequest):
            continue
        assert shared
    with pytest.raises(UnknownRequest):
        decode_from_operator(encode(Hello(id=1, name="Ana")))


@pytest.mark.parametrize(
    "message",
    [
        Login(id=1, token="x" * 1025),
        ListServerRooms(id=1, limit=0),
        ListServerRooms(id=1, limit=1001),
        Ban(id=1, target="x", seconds=-1),
        Ban(id=1, target="x", seconds=10**12),
        Say(id=1, text="x" * 301),
        Drain(id=-1),
    ],
)
def test_value_out_of_bounds_is_rejected(message: FromOperator) -> None:
    with pytest.raises(MalformedFrame):
        decode_from_operator(encode(message))


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_rejected(data: bytes) -> None:
    for decode in (decode_from_operator, decode_to_operator):
        with suppress(MalformedFrame, UnknownRequest):
            decode(data)
