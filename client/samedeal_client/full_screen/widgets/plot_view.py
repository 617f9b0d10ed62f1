"""A widget for a plot of the cards on foundations over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from samedeal_client.full_screen.widgets.themes import lines_of
from samedeal_client.panels.plot import MAX_HEIGHT, MIN_HEIGHT, MIN_WIDTH, Curve, cards_plot
from samedeal_client.text.appearance import Look

_FRAME_ROWS: Final = 4
"""Number of rows of a plot for its legend, its axes and the lowest level."""


class PlotView(Widget):
    """A widget filled by a plot. ``draw`` returns the plot for a width and a height."""

    draw: reactive[Callable[[int, int], Text]] = reactive(lambda: lambda _wide, _high: Text(), always_update=True)

    def show_curves(self, curves: Sequence[Curve], maximum: int, length: int, look: Look) -> None:
        """Show curves of up to ``maximum`` cards in a race of ``length`` milliseconds."""
        self.styles.max_height = min(maximum + _FRAME_ROWS, MAX_HEIGHT)
        self.draw = lambda wide, high: lines_of(cards_plot(curves, maximum, length, wide, high, look), look)

    def render(self) -> Text:
        """Return the plot."""
        width, height = self.size
        return self.draw(width, height) if width >= MIN_WIDTH and height >= MIN_HEIGHT else Text()
