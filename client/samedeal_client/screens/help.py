"""The help: keys, and the rules of the games, the one in hand first."""

from __future__ import annotations

from collections.abc import Iterable

from samedeal_client.board.layout import Size
from samedeal_client.screens.sheet import SheetScreen
from samedeal_client.text.spans import Row
from samedeal_client.views.help import KEYS_PAGE, PAGES, help_keys, help_view
from samedeal_client.views.key_help import Where
from samedeal_client.views.page import KeyWord, View


class HelpScreen(SheetScreen):
    """The help over whatever was shown, and ``over`` which screen that is.

    It opens at the ``rules`` of the game in hand, as it does in a race, or at the keys.
    """

    def __init__(self, over: Where, *, rules: bool = False) -> None:
        super().__init__()
        self._over: Where = over
        self._rules = rules or over == "race"
        self._page = KEYS_PAGE

    def on_mount(self) -> None:
        """Open it."""
        room = self.model.room
        if self._rules and room is not None and room.game in PAGES:
            self._page = room.game

    def least_size(self) -> Size:
        """No more than any screen needs that the help may lie over: it must not be what can't be left."""
        return Size(40, 10)

    def title_row(self) -> Row:
        """What this is."""
        return self.heading("help")

    def words(self) -> Iterable[KeyWord]:
        """The keys that do something here."""
        return help_keys(self.look)

    def draw(self, width: int, height: int) -> View:
        """The page."""
        return help_view(self._page, self.samedeal.bindings, self.look, width, height, self.scroll_rows, self._over)

    def take(self, key: str) -> bool:
        """Turn pages, scroll, or go back."""
        if key in ("escape", "q", "f1", "?"):
            _ = self.dismiss()
        elif key in ("right", "tab", "left", "shift+tab"):
            step = 1 if key in ("right", "tab") else -1
            self.do(f"page {PAGES[(PAGES.index(self._page) + step) % len(PAGES)]}")
        else:
            return self.scrolled("pagedown" if key == " " else key)
        return True

    def do(self, what: str) -> None:
        """Show a page from its beginning."""
        self._page = what.removeprefix("page ")
        self.scroll_rows = 0
