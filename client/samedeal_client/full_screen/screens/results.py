"""The results of a race, and the ways to go on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from samedeal.deal import Deal
from samedeal.record import Record
from samedeal_client import room_actions
from samedeal_client.full_screen.screens.base import Task
from samedeal_client.full_screen.screens.page import PageScreen
from samedeal_client.full_screen.screens.widget_screen import WidgetScreen
from samedeal_client.full_screen.widgets.plot_view import PlotView
from samedeal_client.full_screen.widgets.standings_table import StandingsTable
from samedeal_client.full_screen.widgets.themes import lines_of, text_of
from samedeal_client.menus.new_room_fields import DEFAULT_DEAL
from samedeal_client.panels.frame import breadcrumbs
from samedeal_client.panels.plot import record_curves
from samedeal_client.panels.results import (
    ResultDetails,
    closing_rows,
    headline_rows,
    plot_maximum,
    race_length,
    rematch_does,
    rematch_text,
    shared_result,
)
from samedeal_client.panels.series import rematch_name
from samedeal_client.panels.verdict import verdict_page
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import deal_title, public_deal_title
from samedeal_client.text.spans import Row, Span, wrap
from samedeal_link.machine.terminal import terminal
from samedeal_link.records.history_file import best_before
from samedeal_link.records.record_files import save_record


class ResultsScreen(WidgetScreen):
    """The results. ``details`` has what the model lacks, such as the file in which the record was saved."""

    help_context = "results"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "scroll", "scroll"),
        Binding("m", "rematch"),
        Binding("v", "replay", "replay"),
        Binding("n", "new_room", "new room"),
        Binding("a", "same_deal", "same deal again"),
        Binding("c", "copy", "copy result"),
        Binding("d", "details", "what was checked"),
        Binding("r", "rules", "rules"),
        Binding("w", "watch", show=False),
        Binding("question_mark", "no_hint", show=False),
        Binding("escape,l", "leave"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.details = ResultDetails()
        self._scrolls = False
        self._path: Path | None = None
        self._drawn: Record | None = None
        self._saved: Record | None = None

    def compose_body(self) -> ComposeResult:
        """Yield the headline, the rematch, the standings, the plot and remarks."""
        self._headline = Static(id="headline")
        self._standings = StandingsTable()
        self._plot = PlotView(id="plot")
        self._remarks = Static(id="remarks")
        self._next_room = Static(id="next-room")
        yield VerticalScroll(
            *(self._headline, self._next_room, self._standings, self._plot, self._remarks),
            id="results",
            classes="panel",
        )

    def on_mount(self) -> None:
        """Save the record of the player's race."""
        self.samedeal.ring()
        record = self.model.record()
        self.details = ResultDetails(self._save_own_record(record), best_before(self.model))
        self._draw(record)
        page = self.query_one("#results")
        page.focus()
        self.watch(page, "show_vertical_scrollbar", self._show_scroll_key)

    def title_parts(self) -> Row:
        """Return the left part of the header: the game and its deal, the room, and the word "results"."""
        room = self.model.this_room
        deal = f" {room.deal}" if public_deal_title(room.deal) else f", {deal_title(room.deal)}"
        return breadcrumbs(f"{self.model.game.title}{deal}", f"room {room.room}", "results")

    def show_model(self) -> None:
        """Show the results."""
        after, look, width = self.model, self.look, self.size.width
        room = after.this_room
        if after.whole_record is not None and after.own.play is not None:
            self._complete_record(after.whole_record)
        self._draw(after.whole_record)
        self._headline.update(lines_of(headline_rows(after, self.details, look, width - 6), look))
        self._standings.show_standings(room.standings, after.game.cards, after.me, look, width)
        curves = self.details.curves
        self._plot.display = bool(curves)
        self._plot.show_curves(curves, plot_maximum(after), race_length(after), look)
        self._remarks.update(lines_of(closing_rows(after, self.details, look), look))
        text = rematch_text(self.model, look)
        self._next_room.display = bool(text)
        self._next_room.update(text_of((Span(text, "notice"),), look, "screen.rematch"))
        self.refresh_bindings()

    def _draw(self, record: Record | None) -> None:
        """Take the curves from a record, unless they are from it already."""
        if record is not None and record is not self._drawn:
            self._drawn, seat = record, self.model.seat
            self.details = replace(self.details, curves=record_curves(record, seat.name if seat else ""))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 (Textual's signature)
        """Return whether the action of a key is available."""
        room = self.model.this_room
        if action == "scroll":
            return self._scrolls
        if action == "copy":
            return self.model.seat is not None
        deal = Deal.parse(room.deal)
        return action != "same_deal" or (deal.public and deal.kind != "again")

    def key_labels(self) -> Mapping[str, str]:
        """Return the labels of the keys for the rematch and for leaving."""
        return {"rematch": rematch_does(self.model), "leave": self.samedeal.after_room}

    def _show_scroll_key(self, taller: bool) -> None:  # noqa: FBT001 (a watcher gets the value so)
        """Show or hide the key that scrolls. ``taller`` says whether the page is taller than the window."""
        self._scrolls = taller
        self.refresh_bindings()

    def action_scroll(self) -> None:
        """Show the next part of the page."""
        self.query_one("#results", VerticalScroll).action_page_down()

    def action_rematch(self) -> None:
        """Enter the room of the rematch."""
        task = partial(room_actions.enter_rematch, self.client, self.samedeal.bots)
        self._run_if_idle(f"Going to the {rematch_name(self.model.this_room)}", task)

    def action_new_room(self) -> None:
        """Open a room with the same options and a winnable deal, and bring the player's bots."""
        self._open_room(DEFAULT_DEAL)

    def action_same_deal(self) -> None:
        """Open a room with the same deal, and bring the player's bots."""
        self._open_room(self.model.this_room.deal)

    def _open_room(self, deal: str) -> None:
        task = partial(room_actions.open_similar_room, self.client, self.samedeal.bring_bots, deal)
        self._run_if_idle("Opening a room", task)

    def action_watch(self) -> None:
        """Show the message that there is nothing to watch. On other screens, the same key watches a race."""
        where = ", where you can watch others" if self.samedeal.after_room == "lobby" else ""
        name = rematch_name(self.model.this_room)
        self.show_message(f"The race is over. Press m for the {name}, or l for the {self.samedeal.after_room}{where}.")

    def action_no_hint(self) -> None:
        """Say that there are no hints any more.

        During the race, the same key asks for a hint. Pressed a moment too late, it must not cover the results.
        """
        self.show_message("The race is over, so there are no hints. Press F1 for help.")

    def action_copy(self) -> None:
        """Copy the player's result, to send it to others."""
        address = self.client.shared_address if self.client.link.has_page else None
        if text := shared_result(self.model, self.details, address.page if address else None):
            self.app.copy_to_clipboard(text)
            self.show_message("Copied. If pasting fails, select with Shift and the mouse.", "good")

    def action_replay(self) -> None:
        """Replay the race."""
        self._run_if_idle("Getting the record", self._replay)

    async def _replay(self) -> None:
        record = (await self.client.audit()).reading.record
        if record is not None:
            self._complete_record(record)
        seat = self.model.seat if self.model.own.play is not None else None
        name = seat.name if seat is not None else ""
        if self._path is not None:
            failed = await self.samedeal.replay(self._path, name)
        elif (record := record or self.model.record()) is not None:  # it could not be saved
            try:
                with NamedTemporaryFile("w", prefix="samedeal-", suffix=".txt", encoding="utf-8") as file:
                    file.write(str(record))
                    file.flush()
                    failed = await self.samedeal.replay(Path(file.name), name)
            except OSError as error:
                failed = f"The replay failed: {error.strerror}."
        else:
            failed = "This race can't be replayed, because neither the server nor this client has its record."
        if failed:
            self.show_message(failed)

    def _save_own_record(self, record: Record | None) -> str:
        """Save the record of the player's own race.

        Return a sentence that says why it was not saved, or otherwise an empty string, as for a spectator.
        """
        if self.model.own.play is None:
            return ""
        if record is None:
            return "Your race was not saved, because this client missed part of it."
        try:
            self._path = save_record(record)
        except OSError as error:
            return f"Your race could not be saved: {error.strerror}."
        return ""

    def _complete_record(self, record: Record) -> None:
        """Save the server's record, which has all players, in place of the player's own record."""
        if record is self._saved:
            return
        self._saved = record
        with suppress(OSError):  # the player's own record stays
            self._path = save_record(record, self._path)
            self.details = replace(self.details, record_text="")

    def action_details(self) -> None:
        """Show everything that was found when the race was checked."""
        model, path = self.model, self._path and terminal().shown_path(self._path)

        def rows(look: Look, width: int) -> tuple[Row, ...]:
            saved = ((), *((Span(look.displayable(line)),) for line in wrap(f"Record saved in {path}", width)))
            return verdict_page(model, look, width) + saved * bool(path)

        _ = self.app.push_screen(PageScreen("What was checked", rows))

    def action_leave(self) -> None:
        """Leave the room."""
        self._run_if_idle("Leaving", partial(room_actions.leave_with_bots, self.client, self.samedeal.bots))

    def _run_if_idle(self, busy: str, task: Task) -> None:
        if not self._busy:
            self.run_busy(busy, task)
