"""Dialogs that ask for confirmation: before leaving a room, quitting during a race, or resigning."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, cast

from textual import events
from textual.app import ComposeResult

from samedeal.terminal_text import columns_of
from samedeal_client.screens.base import ClientScreen
from samedeal_client.screens.look_screen import DialogScreen
from samedeal_client.text.spans import Row, Span, fit_row
from samedeal_client.views.race import quit_warnings
from samedeal_client.widgets.rows_widget import Rows

if TYPE_CHECKING:
    from samedeal_client.app import SamedealApp

_WIDTH: Final = 52


class QuestionLine(NamedTuple):
    """A line of a dialog: its text, its style, and the answer that a click on the line gives."""

    text: str = ""
    style: str = ""
    answer: str = ""


_HOW_TO_ANSWER: Final = "Press a key or click an option."


class QuestionScreen(DialogScreen[None]):
    """A dialog that asks a question. ``LINES`` is its text and ``KEYS`` maps keys to answers.

    The answer ``leave`` quits the app. Every other answer closes the dialog. ``resign`` then resigns from the race, and
    ``confirm`` calls ``on_confirm``.
    """

    LINES: ClassVar[tuple[QuestionLine, ...]] = ()
    KEYS: ClassVar[dict[str, str]] = {}

    def __init__(self, on_confirm: Callable[[], None] | None = None) -> None:
        super().__init__()
        self._on_confirm = on_confirm

    def lines(self) -> tuple[QuestionLine, ...]:
        """Return the lines of the dialog, from top to bottom."""
        return self.LINES

    def compose(self) -> ComposeResult:
        """Yield the widget that shows the lines."""
        yield Rows(self.look, id="question")

    def on_mount(self) -> None:
        """Draw the dialog."""
        self._answered = False
        self._lines = self.lines()
        self._write("")

    def _write(self, notice: str) -> None:
        """Draw the lines of the dialog with a notice below them."""
        look = self.look
        edge = ("+", "-", "|", "+", "+", "+") if look.ascii else ("╭", "─", "│", "╮", "╰", "╯")
        rows: list[Row] = [(Span(edge[0] + edge[1] * (_WIDTH + 2) + edge[3], "axis"),)]
        for text, style, _ in (*self._lines, QuestionLine(notice, "notice")):
            inner = fit_row((Span(f" {look.displayable(text)} ", style),), _WIDTH + 2)
            rows.append((Span(edge[2], "axis"), *inner, Span(edge[2], "axis")))
        rows.append((Span(edge[4] + edge[1] * (_WIDTH + 2) + edge[5], "axis"),))
        box = self.query_one(Rows)
        box.styles.width, box.styles.height = columns_of(rows[0][0].text), len(rows)
        box.show(rows)

    async def on_key(self, event: events.Key) -> None:
        """Give the answer that the key stands for. If the dialog has no such answer now, explain how to answer."""
        event.stop()
        answer = self.KEYS.get(event.key.lower(), "")
        await self._answer(answer if any(line.answer == answer for line in self._lines) else "")

    async def on_click(self, event: events.Click) -> None:
        """After a click outside the dialog, explain how to answer."""
        if not self.query_one(Rows).region.contains(event.screen_x, event.screen_y):
            await self._answer("")

    async def on_rows_clicked(self, event: Rows.Clicked) -> None:
        """Handle a click on an answer."""
        inside = 1 <= event.y <= len(self._lines)
        await self._answer(self._lines[event.y - 1].answer if inside else "")

    async def _answer(self, answer: str) -> None:
        app = cast("SamedealApp", self.app)
        if self._answered or app.screen is not self:
            return  # a key that was typed ahead, after the answer or after the end of the race
        self._answered = bool(answer)
        if answer == "leave":
            app.exit(0)
        elif answer:
            below = app.screen_stack[-2]
            _ = self.dismiss()  # a screen can't await its own dismissal
            if answer == "resign" and isinstance(below, ClientScreen):
                below.show_message("")
                below.request(app.client.rooms.resign)
            elif answer == "confirm" and self._on_confirm is not None:
                self._on_confirm()
        else:
            self._write(_HOW_TO_ANSWER)


class QuitScreen(QuestionScreen):
    """A question during a race: stay, quit or resign."""

    KEYS: ClassVar[dict[str, str]] = {"escape": "stay", "n": "stay", "q": "leave", "r": "resign"}

    def lines(self) -> tuple[QuestionLine, ...]:
        """Return the lines. They tell what happens to the seat and to the player's bots."""
        app = cast("SamedealApp", self.app)
        bots = [QuestionLine("Your bots will leave too.", "notice")] if app.bots.names else []
        if app.practising:
            return (
                QuestionLine("Leave practice? Practice never counts.", "notice"),
                QuestionLine(),
                QuestionLine("Esc  stay", "title", "stay"),
                QuestionLine(f"q    leave practice, back to {app.back_to}", "", "leave"),
            )
        model, gone = app.client.model, app.client.connection.server_gone
        if app.lasting:
            rejoin = "you can rejoin if the server comes back" if gone else "your seat is kept, you can rejoin"
            leave = f"{'leave' if app.back_to else 'quit'}: {rejoin}"
        else:
            race = "today's deal" if model.has_daily_deal else "the race"
            leave = f"leave {race}, back to {app.back_to}" if app.back_to else "quit"
        warnings = quit_warnings(model, lasting=app.lasting, server_gone=gone)
        after = "the race ends" if model.ends_without_player else "you can watch"
        resign = QuestionLine(f"r    resign: your cards still count, {after}", "", "resign")
        return (
            *(QuestionLine(sentence, "notice") for sentence in warnings),
            *bots,
            QuestionLine(),
            QuestionLine("Esc  stay", "title", "stay"),
            QuestionLine(f"q    {leave}", "", "leave"),
            *([] if gone else [resign]),
        )


class QuitWithBotsScreen(QuestionScreen):
    """A question before the player quits while their bots are still in a room."""

    LINES = (
        QuestionLine("Your bots are still in a room.", "notice"),
        QuestionLine("They leave their race when you quit.", "notice"),
        QuestionLine(),
        QuestionLine("Esc  stay", "title", "stay"),
        QuestionLine("q    quit", "", "leave"),
    )
    KEYS: ClassVar[dict[str, str]] = {"escape": "stay", "n": "stay", "q": "leave"}


class LeaveScreen(QuestionScreen):
    """A question before the player leaves a room in which their bots wait for the race."""

    LINES = (
        QuestionLine("Leave the room? Your bots will leave too.", "notice"),
        QuestionLine(),
        QuestionLine("Esc  stay", "title", "stay"),
        QuestionLine("y    leave", "", "confirm"),
    )
    KEYS: ClassVar[dict[str, str]] = {"escape": "stay", "n": "stay", "y": "confirm"}


class ResignScreen(QuestionScreen):
    """A question before the player resigns."""

    def lines(self) -> tuple[QuestionLine, ...]:
        """Return the lines. They say whether the race goes on."""
        app = cast("SamedealApp", self.app)
        ends = app.client.model.ends_without_player
        goes_on = "The race ends." if ends else "The race goes on, and you can watch it."
        return (
            QuestionLine("Resign?" if app.practising else "Resign? Your foundation cards still count.", "notice"),
            QuestionLine("Practice never counts." if app.practising else goes_on, "notice"),
            QuestionLine(),
            QuestionLine("Esc  keep playing", "title", "stay"),
            QuestionLine("y    resign", "", "resign"),
        )

    KEYS: ClassVar[dict[str, str]] = {"escape": "stay", "n": "stay", "y": "resign", "r": "resign"}
