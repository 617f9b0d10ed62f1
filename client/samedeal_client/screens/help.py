"""The help: the keys, and the rules of each game."""

from __future__ import annotations

from collections.abc import Iterable

from samedeal_client.drawing.layout import Size
from samedeal_client.screens.text_screen import TextScreen
from samedeal_client.text.spans import Row
from samedeal_client.views.help import KEYS_PAGE, PAGES, help_keys, help_view
from samedeal_client.views.key_help import HelpContext
from samedeal_client.views.screen_body import FooterKey, View


class HelpScreen(TextScreen):
    """The help over another screen, whose keys it lists first.

    In a race, or with ``rules``, it opens at the rules of the room's game, otherwise at the keys.
    """

    def __init__(self, context: HelpContext, *, rules: bool = False) -> None:
        super().__init__()
        self._screen_below: HelpContext = context
        self._rules = rules or context == "race"
        self._page = KEYS_PAGE

    def on_mount(self) -> None:
        """Choose the page."""
        room = self.model.room
        if self._rules and room is not None and room.game in PAGES:
            self._page = room.game

    def minimum_size(self) -> Size:
        """A size that every screen below fits in, so that the help can always be closed."""
        return Size(40, 10)

    def title_parts(self) -> Row:
        """The title."""
        return self.breadcrumbs("help")

    def footer_keys(self) -> Iterable[FooterKey]:
        """The keys that can be pressed."""
        return help_keys(self.look)

    def draw(self, width: int, height: int) -> View:
        """The page."""
        return help_view(
            self._page, self.samedeal.bindings, self.look, width, height, self.scroll_rows, self._screen_below
        )

    def apply_key(self, key: str) -> bool:
        """Turn pages, scroll, or close the help."""
        if key in ("escape", "q", "f1", "?"):
            _ = self.dismiss()
        elif key in ("right", "tab", "left", "shift+tab"):
            step = 1 if key in ("right", "tab") else -1
            self.perform(f"page {PAGES[(PAGES.index(self._page) + step) % len(PAGES)]}")
        else:
            return self.scroll_by_key("pagedown" if key == " " else key)
        return True

    def perform(self, action: str) -> None:
        """Open a page at its top."""
        self._page = action.removeprefix("page ")
        self.scroll_rows = 0
