"""Terminal output reduced to the cells that change."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from samedeal.terminal_text import columns_of
from samedeal_client.terminal_io.changed_cells import TerminalCells

STYLES = ("", "1", "4;31", "38;5;160;48;5;231", "38;5;234;48;5;231", "1;38;2;1;2;3", "48;2;1;2;3", "7")
STYLED = st.tuples(st.sampled_from(STYLES), st.text("ab ♠", min_size=1, max_size=9))
LINE = st.tuples(st.integers(1, 3), st.integers(1, 20), st.lists(STYLED, max_size=4))
UPDATES = st.lists(st.lists(LINE, min_size=1, max_size=4), max_size=6)


class Screen:
    """The content of a terminal: for each cell its character and style."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], tuple[str, frozenset[tuple[str, str]]]] = {}
        self.cursor = 0, 0
        self.style: dict[str, str] = {}

    def write(self, output: str) -> None:
        for numbers, command, char in re.findall(r"\x1b\[([\d;]*)([HCm])|(.)", output):
            y, x = self.cursor
            if command == "H":
                y, x = map(int, numbers.split(";"))
            elif command == "C":
                x += int(numbers or 1)
            elif command == "m":
                self._set_style(numbers or "0")
            else:
                style = frozenset(self.style.items())
                lines = {"4", "7"} & self.style.keys()
                seen = style if char != " " or lines else frozenset({("48", self.style.get("48", ""))})
                self.cells[y, x] = char, seen
                x += columns_of(char)
            self.cursor = y, x

    def _set_style(self, numbers: str) -> None:
        for code in re.findall(r"[34]8;5;\d+|[34]8;2;\d+;\d+;\d+|\d+", numbers):
            if code == "0":
                self.style = {}
            elif code in ("39", "49"):
                self.style.pop(code[0] + "8", None)
            else:
                self.style["38" if code == "31" else code[:2]] = code


def written(lines: Sequence[tuple[int, int, list[tuple[str, str]]]]) -> str:
    """Return output as Textual writes it."""
    rows = []
    for y, x, texts in lines:
        styled = [f"\x1b[{style}m{text}\x1b[0m" if style else text for style, text in texts]
        rows.append(f"\x1b[{y};{x}H{''.join(styled)}")
    return "\n".join(rows) + "\x1b[1;1H"


@given(UPDATES)
def test_reduced_output_has_the_same_effect(updates: list[list[tuple[int, int, list[tuple[str, str]]]]]) -> None:
    cells, whole, reduced = TerminalCells(), Screen(), Screen()
    for update in updates:
        output = written(update)
        whole.write(output)
        reduced.write(cells.reduced(output))
        assert reduced.cells == whole.cells
        assert reduced.cursor == whole.cursor
        assert not reduced.style


def test_forgotten_and_wide_texts_are_written_again() -> None:
    cells = TerminalCells()
    output = written([(1, 1, [("1", "name")]), (2, 1, [("", "世界")])])
    once = cells.reduced(output)
    assert "name" in once
    assert cells.reduced(output) == "\x1b[2;1H世界\x1b[1;1H"
    cells.forget()
    assert "name" in cells.reduced(output)


def test_other_output_is_kept_and_makes_all_cells_unknown() -> None:
    cells = TerminalCells()
    output = written([(1, 1, [("1", "name")])])
    assert "name" in cells.reduced(output)
    assert cells.reduced("\x1b[?2026h") == "\x1b[?2026h"
    assert cells.reduced(output) == ""
    assert cells.reduced("\x1b[?1049h") == "\x1b[?1049h"
    assert "name" in cells.reduced(output)
