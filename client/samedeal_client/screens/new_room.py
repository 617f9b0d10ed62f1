"""The form of a new room."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from textual import events

from samedeal.errors import Refused
from samedeal_client.rooms.room_form import NewRoom, RoomForm
from samedeal_client.screens.sheet import SheetScreen
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.new_room import form_keys, new_room_view, said
from samedeal_client.views.page import KeyWord, View


class NewRoomScreen(SheetScreen):
    """The form; ``form`` is what is in it."""

    where = "new room"

    def __init__(self, form: RoomForm) -> None:
        super().__init__()
        self.form = form

    def _now(self) -> datetime:
        """The server's time, in one's own time zone."""
        return datetime.fromtimestamp(self.client.now() / 1000, UTC).astimezone()

    def title_row(self) -> Row:
        """What this is."""
        return self.heading(self.client.link.address.typed, "new room")

    def words(self) -> Iterable[KeyWord]:
        """The keys that do something here."""
        return form_keys(self.look)

    def idle_row(self) -> Row:
        """What the field means, or what is wrong with it."""
        return (Span(" "), said(self.form, self.look, self._now()))

    def draw(self, width: int, height: int) -> View:
        """The fields."""
        return new_room_view(self.form, self.look, width, height, self._now())

    def take(self, key: str) -> bool:
        """Type, choose, open the room, or go back."""
        before = self.form
        if key == "escape":
            _ = self.dismiss()
        elif key == "enter":
            self._open()
        elif key == "f1":
            self.help()
        else:
            self.form = self.form.press(key)
            return self.form is not before
        return True

    def do(self, what: str) -> None:
        """Do what a click stands for."""
        self.form = self.form.do(what)

    def scroll_by(self, rows: int) -> None:
        """The wheel goes through the fields."""
        self.do("next" if rows > 0 else "back")
        self.show()

    def on_paste(self, event: events.Paste) -> None:
        """Text may be pasted into a field."""
        event.stop()
        self.form = self.form.paste(event.text)
        self.show()

    def _open(self) -> None:
        if self.form.busy:
            return
        filled = self.form.filled(self._now())
        if filled is None:
            self.form = self.form.at_error(self._now())
            return
        self.form = replace(self.form, busy=True)
        self.work(partial(self._create, filled))

    async def _create(self, filled: NewRoom) -> None:
        try:
            room = await self.client.create(filled.options, filled.room, filled.passphrase)
            self.samedeal.room_form = self.form.emptied()
            await self.client.join(room, filled.passphrase)
        except Refused as refused:
            self.form = self.form.refusing(refused.code, str(refused))
            self.show()
