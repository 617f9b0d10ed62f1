"""The fields of forms: texts and choices."""

from __future__ import annotations

from typing import ClassVar, Final, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.widgets import Input, Select

_Value = TypeVar("_Value")


FIELD_KEYS: Final = (
    Binding("down", "app.focus_next", show=False),
    Binding("up", "app.focus_previous", show=False),
)
"""The keys that move to the next and the previous field."""


class TextField(Input):
    """A text field in a form."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIELD_KEYS]


CHOICE_LABELS: Final = {"select": "choose", "dismiss": "close the list"}
"""What the footer calls the keys of the menu of a ``ChoiceField`` while it is open."""


class ChoiceField(Select[_Value], Generic[_Value], inherit_bindings=False):
    """A field with a menu of choices."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "show_overlay", "choose"),
        Binding("tab", "app.focus_next", "next"),
        *FIELD_KEYS,
    ]
