"""What all screens share: the header, the banner of a cut connection, the line for sentences and the line of keys.

A screen says what it shows and is told of changes; when it is too small for that it says so instead.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, cast

from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer

from samedeal.errors import Refused
from samedeal.names import columns_of
from samedeal_client.board.key_names import QUIT_KEY, key_text
from samedeal_client.board.layout import Size
from samedeal_client.net.client import Client
from samedeal_client.rooms.model import Model
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, fit, fit_row, row_width, wrap
from samedeal_client.views.key_help import Where
from samedeal_client.widgets.blank import Blank, blank_lines
from samedeal_client.widgets.rows import Rows

if TYPE_CHECKING:
    from samedeal_client.app import SamedealApp

TICK: Final = 0.25
"""Seconds between two looks at the clock; what is the same as before is not drawn."""

SAID_FOR: Final = 6.0
"""Seconds for which a sentence is shown."""


_BANNER_ROWS: Final = 3


class KeyHint(NamedTuple):
    """A key in the line at the bottom: how it is written, what it does, and the key itself, as Textual names it.

    A click presses it; an empty key can't be clicked.
    """

    label: str
    word: str
    key: str = ""


class Body(Blank):
    """The part of a screen within the frame: a banner takes a row of it, so that what is in it is shown anew."""

    def on_resize(self) -> None:
        """Show everything in the new size."""
        screen = self.screen
        if isinstance(screen, ClientScreen):
            screen.update(screen.model)


class ClientScreen(Screen[None]):
    """A screen with the client's frame around its body."""

    ALLOW_SELECT: ClassVar[bool] = False
    where: ClassVar[Where] = "race"
    """What the help says first."""

    def __init__(self) -> None:
        super().__init__()
        self._known = Model()
        self._drawn = False
        self._fitted: Size | None = None
        self._said: tuple[str, str] | None = None
        self._said_timer: Timer | None = None
        self._key_spots: list[tuple[int, int, str]] = []

    # ---------------------------------------------------------------- for the screen to say

    def compose_body(self) -> ComposeResult:
        """The widgets between header and message line."""
        yield from ()

    def least_size(self) -> Size:
        """The smallest terminal on which the screen can be used."""
        return Size(60, 20)

    def title_row(self) -> Row:
        """What stands at the left of the header."""
        return ()

    def status_row(self) -> Row:
        """What stands at the right of the header, before the state of the connection."""
        return ()

    def key_hints(self) -> Iterable[KeyHint]:
        """The keys in the line at the bottom, the most important first; the last two are always shown."""
        return ()

    def idle_row(self) -> Row:
        """What the line for sentences shows while there is none."""
        return ()

    def press(self, key: str) -> None:
        """Do what a key, a character or a name as in ``bindings.NAMED_KEYS``, stands for."""

    def on_changed(self, before: Model, after: Model) -> None:
        """Show what is new; called when the screen is shown first, when something has changed, and on a new size."""

    def on_tick(self) -> None:
        """Show what goes with the clock."""

    # ---------------------------------------------------------------- what it has

    @property
    def samedeal(self) -> SamedealApp:
        """The app."""
        return cast("SamedealApp", self.app)

    @property
    def client(self) -> Client:
        """The client."""
        return self.samedeal.client

    @property
    def model(self) -> Model:
        """What the client knows."""
        return self.samedeal.client.model

    @property
    def look(self) -> Look:
        """How things look."""
        return self.samedeal.look

    # ---------------------------------------------------------------- the frame

    def compose(self) -> ComposeResult:
        """The frame and the body."""
        look = self.look
        self._header_line = Rows(look, id="header")
        self._banner_lines = Rows(look, id="banner")
        self.body = Body(*self.compose_body(), id="body")
        self._sentence_line = Rows(look, id="sentence")
        self._keys_line = Rows(look, id="keys")
        self._too_small = Rows(look, id="too-small")
        yield from (self._header_line, self._banner_lines, self.body)
        yield from (self._sentence_line, self._keys_line, self._too_small)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines behind everything."""
        return blank_lines(crop)

    def on_mount(self) -> None:
        """Look at the clock from now on."""
        self.set_interval(TICK, self._tick)

    def on_resize(self, event: events.Resize) -> None:
        """Show everything anew."""
        self.refit(Size(event.size.width, event.size.height))

    def refit(self, size: Size) -> None:
        """Show everything in a new size."""
        self._fitted = size
        least = self.least_size()
        small = size.width < least.width or size.height < least.height
        self.set_class(small, "small")
        if small:
            sentence = (
                f"{least.width} columns and {least.height} rows are needed, here are {size.width} and {size.height}: "
                "make the window larger, or the letters smaller. Until then no key counts, "
                f"but {key_text(QUIT_KEY, self.look)} to quit."
            )
            lines = wrap(sentence, max(size.width, 1))
            self._too_small.show([(Span(line, "notice"),) for line in lines])
            return
        self._drawn = True
        self.update(self.model)

    def on_screen_resume(self) -> None:
        """Show what has changed while another screen was over this one."""
        if self._drawn:
            self.update(self.model)

    def update(self, model: Model) -> None:
        """Show a model."""
        if not self._drawn or not self.is_mounted or not self.children:
            return  # not there yet, or not any more while the app is being closed
        before, self._known = self._known, model
        self.on_changed(before, model)
        if not only_counts(before, model):
            self.show_frame()

    def _tick(self) -> None:
        # Of several sizes in quick succession the events may come late, and not the last one last.
        if self._fitted not in (None, size := Size(self.size.width, self.size.height)) and self.is_current:
            self.refit(size)
        if self._drawn and self.is_current and not self.has_class("small"):
            self.on_tick()
            self.show_frame()

    def show_frame(self) -> None:
        """Show everything around the body as it is now."""
        if not self._drawn:
            return
        width = self.size.width
        self._header_line.show([self._header(width)])
        self._show_foot(width)
        banner = self._banner(width)[: max(self.size.height - self.least_size().height, 0)]
        self._banner_lines.display = bool(banner)
        self._banner_lines.styles.height = len(banner)
        self._banner_lines.show(banner)

    def _show_foot(self, width: int) -> None:
        """Show the sentence and the keys; of a sentence that is too long for its line the rest comes before the keys."""
        first, *rest = self._sentence(width)
        self._sentence_line.show([fit_row(first, width)])
        self._key_spots = []
        self._keys_line.show([fit_row(rest[0] if rest else self._key_line(width), width)])

    def _header(self, width: int) -> Row:
        right = (*self.status_row(), *self._connection_row(), Span(" "))
        room = width - row_width(right)
        return fit_row((*fit_row((Span(" "), *self.title_row()), max(room, 0)), *right), width)

    def _connection_row(self) -> Row:
        connection = self.client.connection
        dot = "*" if self.look.ascii else "●"
        if connection.state == "up":
            ping = "" if connection.ping is None else f" {connection.ping} ms"
            return (Span("  "), Span(dot, "bar"), Span(ping, "label"))
        return (Span("  "), Span(f"{'x' if self.look.ascii else '○'} cut off", "notice"))

    def _banner(self, width: int) -> list[Row]:
        connection = self.client.connection
        match connection.state:
            case "up":
                text = self.samedeal.announced
            case "lost":
                seconds = self.client.retry_in()
                again = f"trying again in {seconds:.0f} s" if seconds >= 1 else "trying again now"
                kept = "; your seat and your moves are kept" if self.model.awaited else ""
                text = f"Cut off, {again}{kept}. {connection.reason}"
            case _:
                text = f"{connection.reason}. {key_text(QUIT_KEY, self.look)} closes this window."
        lines = wrap(self.look.says(text), width - 2)[:_BANNER_ROWS]
        return [(Span(fit(f" {line}", width), "notice found"),) for line in lines]

    # ---------------------------------------------------------------- sentences

    def say(self, sentence: str, style: str = "notice") -> None:
        """Show a sentence for some seconds; an empty one takes the last away."""
        self._said = (sentence, style) if sentence else None
        if self._said_timer is not None:
            self._said_timer.stop()
            self._said_timer = None
        if sentence:
            self._said_timer = self.set_timer(SAID_FOR, self._fall_silent)
        if self._drawn:
            self._show_foot(self.size.width)

    def say_unknown(self, key: str) -> None:
        """Say that a key means nothing here, and where those stand that do."""
        self.say(f"{key_text(key, self.look)} does nothing here: F1 lists the keys")

    def _fall_silent(self) -> None:
        self.say("")

    def _sentence(self, width: int) -> list[Row]:
        if self._said is None:
            return [self.idle_row()]
        sentence, style = self._said
        return [(Span(f" {line}", style),) for line in wrap(self.look.told(sentence), width - 2)] or [()]

    def ask(self, what: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have the server asked for something, and a refusal told."""
        self.run_worker(self._asked(what), group="wish")

    async def _asked(self, what: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await what()
        except Refused as refused:
            self.samedeal.say(str(refused))

    # ---------------------------------------------------------------- keys

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one, not even one that lets it be seen."""
        return self.app.screen is self

    def on_key(self, event: events.Key) -> None:
        """Take a key; one that was typed ahead is for the screen that has come over this one since.

        None counts while the screen is too small for what it shows, as it says then.
        """
        event.stop()
        event.prevent_default()
        if not self.on_top:
            self.app.screen.post_message(events.Key(event.key, event.character))
        elif event.key == "ctrl+l":
            self.refresh()  # something else has written on the terminal
        elif not self.has_class("small"):
            self.press(event.character if event.character is not None and event.is_printable else event.key)

    def _key_line(self, width: int) -> Row:
        """The key hints that fit, and where they are."""
        hints = [self._with_way_back(hint) for hint in self.key_hints()]
        shown: list[KeyHint] = []
        room = width - 1 - sum(_hint_width(hint) + 2 for hint in hints[-2:])
        for hint in hints[:-2]:
            room -= _hint_width(hint) + 2
            if room < 0:
                break
            shown.append(hint)
        shown += hints[-2:]
        spans = [Span(" ")]
        x = 1
        for hint in shown:
            spans += [Span(hint.label, "title"), Span(f" {hint.word}", "label"), Span("  ")]
            if hint.key:
                self._key_spots.append((x, x + _hint_width(hint), hint.key))
            x += _hint_width(hint) + 2
        return tuple(spans)

    def _with_way_back(self, hint: KeyHint) -> KeyHint:
        """A hint that says where one goes, where quitting is not the end."""
        back = self.samedeal.back_to
        return hint._replace(word=f"back to {back}") if back and hint.key == QUIT_KEY else hint

    def on_rows_clicked(self, event: Rows.Clicked) -> None:
        """A click on a key hint presses the key."""
        if event.rows.id == "keys":
            for start, end, key in self._key_spots:
                if start <= event.x < end:
                    self.app.simulate_key(key)


def only_counts(before: Model, after: Model) -> bool:
    """Whether nothing but rivals' counts has changed, which the frame doesn't show."""
    return (
        before is not after
        and before.room is after.room
        and before.shown is after.shown
        and before.pending is after.pending
        and before.watched is after.watched
    )


def _hint_width(hint: KeyHint) -> int:
    return columns_of(hint.label) + 1 + columns_of(hint.word)
