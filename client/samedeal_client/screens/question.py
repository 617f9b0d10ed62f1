"""Questions that are asked once, in a box over what is shown: whether to leave a race, and whether to resign."""

from __future__ import annotations

from collections.abc import Callable
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


_HOW: Final = "Press one of these keys, or click its line."


class QuestionScreen(ModalScreen[None]):
    """A question about a race: its lines, and the answer behind each key."""

    ALLOW_SELECT: ClassVar[bool] = False
    LINES: ClassVar[tuple[Line, ...]] = ()
    KEYS: ClassVar[dict[str, str]] = {}

    def __init__(self, go: Callable[[], None] | None = None) -> None:
        """``go`` is what the answer ``go`` has done."""
        super().__init__()
        self._go = go

    def lines(self) -> tuple[Line, ...]:
        """The lines."""
        return self.LINES

    def compose(self) -> ComposeResult:
        """The box."""
        yield Rows(cast("SamedealApp", self.app).look, id="question")

    def on_mount(self) -> None:
        """Write the question."""
        self._answered = False
        self._lines = self.lines()
        self._write("")

    def _write(self, how: str) -> None:
        """Write the lines, and how they are answered where that has to be said."""
        look = cast("SamedealApp", self.app).look
        edge = ("+", "-", "|", "+", "+", "+") if look.ascii else ("╭", "─", "│", "╮", "╰", "╯")
        rows: list[Row] = [(Span(edge[0] + edge[1] * (_WIDTH + 2) + edge[3], "axis"),)]
        for text, style, _ in (*self._lines, Line(how, "notice")):
            inner = fit_row((Span(f" {look.says(text)} ", style),), _WIDTH + 2)
            rows.append((Span(edge[2], "axis"), *inner, Span(edge[2], "axis")))
        rows.append((Span(edge[4] + edge[1] * (_WIDTH + 2) + edge[5], "axis"),))
        box = self.query_one(Rows)
        box.styles.width, box.styles.height = columns_of(rows[0][0].text), len(rows)
        box.show(rows)

    async def on_key(self, event: events.Key) -> None:
        """Take the answer."""
        event.stop()
        await self._answer(self.KEYS.get(event.key.lower(), ""))

    async def on_click(self, event: events.Click) -> None:
        """A click beside the box is no answer."""
        if not self.query_one(Rows).region.contains(event.screen_x, event.screen_y):
            await self._answer("")

    async def on_rows_clicked(self, event: Rows.Clicked) -> None:
        """Take the answer that was clicked."""
        inside = 1 <= event.y <= len(self._lines)
        await self._answer(self._lines[event.y - 1].answer if inside else "")

    async def _answer(self, answer: str) -> None:
        app = cast("SamedealApp", self.app)
        if self._answered or app.screen is not self:
            return  # what was typed ahead is no second answer, and no answer once the race is over
        self._answered = bool(answer)
        if answer == "leave":
            app.exit(0)
        elif answer:
            below = app.screen_stack[-2]
            _ = self.dismiss()  # it can't be awaited in the screen that goes
            if answer == "resign" and isinstance(below, ClientScreen):
                below.say("")
                below.ask(app.client.resign)
            elif answer == "go" and self._go is not None:
                self._go()
        else:
            self._write(_HOW)


class QuitScreen(QuestionScreen):
    """Stay, leave with the seat kept, or resign."""

    KEYS: ClassVar[dict[str, str]] = {"escape": "stay", "n": "stay", "q": "leave", "r": "resign"}

    def lines(self) -> tuple[Line, ...]:
        """What leaving means, here and for one's bots."""
        app = cast("SamedealApp", self.app)
        bots = [Line("Your bots go with you, out of their race.", "notice")] if app.crew.names else []
        leave = "leave now: your seat is kept, come back later"
        if app.back_to:
            leave = f"end the practice, back to {app.back_to}"
        return (
            Line("The race is still on. Its clock goes on without you.", "notice"),
            *bots,
            Line(),
            Line("Esc  stay", "title", "stay"),
            Line(f"q    {leave}", "", "leave"),
            Line("r    resign: your cards up count, you can watch", "", "resign"),
        )


class QuitWithBotsScreen(QuestionScreen):
    """Whether to leave, where one's bots race on without one."""

    LINES = (
        Line("The bots that you added are still in a room.", "notice"),
        Line("They go with you, and are out of their race.", "notice"),
        Line(),
        Line("Esc  stay", "title", "stay"),
        Line("q    leave, and take them along", "", "leave"),
    )
    KEYS: ClassVar[dict[str, str]] = {"escape": "stay", "n": "stay", "q": "leave"}


class LeaveScreen(QuestionScreen):
    """Whether to leave a room before its race, where one's bots wait for it too."""

    LINES = (
        Line("Leave the room? The bots that you added go too.", "notice"),
        Line(),
        Line("Esc  stay", "title", "stay"),
        Line("y    leave", "", "go"),
    )
    KEYS: ClassVar[dict[str, str]] = {"escape": "stay", "n": "stay", "y": "go"}


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
