"""The results of a past race, from its record on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from samedeal.record import Record
from samedeal.series import record_standings
from samedeal_client.full_screen.screens.look_screen import LookScreen
from samedeal_client.full_screen.widgets.footer import ScreenKeys
from samedeal_client.full_screen.widgets.plot_view import PlotView
from samedeal_client.full_screen.widgets.standings_table import StandingsTable
from samedeal_client.full_screen.widgets.themes import text_of
from samedeal_client.panels.history import place_text
from samedeal_client.panels.outcome import headline
from samedeal_client.panels.plot import record_curves, top_of_plot
from samedeal_client.panels.records import record_heading
from samedeal_client.text.spans import Span
from samedeal_link.model.model import placed
from samedeal_link.records.past_races import PastRace


class PastResultsScreen(LookScreen[None]):
    """The standings and the chart of a past race. ``path`` is the file of its record."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "replay", "replay"), Binding("escape", "dismiss", "back")]

    def __init__(self, race: PastRace, record: Record, path: Path) -> None:
        super().__init__()
        self._race = race
        self._record = record
        self._path = path

    def compose(self) -> ComposeResult:
        """Yield the headline, the standings, the chart and remarks."""
        look, record, me = self.look, self._record, self._race.name
        standings = self._standings = placed(record_standings(record), record.terms.window)
        curves, total = record_curves(record, me), record.game.cards
        result = headline(standings, me, total, look) if record.is_whole else place_text(self._race)
        self._table, plot = StandingsTable(), PlotView(id="plot")
        maximum = top_of_plot(max(line.foundation_cards for line in standings), total)
        plot.show_curves(curves, maximum, record.length, look)
        remarks = "" if record.is_whole else "This machine has only your own part of the race."
        page = VerticalScroll(
            Static(text_of((Span(result, "title"),), look), id="headline"),
            *(self._table, plot, Static(remarks, id="remarks")),
            id="results",
            classes="panel",
        )
        page.border_title = look.displayable(record_heading(record))
        yield page
        self._sentence = Static(id="sentence")
        yield self._sentence
        yield ScreenKeys(self.look)

    def on_mount(self) -> None:
        """Let the keys scroll the page."""
        self.query_one("#results").focus()

    def on_resize(self) -> None:
        """Draw the standings in the width of the window."""
        width, record = self.app.size.width, self._record
        self._table.show_standings(self._standings, record.game.cards, self._race.name, self.look, width)

    def action_replay(self) -> None:
        """Replay the race."""
        self.run_worker(self._replay(), exclusive=True)

    async def _replay(self) -> None:
        if failed := await self.look_app.replay(self._path):
            self._sentence.update(text_of((Span(f" {failed}"),), self.look))
