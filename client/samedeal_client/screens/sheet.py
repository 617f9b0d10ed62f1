"""A screen whose body is one view, with keys and clicks that do the same things."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final

from textual.app import ComposeResult

from samedeal_client.board.key_names import key_sign
from samedeal_client.board.layout import Size
from samedeal_client.rooms.model import Model
from samedeal_client.screens.base import ClientScreen, KeyHint
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.page import KeyWord, View
from samedeal_client.widgets.sheet import Sheet

Work = Callable[[], Coroutine[Any, Any, None]]
"""Something to be done; a function, since what is never begun must not be left as a coroutine that nobody awaits."""

_SCROLLS: Final = {"up": -1, "down": 1}
_PAGES: Final = {"pageup": -1, "pagedown": 1}


class SheetScreen(ClientScreen):
    """A screen that draws a view, its ``sheet``; ``scroll_rows`` is how far that is scrolled.

    The sheet is kept rather than looked up: what was asked of the server may come back when the screen is being taken away.
    """

    sheet: Sheet

    def __init__(self) -> None:
        super().__init__()
        self.scroll_rows = 0

    # ---------------------------------------------------------------- for the screen to say

    def draw(self, width: int, height: int) -> View:
        """The view in a size."""
        raise NotImplementedError

    def words(self) -> Iterable[KeyWord]:
        """The keys in the line at the bottom, the most important first; the last one is always shown."""
        return ()

    def take(self, key: str) -> bool:
        """Do what a key stands for: a character, a blank too, or a name as in ``bindings.NAMED_KEYS``.

        Whether it stands for anything.
        """
        raise NotImplementedError

    def do(self, what: str) -> None:
        """Do what a click on the view stands for."""

    # ---------------------------------------------------------------- the body

    def compose_body(self) -> ComposeResult:
        """The view."""
        self.sheet = Sheet(self.look, self.draw, id="sheet")
        yield self.sheet

    def least_size(self) -> Size:
        """What the views are made for."""
        return Size(60, 19)

    def show(self) -> None:
        """Show the view and the frame as they are now."""
        if self._drawn:
            self.sheet.redraw()
            self.show_frame()

    def on_changed(self, before: Model, after: Model) -> None:  # noqa: ARG002 (what all screens are told)
        """Show what is new."""
        self.sheet.redraw()

    def on_tick(self) -> None:
        """Show what goes with the clock."""
        self.sheet.redraw()

    def key_hints(self) -> Iterable[KeyHint]:
        """The keys, as they are written here."""
        return [KeyHint(word.label or key_sign(word.key, self.look), word.word, word.key) for word in self.words()]

    def heading(self, *words: str) -> Row:
        """A row for the header: what this is, from the general to the particular."""
        pointer = Span(f"{self.look.glyphs.pointer} ", "label")
        spans = [Span("samedeal ", "label")]
        for number, word in enumerate(words):
            spans += [pointer, Span(f"{self.look.says(word)} ", "label" if number else "title")]
        return tuple(spans)

    def help(self, *, rules: bool = False) -> None:
        """Show the help over this screen, at the keys or at the rules of the game in hand."""
        from samedeal_client.screens.help import HelpScreen

        _ = self.app.push_screen(HelpScreen(self.where, rules=rules))

    def work(self, what: Work, *, group: str = "default", exclusive: bool = False) -> None:
        """Have something done that takes a while; what is ``exclusive`` takes the place of what its group was doing."""
        self.run_worker(what, group=group, exclusive=exclusive)  # type: ignore[arg-type]  # mypy can't see what it returns

    # ---------------------------------------------------------------- keys and clicks

    def press(self, key: str) -> None:
        """Take a key, and show what comes of it."""
        if not self.take(" " if key == "space" else key):
            self.say_unknown(key)
        self.show()

    def on_sheet_pressed(self, event: Sheet.Pressed) -> None:
        """Take a click."""
        event.stop()
        self.do(event.does)
        self.show()

    def on_sheet_wheeled(self, event: Sheet.Wheeled) -> None:
        """Scroll by the wheel."""
        event.stop()
        self.scroll_by(event.rows)

    def scroll_by(self, rows: int) -> None:
        """Scroll as far as there is something."""
        view = self.sheet.view
        self.scroll_rows = max(0, min(view.scroll + rows, view.scroll + view.beyond))
        self.show()

    def scrolled(self, key: str) -> bool:
        """Scroll by a key, if it is one for that."""
        page = max(self.sheet.size.height - 4, 1)
        if key in _SCROLLS:
            self.scroll_by(_SCROLLS[key])
        elif key in _PAGES:
            self.scroll_by(_PAGES[key] * page)
        elif key in ("home", "end"):
            self.scroll_by(-(10**6) if key == "home" else 10**6)
        else:
            return False
        return True
