"""RULES.md has a section for each game and every ruling that source and tests cite."""

from __future__ import annotations

import re
from pathlib import Path

from samedeal.games import GAMES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "shared" / "RULES.md").read_text(encoding="utf-8")
LAST = max(number for game in GAMES.values() for number in game.file.rulings.values())
CITED = re.compile(r"\bR([0-9]{1,2})\b")


def cited_rulings() -> set[str]:
    """The numbers of all rulings that Python files of the project and the tests of the rules cite."""
    folders = [ROOT / name for name in ("shared", "server", "client", "tests")]
    files = [path for folder in folders for path in folder.rglob("*.py") if path != Path(__file__)]
    files += (ROOT / "tests" / "shared" / "rules").glob("*.txt")
    return {number for path in files for number in CITED.findall(path.read_text(encoding="utf-8"))}


def test_every_ruling_has_a_paragraph() -> None:
    assert re.findall(r"^\*\*R([0-9]+) ", PAGE, re.MULTILINE) == [str(number) for number in range(1, LAST + 1)]
    assert re.findall(r'^<a id="r([0-9]+)"></a>$', PAGE, re.MULTILINE) == [str(number) for number in range(1, LAST + 1)]


def test_every_cited_ruling_exists() -> None:
    cited = cited_rulings()
    assert cited
    assert cited <= {str(number) for number in range(1, LAST + 1)}


def test_every_game_has_a_section() -> None:
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE) == ["All games", *(game.title for game in GAMES.values())]
