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
from samedeal import Deal
from tests.client.boards import dealt
from tests.golden.golden_files import assert_answers

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "shared" / "LIBRARY.md"
EXAMPLE = re.compile(r"## ([^\n]+)\n(?:(?!\n## ).)*?```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
EXAMPLES = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))


def test_page_has_six_examples() -> None:
    assert len(EXAMPLES) == 6


@pytest.mark.parametrize(("title", "code", "text"), EXAMPLES, ids=[title for title, *_ in EXAMPLES])
def test_examples_print_what_the_page_says(
    title: str,
    code: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
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


WILLOW = dealt("willow", 1)
NAMES = {name: getattr(samedeal, name) for name in samedeal.__all__}
NAMES |= {"WILLOW": WILLOW, "dealt": dealt, "samedeal": samedeal}
"""What the expressions of the page may name."""


def test_what_calls_refuse_is_an_error_of_the_list() -> None:
    def answer(_: str, question: str) -> str:
        with pytest.raises(samedeal.SamedealError) as refused:
            eval(question, NAMES)
        assert type(refused.value).__name__ in samedeal.__all__
        assert str(refused.value).endswith(".")
        return f"{type(refused.value).__name__}: {refused.value}".replace("\n", "\\n")

    assert_answers("library", answer)


def test_text_of_a_move_does_what_the_move_does() -> None:
    for board in (dealt("willow", 1), dealt("klondike", 7)):
        for move in board.legal_moves():
            text = str(move)
            assert (board.play(text), board.turns_up(text)) == (board.play(move), board.turns_up(move))
            assert board.is_legal(text)
            assert board.is_worry_back(text) == board.is_worry_back(move)
        assert board.turns_up("z 0") == 0


def test_solve_stops_when_the_time_is_over() -> None:
    board, looks = dealt("freecell", 1), iter([False, True])
    answer = samedeal.solve(board, 100_000, lambda: next(looks))
    assert (answer.outcome, answer.line) == (samedeal.Outcome.UNDECIDED, ())
    assert 0 < answer.states < samedeal.solve(board, 100_000).states
    assert samedeal.solve(board, 100_000, lambda: False) == samedeal.solve(board, 100_000)


def test_game_of_a_file_can_be_played() -> None:
    text = (ROOT / "shared" / "samedeal" / "games" / "klondike.toml").read_text(encoding="utf-8")
    games = samedeal.games_of("mine", text.replace("[variants.klondike-three]", "[variants.mine-three]"))
    assert list(games) == ["mine", "mine-three"]
    assert samedeal.public_board(games["mine"], Deal.parse("#7")).piles == dealt("klondike", 7).piles
    assert "mine" not in samedeal.GAMES


@pytest.mark.parametrize("game", ["klondike", "willow", "spider", "freecell"])
def test_picture_shows_the_cards_that_lie_face_up(game: str) -> None:
    board = dealt(game, 7)
    drawn = ElementTree.fromstring(board._repr_svg_())
    texts = [(text.text or "").replace("10", "T") for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    shown = [str(card) for key in board.game.keys for card in board.cards(key) if card.face_up]
    assert sorted(text.translate(dict(zip(map(ord, "♣♦♥♠"), "CDHS", strict=True))) for text in texts) == sorted(shown)
    assert board.masked()._repr_svg_() == board._repr_svg_()
    assert drawn.attrib["viewBox"] == f"0 0 {drawn.attrib['width']} {drawn.attrib['height']}"
    assert (drawn[0].text or "").startswith(board.game.title)
