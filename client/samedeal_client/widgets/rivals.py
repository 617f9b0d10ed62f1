"""The panel of rivals beside a board."""

from __future__ import annotations

from collections.abc import Sequence

from samedeal_client.board.layout import Rect
from samedeal_client.text.spans import Span
from samedeal_client.views.panel import Rival, race_title, tally_lines
from samedeal_client.widgets.rows import Rows


class RivalsPanel(Rows):
    """Who is how far, under a heading and behind a line that parts it from the board."""

    _place: Rect | None = None

    def show_in(self, place: Rect | None, rivals: Sequence[Rival], watching: int) -> None:
        """Show the players in a place of a layout, or nothing where there is none."""
        if self.display != (place is not None):
            self.display = place is not None
        if place is None:
            return
        if place != self._place:
            self._place = place
            self.styles.offset = (place.x - 1, place.y)
            self.styles.width, self.styles.height = place.width + 1, place.height
        rows = [
            race_title(len(rivals), watching, self.look, place.width),
            (),
            *tally_lines(rivals, self.look, place.width, place.height - 2),
        ]
        rows += [()] * (place.height - len(rows))
        edge = Span("|" if self.look.ascii else "▏", "rest")
        self.show([(edge, *row) for row in rows])
