"""Every change of one message that a client receives in a race."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace as with_fields

from samedeal.board import Board
from samedeal.deal import Deal, shuffled
from samedeal.joint_deal import HIGHEST_SEAT
from samedeal.options import Options
from samedeal.protocol import messages
from samedeal.protocol.messages import RoomState, Tally
from samedeal.protocol_codes import NoticeCode, RefusalCode
from tests.lies.deals import GAME, some_bytes
from tests.lies.seen import Event, Seen
from tests.lies.worlds import Client


class Change(NamedTuple):
    """A change of a client's events: those from ``at`` until ``until`` are replaced by ``events``."""

    kind: str
    at: int
    until: int
    events: tuple[Event, ...]


def changed(client: Client, change: Change) -> Seen:
    """The client after its events with a change."""
    seen = client.trail[change.at] if change.at < len(client.trail) else client.seen
    for event in (*change.events, *client.events[change.until :]):
        seen = seen.after(event)
    return seen


def changes(client: Client) -> Iterator[Change]:
    """Every change of one message that a client receives."""
    events = client.events
    for at, event in enumerate(events):
        if event.kind == "received":
            yield from _moved(events, at)
            name = type(event.message).__name__
            for path, message in variants(event.message):
                yield Change(f"{name}.{path}", at, at + 1, (event._replace(message=message),))
    for at in range(1, len(events) + 1):
        now = events[at - 1].now + 1
        seen = client.trail[at] if at < len(events) else client.seen
        for name, message in strangers(client, seen):
            yield Change(f"insert {name}", at, at, (Event("received", now, message),))


def _moved(events: Sequence[Event], at: int) -> Iterator[Change]:
    event = events[at]
    yield Change("drop", at, at + 1, ())
    yield Change("repeat", at, at + 1, (event, event))
    yield Change("late", at, at + 1, (event._replace(now=event.now + 5000),))
    for places in (1, 2, 5, 1000):
        after = tuple(events[at + 1 : at + 1 + places])
        if after:
            yield Change(f"delay {places}", at, at + 1 + len(after), (*after, event))


