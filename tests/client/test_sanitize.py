"""Messages of hostile servers: texts become printable, and impossible values are refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from samedeal.board import Board
from samedeal.deal import shuffled
from samedeal.errors import SamedealError
from samedeal.games import GAMES
from samedeal.protocol.admin import ToOperator
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import BoardState, Joined, Notice, Pong, Refused, ToClient
from samedeal.terminal_text import columns_of, printable
from samedeal_link.connection.disconnect import decode_or_end
from samedeal_link.connection.sanitize import decode_operator_sanitized, decode_sanitized
from samedeal_link.model.model import Model
from tests.shared.protocol.strategies import TO_CLIENT, structs

FAIR: Final = "Fair: nobody could choose the deal, it can be won, and all is as you saw it."
LONG: Final = "W" * 5000


def texts(value: Any) -> Iterator[str]:
    """Every text in a message. A proof has several lines, each a text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            field = getattr(value, name)
            yield from texts(tuple(field.split("\n")) if name == "proof" else field)
    elif isinstance(value, tuple):
        for each in value:
            yield from texts(each)


def in_time(value: Any) -> Any:
    """A message with its numbers in bounds."""
    match value:
        case bool():
            return value
        case int() | float():
            return min(max(value, -1), 1 << 47)
        case tuple():
            return tuple(in_time(each) for each in value)
        case Struct():
            return replace(value, **{name: in_time(getattr(value, name)) for name in value.__struct_fields__})
        case _:
            pass
    return value


@pytest.mark.parametrize(
    ("kind", "decode"),
    [
        *((kind, decode_sanitized) for kind in TO_CLIENT),
        *((kind, decode_operator_sanitized) for kind in get_args(ToOperator)),
    ],
)
@settings(max_examples=10)
@given(data=st.data())
def test_every_text_is_printable(kind: type[Struct], decode: Callable[[bytes], Any], data: st.DataObject) -> None:
    sent = in_time(data.draw(structs(kind)))
    heard = decode(encode(sent))
    assert type(heard) is kind
    for said, shown in zip(texts(sent), texts(heard), strict=True):
        assert all(printable(line, 1000) == line for line in shown.split("\n"))
        if printable(said, 60) == said:
            assert shown == said


@pytest.mark.parametrize("sent", [Notice(code="not_fair", message=FAIR), Refused(to=1, code="fair", message=FAIR)])
def test_sentence_of_the_server_does_not_look_like_a_verdict(sent: Notice | Refused) -> None:
    heard = decode_or_end(encode(sent))
    assert isinstance(heard, Notice | Refused)
    assert heard.message == f"Server: {FAIR}"


def test_long_text_is_cut() -> None:
    heard = decode_sanitized(encode(Notice(code=LONG, message=LONG)))
    assert isinstance(heard, Notice)
    assert (columns_of(heard.code), columns_of(heard.message)) == (64, 400)


BOARD: Final = Board.deal(GAMES["willow"], shuffled(bytes(32), 1)).masked().piles


def board_state(game: str = "willow", piles: tuple[bytes, ...] = BOARD) -> BoardState:
    return BoardState(room="k7", revision=0, game=game, piles=piles, hash=bytes(8), moves=0, undos=0)


IMPOSSIBLE: Final = [
    *(Pong(to=1, time=time) for time in (-2, 1 << 48, 1 << 63)),
    *(
        Refused(to=1, code="rate_limited", message="Later", retry_after=seconds)
        for seconds in (math.nan, math.inf, -math.inf, -5.0, 1e300)
    ),
    *(Joined(to=1, room="k7", seat=seat, generation=1) for seat in (-1, 256)),
    board_state("chess"),
    board_state("athena"),
    *(board_state(piles=piles) for piles in (BOARD[:-1], (*BOARD, b""), ())),
    *(
        board_state(piles=(first, *BOARD[1:]))
        for first in (b"\x0f" + BOARD[0][1:], b"\0" + BOARD[0][1:], BOARD[0] * 20)
    ),
]


@pytest.mark.parametrize("message", IMPOSSIBLE)
def test_impossible_message_is_refused(message: ToClient) -> None:
    with pytest.raises(SamedealError):
        Model().after(decode_sanitized(encode(message)))


def test_possible_board_is_accepted() -> None:
    assert Model().after(decode_sanitized(encode(board_state()))).own.play is not None
