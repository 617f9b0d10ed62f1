"""The library: its examples as they stand on the page, what is public, and what it imports."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import samedeal
from samedeal.cards import DOWN, Card
from tests.client.boards import dealt
from tests.golden.golden_files import HERE

PAGE = Path(__file__).parents[2] / "shared" / "LIBRARY.md"
EXAMPLE = re.compile(r"## ([^\n]+)\n(?:(?!\n## ).)*?```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
EXAMPLES = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))


def test_page_has_eight_examples() -> None:
    assert len(EXAMPLES) == 8


@pytest.mark.parametrize(("title", "code", "text"), EXAMPLES, ids=[title for title, *_ in EXAMPLES])
def test_examples_print_what_the_page_says(
    title: str,
    code: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, record in (("race", "joint"), ("rematch", "medium")):
        (tmp_path / f"{name}.txt").write_bytes((HERE / "race_records" / f"{record}.txt").read_bytes())
    monkeypatch.chdir(tmp_path)
    exec(compile(code, title, "exec"), {})
    printed = capsys.readouterr().out
    if "REGENERATE" in os.environ:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(page.replace(f"{code}```\n\n```text\n{text}```", f"{code}```\n\n```text\n{printed}```"))
    else:
        assert printed == text


def test_public_names_exist_and_are_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in samedeal.__all__:
        assert getattr(samedeal, name).__doc__, name
        assert re.search(rf"`{name}\b", page), name
    assert dir(samedeal) == sorted(samedeal.__all__)
    assert not hasattr(samedeal, "Solver")


def test_library_needs_only_msgspec_and_loads_it_late() -> None:
    program = (
        "import sys; sys.modules['typing_extensions'] = None; import samedeal\n"  # msgspec uses it if it is there
        "sys.modules.pop('sitecustomize', None)\n"  # some systems have one
        "early = {name for name in sys.modules if name.startswith(('samedeal', 'msgspec'))}\n"
        "from samedeal import *\n"
        "samedeal.Board\n"
        "late = {name.partition('.')[0] for name, module in sys.modules.items() if module} - set(sys.stdlib_module_names)\n"
        "print(sorted(early), sorted(name for name in late if not name.startswith('_')))"
    )
    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert asked.stdout.strip() == "['samedeal'] ['msgspec', 'samedeal']"


@pytest.mark.parametrize("game", ["klondike", "willow", "spider", "freecell"])
def test_picture_shows_the_cards_that_lie_face_up(game: str) -> None:
    board = dealt(game, 7)
    drawn = ElementTree.fromstring(board._repr_svg_())
    texts = [(text.text or "").replace("10", "T") for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    shown = [str(Card(card)) for pile in board.piles for card in pile if card < DOWN]
    assert sorted(text.translate(dict(zip(map(ord, "♣♦♥♠"), "CDHS", strict=True))) for text in texts) == sorted(shown)
    assert board.masked()._repr_svg_() == board._repr_svg_()
