"""The help: keys, and the rules of the games, the one in hand first."""

from __future__ import annotations

from collections.abc import Iterable

from samedeal_client.screens.sheet import SheetScreen
from samedeal_client.text.spans import Row
from samedeal_client.views.help import HELP_KEYS, KEYS_PAGE, PAGES, help_view
from samedeal_client.views.page import KeyWord, View


class HelpScreen(SheetScreen):
    """The help over whatever was shown; ``page`` is one of ``views.help.PAGES``, else that of the game in hand."""

    def __init__(self, page: str = "") -> None:
        super().__init__()
        self._page = page

    def on_mount(self) -> None:
        """Open it at the game in hand."""
        if not self._page:
            room = self.model.room
            self._page = room.game if room is not None and room.game in PAGES else KEYS_PAGE

    def title_row(self) -> Row:
        """What this is."""
        return self.heading("help")

    def words(self) -> Iterable[KeyWord]:
        """The keys that do something here."""
        return HELP_KEYS

    def draw(self, width: int, height: int) -> View:
        """The page."""
        return help_view(self._page or KEYS_PAGE, self.samedeal.bindings, self.look, width, height, self.scroll_rows)

    def take(self, key: str) -> None:
        """Turn pages, scroll, or go back."""
        if key in ("escape", "q", "f1", "?"):
            _ = self.dismiss()
        elif key in ("right", "tab", "left", "shift+tab"):
            step = 1 if key in ("right", "tab") else -1
            self.do(f"page {PAGES[(PAGES.index(self._page) + step) % len(PAGES)]}")
        elif key == " ":
            self.scrolled("pagedown")
        else:
            self.scrolled(key)

    def do(self, what: str) -> None:
        """Show a page from its beginning."""
        self._page = what.removeprefix("page ")
        self.scroll_rows = 0
