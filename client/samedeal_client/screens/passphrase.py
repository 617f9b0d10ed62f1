"""The question for the passphrase of a private room."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from samedeal_client.screens.look_screen import DialogScreen


class PassphraseScreen(DialogScreen[str | None]):
    """A dialog whose answer is the passphrase, or None if the player cancels.

    ``wrong`` says that the passphrase given before was wrong.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "join", "join"), Binding("escape", "dismiss", "cancel")]

    def __init__(self, room: str, *, wrong: bool) -> None:
        super().__init__()
        self._room = room
        self._wrong = wrong

    def compose(self) -> ComposeResult:
        """Yield the input in a box."""
        wrong = "Wrong passphrase. Try again." if self._wrong else ""
        field = Input(password=True, id="passphrase")
        yield from self.in_box(f"Passphrase of room {self._room}", field, subtitle=wrong)

    @on(Input.Submitted)
    def action_join(self) -> None:
        """Answer with the typed text."""
        _ = self.dismiss(self.query_one(Input).value)
