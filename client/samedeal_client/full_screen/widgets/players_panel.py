"""The ranking of the players beside a board."""

from __future__ import annotations

from collections.abc import Sequence

from samedeal_client.board.layout import Rect
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.panels.players_panel import panel_title, ranking_rows, words_rows
from samedeal_client.panels.race_feed import RaceFeed, RankedPlayer
from samedeal_client.panels.race_news import news_rows
from samedeal_client.text.spans import Span
from samedeal_link.model.model import Model


class PlayersPanel(Rows):
    """The ranking under a heading, with a line that separates it from the board. ``shows_news`` says if there is space."""

    shows_news = False

    def show_in(
        self,
        place: Rect | None,
        ranking: Sequence[RankedPlayer],
        model: Model,
        feed: RaceFeed,
        now: int,
        left: int | None = None,
    ) -> None:
        """Show the ranking in the rectangle ``place``, or hide the panel if ``place`` is None.

        The news of ``feed`` follows as far as there is space, and the words of the deal stand at the bottom. ``now`` is the
        server time of what is shown. ``left`` is the time left in milliseconds, or None if the race is not under way.
        """
        self.shows_news = False
        if self.display != (place is not None):
            self.display = place is not None
        if place is None:
            return
        self.styles.offset = (place.x - 1, place.y)
        self.styles.width, self.styles.height = place.width + 1, place.height
        players = max(len(ranking), len(model.this_room.players))  # in an open window the others are not ranked
        rows = [
            panel_title(players, model.this_room.spectator_count, self.look, place.width, left),
            (),
            *ranking_rows(ranking, self.look, place.width, place.height - 2),
        ]
        about = words_rows(model.deal_words, place.width)
        if place.height - len(rows) <= len(about) + 1:
            about = ()
        height = place.height - len(about)
        height -= bool(about)
        self.shows_news = height - len(rows) > 1
        if self.shows_news:
            rows += [(), *news_rows(feed, model.this_room, now, self.look, place.width, height - len(rows) - 1)]
        rows += [*([()] * (place.height - len(about) - len(rows))), *about]
        edge = Span("|" if self.look.ascii else "▏", "rest")
        self.show([(edge, *row) for row in rows])
