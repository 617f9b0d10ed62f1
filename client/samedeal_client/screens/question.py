"""Questions that are asked once, in a box over what is shown: whether to leave a race, and whether to resign."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, cast

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from samedeal.names import columns_of
from samedeal_client.screens.base import ClientScreen
from samedeal_client.text.spans import Row, Span, fit_row
from samedeal_client.widgets.rows import Rows

if TYPE_CHECKING:
    from samedeal_client.app import SamedealApp

_WIDTH: Final = 52


class Line(NamedTuple):
    """A line of the box, in a style, and the answer that a click on it gives."""

    text: str = ""
    style: str = ""
    answer: str = ""


class QuestionScreen(ModalScreen[None]):
    """A question about a race: its lines, and the answer behind each key."""

    ALLOW_SELECT: ClassVar[bool] = False
    LINES: ClassVar[tuple[Line, ...]] = ()
    KEYS: ClassVar[dict[str, str]] = {}

    def compose(self) -> ComposeResult:
        """The box."""
        yield Rows(cast("SamedealApp", self.app).look, id="question")

    def on_mount(self) -> None:
        """Write the question."""
        look = cast("SamedealApp", self.app).look
        edge = ("+", "-", "|", "+", "+", "+") if look.ascii else ("╭", "─", "│", "╮", "╰", "╯")
        rows: list[Row] = [(Span(edge[0] + edge[1] * (_WIDTH + 2) + edge[3], "axis"),)]
        for text, style, _ in self.LINES:
            inner = fit_row((Span(f" {text} ", style),), _WIDTH + 2)
            rows.append((Span(edge[2], "axis"), *inner, Span(edge[2], "axis")))
        rows.append((Span(edge[4] + edge[1] * (_WIDTH + 2) + edge[5], "axis"),))
        box = self.query_one(Rows)
        box.styles.width, box.styles.height = columns_of(rows[0][0].text), len(rows)
        box.show(rows)

    async def on_key(self, event: events.Key) -> None:
        """Take the answer."""
        event.stop()
        await self._answer(self.KEYS.get(event.key.lower(), ""))

    async def on_rows_clicked(self, event: Rows.Clicked) -> None:
        """Take the answer that was clicked."""
        if 1 <= event.y <= len(self.LINES):
            await self._answer(self.LINES[event.y - 1].answer)

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


class QuitScreen(QuestionScreen):
    """Stay, leave with the seat kept, or resign."""

    LINES = (
        Line("The race is still on. Its clock goes on without you.", "notice"),
        Line(),
        Line("Esc  stay", "title", "stay"),
        Line("q    leave now: your seat is kept, come back later", "", "leave"),
        Line("r    resign: your cards up count, the race is over", "", "resign"),
    )
    KEYS: ClassVar[dict[str, str]] = {"escape": "stay", "n": "stay", "q": "leave", "r": "resign"}


class ResignScreen(QuestionScreen):
    """Whether to resign."""

    LINES = (
        Line("Resign? Your cards up count; the race goes on", "notice"),
        Line("without you, and you can watch it.", "notice"),
        Line(),
        Line("Esc  go on racing", "title", "stay"),
        Line("y    resign", "", "resign"),
    )
    KEYS: ClassVar[dict[str, str]] = {"escape": "stay", "n": "stay", "y": "resign"}
