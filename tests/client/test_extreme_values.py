"""Messages of hostile servers in which values are extreme: they are refused, or do no harm."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from functools import reduce
from operator import getitem
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.errors import SamedealError
from samedeal.protocol.codec import pack
from samedeal.protocol.messages import (
    Act,
    Drawn,
    DrawnShare,
    EarlierPlayer,
    Join,
    Joined,
    LostSeat,
    ProgressUpdate,
    Records,
    Refused,
    Rooms,
    RoomState,
    TableLine,
    ToClient,
    Watch,
    Watching,
    Welcome,
)
from samedeal.race.room_state import board_state
from samedeal_client.board.mini_board import draw_mini
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.menus.lobby import Lobby
from samedeal_client.panels import race as race_panels
from samedeal_client.panels.earlier import earlier_rows
from samedeal_client.panels.live_ranking import current_ranking, delayed_ranking
from samedeal_client.panels.lobby import count_states, own_race_row, room_cells
from samedeal_client.panels.narration import Narrator, room_lines
from samedeal_client.panels.outcome import why_over
from samedeal_client.panels.players_panel import panel_title, ranking_rows
from samedeal_client.panels.race_feed import RaceFeed
from samedeal_client.panels.records import record_list_lines
from samedeal_client.panels.results import ResultDetails, closing_rows, headline_rows, race_length
from samedeal_client.panels.series import series_rows
from samedeal_client.panels.tide import tide_text
from samedeal_client.panels.waiting import NO_BOTS, player_cells, room_rows, start_condition
from samedeal_client.text.appearance import Look
from samedeal_link.connection.sanitize import decode_sanitized
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.facts import AskedToEnter, Share
from samedeal_link.evidence.observation import received
from samedeal_link.evidence.observation import sent as heard_request
from samedeal_link.evidence.own_draws import answer, wanted_share
from samedeal_link.evidence.verdict import NO_READING, verdict
from samedeal_link.model.model import Model
from tests.client.race_server import START, RaceServer
from tests.client.server_messages import delayed_board, delayed_move
from tests.shared.protocol.samples import SAMPLES

LOOK: Final = Look(ascii=True)
NOW: Final = START + 60_000
INTEGERS: Final = (-1, 0, 1, 63, 64, 65, 255, 256, 1 << 31, 1 << 46, 1 << 47, (1 << 63) - 1)
BYTES: Final = (b"", b"\0", bytes(7), bytes(31), bytes(32), bytes(33), b"\xff" * 300)
TEXTS: Final = ("", " ", "\x1b[2J", "W" * 5_000, "me", "you", "#0", "again 1", "daily 2026-13-41", "chess")

Path = tuple[str | int, ...]


def messages() -> list[ToClient]:
    """What a server sends in a race, with something in most fields: to a player, then to a spectator."""
    server = RaceServer()
    seated = server.state("open").players
    shares = tuple(DrawnShare(seat=seat.seat, name=seat.name, commitment=bytes(32), share=bytes(32)) for seat in seated)
    winnable = replace(
        server.state("countdown"),
        deal="winnable",
        draw=2,
        lost=(LostSeat(draw=1, seat=3, name="cid", reason="silent"),),
        players=tuple(replace(seat, share_commitment=bytes(32)) for seat in seated),
        earlier=(EarlierPlayer(name="eve", foundation_cards=2, time=9_000, reached=(1_000, 4_000)),),
        table=(TableLine(1, "me", "ana", 1, 3.5, 60_000),),
        rooms_before=("k6",),
        round=1,
    )
    move = server.legal()[0]
    act = server.act(move)
    finished = server.state("finished", next="k8")
    finished = replace(finished, standings=tuple(replace(each, time=9_000) for each in finished.standings))
    *_, welcome = (sample for sample in SAMPLES if isinstance(sample, Welcome))
    *_, listed = (sample for sample in SAMPLES if isinstance(sample, Rooms))
    *_, records = (sample for sample in SAMPLES if isinstance(sample, Records))
    return [
        replace(welcome, player="me", name="ana", time=START, games=()),
        listed,
        records,
        Joined(to=4, room="k7", seat=1, generation=1),
        server.state("open"),
        winnable,
        Drawn(room="k7", draw=2, shares=shares),
        server.state("racing"),
        board_state("k7", server.dealt),
        ProgressUpdate(seat=2, foundation_cards=3, moves=9, undos=1, acted_at=START + 5, last_progress_at=START + 5),
        server.answer(act),
        Refused(to=12, code="rate_limited", message="Later", retry_after=1),
        finished,
        Watching(to=5, room="k7", delay=15),
        server.state("racing"),
        delayed_board("you", server.dealt, START + 1_000, (500,)),
        delayed_move("you", server.play, str(move), START + 2_000),
        finished,
    ]


SENT: Final = [msgspec.to_builtins(message, builtin_types=(bytes,)) for message in messages()]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The place of each value in a message."""
    if path and path != ("type",):
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, each in inside:
        yield from paths(each, (*path, key))


