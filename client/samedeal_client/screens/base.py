"""The base class of the client's screens: a header, a banner for the connection, the body and a footer.

Header, banner and footer together are called the frame. A subclass provides the body and reacts to changes of the
model. A window that is too small shows a message instead.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, cast

from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer

from samedeal.errors import RequestRefused
from samedeal_client.drawing.layout import Size
from samedeal_client.input.key_names import QUIT_KEY, key_text
from samedeal_client.net.client_session import ClientSession
from samedeal_client.state.model import Model
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, cut, fit, fit_row, row_text, row_width, wrap
from samedeal_client.views.footer_key import FooterKey
from samedeal_client.views.key_help import HelpContext
from samedeal_client.views.race import SEAT_KEPT, server_gone_sentences
from samedeal_client.widgets.blank_container import PlainContainer, blank_lines
from samedeal_client.widgets.footer import KeyHints, MessageAndKeys
from samedeal_client.widgets.rows_widget import Rows

if TYPE_CHECKING:
    from samedeal_client.app import SamedealApp

Task: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""A background task: a function instead of a coroutine, because a coroutine that is never started causes a warning."""

TICK: Final = 0.25
"""Time, in seconds, between two updates of the parts that depend on the clock."""

MESSAGE_TIME: Final = 6.0
"""Time, in seconds, for which a message is shown."""

_BANNER_ROWS: Final = 3

_PING_WIDTH: Final = 80
"""Minimum width, in columns, of a window whose header has the word "ping" before the time of a round trip."""

_WRAPPED: Final = ("notice", "bad")
"""The styles of prompts that may take two rows. Prompts in other styles are cut to one row."""


class Body(PlainContainer):
    """The part of a screen between header and footer."""

    def on_resize(self) -> None:
        """Draw everything in the new size."""
        screen = self.screen
        if isinstance(screen, ClientScreen):
            screen.update(screen.model)


