"""The views of operators as they look. Their golden files are in ``tests/golden/screens/admin``."""

from __future__ import annotations

import pytest
from msgspec import convert
from msgspec.json import decode
from msgspec.structs import replace

from samedeal.protocol.admin import BanLine, RoomShown, Survey
from samedeal_client.full_screen.widgets.style_colours import COLOURS
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, row_text
from samedeal_operate.admin_tables import ban_rows, room_rows, survey_rows
from samedeal_operate.commands.admin import expand
from tests.golden.golden_files import HERE, assert_answers, assert_golden

ANSWERS = decode((HERE / "screens/admin/answers.json").read_bytes())
SURVEY, SHOWN = convert(ANSWERS["survey"], Survey), convert(ANSWERS["room"], RoomShown)
NOW = SURVEY.time


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
