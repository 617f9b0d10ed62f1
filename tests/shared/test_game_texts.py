"""Files and documents have what follows from the games."""

from __future__ import annotations

import ast
import re

from samedeal.game_json import GameData, PileData
from samedeal.games import GAMES
from tests.tools.game_texts import ROOT, texts

TEXTS = texts()
FOLDERS = ("client", "server/samedeal_server", "shared/samedeal")


def test_text_follows_from_the_games() -> None:
    """``make games`` writes them."""
    for name in TEXTS:
        assert (ROOT / name).read_text(encoding="utf-8") == TEXTS[name]


def test_page_explains_each_key_of_a_description() -> None:
    section = TEXTS["shared/GAMES.md"].partition("## A game as JSON")[2].partition("<!-- games")[0]
    keys = [*GameData.__struct_fields__, *PileData.__struct_fields__]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == keys


def test_no_code_names_a_game() -> None:
    """What depends on a game is in its file. Docstrings and comments may name games as examples."""
    names = re.compile(rf"\b({'|'.join((*GAMES, *(game.title for game in GAMES.values())))})\b")
    found = []
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        if not names.search(source := path.read_text(encoding="utf-8")):
            continue
        tree = ast.parse(source)
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs]
        found += [f"{path.name}: {node.value!r}" for node in texts if names.search(repr(node.value))]
    scripts = [path for path in (ROOT / FOLDERS[1] / "page/static").iterdir() if path.suffix in (".js", ".mjs")]
    found += [
        path.name for path in (*scripts, *(ROOT / "shared/checker").glob("*.mjs")) if names.search(path.read_text())
    ]
    assert found == []
