"""The names in a room, which a player can report to the operator of the server, or mute on the own screen."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from samedeal_client.full_screen.screens.widget_screen import WidgetScreen
from samedeal_client.full_screen.widgets.list_table import ListTable
from samedeal_client.panels.frame import breadcrumbs
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Row


class PeopleScreen(WidgetScreen):
    """The other players in a room, below the name of the room itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "report", "report the name"),
        Binding("m", "mute", "mute, or show again"),
        Binding("escape,f2", "dismiss", "close"),
    ]

    def compose_body(self) -> ComposeResult:
        """Yield the table of the names."""
        self._names = ListTable(("seat", "name", ""), classes="panel")
        self._names.border_title = "Names"
        yield self._names

    def on_mount(self) -> None:
        """Let keys select a name."""
        self._names.focus()

    def title_parts(self) -> Row:
        """Return the left part of the header."""
        return breadcrumbs(f"room {self.model.this_room.room}", "names")

    def show_model(self) -> None:
        """Show the names."""
        model = self.model
        rows = {"room": ("", f"the room {model.this_room.room}", "")}
        for seat in model.this_room.players:
            if seat.player != model.me:
                muted = "muted" if seat.player in model.muted else ""
                rows[seat.player] = (str(seat.seat), player_name(seat.name, self.look, bot=seat.bot), muted)
        self._names.show_rows(rows)

    def action_report(self) -> None:
        """Report the selected name to the operator."""
        self.request(partial(self._report, self._names.selected_key.removeprefix("room")))

    async def _report(self, player: str) -> None:
        await self.client.rooms.report(player)
        self.show_message("Reported to the operator of this server.", "good")

    def action_mute(self) -> None:
        """Hide the selected name on this screen for this session, or show it again."""
        if self.model.seat_of(self._names.selected_key) is None:
            self.show_message("Select a player with the arrow keys or the mouse.")
        else:
            self.client.mute(self._names.selected_key)
            self.update()
