"""A screen made of Textual's own widgets and the client's header. Keys are bindings, which the footer shows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual import events

from samedeal_client.board.layout import Size
from samedeal_client.full_screen.screens.base import ClientScreen, Task
from samedeal_client.full_screen.widgets.footer import binding_keys
from samedeal_client.panels.footer_key import FooterKey
from samedeal_client.text.spans import Row, Span


class WidgetScreen(ClientScreen):
    """A screen with Textual's widgets between the client's header and footer.

    While the screen is busy with a task, its prompt names the task.
    """

    def __init__(self) -> None:
        super().__init__()
        self._busy = ""

    def on_mount(self) -> None:
        """Follow the bindings."""
        self.bindings_updated_signal.subscribe(self, self._show_keys)

    def _show_keys(self, _: object) -> None:
        if self._ready:
            self.show_footer(self.size.width)

    def footer_keys(self) -> Iterable[FooterKey]:
        """Return the keys that can be pressed now."""
        return binding_keys(self)

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
