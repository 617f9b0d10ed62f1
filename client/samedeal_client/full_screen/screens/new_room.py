"""The form of a new room."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Button, Input, Select, Static

from samedeal.errors import RequestRefused
from samedeal_client.full_screen.screens.widget_screen import WidgetScreen
from samedeal_client.full_screen.widgets.form_fields import CHOICE_LABELS, FIELD_KEYS, ChoiceField, TextField
from samedeal_client.full_screen.widgets.themes import lines_of
from samedeal_client.menus.new_room_fields import FIELD_BY_NAME, FIELDS, Field
from samedeal_client.menus.room_form import MAX_LENGTH, NewRoom, RoomForm
from samedeal_client.panels.frame import breadcrumbs
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.spans import Row, Span


def _id(field: str) -> str:
    """Return the id of a field's widget."""
    return f"field-{field}"


def _name(widget: Widget | None) -> str:
    """Return the name of a widget's field, or an empty string if it has none."""
    return ((widget.id if widget is not None else None) or "").removeprefix("field-")


class _Choice(ChoiceField[str]):
    """A field with a menu of choices. Left and Right change the choice without opening the menu."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "step(1)", show=False),
        Binding("left", "step(-1)", show=False),
    ]

    def __init__(self, field: Field, value: str) -> None:
        self._texts = list(field.choices or ())
        names = [title_of(text) if field.name == "game" else field.shown.get(text, text) for text in self._texts]
        choices = zip(names, self._texts, strict=True)
        super().__init__(choices, value=value, allow_blank=False, compact=True, id=_id(field.name))

    def action_step(self, count: int) -> None:
        """Select the value ``count`` steps further on, or back if ``count`` is negative."""
        self.value = self._texts[(self._texts.index(str(self.value)) + count) % len(self._texts)]


class _OpenButton(Button):
    """The button below the fields, which opens the room."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIELD_KEYS]


class NewRoomScreen(WidgetScreen):
    """The form of a new room. ``form`` is its state."""

    help_context = "new room"
    LABELS: ClassVar = {"submit": "next", **CHOICE_LABELS}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "open", "open room"),
        Binding("escape", "screen.dismiss", "back"),
    ]

    def __init__(self, form: RoomForm) -> None:
        super().__init__()
        self.form = form

    def compose_body(self) -> ComposeResult:
        """Yield the names of the fields, their values, and the meanings of the values."""
        values = self.form.values
        widgets = [
            _Choice(field, values[field.name]) if field.choices is not None else self._input(field, values[field.name])
            for field in FIELDS
        ]
        self._labels, self._meanings = Static(id="labels"), Static(id="meanings")
        columns = Horizontal(self._labels, Vertical(*widgets), self._meanings, classes="fields")
        button = _OpenButton("Open the room", compact=True, id="open-room")
        panel = VerticalScroll(columns, button, id="form", classes="panel", can_focus=False)
        panel.border_title = "New room"
        yield panel

    @staticmethod
    def _input(field: Field, value: str) -> Input:
        return TextField(
            value,
            placeholder=field.shown.get("", ""),
            suggester=SuggestFromList(field.suggested, case_sensitive=False),
            max_length=MAX_LENGTH,
            compact=True,
            id=_id(field.name),
        )

    def on_mount(self) -> None:
        """Show the meanings of the values, and focus the first field."""
        self._show()
        self.set_focus(self.query_one(f"#{_id(FIELDS[0].name)}"))

    def _now(self) -> datetime:
        """Return the server's time in the player's time zone."""
        return datetime.fromtimestamp(self.client.now() / 1000, UTC).astimezone()

    def title_parts(self) -> Row:
        """Return the left part of the header: the server and the words "new room"."""
        return breadcrumbs(self.client.link.address.typed, "new room")

    def prompt_row(self) -> Row:
        """Return the error or the meaning of the focused field in full. The form may be too narrow for the whole text."""
        if self._busy:
            return super().prompt_row()
        errors = self.form.errors(self._now())
        field = FIELD_BY_NAME.get(_name(self.focused))
        if error := errors.get(field.name if field is not None else "") or errors.get(""):
            return (Span(f" ! {error}", "bad"),)
        if field is None:
            return ()
        return (
            Span(f" {field.label}: {self.look.displayable(field.describe(self.form.values[field.name]))}", "label"),
        )

    def _show(self) -> None:
        errors, shown = self.form.errors(self._now()), self.form.fields
        for field in FIELDS:
            self.query_one(f"#{_id(field.name)}").display = field in shown
        self._labels.update("\n".join(field.label for field in shown))
        meanings = [
            Span(f"! {errors[field.name]}", "bad")
            if field.name in errors
            else Span(field.describe(self.form.values[field.name]), "label")
            for field in shown
        ]
        self._meanings.update(lines_of(((meaning,) for meaning in meanings), self.look))
        self.show_frame()

    @on(Input.Changed)
    @on(Select.Changed)
    def _change(self, event: Input.Changed | Select.Changed) -> None:
        """Store the value of a changed widget in the form."""
        name, value = _name(event.control), str(event.value)
        if self.form.values.get(name, value) != value:
            self.form = self.form.with_value(name, value)
            self._show()

    @on(Input.Submitted)
    def _go_on(self) -> None:
        """Go from a text field to the next field."""
        self.focus_next()

    def on_descendant_focus(self) -> None:
        """Explain the field that has the focus now."""
        self.show_frame()

    @on(Button.Pressed)
    def action_open(self) -> None:
        """Open the room, or go to the first field with an error."""
        if self._busy:
            return
        filled = self.form.to_room(self._now())
        if filled is None:
            self._focus_on_error()
        else:
            self.run_busy("Opening the room", partial(self._create, filled))

    def _focus_on_error(self) -> None:
        errors = self.form.errors(self._now())
        wrong = next((field.name for field in self.form.fields if field.name in errors), None)
        if wrong is not None:
            self.set_focus(self.query_one(f"#{_id(wrong)}"))
        self._show()

    async def _create(self, filled: NewRoom) -> None:
        try:
            room = await self.client.rooms.create(filled.options, filled.room, filled.passphrase)
            self.samedeal.room_form = self.form.for_next_room()
            await self.client.join(room, filled.passphrase)
        except RequestRefused as refused:
            self.form = self.form.with_refusal(refused.code, str(refused))
            self._focus_on_error()
