"""The question that is asked once when a race would be left."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from samedeal.names import columns_of
from samedeal_client.screens.base import ClientScreen
from samedeal_client.spans import Row, Span, fit_row
from samedeal_client.widgets.rows import Rows

if TYPE_CHECKING:
    from samedeal_client.app import SamedealApp

_WIDTH: Final = 52

_LINES: Final = (
    ("The race is still on. Its clock goes on without you.", "notice", ""),
    ("", "", ""),
    ("Esc  stay", "title", "stay"),
    ("q    leave now: your seat is kept, come back later", "", "leave"),
    ("r    resign: your cards up count, the race is over", "", "resign"),
)


class QuitScreen(ModalScreen[None]):
    """Stay, leave with the seat kept, or resign."""

    ALLOW_SELECT: ClassVar[bool] = False

    def compose(self) -> ComposeResult:
        """The box."""
        yield Rows(cast("SamedealApp", self.app).look, id="question")

    def on_mount(self) -> None:
        """Write the question."""
        look = cast("SamedealApp", self.app).look
        edge = ("+", "-", "|", "+", "+", "+") if look.ascii else ("╭", "─", "│", "╮", "╰", "╯")
        rows: list[Row] = [(Span(edge[0] + edge[1] * (_WIDTH + 2) + edge[3], "axis"),)]
        for text, style, _ in _LINES:
            inner = fit_row((Span(f" {text} ", style),), _WIDTH + 2)
            rows.append((Span(edge[2], "axis"), *inner, Span(edge[2], "axis")))
        rows.append((Span(edge[4] + edge[1] * (_WIDTH + 2) + edge[5], "axis"),))
        box = self.query_one(Rows)
        box.styles.width, box.styles.height = columns_of(rows[0][0].text), len(rows)
        box.show(rows)

    async def on_key(self, event: events.Key) -> None:
        """Take the answer."""
        event.stop()
        answer = {"escape": "stay", "n": "stay", "q": "leave", "r": "resign"}.get(event.key, "")
        await self._answer(answer)

    async def on_rows_clicked(self, event: Rows.Clicked) -> None:
        """Take the answer that was clicked."""
        if 1 <= event.y <= len(_LINES):
            await self._answer(_LINES[event.y - 1][2])

    async def _answer(self, answer: str) -> None:
        app = cast("SamedealApp", self.app)
        if answer == "leave":
            app.exit(0)
        elif answer:
            below = app.screen_stack[-2]
            _ = self.dismiss()  # it can't be awaited in the screen that goes
            if answer == "resign" and isinstance(below, ClientScreen):
                below.say("")
                below.ask(app.client.resign)
