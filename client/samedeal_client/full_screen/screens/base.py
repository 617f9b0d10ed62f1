"""The base class of the client's screens: a header, a banner for the connection, the body and a footer.

Header, banner and footer together are called the frame. A subclass provides the body and reacts to changes of the
model. A window that is too small shows a message instead.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any, ClassVar, Final, TypeAlias, cast

from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.timer import Timer

from samedeal.errors import RequestRefused
from samedeal_client.board.layout import Size
from samedeal_client.full_screen.client_app import ClientApp
from samedeal_client.full_screen.screens.look_screen import LookScreen
from samedeal_client.full_screen.widgets.blank_container import PlainContainer, blank_lines
from samedeal_client.full_screen.widgets.footer import MessageAndKeys
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.input.key_names import QUIT_KEY, key_text
from samedeal_client.panels.footer_key import FooterKey
from samedeal_client.panels.frame import (
    banner_rows,
    connection_row,
    connection_text,
    fits_message_line,
    header_row,
    message_rows,
    prompt_rows,
    too_small_rows,
)
from samedeal_client.panels.key_help import HelpContext
from samedeal_client.text.spans import Row
from samedeal_link.model.model import Model
from samedeal_link.session.client_session import ClientSession

Task: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""A background task: a function instead of a coroutine, because a coroutine that is never started causes a warning."""

TICK: Final = 0.25
"""Time, in seconds, between two updates of the parts that depend on the clock."""

MESSAGE_TIME: Final = 6.0
"""Time, in seconds, for which a message is shown."""


class Body(PlainContainer):
    """The part of a screen between header and footer."""

    def on_resize(self) -> None:
        """Draw everything in the new size."""
        screen = self.screen
        if isinstance(screen, ClientScreen):
            screen.update()


