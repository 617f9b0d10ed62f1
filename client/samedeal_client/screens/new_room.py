"""The form of a new room."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from textual import events

from samedeal.errors import RequestRefused
from samedeal_client.screens.text_screen import TextScreen
from samedeal_client.state.room_form import NewRoom, RoomForm
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.new_room import form_keys, new_room_view, status_line
from samedeal_client.views.screen_body import FooterKey, View


class NewRoomScreen(TextScreen):
    """The form of a new room. ``form`` is its state."""

    help_context = "new room"

    def __init__(self, form: RoomForm) -> None:
        super().__init__()
        self.form = form

    def _now(self) -> datetime:
        """The server's time in the player's time zone."""
        return datetime.fromtimestamp(self.client.now() / 1000, UTC).astimezone()

    def title_parts(self) -> Row:
        """The title."""
        return self.breadcrumbs(self.client.link.address.typed, "new room")

    def footer_keys(self) -> Iterable[FooterKey]:
        """The keys that can be pressed."""
        return form_keys(self.look)

    def prompt_row(self) -> Row:
        """The meaning of the chosen field, or the reason why its value is invalid."""
        return (Span(" "), status_line(self.form, self.look, self._now()))

    def draw(self, width: int, height: int) -> View:
        """The fields."""
        return new_room_view(self.form, self.look, width, height, self._now())

    def apply_key(self, key: str) -> bool:
        """Edit the form, open the room, or go back."""
        before = self.form
        if key == "escape":
            _ = self.dismiss()
        elif key == "enter":
            self._open()
        elif key == "f1":
            self.open_help()
        else:
            self.form = self.form.press(key)
            return self.form is not before
        return True

    def perform(self, action: str) -> None:
        """Run the action of the part of the text that was clicked."""
        self.form = self.form.do(action)

    def scroll_by(self, rows: int) -> None:
        """Choose the next or previous field."""
        self.perform("next" if rows > 0 else "back")
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        """Paste text into a field."""
        event.stop()
        self.form = self.form.paste(event.text)
        self.redraw()

    def _open(self) -> None:
        if self.form.busy:
            return
        filled = self.form.to_room(self._now())
        if filled is None:
            self.form = self.form.focused_on_error(self._now())
            return
        self.form = replace(self.form, busy=True)
        self.run_task(partial(self._create, filled))

    async def _create(self, filled: NewRoom) -> None:
        try:
            room = await self.client.rooms.create(filled.options, filled.room, filled.passphrase)
            self.samedeal.room_form = self.form.for_next_room()
            await self.client.join(room, filled.passphrase)
        except RequestRefused as refused:
            self.form = self.form.with_refusal(refused.code, str(refused))
            self.redraw()
