"""A table of rows, each with a key. One row is selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.coordinate import Coordinate
from textual.widgets import DataTable


class ListTable(DataTable[Text]):
    """Textual's table with a row cursor.

    While the keys of the rows stay the same, a change redraws only the cells that differ.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]

    def __init__(self, headings: Sequence[str], **options: Any) -> None:
        super().__init__(cursor_type="row", **options)
        self._headings = tuple(headings)
        self._shown: dict[str, tuple[Text, ...]] = {}
        self._early: tuple[Mapping[str, Sequence[Text]], str] = ({}, "")

    def on_mount(self) -> None:
        """Add the columns, and the rows that were passed to ``show_rows`` earlier."""
        self.add_columns(*self._headings)
        self.show_rows(*self._early)

    @property
    def selected_key(self) -> str:
        """The key of the row under the cursor, or an empty string if there are no rows."""
        keys = list(self._shown)
        return keys[self.cursor_row] if self.cursor_row < len(keys) else ""

    def show_rows(self, rows: Mapping[str, Sequence[Text]], selected: str = "") -> None:
        """Show rows. ``rows`` maps the key of each row to its cells.

        Move the cursor to the row with the key ``selected``. If ``selected`` is empty, the cursor stays on its row
        while the table has that row.
        """
        wanted = selected or self.selected_key
        if not self.columns:
            self._early = (rows, wanted)
            return
        before, self._shown = self._shown, {key: tuple(cells) for key, cells in rows.items()}
        # Textual computes widths only when it is idle. A row that was drawn before then stays cut off.
        for x, column in enumerate(self.ordered_columns):
            cells = (column.label, *(cells[x] for cells in self._shown.values()))
            column.auto_width, column.width = False, max(cell.cell_len for cell in cells)
        if list(before) == list(self._shown):
            for y, (old, new) in enumerate(zip(before.values(), self._shown.values(), strict=True)):
                for x, (was, cell) in enumerate(zip(old, new, strict=True)):
                    if was != cell:
                        self.update_cell_at(Coordinate(y, x), cell, update_width=True)
        else:
            self.clear()
            for key, cells in self._shown.items():
                self.add_row(*cells, key=key)
        keys = list(self._shown)
        if wanted in keys and keys.index(wanted) != self.cursor_row:
            self.move_cursor(row=keys.index(wanted))
