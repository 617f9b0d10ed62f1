"""ADMIN.md matches the code."""

from __future__ import annotations

import re
from typing import Final, get_args

from samedeal.protocol import admin as messages
from samedeal.protocol.admin import (
    BanLine,
    FromOperator,
    NodeLine,
    Phases,
    RedisLine,
    ReportLine,
    ToOperator,
    Whereabouts,
)
from samedeal.protocol.messages import Done, Refused
from samedeal.protocol_codes import CloseCode, RefusalCode
from samedeal.sentences import REFUSALS
from samedeal_server.operators import auth, backup, node_agent, operator_gateway, request_handlers
from samedeal_server.store import node_registry
from samedeal_server.store.dump import DumpedKey
from tests.server.pages import ROOT, cells, check_numbers, check_page, section

PAGE: Final = (ROOT / "shared" / "ADMIN.md").read_text()
FLAT: Final = " ".join(PAGE.split())

ANSWERS: Final = dict.fromkeys((kind for kind in get_args(ToOperator) if kind not in (Done, Refused)), False)


def test_page_has_exactly_the_messages_maps_and_codes() -> None:
    maps = (NodeLine, Phases, RedisLine, Whereabouts, BanLine, ReportLine)
    codes = {row.code or name for name, row in REFUSALS.items()} - {*RefusalCode}
    check_page(get_args(FromOperator), ANSWERS, maps, codes, messages.SUBPROTOCOL, PAGE)


def test_page_has_the_close_codes() -> None:
    assert {int(row[0]) for row in cells(section("## Close codes", PAGE))} == {CloseCode.NOT_LOGGED_IN}


def test_page_has_the_numbers_of_the_code() -> None:
    modules = (auth, messages, node_agent, node_registry, operator_gateway, request_handlers)
    check_numbers("admin_numbers", {module.__name__.rpartition(".")[2]: module for module in modules}, PAGE)
    assert auth.WRONG_TOKEN_DELAY == 1.0  # "after a second"
    assert node_registry.PLAYER_LIFETIME == 86_400  # "within a day"


def test_page_describes_the_backup_file() -> None:
    assert f"the line `{backup.FIRST_LINE.decode().strip()}`" in FLAT
    for kind in (backup.Head, DumpedKey, backup.Tail):
        listed = re.search(rf"`{kind.__name__}`[^(]*\(([^)]*)\)", FLAT)
        assert listed
        assert re.findall(r"`(\w+)`", listed[1]) == list(kind.__struct_fields__)
        assert kind.__struct_config__.tag == kind.__name__