class ClientScreen(Screen[None]):
    """A screen with the client's header, banner and footer around its body."""

    ALLOW_SELECT: ClassVar[bool] = False
    help_context: ClassVar[HelpContext] = "race"
    """The keys that the help lists first."""

    def __init__(self) -> None:
        super().__init__()
        self._shown_model = Model()
        self._ready = False
        self._fitted_size: Size | None = None
        self._message: tuple[str, str] | None = None
        self._message_timer: Timer | None = None
        self._busy = ""

    def compose_body(self) -> ComposeResult:
        """Yield the widgets between header and footer."""
        yield from ()

    def minimum_size(self) -> Size:
        """Return the size of the smallest terminal on which the screen can be used."""
        return Size(60, 20)

    def title_parts(self) -> Row:
        """Return the left part of the header, from the general to the particular.

        In a narrow window, parts in the style ``label`` are left out, beginning with the first one.
        """
        return ()

    def status_row(self) -> Row:
        """Return the text in the header that stands to the left of the connection's state."""
        return ()

    def header_style(self) -> str:
        """Return a style that covers the whole header, or an empty string."""
        return ""

    def footer_keys(self) -> Iterable[FooterKey]:
        """Return the keys in the footer, the most important first. The last two are always shown."""
        return ()

    def prompt_row(self) -> Row:
        """Return the text in the message line when there is no message."""
        return ()

    def press(self, key: str) -> None:
        """Handle a key: a character, or a name as in ``bindings.NAMED_KEYS``."""

    def on_model_changed(self, before: Model, after: Model) -> None:
        """Show the changes of the model.

        This is called when the screen opens, after each change of the model and after each resize.
        """

    def on_tick(self) -> None:
        """Update the parts that depend on the clock."""

    def stays_for(self, model: Model) -> bool:  # noqa: ARG002 (for screens that override this)
        """Return whether to keep this screen for a while, although another screen fits ``model``."""
        return False

    @property
    def samedeal(self) -> SamedealApp:
        """The app to which this screen belongs."""
        return cast("SamedealApp", self.app)

    @property
    def client(self) -> ClientSession:
        """The player's session."""
        return self.samedeal.client

    @property
    def model(self) -> Model:
        """The client's knowledge of the room and of the room's boards."""
        return self.samedeal.client.model

    @property
    def look(self) -> Look:
        """The characters and colours for this terminal."""
        return self.samedeal.look

    def compose(self) -> ComposeResult:
        """Yield the header, the banner, the body and the footer."""
        look = self.look
        self._header = Rows(look, id="header")
        self._banner = Rows(look, id="banner")
        self.body = Body(*self.compose_body(), id="body")
        self._too_small = Rows(look, id="too-small")
        yield from (self._header, self._banner, self.body, *self.compose_footer(), self._too_small)

    def compose_footer(self) -> ComposeResult:
        """Yield the lines below the body."""
        self._footer = MessageAndKeys(self.look, id="footer")
        yield self._footer

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return blank lines, which lie behind everything."""
        return blank_lines(crop)

    def on_mount(self) -> None:
        """Start the timer that draws the parts that depend on the clock."""
        self.set_interval(TICK, self._tick)

    def on_resize(self, event: events.Resize) -> None:
        """Draw everything in the new size."""
        self.fit_to(Size(event.size.width, event.size.height))

    def fit_to(self, size: Size) -> None:
        """Draw everything for a window of this size, or say that the window is too small."""
        self._fitted_size = size
        minimum = self.minimum_size()
        too_small = size.width < minimum.width or size.height < minimum.height
        self.set_class(too_small, "small")
        if too_small:
            sentence = (
                f"Window too small: {size.width}x{size.height}. Needed: {minimum.width}x{minimum.height}. "
                f"Enlarge it or use a smaller font. {key_text(QUIT_KEY, self.look)} quits."
            )
            lines = wrap(sentence, max(size.width, 1))
            self._too_small.show([(Span(line, "notice"),) for line in lines])
            return
        self._ready = True
        self.update(self.model)

    def take_over(self, before: ClientScreen) -> None:
        """Take over the state of the screen ``before``, which is of the same kind.

        This is called when the colours change: this screen then replaces ``before``.
        """

    def retire(self) -> None:
        """Draw nothing any more, because another screen is about to replace this one."""
        self._ready = False

    def on_screen_resume(self) -> None:
        """Show the changes that were made while another screen lay over this one."""
        if self._ready:
            self.update(self.model)

    def update(self, model: Model) -> None:
        """Show ``model`` in the body. Also draw the frame, unless only the rivals' progress has changed.

        Does nothing before the first resize, after ``retire``, or while the app closes.
        """
        if not self._ready or not self.is_mounted or not self.children:
            return
        before, self._shown_model = self._shown_model, model
        self.on_model_changed(before, model)
        if not only_progress_changed(before, model):
            self.show_frame()

    def _tick(self) -> None:
        # After several quick resizes, the events may arrive in another order.
        if self._fitted_size not in (None, size := Size(self.size.width, self.size.height)) and self.is_current:
            self.fit_to(size)
        if self._ready and self.is_current and not self.has_class("small"):
            self.on_tick()
            self.show_frame()

    def show_frame(self) -> None:
        """Draw the header, the banner and the footer."""
        if not self._ready:
            return
        width = self.size.width
        self._header.show([self._header_row(width)])
        self.show_footer(width)
        banner = self._banner_rows(width)
        self._banner.display = bool(banner)
        self._banner.styles.height = len(banner)
        self._banner.show(banner)

    def show_footer(self, width: int) -> None:
        """Show the keys and the message. If there is no message, show the prompt in its place."""
        self._footer.show_lines(
            self._message_rows(width), [self._with_back_description(key) for key in self.footer_keys()], width
        )

    def _with_back_description(self, key: FooterKey) -> FooterKey:
        """Describe the quit key as "back" if the player came from another place, such as the start screen.

        Return every other key unchanged.
        """
        return key._replace(description="back") if self.samedeal.back_to and key.key == QUIT_KEY else key

    def _header_row(self, width: int) -> Row:
        right = (*self.status_row(), *self._connection_row(), Span(" "))
        free = width - row_width(right)
        row = fit_row((*self._title_row(max(free, 0)), *right), width)
        emphasis = self.header_style()
        return tuple(Span(span.text, f"{span.style} {emphasis}") for span in row) if emphasis else row

    def _title_row(self, width: int) -> Row:
        pointer = Span(f" {self.look.glyphs.pointer} ", "label")
        parts = [part._replace(text=self.look.displayable(part.text)) for part in self.title_parts()]
        while True:
            row = [Span(" ")]
            for number, part in enumerate(parts):
                row += [pointer, part] if number else [part]
            left_out = next((part for part in parts if part.style == "label"), None)
            if row_width(tuple(row)) <= width or left_out is None:
                return fit_row(tuple(row), width, self.look.glyphs.ellipsis)
            parts.remove(left_out)

    def _connection_row(self) -> Row:
        connection = self.client.connection
        if connection.state == "up":
            sign = "*" if self.look.ascii else "●"
            if connection.ping is None:
                return (Span("  "), Span(sign, "bar"))
            name = "ping" if self.size.width >= _PING_WIDTH else sign
            return (Span("  "), Span(name, "bar"), Span(f" {connection.ping} ms", "label"))
        return (Span("  "), Span(f"{'x' if self.look.ascii else '○'} disconnected", "notice"))

    def _banner_rows(self, width: int) -> list[Row]:
        connection = self.client.connection
        match connection.state:
            case "up":
                text = "" if self._announcement_fits(width) else self.samedeal.announcement
            case "lost":
                seconds = self.client.retry_in()
                retry = f"Retrying in {seconds:.0f} s." if seconds >= 1 else "Retrying now."
                seat = f" {SEAT_KEPT}" if self.model.has_live_seat else ""
                if connection.server_gone:
                    text = f"{' '.join(server_gone_sentences(self.model))} {retry}"
                else:
                    text = f"Connection lost. {retry}{seat} {connection.reason}"
            case _:
                text = f"{connection.reason} {key_text(QUIT_KEY, self.look)} closes this window."
        lines = wrap(self.look.displayable(text), width - 2)[:_BANNER_ROWS]
        return [(Span(fit(f" {line}", width), "notice found"),) for line in lines]

    def _announcement_fits(self, width: int) -> bool:
        """Return whether the sentence from ``SamedealApp.announce`` fits into the two lines at the bottom.

        At the bottom the sentence hides no cards. A longer sentence is shown in the banner.
        """
        return len(wrap(self.look.displayable(self.samedeal.announcement), width - 2)) <= 2

    def show_message(self, sentence: str, style: str = "notice") -> None:
        """Show a message for ``MESSAGE_TIME`` seconds. An empty message clears the message line."""
        self._message = (sentence, style) if sentence else None
        if self._message_timer is not None:
            self._message_timer.stop()
            self._message_timer = None
        if sentence:
            self._message_timer = self.set_timer(MESSAGE_TIME, self._clear_message)
        if self._ready:
            self.show_footer(self.size.width)

    def show_unknown_key(self, key: str) -> None:
        """Show the message that a key does nothing on this screen."""
        self.show_message(f"{key_text(key, self.look)} does nothing here. F1 lists the keys.")

    def _clear_message(self) -> None:
        self.show_message("")

    def _message_rows(self, width: int) -> list[Row]:
        if self._message is None:
            if self.samedeal.announcement and self._announcement_fits(width):
                return self._two_rows(self.look.displayable(self.samedeal.announcement), "notice found", width)
            row = self.prompt_row()
            if row_width(row) > width and row[-1].style in _WRAPPED:
                return self._two_rows(row_text(row), row[-1].style, width)
            return [fit_row(row, width, self.look.glyphs.ellipsis)]
        sentence, style = self._message
        return self._two_rows(self.look.with_card_symbols(sentence), style, width)

    def _two_rows(self, text: str, style: str, width: int) -> list[Row]:
        """Return a text in one or two rows. If the text is too long for two rows, it ends with an ellipsis."""
        lines = wrap(text, width - 2)
        if len(lines) > 2:
            lines[1] = cut(f"{lines[1]} {lines[2]}", width - 2, self.look.glyphs.ellipsis)
        return [(Span(f" {line}", style),) for line in lines[:2]] or [()]

    def breadcrumbs(self, *parts: str) -> Row:
        """Return the left part of the header: ``samedeal``, then the ``parts`` from the general to the particular."""
        return (Span("samedeal", "label"), *(Span(part, "label" if at else "title") for at, part in enumerate(parts)))

    def busy_row(self) -> Row:
        """Return a row that names the task that the screen is busy with. The row is empty if there is no such task."""
        return (Span(f" {self._busy} {self.look.glyphs.ellipsis}", "label"),) if self._busy else ()

    def open_help(self, *, rules: bool = False) -> None:
        """Open the help at the keys of this screen. In a race, or with ``rules``, open it at the rules of the game."""
        from samedeal_client.screens.help import HelpScreen

        _ = self.app.push_screen(HelpScreen(self.help_context, rules=rules))

    def redraw(self) -> None:
        """Draw the parts that may change without a change of the model: the header, the banner and the footer.

        Override this if such a part is in the body.
        """
        self.show_frame()

    def run_task(self, task: Task, *, group: str = "default", exclusive: bool = False) -> None:
        """Run a task in the background. If ``exclusive`` is true, cancel the other tasks of its group."""
        self.run_worker(task, group=group, exclusive=exclusive)  # type: ignore[arg-type]  # mypy misses that it is a coroutine

    def run_busy(self, busy: str, task: Task) -> None:
        """Run a task in the background, and show ``busy`` in the footer meanwhile.

        If an earlier task that was started in this way is still running, it is cancelled.
        """
        self._busy = busy
        self.run_task(partial(self._run_busy, task), group="busy", exclusive=True)

    async def _run_busy(self, task: Task) -> None:
        try:
            await task()
        except RequestRefused as refused:
            self.show_refusal(str(refused))
        # A cancelled task does not get here: the text now belongs to the newer task, and must stay.
        self._busy = ""
        self.redraw()

    def show_refusal(self, sentence: str) -> None:
        """Show the reason why a request was refused."""
        self.show_message(sentence)

    def request(self, task: Task) -> None:
        """Send a request in the background. A refusal is shown as a message, and so is a missing connection."""
        if self.client.connection.state == "lost":
            self.show_message("There is no connection to the server. Your request is sent once it is back.")
        self.run_worker(self._run_request(task), group="request")

    async def _run_request(self, task: Task) -> None:
        try:
            await task()
        except RequestRefused as refused:
            self.samedeal.show_message(str(refused))

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one, not even a dialog."""
        return self.app.screen is self

    def on_key(self, event: events.Key) -> None:
        """Handle a key. If another screen has opened over this one since the key was typed, that screen gets the key.

        While the window is too small, keys do nothing.
        """
        event.stop()
        event.prevent_default()
        if not self.on_top:
            self.app.screen.post_message(events.Key(event.key, event.character))
        elif event.key == "ctrl+l":
            self.samedeal.terminal.forget()  # another program has written on the terminal
            self.refresh()
        elif not self.has_class("small"):
            self.press(event.character if event.character is not None and event.is_printable else event.key)

    def on_key_hints_pressed(self, event: KeyHints.Pressed) -> None:
        """Press the key that was clicked in the footer."""
        self.app.simulate_key(event.key)


def only_progress_changed(before: Model, after: Model) -> bool:
    """Return whether only the rivals' progress has changed.

    Header, banner and footer do not show this progress.
    """
    return (
        before is not after
        and before.room is after.room
        and before.own.shown is after.own.shown
        and before.own.pending is after.own.pending
        and before.watched is after.watched
    )
