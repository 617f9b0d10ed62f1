"""The views of operators as they look. Their golden files are in ``tests/golden/screens/admin``."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from samedeal.protocol.admin import BanLine, NodeLine, Phases, RedisLine, RoomShown, Survey, Whereabouts
from samedeal.protocol.messages import Seat, Tally
from samedeal_client.full_screen.widgets.style_colours import COLOURS
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, row_text, row_width
from samedeal_operate.admin_tables import ban_rows, room_rows, survey_rows
from samedeal_operate.commands.admin import expand
from tests.client.lone_player import ROOM
from tests.golden.golden_files import assert_answers, assert_golden

NOW = 1_795_287_801_000

ALPHA = NodeLine(
    node="alpha.cards.example.org-1207-9f3c",
    version="0.1.0",
    started=NOW - 3 * 86_400_000,
    last_seen=NOW - 800,
    address="ws://10.0.0.7:7777",
    connections=1204,
    players=811,
    spectator_count=40,
    rooms=103,
    moves=312.44,
    median=1.0,
    p99=10.0,
    load=0.41,
    memory=148_000_000,
)
BETA = replace(
    ALPHA, node="beta-88-00aa", started=NOW - 4_000_000, connections=7, players=2, rooms=5, moves=0.0, draining=True
)
GAMMA = replace(BETA, node="gamma-9-77fe", rooms=2, last_seen=NOW - 7_200, draining=False, load=0.0)

SURVEY = Survey(
    to=1,
    time=NOW,
    nodes=(ALPHA, BETA, GAMMA),
    phases=Phases(open=3, countdown=1, racing=94, finished=12),
    redis=RedisLine(version="7.2.5", latency=0.31, memory=43_100_000, clients=31, commands=2210),
)

SHOWN = RoomShown(
    to=1,
    state=replace(
        ROOM,
        game="athena",
        deal="#4821",
        private=True,
        host="0123456789ab",
        players=(
            Seat(player="0123456789ab", name="Ana", seat=1),
            Seat(player="ba9876543210", name="Ёж 漢字", seat=2, resigned=True),
            Seat(player="00ff00ff00ff", name="cid", seat=4, shown="Kind Name"),
        ),
        tallies=(
            Tally(player="0123456789ab", foundation_cards=52, moves=140, undos=3, finished_at=NOW - 1000),
            Tally(player="ba9876543210", foundation_cards=3, moves=12),
            Tally(player="00ff00ff00ff", foundation_cards=17, moves=88, connected=False),
        ),
        starts=NOW - 300_000,
        ends=NOW + 600_000,
        spectator_count=2,
    ),
    whereabouts=(
        Whereabouts(player="0123456789ab", node="beta-88-00aa", address="203.0.113.7", time=NOW),
        Whereabouts(player="00ff00ff00ff", node="gamma-9-77fe", address="2001:db8::12", time=NOW),
    ),
)


def text(rows: list[Row]) -> str:
    assert {style for row in rows for span in row for style in span.style.split()} <= COLOURS.styles.keys()
    return "\n".join(row_text(row).rstrip() for row in rows) + "\n"


def test_rows_match_their_golden() -> None:
    bans = (
        BanLine(target="203.0.113.0/24", since=NOW, until=NOW + 3_600_000, reason="a flood of bots"),
        BanLine(target="ba9876543210", since=NOW - 1),
    )
    pages = (
        survey_rows(SURVEY, Look(), 200),
        survey_rows(replace(SURVEY, nodes=()), Look(), 80),
        room_rows(SHOWN, NOW, Look()),
        ban_rows(bans),
    )
    assert_golden("screens/admin/lines.txt", "\n".join(text(page) for page in pages))


def test_url_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMEDEAL_ADMIN_URL", "URL-of-the-environment")
    assert_answers("admin_urls", lambda _, question: " ".join(expand(question.split())))


def test_problem_of_redis_fits_into_the_window() -> None:
    problem = "10.0.0.7:6379 rejects commands (command not allowed when used memory > 'maxmemory'.)"
    survey = replace(SURVEY, redis=replace(SURVEY.redis, problem=problem))
    added = [row for row in survey_rows(survey, Look(), 40) if row not in survey_rows(SURVEY, Look(), 40)]
    assert " ".join(row_text(row) for row in added) == problem
    assert max(map(row_width, added)) <= 40
