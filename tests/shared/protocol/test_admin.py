"""The operator's messages over the wire."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.errors import MalformedFrame
from samedeal.options import Options
from samedeal.protocol.admin import (
    BackedUp,
    Backup,
    BackupPart,
    Ban,
    BanLine,
    BanList,
    CloseRoom,
    Drain,
    FromOperator,
    Granted,
    Kick,
    ListBans,
    ListRooms,
    Login,
    NodeLine,
    Phases,
    RedisLine,
    RoomList,
    RoomShown,
    Say,
    ShowRoom,
    Status,
    Survey,
    ToOperator,
    Unban,
    Whereabouts,
)
from samedeal.protocol.codec import decode_from_operator, decode_to_client, decode_to_operator, decode_to_server, encode
from samedeal.protocol.messages import Done, Hello, Refused, RoomLine, RoomState, Seat, Tally
from tests.golden.kept import assert_kept
from tests.shared.protocol.strategies import fields_of
from tests.shared.protocol.test_codec import diagnostic

FROM_OPERATOR: tuple[type, ...] = get_args(FromOperator)
TO_OPERATOR: tuple[type, ...] = get_args(ToOperator)

NODE = NodeLine(
    node="alpha-7-1a2b",
    version="0.1.0",
    started=1_795_000_000_000,
    heard=1_795_000_100_000,
    address="ws://10.0.0.7:7777",
    connections=12,
    players=8,
    watching=3,
    rooms=4,
    moves=31.5,
    typical=1.0,
    slow=5.0,
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
    tallies=(Tally(player="0123456789ab", up=3, moves=9),),
    commitment=bytes(range(32)),
    starts=1_795_000_000_000,
    ends=1_795_000_900_000,
)

SAMPLES: tuple[FromOperator | ToOperator, ...] = (
    Login(id=1, token="sixteen or more characters"),
    Status(id=2),
    ListRooms(id=3, most=10),
    ShowRoom(id=4, room="friday"),
    Kick(id=5, room="friday", player="Ana"),
    Ban(id=6, who="203.0.113.0/24", seconds=3600, reason="a flood of bots"),
    Unban(id=7, who="203.0.113.0/24"),
    ListBans(id=8),
    Say(id=9, text="Ten minutes more", room="friday"),
    CloseRoom(id=10, room="friday"),
    Drain(id=11, node="1a2b"),
    Backup(id=12),
    Granted(to=1, node="alpha-7-1a2b", server="samedeal 0.1.0", time=1_795_000_100_000),
    Survey(
        to=2,
        time=1_795_000_101_000,
        nodes=(NODE,),
        phases=Phases(open=1, racing=2, finished=1),
        redis=RedisLine(version="6.2.14", answer=0.5, memory=995_912, clients=3, commands=120),
    ),
    RoomList(
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
        all=1,
    ),
    RoomShown(
        to=4,
        state=STATE,
        whereabouts=(
            Whereabouts(player="0123456789ab", node="alpha-7-1a2b", address="203.0.113.7", at=1_795_000_000_000),
        ),
    ),
    BanList(to=8, bans=(BanLine(who="203.0.113.0/24", since=1_795_000_000_000, until=0, reason="a flood of bots"),)),
    Done(to=5),
    BackupPart(to=12, data=b"samedeal backup 1\n"),
    BackedUp(to=12, size=18, digest=bytes(32), rooms=0, sessions=0),
    Refused(to=1, code="bad_token", message="That is not this server's token"),
)


def decoded(sample: FromOperator | ToOperator) -> Any:
    return (decode_from_operator if isinstance(sample, FROM_OPERATOR) else decode_to_operator)(encode(sample))


def test_every_message_has_a_sample() -> None:
    assert {type(sample) for sample in SAMPLES} == {*FROM_OPERATOR, *TO_OPERATOR}


def test_golden_frames() -> None:
    lines = []
    for sample in SAMPLES:
        side = "from an operator" if isinstance(sample, FROM_OPERATOR) else "to an operator"
        lines += [f"{type(sample).__name__} ({side})", diagnostic(fields_of(sample)), encode(sample).hex(" "), ""]
    assert_kept("admin-frames.txt", "\n".join(lines))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_samples_are_read_again(sample: FromOperator | ToOperator) -> None:
    assert decoded(sample) == sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_an_operator_s_message_is_none_of_a_player_s_but_for_the_two_they_share(
    sample: FromOperator | ToOperator,
) -> None:
    shared = isinstance(sample, (Done, Refused, ListRooms))
    for decode in (decode_to_server, decode_to_client):
        try:
            decode(encode(sample))
        except MalformedFrame:
            continue
        assert shared
    with pytest.raises(MalformedFrame):
        decode_from_operator(encode(Hello(id=1, name="Ana")))


@pytest.mark.parametrize(
    "message",
    [
        Login(id=1, token="x" * 1025),
        ListRooms(id=1, most=0),
        ListRooms(id=1, most=1001),
        Ban(id=1, who="x", seconds=-1),
        Ban(id=1, who="x", seconds=10**12),
        Say(id=1, text="x" * 301),
        Drain(id=-1),
    ],
)
def test_what_is_out_of_bounds_is_refused(message: FromOperator) -> None:
    with pytest.raises(MalformedFrame):
        decode_from_operator(encode(message))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    for decode in (decode_from_operator, decode_to_operator):
        with suppress(MalformedFrame):
            decode(data)
