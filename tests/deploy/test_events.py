"""What is logged is in the operator's guide, and what is there is logged."""

from __future__ import annotations

import re

from tests.deploy.real import GUIDE, ROOT

LOGGED = re.compile(r"log\.(?:info|warning|error|exception)\(\s*\"(\w+)\"|(?:seldom|strangers)\.info\(\s*\"(\w+)\"")


def test_the_guide_has_every_event_and_no_other() -> None:
    sources = [path.read_text() for path in sorted((ROOT / "server").rglob("*.py"))]
    logged = {first or second for text in sources for first, second in LOGGED.findall(text)}
    section = GUIDE.read_text().partition("\n## Logs\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    told = {event for row in rows for event in re.findall(r"`(\w+)`", row)}
    assert len(logged) > 15
    assert told == logged
