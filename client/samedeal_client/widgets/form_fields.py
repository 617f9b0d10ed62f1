"""The fields of forms: texts and choices."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Select
from textual.widgets._select import SelectCurrent, SelectOverlay

_Value = TypeVar("_Value")


class TextField(Input):
    """A text field in a form. The Up and Down keys move to the previous and the next field."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]


class _Choices(SelectOverlay):
    """The menu of a ``ChoiceField`` while it is open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "choose"),
        Binding("escape", "dismiss", "close the list"),
    ]


class ChoiceField(Select[_Value], Generic[_Value], inherit_bindings=False):
    """A field with a menu of choices."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "show_overlay", "choose"),
        Binding("tab", "app.focus_next", "next"),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def compose(self) -> ComposeResult:
        """Yield the chosen value and the menu."""
        yield SelectCurrent(self.prompt)
        yield _Choices().data_bind(compact=Select.compact)
