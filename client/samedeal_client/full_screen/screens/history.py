"""The player's past races."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import DataTable, Static

from samedeal.errors import BadRecord
from samedeal.record import Record
from samedeal_client.full_screen.screens.look_screen import LookScreen, day_and_zone
from samedeal_client.full_screen.screens.past_race import PastResultsScreen
from samedeal_client.full_screen.widgets.footer import ScreenKeys
from samedeal_client.full_screen.widgets.list_table import ListTable
from samedeal_client.panels import history as panels
from samedeal_link.machine.terminal import terminal
from samedeal_link.records.history_file import HistoryFile
from samedeal_link.records.past_races import History, PastRace
from samedeal_link.records.record_files import saved_record

_FULL_WIDTH: Final = 76
"""Minimum width, in columns, of a window whose table has all columns."""


_FRAME_WIDTH: Final = 6
"""Number of columns for the frame around the table, and for its scroll bar."""


class HistoryScreen(LookScreen[None]):
    """The player's past races, below a summary of each game."""

    LABELS: ClassVar = {"select_cursor": "results"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", "copy the result"),
        Binding("escape,h", "dismiss", "back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.history = History()

    def compose(self) -> ComposeResult:
        """Yield the summary and the races as tables, and the result line of the selected race."""
        self._summary = ListTable(panels.SUMMARY_HEADINGS, id="summary", classes="panel", show_cursor=False)
        self._races = ListTable((), id="races", classes="panel")
        self._empty = Static("No races yet. They are listed here when you have raced.", classes="panel")
        self._sentence = Static(id="sentence")
        yield Vertical(self._summary, self._races, self._empty, id="history")
        yield self._sentence
        yield ScreenKeys(self.look)

    def on_mount(self) -> None:
        """Read the history."""
        file = HistoryFile()
        try:
            self.history = file.read()
        except OSError as error:
            self.history, problem = History(), f"Cannot read {file.path} ({error.strerror})."
        else:
            problem = panels.unreadable_text(self.history, terminal().shown_path(file.path))
        self._summary.show_rows({line[0]: line for line in panels.summary_cells(self.history, self.look)})
        self._summary.border_title, self._races.border_title = "Games", "Races"
        for table in (self._summary, self._races):
            table.display = bool(self.history.races)
        self._empty.display = not self.history.races
        self._races.focus()
        self._sentence.update(problem)

    def on_resize(self) -> None:
        """Show the columns for which there is space."""
        self.redraw()

    def redraw(self) -> None:
        """Show the races and the daily streak."""
        look, width, races, selected = self.look, self.app.size.width, self.history.latest, self._races.selected_key
        headings: tuple[str, ...] = panels.HEADINGS
        rows = panels.fitted_cells(races, look, width - _FRAME_WIDTH)
        if width < _FULL_WIDTH:
            headings, rows = panels.SHORT_HEADINGS, [panels.short_cells(race, look) for race in races]
        if len(self._races.columns) != len(headings):
            self._races.clear(columns=True)
            self._races.add_columns(*headings)
        self._races.show_rows({str(number): row for number, row in enumerate(rows)}, selected)
        self._summary.border_subtitle = panels.streak_text(self.history, day_and_zone()[0])

    @property
    def _selected(self) -> PastRace | None:
        latest, row = self.history.latest, self._races.cursor_row
        return latest[row] if row < len(latest) else None

    def on_data_table_row_highlighted(self, _: DataTable.RowHighlighted) -> None:
        """Show the result line of the selected race."""
        race = self._selected
        if race is not None:
            self._sentence.update(Text(f" {panels.result_line(race)}"))

    def on_data_table_row_selected(self, _event: DataTable.RowSelected) -> None:
        """Show the saved results of the race that was chosen with Enter or a click, or say that there are none."""
        race = self._selected
        if race is None:
            return
        path = saved_record(race.room, race.starts)
        if path is None:
            self._sentence.update(" There is no record of this race on this machine.")
            return
        try:
            record = Record.read(path.read_bytes())
        except (OSError, BadRecord) as error:
            self._sentence.update(Text(f" The record of this race can't be read. {error}"))
            return
        _ = self.app.push_screen(PastResultsScreen(race, record, path))

    def action_copy(self) -> None:
        """Copy the result line of the selected race."""
        race = self._selected
        if race is not None:
            self.app.copy_to_clipboard(panels.result_line(race))
            self._sentence.update(" Copied. If pasting fails, select with Shift and the mouse.")
