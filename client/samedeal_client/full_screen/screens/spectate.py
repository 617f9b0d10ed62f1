"""The screen of a spectator, who sees the boards with the room's delay.

All boards are in a grid, or one board is in full size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from textual.app import ComposeResult
from textual.events import Click

from samedeal_client.board.layout import FRAME_ROWS, Size, smallest
from samedeal_client.board.marks import Marks, arrived_cards
from samedeal_client.board.mini_board import smallest_mini
from samedeal_client.full_screen.screens.base import ClientScreen
from samedeal_client.full_screen.widgets.board import BoardView, panel_layout
from samedeal_client.full_screen.widgets.players_panel import PlayersPanel
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.input.key_names import QUIT_KEY
from samedeal_client.panels.footer_key import FooterKey
from samedeal_client.panels.live_ranking import delayed_ranking
from samedeal_client.panels.race import LOBBY_KEY
from samedeal_client.panels.race_feed import RaceFeed, RankedPlayer
from samedeal_client.panels.race_news import fresh_news_row
from samedeal_client.panels.spectator_grid import Grid, arrange, board_grid_rows, board_keys, cell_head
from samedeal_client.text.option_wording import public_deal_title
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Row, Span
from samedeal_client.text.time_text import clock_text
from samedeal_link.model.model import WatchedBoard
from samedeal_link.records.spectating import Spectating, Watched

_MINIMUM_WIDTH: Final = 40

_SPECTATORS_WIDTH: Final = 90
"""Minimum width, in columns, at which the header shows the number of spectators."""


class SpectateScreen(ClientScreen):
    """A race as its spectators see it."""

    help_context = "watch"

    def __init__(self) -> None:
        super().__init__()
        self.game = self.model.game
        self._state = Spectating()
        self._players: tuple[RankedPlayer, ...] = ()
        self._boards: Mapping[str, WatchedBoard] = {}
        self._keys: Mapping[str, str] = {}
        self._feed = RaceFeed()

    def compose_body(self) -> ComposeResult:
        """Yield the grid of boards, and the single board with the ranking."""
        self._grid_view = Rows(self.look.on_table(), id="board-grid")
        self._board_view = BoardView(self.look, self.game, id="board")
        self._rivals_panel = PlayersPanel(self.look, id="rivals")
        yield from (self._grid_view, self._board_view, self._rivals_panel)

    def minimum_size(self) -> Size:
        """Return the smallest size of the window in which the grid fits, with header and footer.

        If one board is shown alone, return the smallest size in which this board fits.
        """
        zoomed = bool(self._state.zoomed)
        minimum = smallest(self.game) if zoomed else smallest_mini(self.game)
        return Size(max(minimum.width, _MINIMUM_WIDTH), minimum.height + FRAME_ROWS + (0 if zoomed else 1))

    @property
    def shown_time(self) -> int:
        """The server time of the boards on the screen, in milliseconds since 1970."""
        return self.client.now() - 1000 * (self.model.delay or 0)

    @property
    def watched(self) -> Watched:
        """The players, their boards and keys, and the number of pages."""
        players = tuple(player.player for player in self._players)
        return Watched(players, self._boards.keys(), self._keys, self._grid().pages)

    def on_tick(self) -> None:
        """Show newer boards as time passes."""
        self.show_model()

    def show_model(self) -> None:
        """Show the boards."""
        model = self.model
        self._boards = model.watched
        ranking = delayed_ranking(model, self._boards, self.shown_time)
        self._feed = self._feed.after(ranking, self.shown_time)
        seats = {seat.player: seat.seat for seat in model.this_room.players}
        self._players = ranking
        self._state = self._state.limited_to(self.watched)
        self._keys = board_keys(self._players, seats, self._grid(), self._state.page)
        zoomed = bool(self._state.zoomed)
        self._grid_view.display = not zoomed
        self._board_view.display = zoomed
        self._rivals_panel.display = zoomed
        if zoomed:
            self._show_board(self._boards[self._state.zoomed])
        elif self._boards:
            look, grid, page = self._grid_view.look, self._grid(), self._state.page
            self._grid_view.show(board_grid_rows(self._players, self._boards, self._keys, look, grid, page))
        else:
            self._grid_view.show(self._rows_before_first_board())

    def _grid(self) -> Grid:
        size = self.body.size
        return arrange(self.game, max(len(self._players), 1), size.width, size.height)

    def _rows_before_first_board(self) -> list[Row]:
        room = self.model.this_room
        now = self.client.now()
        if room.phase == "open":
            text = "The race has not started yet. You will see it from the start."
        elif (until := self.model.until_start(now)) > 0:
            text = f"The race starts in {-(-until // 1000)} s."
        else:
            wait = room.starts + 1000 * (self.model.delay or 0) - now
            text = (
                f"This room has a {self.model.delay} s spectator delay. First boards in {max(-(-wait // 1000), 0)} s."
            )
        rows: list[Row] = [(), (Span(f"  {text}", "title"),), ()]
        rows += [
            (Span(f"  {seat.seat:>2}  ", "label"), Span(player_name(seat.name, self.look, bot=seat.bot), "name"))
            for seat in room.players
        ]
        return rows

    def _show_board(self, watched: WatchedBoard) -> None:
        places = panel_layout(self.game, self.body.size)
        if places is None:
            return
        board = watched.play.board
        self._board_view.show(
            board, places, Marks(last=arrived_cards(board, watched.play.last)), motion=self.samedeal.may_animate
        )
        everyone = [player._replace(you=False) for player in self._players]  # show the own name, not "you"
        self._rivals_panel.show_in(places.panel, everyone, self.model, self._feed, self.shown_time)

    def title_parts(self) -> Row:
        """Return the room, the game and its deal, and the player whose board fills the window."""
        room = self.model.this_room
        title = f"{self.game.title} {public_deal_title(room.deal)}".rstrip()
        shown = self.model.seat_of(self._state.zoomed)
        player = (Span(shown.name, "title"),) if shown is not None else ()
        return (Span("WATCH", "title"), Span(room.room, "label"), Span(title, "title"), *player)

    def status_row(self) -> Row:
        """Return the time since the start of the race, the delay and the number of spectators."""
        room = self.model.this_room
        if not room.starts:
            return ()
        delay = self.model.delay or 0
        age = Span(f", {delay} s delay" if delay else ", live", "label")
        spectators = f"  {room.spectator_count} watching" if self.size.width >= _SPECTATORS_WIDTH else ""
        return (Span(f" {clock_text(self.shown_time - room.starts)} played", "title"), age, Span(spectators, "label"))

    def prompt_row(self) -> Row:
        """Return the heading of a board that is shown alone, or the page of the grid and fresh news."""
        state = self._state
        number = next((number for number, player in enumerate(self._players) if player.player == state.zoomed), -1)
        if number >= 0:
            watched = self._boards.get(state.zoomed)
            key, width = self._keys.get(state.zoomed, " "), self.size.width
            return cell_head(self._players[number], key, watched, self.look, width)
        if not self._boards:
            return ()
        pages = self._grid().pages
        page = f" page {state.page + 1} of {pages}  " if pages > 1 else " "
        news = fresh_news_row(self._feed, self.model.this_room, self.shown_time, self.look)
        return (Span(page, "label"), *news)

    def footer_keys(self) -> Iterable[FooterKey]:
        """Return the keys that can be pressed now."""
        ascii_only = self.look.ascii
        if self.model.has_finished:
            yield FooterKey("o", "your own board")
        if self._boards:
            if self._state.zoomed:
                yield FooterKey("0", "all boards")
                yield FooterKey("down", "other player", "Up/Down" if ascii_only else "↑/↓")
            else:
                grid = self._grid()
                keys = sorted(self._keys.values())
                first = self._players[self._state.page * grid.on_page].player
                yield FooterKey(self._keys.get(first, "1"), "show one", f"{keys[0]}-{keys[-1]}")
                if grid.pages > 1:
                    yield FooterKey("pagedown", "next page", "PgDn")
        yield FooterKey("f1", "help")
        yield FooterKey(LOBBY_KEY, "lobby")
        yield FooterKey(QUIT_KEY, "quit")

    def press(self, key: str) -> None:
        """Handle a key."""
        match key:
            case "o" if self.model.has_finished:
                self.request(partial(self.client.join, self.model.this_room.room, self.client.rooms.passphrase))
            case _ if key in (LOBBY_KEY, "q"):
                self.request(self.client.leave)
            case "f1" | "?":
                self.app.call_later(self.samedeal.action_help)
            case _:
                state = self._state.press(key, self.watched)
                if state is None:
                    self.show_unknown_key(key)
                    return
                self._state = state
                self.show_message("")
        self._refit()

    def on_click(self, event: Click) -> None:
        """Show only the board that was clicked."""
        grid = self._grid_view.region
        if self._boards and grid.contains(event.screen_x, event.screen_y):
            number = self._grid().board_at(event.screen_x - grid.x, event.screen_y - grid.y, self._state.page)
            player = self._players[number].player if number < len(self._players) else ""
            self._state = self._state.zoom(player, self.watched) or self._state
            self.show_message("")
            self._refit()

    def fit_to(self, size: Size) -> None:
        """Show everything in a new size. If a board that is shown alone no longer fits, show the grid again."""
        minimum = self.minimum_size()
        if self._state.zoomed and (size.width < minimum.width or size.height < minimum.height):
            self._state = replace(self._state, zoomed="")
            self.show_message(f"One board alone needs a window of {minimum.width}x{minimum.height}.")
        super().fit_to(size)

    def _refit(self) -> None:
        """Fit the screen to the window again, because the minimum size may have changed."""
        self.fit_to(Size(self.size.width, self.size.height))
