"""The ranking of the players beside a board."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samedeal_client.drawing.layout import Rect
from samedeal_client.state.race_feed import RankedPlayer
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.players_panel import panel_title, ranking_rows, words_rows
from samedeal_client.widgets.rows_widget import Rows


class PlayersPanel(Rows):
    """The ranking under a heading, with a line that separates it from the board."""

    _place: Rect | None = None

    def show_in(
        self,
        place: Rect | None,
        ranking: Sequence[RankedPlayer],
        spectator_count: int,
        news: Callable[[int, int], Sequence[Row]] | None = None,
        left: int | None = None,
        words: str = "",
    ) -> None:
        """Show the ranking in the rectangle ``place``, or hide the panel if ``place`` is None.

        ``news`` returns the news as rows for the width and height of the space below the ranking. ``left`` is the time
        left in milliseconds, or None if the race is not under way. ``words`` are the words of the deal, which stand at the
        bottom if there is space.
        """
        if self.display != (place is not None):
            self.display = place is not None
        if place is None:
            return
        if place != self._place:
            self._place = place
            self.styles.offset = (place.x - 1, place.y)
            self.styles.width, self.styles.height = place.width + 1, place.height
        rows = [
            panel_title(len(ranking), spectator_count, self.look, place.width, left),
            (),
            *ranking_rows(ranking, self.look, place.width, place.height - 2),
        ]
        about = words_rows(words, place.width)
        if place.height - len(rows) <= len(about) + 1:
            about = ()
        height = place.height - len(about)
        height -= bool(about)
        if news is not None and height - len(rows) > 1:
            rows += [(), *news(place.width, height - len(rows) - 1)]
        rows += [*([()] * (place.height - len(about) - len(rows))), *about]
        edge = Span("|" if self.look.ascii else "▏", "rest")
        self.show([(edge, *row) for row in rows])
