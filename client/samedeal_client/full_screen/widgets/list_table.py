"""A table of rows, each with a key. One row is selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from rich.text import Text
from textual.coordinate import Coordinate
from textual.widgets import DataTable

from samedeal_client.full_screen.widgets.themes import text_of
from samedeal_client.text.spans import Row, Span

if TYPE_CHECKING:
    from samedeal_client.full_screen.widgets.look_app import LookApp


class ListTable(DataTable[Text]):
    """Textual's table with a row cursor. Without a cursor, the table can't get the focus.

    While the keys of the rows stay the same, a change redraws only the cells that differ.
    """

    def __init__(self, headings: Sequence[str], *, show_cursor: bool = True, **options: Any) -> None:
        super().__init__(cursor_type="row", show_cursor=show_cursor, **options)
        self.can_focus = show_cursor
        self.add_columns(*headings)

    @property
    def _keys(self) -> list[str | None]:
        return [row.key.value for row in self.ordered_rows]

    @property
    def selected_key(self) -> str:
        """The key of the row under the cursor, or an empty string if there are no rows."""
        return next(iter(self._keys[self.cursor_row :]), None) or ""

    def show_rows(self, rows: Mapping[str, Sequence[Row | str]], selected: str = "") -> None:
        """Show rows. ``rows`` maps the key of each row to its cells.

        Move the cursor to the row with the key ``selected``. If ``selected`` is empty, the cursor stays on its row
        while the table has that row.
        """
        wanted, look = selected or self.selected_key, cast("LookApp[object]", self.app).look
        lines = [
            [text_of((Span(cell),) if isinstance(cell, str) else cell, look) for cell in cells]
            for cells in rows.values()
        ]
        # Textual computes widths only when it is idle. A row that was drawn before then stays cut off.
        for x, column in enumerate(self.ordered_columns):
            column.auto_width, column.width = (
                False,
                max(cell.cell_len for cell in (column.label, *(c[x] for c in lines))),
            )
        keys = list(rows)
        if keys == self._keys:
            for y, line in enumerate(lines):
                for x, cell in enumerate(line):
                    if self.get_cell_at(Coordinate(y, x)) != cell:
                        self.update_cell_at(Coordinate(y, x), cell, update_width=True)
        else:
            self.clear()
            for key, line in zip(keys, lines, strict=True):
                self.add_row(*line, key=key)
        if wanted in keys and keys.index(wanted) != self.cursor_row:
            self.move_cursor(row=keys.index(wanted))
