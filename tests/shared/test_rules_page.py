"""RULES.md has a section for each game and every ruling that source and tests cite."""

from __future__ import annotations

import re
from pathlib import Path

from samedeal.cards import DECK
from samedeal.game_rules import sections_of
from samedeal.games import GAMES
from tests.shared.positions import position

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "shared" / "RULES.md").read_text(encoding="utf-8")
LAST = max(number for game in GAMES.values() for number in game.file.rulings.values())
CITED = re.compile(r"\bR([0-9]{1,2})\b")
CITED_BY_R5 = re.findall(r"R[0-9]+", re.findall(r"such as (R20.*?)\)", PAGE)[0])


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


def test_only_columns_that_take_any_card_are_said_to() -> None:
    """In Klondike a two comes back from its foundation only to a three: an empty column takes kings."""
    for game in GAMES.values():
        says = any("or to an empty column" in point.text for part in sections_of(game) for point in part.points)
        assert not says or set(DECK) == set(game.piles[game.columns.start].on_empty), game
    board = position("klondike", "1: | 2: 3H | 01: AS 2S").board
    assert board.is_legal("01 2")
    assert not board.is_legal("01 1")


def test_games_whose_foundations_keep_cards_follow_r5() -> None:
    exceptions = {game.file.rulings.get("take-back") for game in GAMES.values()} - {None}
    assert {f"R{number}" for number in exceptions} < set(CITED_BY_R5)
    for game in GAMES.values():
        assert game.piles[game.foundations.start].gives == ("take-back" in game.file.rulings)
