"""Dialogs that ask for confirmation: before leaving a room, quitting during a race, or resigning."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from samedeal_client import room_actions
from samedeal_client.screens.base import ClientScreen, Task
from samedeal_client.screens.look_screen import DialogScreen
from samedeal_client.text.spans import Span, fit_row
from samedeal_client.views.race import quit_warnings
from samedeal_client.widgets.themes import text_of

if TYPE_CHECKING:
    from samedeal_client.app import SamedealApp

_WIDTH: Final = 52


class QuestionLine(NamedTuple):
    """A line of a dialog: its text and style. A click on it gives its ``answer``, and so does each of its ``keys``."""

    text: str = ""
    style: str = ""
    answer: str = ""
    keys: str = ""


_STAY: Final = QuestionLine("Esc  stay", "title", "stay", "escape n")
_HOW_TO_ANSWER: Final = "Press a key or click an option."


class QuestionScreen(DialogScreen[None]):
    """A dialog that asks a question.

    The answer ``leave`` quits the app. Every other answer closes the dialog. ``resign`` then resigns from the race, and
    ``leave room`` leaves the room.
    """

    def lines(self) -> tuple[QuestionLine, ...]:
        """Return the lines of the dialog, from top to bottom."""
        return ()

    def compose(self) -> ComposeResult:
        """Yield the widget that shows the lines."""
        question = Static(id="question")
        question.auto_links = False  # answers have the colours of their lines
        yield question

    def on_mount(self) -> None:
        """Draw the dialog."""
        self._answered = False
        self._lines = self.lines()
        self._write("")

    def _write(self, notice: str) -> None:
        """Draw the lines of the dialog with a notice below them."""
        rows = [
            text_of(
                fit_row((Span(self.look.displayable(line.text), line.style),), _WIDTH),
                self.look,
                f"screen.answer('{line.answer}')" if line.answer else "",
            )
            for line in (*self._lines, QuestionLine(notice, "notice"))
        ]
        self.query_one(Static).update(Text("\n").join(rows))

    async def on_key(self, event: events.Key) -> None:
        """Give the answer that the key stands for. If the dialog has no such answer now, explain how to answer."""
        event.stop()
        key = event.key.lower()
        await self.action_answer(next((line.answer for line in self._lines if key in line.keys.split()), ""))

    async def on_click(self, event: events.Click) -> None:
        """After a click that is not on an answer, explain how to answer."""
        if "@click" not in event.style.meta:
            await self.action_answer("")

    async def action_answer(self, answer: str) -> None:
        """Do what an answer says. If it is empty, explain how to answer."""
        app = cast("SamedealApp", self.app)
        if self._answered or app.screen is not self:
            return  # a key that was typed ahead, after the answer or after the end of the race
        self._answered = bool(answer)
        if answer == "leave":
            app.exit(0)
        elif answer:
            below = app.screen_stack[-2]
            _ = self.dismiss()  # a screen can't await its own dismissal
            leave_room = partial(room_actions.leave_with_bots, app.client, app.bots)
            tasks: dict[str, Task] = {"resign": app.client.rooms.resign, "leave room": leave_room}
            if answer in tasks and isinstance(below, ClientScreen):
                below.show_message("")
                below.request(tasks[answer])
        else:
            self._write(_HOW_TO_ANSWER)


class QuitScreen(QuestionScreen):
    """A question during a race: stay, quit or resign."""

    def lines(self) -> tuple[QuestionLine, ...]:
        """Return the lines. They tell what happens to the seat and to the player's bots."""
        app = cast("SamedealApp", self.app)
        bots = [QuestionLine("Your bots will leave too.", "notice")] if app.bots.names else []
        if app.practising:
            return (
                QuestionLine("Leave practice? Practice never counts.", "notice"),
                QuestionLine(),
                _STAY,
                QuestionLine(f"q    leave practice, back to {app.back_to}", "", "leave", "q"),
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
        resign = QuestionLine(f"r    resign: your cards still count, {after}", "", "resign", "r")
        return (
            *(QuestionLine(sentence, "notice") for sentence in warnings),
            *bots,
            QuestionLine(),
            _STAY,
            QuestionLine(f"q    {leave}", "", "leave", "q"),
            *([] if gone else [resign]),
        )


class QuitWithBotsScreen(QuestionScreen):
    """A question before the player quits while their bots are still in a room."""

    def lines(self) -> tuple[QuestionLine, ...]:
        """Return the lines. They say what happens to the bots."""
        return (
            QuestionLine("Your bots are still in a room.", "notice"),
            QuestionLine("They leave their race when you quit.", "notice"),
            QuestionLine(),
            _STAY,
            QuestionLine("q    quit", "", "leave", "q"),
        )


class LeaveScreen(QuestionScreen):
    """A question before the player leaves a room in which their bots wait for the race."""

    def lines(self) -> tuple[QuestionLine, ...]:
        """Return the lines. They say what happens to the bots."""
        return (
            QuestionLine("Leave the room? Your bots will leave too.", "notice"),
            QuestionLine(),
            _STAY,
            QuestionLine("y    leave", "", "leave room", "y"),
        )


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
            _STAY._replace(text="Esc  keep playing"),
            QuestionLine("y    resign", "", "resign", "y r"),
        )
