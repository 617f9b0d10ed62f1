"""The operator's guide lists the events that a node logs."""

from __future__ import annotations

import re

from samedeal_server.telemetry.events import LogEvent
from tests.deploy.introspection import GUIDE


def test_guide_lists_exactly_the_logged_events() -> None:
    section = GUIDE.read_text().partition("\n## Logs\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    documented = [event for row in rows for event in re.findall(r"`(\w+)`", row)]
    assert sorted(documented) == sorted(set(LogEvent) - {LogEvent.REQUEST_REFUSED})
