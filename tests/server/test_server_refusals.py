"""Every refusal and every notice of the server has a code and a sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest

import samedeal
import samedeal_operate
import samedeal_server
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
from samedeal.sentences import MISTAKES, NOTICES, REFUSALS, notice, refused
from samedeal_operate.doctor_results import FINDINGS
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import Pace, Quotas
from samedeal_server.errors import STARTUP_ERRORS
from samedeal_server.races.refusals import CommitRejection
from samedeal_server.races.server_bans import ban_sentence
from samedeal_server.store.preflight import _EXPLANATIONS
from tests.golden.golden_files import assert_sentences

BAN = BanLine(target="ana", since=1, until=1_763_751_600_000, reason="rude")
WORDS: dict[str, Any] = {
    "room": "friday",
    "version": "1.0",
    "limit": 10_000,
    "seats": 4,
    "seconds": 90,
    "wait": "2 min",
}
WORDS |= {"sentence": ban_sentence(BAN), "name": "Ana", "player": "eve", "target": "203.0.113.7", "maximum": 1000}
WORDS |= {"game": "Hamlet", "node": "n9", "nodes": "n1, n2", "request": "backup", "ids": "1f0c, 2e9d", "line": 3}
WORDS |= {"race": "friday.20261122-140543", "reason": "it has less than two letters. Write a whole word."}
NOTICE_WORDS = {
    "sentence": ban_sentence(BAN),
    "names": "Bob, Cid",
    "name": "Player M",
    "text": "Back in an hour.",
    "draws": 5,
}
OF_THE_CORE = (
    *(BadOptions, CannotUndo, IllegalMove, MalformedFrame, MalformedText, StaleRevision),
    *(UnknownGame, UnknownRequest),
)


def all_refusals() -> list[SamedealError]:
    return [*(refused(name, **WORDS) for name in REFUSALS), *rate_limited()]


def notices() -> list[Notice]:
    return [notice(name, **NOTICE_WORDS) for name in NOTICES]


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
        with pytest.raises(RequestRefused) as raised:
            ask()
        found.append(raised.value)
    return found


def test_every_refusal_code_has_a_sentence() -> None:
    """Other codes are for operators: see ``test_admin_page``."""
    codes = {refusal.code for refusal in all_refusals()}
    assert {*RefusalCode} <= codes | {error.code for error in OF_THE_CORE}


def test_sentences_are_used_with_their_words() -> None:
    """A name that its table lacks, or a word that is not given, would be a fault of the server."""
    rows = {"refused": REFUSALS, "_refuse": REFUSALS, "notice": NOTICES, "mistake": MISTAKES}
    rows["StartupError"] = STARTUP_ERRORS
    texts = {function: {name: row.sentence for name, row in table.items()} for function, table in rows.items()}
    texts["found"] = {name: row.result + row.advice for name, row in FINDINGS.items()}
    used = {*get_args(CommitRejection), *_EXPLANATIONS.values()}
    used |= {
        name.format(setting)
        for name in ("bad_{}", "{}_twice", "{}_unreadable")
        for setting in ("admin_token", "moderator_token", "hook_secret", "house_key")
        if name != "{}_twice" or setting not in ("moderator_token", "house_key")  # they are only in files
    }
    for function, name, given in told():
        if function in texts:
            assert words_of(texts[function][name]) <= given, name
            used.add(name)
    assert used == {name for table in texts.values() for name in table}


def told() -> Iterator[tuple[str, str, set[str | None]]]:
    """Yield the function, the first argument and the names of the others for each call with a text."""
    packages = (Path(package.__path__[0]) for package in (samedeal, samedeal_server, samedeal_operate))
    for path in (path for package in packages for path in package.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args:
                first = call.args[0]
                if isinstance(first, ast.Constant):
                    yield call.func.id, str(first.value), {keyword.arg for keyword in call.keywords}


def words_of(text: str) -> set[str | None]:
    return {word for _, word, _, _ in Formatter().parse(text) if word}


def test_every_notice_code_has_a_sentence() -> None:
    assert {notice.code for notice in notices()} == set(NoticeCode)


def test_sentences_of_refusals_and_notices() -> None:
    told = dict.fromkeys(f"{refusal.code}\t{refusal}" for refusal in all_refusals())
    of_operators = [line for line in told if line.partition("\t")[0] not in set(RefusalCode)]
    assert_sentences("operators", of_operators)
    assert_sentences("server: refusals", sorted(told.keys() - of_operators))
    assert_sentences("server: notices", [f"{notice.code}\t{notice.message}" for notice in notices()])