class ClientScreen(LookScreen[None]):
    """A screen with the client's header, banner and footer around its body."""

    help_context: ClassVar[HelpContext] = "race"
    """The keys that the help lists first."""

    def __init__(self) -> None:
        super().__init__()
        self.model_before = self._shown_model = Model()
        self._last_model = self.samedeal.client.model
        self._ready = False
        self._fitted_size: Size | None = None
        self._message: tuple[str, str] | None = None
        self._message_timer: Timer | None = None
        self._shown_clock: object = None

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

    def show_model(self) -> None:
        """Show the model. ``model_before`` is the one that was shown before.

        This is called when the screen opens, after each change of the model and after each resize.
        """

    def on_tick(self) -> None:
        """Update the parts that depend on the clock."""

    def clock(self) -> object:
        """Return what the clock changes. Nothing is drawn again until this differs, unless it is None."""
        return None

    def stays_for(self, model: Model) -> bool:  # noqa: ARG002 (for screens that override this)
        """Return whether to keep this screen for a while, although another screen fits ``model``."""
        return False

    @property
    def samedeal(self) -> ClientApp:
        """The app to which this screen belongs."""
        return cast("ClientApp", self.app)

    @property
    def client(self) -> ClientSession:
        """The player's session."""
        return self.samedeal.client

    @property
    def model(self) -> Model:
        """The client's knowledge of the room and of the room's boards.

        While the client enters another room, it knows none. The screen then keeps what it knew of the last one.
        """
        model = self.samedeal.client.model
        if model.room is not None or self._last_model.room is None:
            self._last_model = model
        return self._last_model

    def compose(self) -> ComposeResult:
        """Yield the header, the banner, the body and the footer."""
        look = self.look
        self._header = Rows(look, id="header")
        self._banner = Rows(look, id="banner")
        self.body = Body(*self.compose_body(), id="body")
        self._footer = MessageAndKeys(look, id="footer")
        self._too_small = Rows(look, id="too-small")
        yield from (self._header, self._banner, self.body, self._footer, self._too_small)

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
            self._too_small.show(too_small_rows(size, minimum))
            return
        self._ready = True
        self.update()

    def retire(self) -> None:
        """Draw nothing any more, because another screen is about to replace this one."""
        self._ready = False

    def on_screen_resume(self) -> None:
        """Show the changes that were made while another screen lay over this one."""
        if self._ready:
            self.update()

    def update(self) -> None:
        """Show the model in the body. Also draw the frame, unless only the rivals' progress has changed.

        Does nothing before the first resize, after ``retire``, or while the app closes.
        """
        if not self._ready or not self.is_mounted or not self.children:
            return
        self.model_before, self._shown_model = self._shown_model, self.model
        self.show_model()
        if not only_progress_changed(self.model_before, self._shown_model):
            self.show_frame()

    def redraw(self) -> None:
        """Draw again what depends on the day or the time zone."""
        self.update()

    def _tick(self) -> None:
        # After several quick resizes, the events may arrive in another order.
        if self._fitted_size not in (None, size := Size(self.size.width, self.size.height)) and self.is_current:
            self.fit_to(size)
        if self._ready and self.is_current and not self.has_class("small"):
            before, self._shown_clock = self._shown_clock, self.clock()
            if before is None or before != self._shown_clock:
                self.on_tick()
                self.show_frame()

    def show_frame(self) -> None:
        """Draw the header, the banner and the footer."""
        if not self._ready:
            return
        look, width = self.look, self.size.width
        client = self.client
        right = (*self.status_row(), *connection_row(client.connection, client.link.waiting, look))
        self._header.show([header_row(self.title_parts(), right, look, width, self.header_style())])
        self.show_footer(width)
        banner = banner_rows(self._banner_text(width), look, width)
        self._banner.display = bool(banner)
        self._banner.styles.height = len(banner)
        self._banner.show(banner)

    def show_footer(self, width: int) -> None:
        """Show the keys and the message. If there is no message, show the prompt in its place."""
        quits = self.samedeal.key_labels().get("quit", "quit")
        keys = [key._replace(description=quits) if key.key == QUIT_KEY else key for key in self.footer_keys()]
        self._footer.show_lines(self.message_rows(width), keys, width)

    def _banner_text(self, width: int) -> str:
        client, announcement = self.client, self.samedeal.announcement
        if client.connection.state != "up":
            return connection_text(client.connection, client.retry_in(), self.model)
        # The message line hides no cards, so the banner shows only what does not fit there.
        return "" if fits_message_line(announcement, self.look, width) else announcement

    def show_message(self, sentence: str, style: str = "notice") -> None:
        """Show a message for ``MESSAGE_TIME`` seconds. An empty message clears the message line."""
        self._message = (sentence, style) if sentence else None
        if self._message_timer is not None:
            self._message_timer.stop()
            self._message_timer = None
        if sentence:
            self._message_timer = self.set_timer(MESSAGE_TIME, partial(self.show_message, ""))
        if self._ready:
            self.show_footer(self.size.width)

    def show_unknown_key(self, key: str) -> None:
        """Show the message that a key does nothing on this screen."""
        self.show_message(f"{key_text(key)} does nothing here. F1 lists the keys.")

    def message_rows(self, width: int) -> list[Row]:
        """Return the rows of the message line: the message, otherwise the announcement, otherwise the prompt."""
        look, announcement = self.look, self.samedeal.announcement
        if self._message is not None:
            sentence, style = self._message
            return message_rows(look.with_card_symbols(sentence), style, look, width)
        if announcement and fits_message_line(announcement, look, width):
            return message_rows(look.displayable(announcement), "notice found", look, width)
        return prompt_rows(self.prompt_row(), look, width)

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
        elif not self.has_class("small"):
            self.press(event.character if event.character is not None and event.is_printable else event.key)


def only_progress_changed(before: Model, after: Model) -> bool:
    """Return whether only the rivals' progress has changed.

    Header, banner and footer do not show this progress.
    """
    return (
        before.tallies is not after.tallies
        and before.room is after.room
        and before.own.shown is after.own.shown
        and before.own.pending is after.own.pending
        and before.watched is after.watched
    )