def variants(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Other values in place of a value, each with the path of what has changed."""
    match value:
        case Struct():
            for field in value.__struct_fields__:
                for path, other in variants(getattr(value, field), field):
                    try:
                        yield f"{field}{path}", with_fields(value, **{field: other})
                    except ValueError:
                        continue  # options that contradict one another cannot be decoded
        case bool():
            yield "", not value
        case int() | float():
            for other in {value + 1, value - 1, value + 5000, 0, 1, 2} - {value}:
                least, most = (-1 if name in ("to", "revision") else 0), (HIGHEST_SEAT if name == "seat" else other)
                if least <= other <= most:
                    yield "", other
        case str():
            for text in _texts(name, value):
                if text != value:
                    yield "", text
        case bytes():
            others = (
                b"",
                value[:-1],
                value[:1] + value,
                bytes([value[0] ^ 1]) + value[1:] if value else b"\1",
                value[::-1],
            )
            for data in set(others) - {value}:
                yield "", data
        case tuple():
            for items in {value[:-1]: 0, value[1:]: 0, value[::-1]: 0, (*value, *value[-1:]): 0, (): 0}:
                if items != value:
                    yield "[]", items
            for at, item in enumerate(value):
                for path, other in variants(item, name):
                    yield f"[].{path}", (*value[:at], other, *value[at + 1 :])
        case _:
            assert value is UNSET
            yield from (("", other) for other in (0, 1, 9, False))


_TEXTS: Final = {
    "name": ("ana", "bob", "eve"),
    "player": ("p-ana", "p-bob", "p-eve"),
    "host": ("p-eve",),
    "phase": ("open", "countdown", "racing", "finished", "closed"),
    "room": ("saturday",),
    "next": ("saturday", ""),
    "game": ("spider", "klondike"),
    "games": ("spider",),
    "deal": ("random", "winnable", "winnable easy", "#276", "daily 2026-11-22"),
    "undo": ("free", "no-reveal", "off"),
    "start": ("host", "full"),
    "reason": ("left", "kicked", "silent"),
    "code": (*RefusalCode, *NoticeCode),
    "action": ("undo", "deal", "7 6"),
}


def _texts(name: str, value: str) -> Sequence[str]:
    if name == "terms":
        return _other_terms(value)
    if name == "proof":
        return ("", value[:-2], value.replace("budget: 1", "budget: 2"), value.replace("candidate: 0", "candidate: 1"))
    return _TEXTS.get(name, ("", f"{value}x"))


@cache
def _other_terms(text: str) -> tuple[str, ...]:
    lines = text.splitlines(keepends=True)
    others = [
        text.replace("undo: no-reveal", "undo: free"),
        text.replace("limit: 900", "limit: 901"),
        text.replace("round: 0", "round: 1"),
        text.replace("room: friday", "room: saturday"),
        text.replace("deal: winnable", "deal: random"),
        text + "zone: 7\n",
        "".join(lines[:-1]),
        "".join(line if not line.startswith("description") else f"description: {'0' * 64}\n" for line in lines),
        "".join(line if not line.startswith("rules") else f"rules: {'0' * 64}\n" for line in lines),
        "",
        "Fair.",
    ]
    return tuple(dict.fromkeys(others))


@cache
def _other_piles(number: int = 7) -> tuple[bytes, ...]:
    return Board.deal(GAME, shuffled(Deal("number", number=number).public_seed(), GAME.decks)).masked().piles


def strangers(client: Client, seen: Seen) -> Iterator[tuple[str, Any]]:
    """Messages that no honest server sends now, most of which it sends at other times or to others."""
    last = client.seen.state
    own = seen.own
    acts = [event.message for event in client.events if isinstance(event.message, messages.Act)]
    piles = _other_piles()
    board = Board(GAME, piles)
    zero = bytes(32)
    ids = {"unasked": 777, **{f"{type(request).__name__} ": id_ for id_, (request, _) in seen.evidence.waiting.items()}}
    for name, to in ids.items():
        yield f"Welcome {name}", messages.Welcome(to=to, session="s", player="p-eve", name="eve", time=0, server="evil")
        yield f"Joined {name}", messages.Joined(to=to, room="friday", seat=9, generation=1)
        yield (
            f"Joined again {name}",
            messages.Joined(
                to=to, room="friday", seat=seen.evidence.seat or 1, generation=seen.evidence.generation + 1, revision=0
            ),
        )
        yield f"Joined other {name}", messages.Joined(to=to, room="saturday", seat=1, generation=1)
        yield f"Watching {name}", messages.Watching(to=to, room="friday", delay=0)
        yield f"Acked {name}", messages.Acked(to=to, time=1, hash=zero[:8], receipt=b"", seen=b"\1")
        yield f"Refused {name}", messages.Refused(to=to, code=RefusalCode.ILLEGAL, message="Fair.")
        yield f"Done {name}", messages.Done(to=to)
        yield f"Pong {name}", messages.Pong(to=to, time=1)
    for act in acts[-1:]:
        yield "Refused act", messages.Refused(to=act.id, code=RefusalCode.ILLEGAL, message="No.", revision=act.revision)
    yield "Refused -1", messages.Refused(to=-1, code=RefusalCode.ILLEGAL, message="NOT fair: bob cheats.")
    yield "Notice kicked", messages.Notice(code=NoticeCode.KICKED, message="You were removed.")
    yield "Notice verdict", messages.Notice(code=NoticeCode.SAID, message="Fair: nobody could choose the deal.")
    first = messages.BoardState("friday", 0, GAME.name, piles, board.state_hash(), moves=0, undos=0)
    for revision in (0, 1, own.play.revision if own.play else 5):
        yield f"BoardState {revision}", with_fields(first, revision=revision, moves=revision)
    yield "BoardState other room", with_fields(first, room="saturday")
    yield "BoardState other game", with_fields(first, game="klondike")
    for seat in (1, 2, 9):
        yield f"ProgressUpdate {seat}", messages.ProgressUpdate(seat=seat, foundation_cards=51, moves=9, acted_at=1)
    yield "ProgressUpdate gone", messages.ProgressUpdate(seat=2, connected=False)
    yield "DelayedBoard", messages.DelayedBoard(player="p-ana", revision=0, piles=piles, moves=0, undos=0, time=0)
    yield "DelayedMove", messages.DelayedMove(player="p-ana", revision=1, action="7 6", seen=b"\1", time=1)
    share = messages.DrawnShare(seat=1, name="ana", commitment=zero, share=zero)
    yield "Drawn", messages.Drawn(room="friday", draw=1, shares=(share,))
    yield "Drawn other room", messages.Drawn(room="saturday", draw=1, shares=(share,))
    if last is not None:
        yield from _states(client, seen, last)


def _states(client: Client, seen: Seen, last: RoomState) -> Iterator[tuple[str, RoomState]]:
    """States that the room does not have now."""
    now = seen.state or last
    first = next(event.message for event in client.events if isinstance(event.message, RoomState))
    yield "RoomState first", first
    yield "RoomState last", last
    yield "RoomState other room", with_fields(now, room="saturday", terms=now.terms.replace("friday", "saturday"))
    yield "RoomState other room, same terms", with_fields(now, room="saturday")
    mine = tuple(each for each in now.players if each.player == client.player)
    others = tuple(each for each in now.players if each not in mine)
    tallies = tuple(each for each in now.tallies if each.player != client.player)
    yield "RoomState without me", with_fields(now, players=others, tallies=tallies)
    yield "RoomState alone", with_fields(now, players=mine)
    yield "RoomState counts nobody", with_fields(now, tallies=(*now.tallies, Tally(player="p-eve", connected=False)))
    yield "RoomState open", with_fields(now, phase="open", draw=0, starts=0, ends=0)
    yield "RoomState closed", with_fields(now, phase="closed")
    yield "RoomState reopened", with_fields(first, commitment=some_bytes("other"), event=now.event + 1)
    yield "RoomState next draw", with_fields(now, phase="countdown", draw=min(5, now.draw + 1))
    yield "RoomState all stuck", with_fields(now, players=tuple(with_fields(each, stuck=True) for each in now.players))
    resigned = tuple(with_fields(each, resigned=each in mine) for each in now.players)
    yield "RoomState I resigned", with_fields(now, players=resigned)
    better = tuple(with_fields(each, time=61_000, foundation_cards=52) for each in last.standings[:1])
    yield "RoomState better result", with_fields(last, standings=better)
    yield "RoomState no results", with_fields(last, standings=(), seed=b"", proof="")
    yield "RoomState other options", with_fields(now, options=Options(games=(GAME.name,), undo="free", deal=now.deal))
