"""The help: the keys, and the rules of each game."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static, Tab, Tabs

from samedeal_client.board.layout import Size
from samedeal_client.full_screen.screens.widget_screen import WidgetScreen
from samedeal_client.full_screen.widgets.themes import lines_of
from samedeal_client.panels.frame import breadcrumbs
from samedeal_client.panels.help import help_rows, pages
from samedeal_client.panels.key_help import HelpContext
from samedeal_client.text.spans import Row


def _id(page: str) -> str:
    """Return the id of a page's tab."""
    return f"page-{page}"


class HelpScreen(WidgetScreen):
    """The help over another screen. The keys of that screen come first.

    In a race, or if ``rules`` is true, the help opens at the rules of the room's game. Otherwise it opens at the keys.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,tab", "turn(1)", "next page", key_display="Tab"),
        Binding("left,shift+tab", "turn(-1)", show=False),
        Binding("space", "page_down", "scroll"),
        Binding("escape,q,f1,question_mark", "dismiss", "close"),
    ]

    def __init__(self, context: HelpContext, *, rules: bool = False) -> None:
        super().__init__()
        self._screen_below: HelpContext = context
        self._rules = rules or context == "race"

    def compose_body(self) -> ComposeResult:
        """Yield a tab for each page, and the page that is shown."""
        room, titles = self.model.room, pages()
        page = room.game if self._rules and room is not None and room.game in titles else "keys"
        self._tabs = Tabs(*(Tab(title, id=_id(name)) for name, title in titles.items()), active=_id(page))
        self._tabs.can_focus = False
        self._text = Static()
        self._page = VerticalScroll(self._text, id="page", classes="panel")
        yield from (self._tabs, self._page)

    def on_mount(self) -> None:
        """Let keys scroll the page."""
        self._page.focus()

    def minimum_size(self) -> Size:
        """Return a size that is not larger than any other screen's minimum, so that the help can always be closed."""
        return Size(40, 10)

    def title_parts(self) -> Row:
        """Return the left part of the header."""
        return breadcrumbs("help")

    def show_model(self) -> None:
        """Write the page for the width of the screen."""
        name = self._tabs.active.removeprefix(_id(""))
        rows = help_rows(name, self.samedeal.bindings, self.look, max(self.size.width - 6, 1), self._screen_below)
        self._text.update(lines_of(rows, self.look))

    @on(Tabs.TabActivated)
    def _show_page(self) -> None:
        self.update()
        self._page.scroll_home(animate=False)

    def action_turn(self, count: int) -> None:
        """Turn forward by ``count`` pages, or backward if ``count`` is negative."""
        tabs = [_id(name) for name in pages()]
        self._tabs.active = tabs[(tabs.index(self._tabs.active) + count) % len(tabs)]

    def action_page_down(self) -> None:
        """Scroll down by a screenful."""
        self._page.action_page_down()
