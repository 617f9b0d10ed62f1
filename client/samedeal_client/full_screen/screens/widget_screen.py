"""A screen made of Textual's own widgets and the client's header. Keys are bindings, which Textual's footer shows."""

from __future__ import annotations

from functools import partial

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from samedeal_client.board.layout import Size
from samedeal_client.full_screen.screens.base import ClientScreen, Task
from samedeal_client.full_screen.widgets.fitting_footer import FittingFooter
from samedeal_client.full_screen.widgets.themes import lines_of
from samedeal_client.text.spans import Row, Span


class WidgetScreen(ClientScreen):
    """A screen with Textual's widgets between the client's header and Textual's footer.

    While the screen is busy with a task, its prompt names the task.
    """

    def __init__(self) -> None:
        super().__init__()
        self._busy = ""

    def compose_footer(self) -> ComposeResult:
        """Yield a line for messages above Textual's footer."""
        self._sentence = Static(id="sentence")
        yield Vertical(self._sentence, FittingFooter(), id="footer", classes="widgets")

    def show_footer(self, width: int) -> None:
        """Show the message, or the prompt. Textual's footer shows the keys."""
        text = lines_of(self.message_rows(width), self.look)
        if text != self._sentence.content:
            self._sentence.update(text)

    def minimum_size(self) -> Size:
        """Return the smallest size in which all widgets can be used."""
        return Size(60, 19)

    def prompt_row(self) -> Row:
        """Return a row that names the task that the screen is busy with. The row is empty if there is no such task."""
        return (Span(f" {self._busy} {self.look.glyphs.ellipsis}", "label"),) if self._busy else ()

    def run_task(self, task: Task, *, group: str = "default", exclusive: bool = False) -> None:
        """Run a task in the background. If ``exclusive`` is true, cancel the other tasks of its group."""
        self.run_worker(task, group=group, exclusive=exclusive)  # type: ignore[arg-type]  # mypy misses that it is a coroutine

    def run_busy(self, busy: str, task: Task) -> None:
        """Run a task in the background, and show ``busy`` in the footer meanwhile.

        If an earlier task that was started in this way is still running, it is cancelled.
        """
        self._busy = busy
        self.run_task(partial(self._run_busy, task), group="busy", exclusive=True)

    def action_rules(self) -> None:
        """Show the rules of the game."""
        self.app.call_later(self.samedeal.action_help, rules=True)

    async def _run_busy(self, task: Task) -> None:
        await self._run_request(task)
        # A cancelled task does not get here: the text now belongs to the newer task, and must stay.
        self._busy = ""
        self.show_frame()

    def on_key(self, event: events.Key) -> None:
        """Leave keys to the bindings of the screen on top. For a key without a binding, show a message.

        While the window is too small, keys do nothing.
        """
        event.prevent_default()
        if self.has_class("small"):
            event.stop()
        elif self.on_top and event.key not in self.active_bindings:
            self.show_unknown_key(
                event.character if event.key != "space" and event.character and event.is_printable else event.key
            )
