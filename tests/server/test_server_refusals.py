"""Every refusal and every notice of the server has a code and a sentence."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

from samedeal.errors import (
    BadOptions,
    CannotUndo,
    IllegalMove,
    MalformedFrame,
    MalformedText,
    RequestRefused,
    SamedealError,
    StaleRevision,
    UnknownGame,
    UnknownRequest,
)
from samedeal.protocol.admin import BanLine
from samedeal.protocol.messages import Notice
from samedeal.protocol_codes import NoticeCode, RefusalCode
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import Pace, Quotas
from samedeal_server.races import player_notices, refusals
from samedeal_server.races.server_bans import ban_sentence
from tests.golden.golden_files import assert_sentences

BAN = BanLine(target="ana", since=1, until=1_763_751_600_000, reason="rude")

REFUSALS: dict[str, SamedealError] = {
    "bad_passphrase": refusals.bad_passphrase(),
    "bad_receipt": refusals.bad_receipt(),
    "bad_share": refusals.bad_share(),
    "bad_start_time": refusals.bad_start_time(),
    "banned": refusals.banned(ban_sentence(BAN)),
    "commit_refused": refusals.commit_refused("stale"),
    "blank_passphrase": refusals.blank_passphrase(),
    "connection_ended": refusals.connection_ended(),
    "draining": refusals.draining(),
    "fault": refusals.fault(),
    "fenced": refusals.fenced(),
    "hello_first": refusals.hello_first(),
    "hello_once": refusals.hello_once(),
    "kicked": refusals.kicked(),
    "name_taken": refusals.name_taken("Ana"),
    "no_bots": refusals.no_bots(),
    "no_free_code": refusals.no_free_code(),
    "no_room": refusals.no_room("friday"),
    "no_record": refusals.no_record(),
    "no_seat": refusals.no_seat(),
    "no_seat_here": refusals.no_seat_here(),
    "no_session": refusals.no_session(),
    "no_tide": refusals.no_tide(),
    "no_spectators": refusals.no_spectators(),
    "not_dealt": refusals.not_dealt(),
    "not_host": refusals.not_host(),
    "not_over": refusals.not_over(),
    "not_racing": refusals.not_racing(),
    "other_version": refusals.other_version("friday", "1.0", 5.0),
    "other_rules": refusals.other_rules("friday", 5.0),
    "passphrases_busy": refusals.passphrases_busy(),
    "player_has_no_seat": refusals.player_has_no_seat(),
    "race_done": refusals.race_done(),
    "race_started": refusals.race_started(),
    "race_started_without_you": refusals.race_started_without_you(),
    "racing": refusals.racing(),
    "reserved_name": refusals.reserved_name("Server"),
    "room_closed": refusals.room_closed(),
    "room_exists": refusals.room_exists("friday"),
    "room_full": refusals.room_full(4),
    "seats_kept": refusals.seats_kept(20),
    "too_many_from_address": refusals.too_many_from_address(),
    "server_full": refusals.server_full(),
    "stale": refusals.stale(),
    "store_unavailable": refusals.store_unavailable(),
    "this_room_is_gone": refusals.this_room_is_gone(),
    "tide_not_open": refusals.tide_not_open(90),
    "time_up": refusals.time_up(),
    "too_many_actions": refusals.too_many_actions(10_000),
    "too_many_guesses": refusals.too_many_guesses("8 minutes", 480.0),
    "too_many_spectators": refusals.too_many_spectators(),
}

NOTICES: dict[str, Notice] = {
    "banned": player_notices.banned(ban_sentence(BAN)),
    "closed": player_notices.closed(),
    "draining": player_notices.draining(),
    "ending": player_notices.ending(),
    "kicked": player_notices.kicked(),
    "not_drawn": player_notices.not_drawn(),
    "not_met": player_notices.not_met(),
    "over": player_notices.over(),
    "redrawn": player_notices.redrawn([("Bob", "brook"), ("Cid", "brook")]),
    "said": player_notices.said("Back in an hour."),
    "seated": player_notices.seated(),
    "unseated": player_notices.unseated(["Bob", "Cid"]),
    "waiting": player_notices.waiting([]),
    "waiting_for_shares": player_notices.waiting(["Bob"]),
    "waiting_for_rooms": player_notices.waiting([], for_rooms=True),
}

OF_THE_CORE = (
    BadOptions,
    CannotUndo,
    IllegalMove,
    MalformedFrame,
    MalformedText,
    StaleRevision,
    UnknownGame,
    UnknownRequest,
)


def functions(module: ModuleType) -> set[str]:
    own = inspect.getmembers(module, lambda member: inspect.isfunction(member) and member.__module__ == module.__name__)
    return {name for name, _ in own}


def rate_limited() -> list[RequestRefused]:
    """The refusals of clients that exceed each of the rates."""
    limits = Limits(
        rate=1, burst=20, slow_for=0, address_rate=1, address_burst=100, rooms_per_address=1, sessions_per_address=1
    )
    pace, quotas, few_sessions = Pace(limits, 0.0), Quotas(limits), Quotas(Limits(sessions=1))
    found = []
    for ask in (
        lambda: pace.admit(0.0, 21),
        lambda: quotas.admit(("192.0.2.7",), 0.0, 101),
        lambda: list(map(quotas.open_room, [("192.0.2.7",)] * 2, [0.0] * 2)),
        lambda: list(map(quotas.begin_session, [("192.0.2.7",)] * 2, [0.0] * 2)),
        lambda: list(map(few_sessions.begin_session, [("192.0.2.1",), ("192.0.2.2",)], [0.0] * 2)),
    ):
        with pytest.raises(RequestRefused) as refused:
            ask()
        found.append(refused.value)
    return found


def test_every_refusal_and_notice_has_an_example() -> None:
    assert set(REFUSALS) == functions(refusals)
    assert set(NOTICES) == functions(player_notices) | {"waiting_for_shares", "waiting_for_rooms"}


def test_every_refusal_code_has_a_sentence() -> None:
    codes = {refusal.code for refusal in (*REFUSALS.values(), *rate_limited())}
    assert codes | {error.code for error in OF_THE_CORE} == set(RefusalCode)


def test_every_notice_code_has_a_sentence() -> None:
    assert {notice.code for notice in NOTICES.values()} == set(NoticeCode)


def test_sentences_of_refusals_and_notices() -> None:
    refused = dict.fromkeys(f"{refusal.code}\t{refusal}" for refusal in (*REFUSALS.values(), *rate_limited()))
    assert_sentences("server: refusals", sorted(refused))
    assert_sentences("server: notices", [f"{notice.code}\t{notice.message}" for notice in NOTICES.values()])
