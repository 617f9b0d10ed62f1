"""Every refusal and every notice of the server has a code and a sentence."""

from __future__ import annotations

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
from samedeal.race import race_refusals
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import Pace, Quotas
from samedeal_server.races import player_notices, refusals
from samedeal_server.races.server_bans import ban_sentence
from tests.golden.golden_files import assert_sentences
from tests.server.refusal_examples import examples

BAN = BanLine(target="ana", since=1, until=1_763_751_600_000, reason="rude")
WORDS = {"room": "friday", "version": "1.0", "retry_after": 5.0, "limit": 10_000}
WORDS |= {"reason": "stale", "seats": 4, "seconds": 90, "sentence": ban_sentence(BAN), "name": "Ana"}
NOTICE_WORDS = {"sentence": ban_sentence(BAN), "names": ["Bob", "Cid"], "text": "Back in an hour."}
OF_THE_CORE = (
    *(BadOptions, CannotUndo, IllegalMove, MalformedFrame, MalformedText, StaleRevision),
    *(UnknownGame, UnknownRequest),
)


def all_refusals() -> list[SamedealError]:
    return [*examples(race_refusals, WORDS), *examples(refusals, WORDS), *rate_limited()]


def notices() -> list[Notice]:
    return [*examples(player_notices, NOTICE_WORDS), player_notices.waiting([])]


def rate_limited() -> list[RequestRefused]:
    """The refusals of clients that exceed each of the rates."""
    limits = Limits(
        rate=1, burst=20, slow_for=0, address_rate=1, address_burst=100, rooms_per_address=1, sessions_per_address=1
    )
    pace, quotas, few_sessions = Pace(limits, 0.0), Quotas(limits), Quotas(Limits(sessions=1))
    found = []
    for ask in (
        lambda: pace.admit(0.0, 21),
        lambda: quotas.requests.take(("192.0.2.7",), 0.0, 101),
        lambda: list(map(quotas.rooms.take, [("192.0.2.7",)] * 2, [0.0] * 2)),
        lambda: list(map(quotas.begin_session, [("192.0.2.7",)] * 2, [0.0] * 2)),
        lambda: list(map(few_sessions.begin_session, [("192.0.2.1",), ("192.0.2.2",)], [0.0] * 2)),
    ):
        with pytest.raises(RequestRefused) as refused:
            ask()
        found.append(refused.value)
    return found


def test_every_refusal_code_has_a_sentence() -> None:
    codes = {refusal.code for refusal in all_refusals()}
    assert codes | {error.code for error in OF_THE_CORE} == set(RefusalCode)


def test_every_notice_code_has_a_sentence() -> None:
    assert {notice.code for notice in notices()} == set(NoticeCode)


def test_sentences_of_refusals_and_notices() -> None:
    refused = dict.fromkeys(f"{refusal.code}\t{refusal}" for refusal in all_refusals())
    assert_sentences("server: refusals", sorted(refused))
    assert_sentences("server: notices", [f"{notice.code}\t{notice.message}" for notice in notices()])
