"""A widget for a plot."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from samedeal_client.views.plot import MIN_HEIGHT, MIN_WIDTH


class PlotView(Widget):
    """A plot that fills its widget. ``draw`` returns the plot for a width and a height."""

    draw: reactive[Callable[[int, int], Text]] = reactive(lambda: lambda _wide, _high: Text(), always_update=True)

    def render(self) -> Text:
        """Return the plot."""
        width, height = self.size
        return self.draw(width, height) if width >= MIN_WIDTH and height >= MIN_HEIGHT else Text()