def extremes(value: Any) -> tuple[Any, ...]:
    match value:
        case bool():
            return (not value,)
        case int() | float():
            return INTEGERS
        case bytes():
            return BYTES
        case str():
            return TEXTS
        case list() | tuple():
            return ([], [*value, *value], [*value] * 40)
        case _:
            return ()


def changed(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    key, *rest = path
    if isinstance(value, dict):
        return {**value, key: changed(value[key], tuple(rest), new)}
    return [changed(each, tuple(rest), new) if number == key else each for number, each in enumerate(value)]


Change = tuple[int, Path, Any]
"""The number of a message, a place in it, and a value for that place."""

CHANGES: Final[list[Change]] = [
    (number, path, new)
    for number, sent in enumerate(SENT)
    for path in paths(sent)
    for new in extremes(reduce(getitem, path, sent))
]


def show(before: Model, model: Model) -> None:
    """Draw what the screens and the line client show of a model."""
    narrator = Narrator(LOOK)
    narrator.narrate(before, model)
    narrator.rivals_line(model)
    room = model.room
    if room is None:
        return
    details = ResultDetails()
    _ = model.deal_words, model.has_finished, model.has_live_seat, model.has_daily_deal
    _ = narrator.describe_room(model), narrator.final_standings(model)
    ranking = current_ranking(model, NOW)
    RaceFeed(model.me).after(ranking, NOW).after(ranking, NOW)
    delayed_ranking(model, model.watched, NOW)
    ranking_rows(ranking, LOOK, 40, 20)
    panel_title(len(room.players), room.spectator_count, LOOK, 40, model.time_left(NOW))
    player_cells(model, NO_BOTS, LOOK)
    room_rows(room, 60)
    start_condition(model, NOW)
    series_rows(room, model.me, LOOK)
    earlier_rows(model, LOOK)
    race_panels.countdown_rows(model, model.until_start(NOW) // 1000, LOOK)
    race_panels.title_parts(model)
    race_panels.place_span(ranking)
    race_panels.finish_rows(model, ranking, None, LOOK, 60)
    if model.board is not None:
        race_panels.status_row(model, DEFAULT, 80, "")
        race_panels.stock_text(model.board)
        model.board.legal_moves()
        draw_mini(model.board, LOOK, 100, 40)
    for watched in model.watched.values():
        draw_mini(watched.play.board, LOOK, 40, 20)
    if room.phase == "finished":
        why_over(room)
        race_length(model)
        headline_rows(model, details, LOOK, 60)
        closing_rows(model, details, LOOK)
        race_panels.end_rows(model, LOOK, 60)
        assert model.evidence is not None
        verdict(model.evidence, NO_READING)


def play(*changes: Change) -> int:
    """Let a client hear all messages, some of them changed, and show each state. A refusal ends its link.

    The client takes part in the draw, and asks for what the messages answer. Return the number of messages that were heard.
    """
    model, evidence = Model(), Evidence.asked(AskedToEnter("player", "k7"), "me", "ana")
    for request in (Join(id=4, room="k7"), Watch(id=5, room="k7"), Act(id=11, revision=0, action="undo")):
        evidence = heard_request(evidence, request, 0)
    for number, sent in enumerate(SENT):
        for place, path, new in changes:
            if place == number:
                with suppress(LookupError, TypeError):  # an earlier change has taken the place away
                    sent = changed(sent, path, new)
        try:
            message = decode_sanitized(pack(sent))
            before, model = model, model.after(message)
        except SamedealError:
            return number
        evidence = received(evidence, message, 0)
        if isinstance(message, RoomState):
            if draw := wanted_share(evidence, message):
                evidence = evidence.plus(Share(draw, bytes(32)))
            evidence, _ = answer(evidence, message)
        model = dataclasses.replace(model, evidence=evidence)
        match message:
            case Welcome():
                tide_text(message.tides, NOW)
            case Rooms():
                lobby = Lobby(date(2026, 11, 21)).listed(message.rooms)
                room_lines(message.rooms, LOOK), count_states(message.rooms)
                for each in message.rooms:
                    room_cells(lobby, 1, each, LOOK, NOW, 80), own_race_row(each, LOOK, NOW)
            case Records():
                record_list_lines(message.records, LOOK)
            case _:
                show(before, model)
    return len(SENT)


def test_honest_messages_are_shown() -> None:
    assert play() == len(SENT)


@settings(max_examples=100)
@given(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=3))
def test_extreme_values_are_refused_or_harmless(changes: list[Change]) -> None:
    play(*changes)


@pytest.mark.parametrize("seat", [-1, 256, 1 << 46])
def test_impossible_seat_is_malformed(seat: int) -> None:
    places = [(number, path) for number, sent in enumerate(SENT) for path in paths(sent) if path[-1] == "seat"]
    assert len(places) == 17
    for number, path in places:
        assert play((number, path, seat)) == number


@pytest.mark.parametrize("field", ["game", "deal"])
def test_impossible_race_ends_the_link(field: str) -> None:
    for number, sent in enumerate(SENT):
        if sent["type"] == "roomstate":
            assert play((number, (field,), "chess")) == number
