"""Dialogs that ask for confirmation: before leaving a room, quitting during a race, or resigning."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple, TypeAlias, cast

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from samedeal_client import room_actions
from samedeal_client.full_screen.client_app import ClientApp
from samedeal_client.full_screen.screens.base import ClientScreen, Task
from samedeal_client.full_screen.screens.look_screen import DialogScreen
from samedeal_client.full_screen.widgets.themes import text_of
from samedeal_client.panels.race import quit_warnings
from samedeal_client.text.spans import Span, fit_row
from samedeal_link.connection.saved_sessions import are_saved

_WIDTH: Final = 52


class QuestionLine(NamedTuple):
    """A line of a dialog: its text and style. A click on it gives its ``answer``, and so does each of its ``keys``."""

    text: str = ""
    style: str = ""
    answer: str = ""
    keys: str = ""


Question: TypeAlias = tuple[list[str], list[QuestionLine]]
"""The sentences of a question, and the lines with its answers."""

_STAY: Final = QuestionLine("Esc  stay", "title", "stay", "escape n")
_HOW_TO_ANSWER: Final = "Press a key or click an option."


class QuestionScreen(DialogScreen[None]):
    """A dialog that asks a question.

    The answer ``leave`` quits the app. Every other answer closes the dialog. ``resign`` then resigns from the race, and
    ``leave room`` leaves the room.
    """

    def ask(self) -> Question:
        """Return the question."""
        raise NotImplementedError

    def lines(self) -> tuple[QuestionLine, ...]:
        """Return the lines of the dialog, from top to bottom."""
        sentences, answers = self.ask()
        return (*(QuestionLine(sentence, "notice") for sentence in sentences), QuestionLine(), *answers)

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
        app = cast("ClientApp", self.app)
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

    def ask(self) -> Question:
        """Return the question. It tells what happens to the seat and to the player's bots."""
        app = cast("ClientApp", self.app)
        bots = ["Your bots will leave too."] if app.lasting and app.bots.names else []
        if app.practising:
            leave = f"leave practice, back to {app.back_to}"
            return ["Leave practice? Practice never counts."], [_STAY, QuestionLine(f"q    {leave}", "", "leave", "q")]
        model, gone = app.client.model, app.client.connection.server_gone
        if app.lasting:
            kept = "your seat is kept, you can rejoin" if app.back_to or are_saved() else "your seat is lost"
            rejoin = "you can rejoin if the server comes back" if gone else kept
            leave = f"{'leave' if app.back_to else 'quit'}: {rejoin}"
        else:
            race = "today's deal" if model.has_daily_deal else "the race"
            leave = f"leave {race}, back to {app.back_to}" if app.back_to else "quit"
        after = "you can watch" if model.may_watch_others else "no other try"
        after = "the race ends" if model.ends_without_player else after
        resign = QuestionLine(f"r    resign: your cards still count, {after}", "", "resign", "r")
        return (
            [*quit_warnings(model, lasting=app.lasting, server_gone=gone), *bots],
            [_STAY, QuestionLine(f"q    {leave}", "", "leave", "q"), *([] if gone else [resign])],
        )


class QuitWithBotsScreen(QuestionScreen):
    """A question before the player quits while their bots are still in a room."""

    def ask(self) -> Question:
        """Return the question. It tells what happens to the bots."""
        sentences = ["Your bots are still in a room.", "They leave their race when you quit."]
        return sentences, [_STAY, QuestionLine("q    quit", "", "leave", "q")]


class LeaveScreen(QuestionScreen):
    """A question before the player leaves a room in which their bots wait for the race."""

    def ask(self) -> Question:
        """Return the question. It tells what happens to the bots."""
        leave = QuestionLine("y    leave", "", "leave room", "y")
        return ["Leave the room? Your bots will leave too."], [_STAY, leave]


class ResignScreen(QuestionScreen):
    """A question before the player resigns."""

    def ask(self) -> Question:
        """Return the question. It tells whether the race goes on."""
        app = cast("ClientApp", self.app)
        sentences = ["Resign? Your foundation cards still count.", "The race goes on, and you can watch it."]
        if app.practising:
            sentences = ["Resign?", "Practice never counts."]
        elif app.client.model.ends_without_player:
            sentences[1] = "The race ends."
        elif not app.client.model.may_watch_others:
            sentences[1] = "You have no other try."
        stay = _STAY._replace(text="Esc  keep playing")
        return sentences, [stay, QuestionLine("y    resign", "", "resign", "y r")]
