"""Watching a race: all boards small, or one of them large; late, as the room says, and as long ago as one likes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from textual.app import ComposeResult

from samedeal.games import Game
from samedeal_client.board.key_names import QUIT_KEY, key_sign
from samedeal_client.board.layout import Layout, Size, layout, smallest
from samedeal_client.board.marks import Marks, brought
from samedeal_client.board.mini import smallest_mini
from samedeal_client.rooms.model import Model, Watched
from samedeal_client.rooms.reel import Reel
from samedeal_client.screens.base import ClientScreen, KeyHint
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.gallery import NUMBERS, ORDERS, Grid, Order, cell_head, gallery_rows, grid, in_order
from samedeal_client.views.panel import Rival, clock_text
from samedeal_client.views.race import LOBBY_KEY
from samedeal_client.views.rivals import watched_now
from samedeal_client.widgets.board import BoardView
from samedeal_client.widgets.rivals import RivalsPanel
from samedeal_client.widgets.rows import Rows

BACK: Final = 10_000
"""Milliseconds that one key goes back, or forth again."""

_FRAME_ROWS: Final = 3
_LEAST_WIDTH: Final = 40


class SpectateScreen(ClientScreen):
    """A race that is watched."""

    where = "watch"

    def __init__(self) -> None:
        super().__init__()
        self._reel = Reel()
        self._back = 0
        self._zoomed = ""
        self._order: Order = "place"
        self._page = 0
        self._rivals: tuple[Rival, ...] = ()
        self._boards: Mapping[str, Watched] = {}

    def compose_body(self) -> ComposeResult:
        """All boards, or one of them with the others' counts beside it."""
        self._gallery = Rows(self.look, id="gallery")
        self._view = BoardView(self.look, self.game, id="board")
        self._panel = RivalsPanel(self.look, id="rivals")
        yield from (self._gallery, self._view, self._panel)

    @property
    def game(self) -> Game:
        """The game that is raced in."""
        return self.model.game

    def least_size(self) -> Size:
        """One board of the grid and the frame, or the large board and the frame."""
        least = smallest(self.game) if self._zoomed else smallest_mini(self.game)
        return Size(max(least.width, _LEAST_WIDTH), least.height + _FRAME_ROWS + (0 if self._zoomed else 1))

    # ---------------------------------------------------------------- time

    def on_mount(self) -> None:
        """Keep every board that comes, those too that another follows before they can be shown."""
        self._keep()
        self._forget = self.client.subscribe(self._keep)

    def on_unmount(self) -> None:
        """Keep no more."""
        self._forget()

    def _keep(self) -> None:
        self._reel.add(self.client.model.watched)

    @property
    def shown_time(self) -> int:
        """The server time of what is shown."""
        return self.client.now() - 1000 * (self.model.delay or 0) - self._back

    def _go_back(self, by: int) -> None:
        """Go back in time by milliseconds, or forth by as many under 0, no further than there is something to see."""
        most = max(self.shown_time + self._back - self._reel.begins, 0) if self._reel.begins else 0
        self._back = min(max(self._back + by, 0), most)

    # ---------------------------------------------------------------- showing

    def on_changed(self, before: Model, after: Model) -> None:  # noqa: ARG002 (what all screens are told)
        """Show the boards."""
        self._show()

    def on_tick(self) -> None:
        """Show what goes with the clock."""
        self._show()

    def _show(self) -> None:
        model = self.model
        if model.room is None:
            return
        self._boards = self._reel.at(self.shown_time) if self._back else model.watched
        by_place = watched_now(model, self._boards, self.shown_time)
        seats = {seat.player: seat.seat for seat in model.room.players}
        self._rivals = in_order(by_place, self._order, seats)
        if self._zoomed not in {rival.player for rival in self._rivals} or self._zoomed not in self._boards:
            self._zoomed = ""
        zoomed = bool(self._zoomed)
        self._gallery.display = not zoomed
        self._view.display = zoomed
        self._panel.display = zoomed
        if zoomed:
            self._show_one(self._boards[self._zoomed])
        else:
            self._show_all()

    def _grid(self) -> Grid:
        size = self.body.size
        return grid(self.game, max(len(self._rivals), 1), size.width, size.height)

    def _show_all(self) -> None:
        if not self._boards:
            self._gallery.show(self._not_yet())
            return
        at = self._grid()
        self._page = min(self._page, at.pages - 1)
        self._gallery.show(gallery_rows(self._rivals, self._boards, self.look, at, self._page))

    def _not_yet(self) -> list[Row]:
        room = self.model.room
        if room is None:
            return []
        now = self.client.now()
        if room.phase == "open":
            text = "The race has not begun. It is watched from its start on."
        elif (until := self.model.until_start(now)) > 0:
            text = f"The race starts in {-(-until // 1000)} s."
        else:
            wait = room.starts + 1000 * (self.model.delay or 0) - now
            text = f"The boards are shown {self.model.delay} s late: the first in {max(-(-wait // 1000), 0)} s."
        rows: list[Row] = [(), (Span(f"  {text}", "title"),), ()]
        rows += [
            (Span(f"  {seat.seat:>2}  ", "label"), Span(self.look.says(seat.name), "name")) for seat in room.players
        ]
        return rows

    def _show_one(self, watched: Watched) -> None:
        at = self._layout()
        if at is None:
            return
        board = watched.play.board
        last = brought(board, watched.play.last)
        self._view.show(board, at, Marks(last=last))
        watching = self.model.room.watching if self.model.room else 0
        self._panel.show_in(at.panel, self._rivals, watching)

    def _layout(self) -> Layout | None:
        size = self.body.size
        least = smallest(self.game)
        if size.width < least.width or size.height < least.height:
            return None
        return layout(self.game, size.width, size.height, panel=True)

    # ---------------------------------------------------------------- the frame

    def title_row(self) -> Row:
        """Which race, and of when the boards are."""
        room = self.model.room
        if room is None:
            return ()
        pointer = f" {self.look.glyphs.pointer} "
        deal = "" if room.deal == "random" else f" {room.deal}"
        return (
            Span("WATCH", "title"),
            Span(f"{pointer}{room.room}{pointer}", "label"),
            Span(self.game.title + deal, "title"),
        )

    def status_row(self) -> Row:
        """The time of the race that is shown, and how late that is."""
        room = self.model.room
        if room is None or not room.starts:
            return ()
        late = f", shown {self.model.delay} s late" if self.model.delay else ", live"
        ago = (self.model.delay or 0) + self._back // 1000
        return (
            Span(f" {clock_text(self.shown_time - room.starts)}", "title"),
            Span(" played", "label"),
            Span(f", {ago} s ago", "notice") if self._back else Span(late, "label"),
            Span(f"  {room.watching} watching" if self.size.width >= 90 else "", "label"),
        )

    def idle_row(self) -> Row:
        """What is shown: of one board whose it is and the last move, of all which page in which order."""
        zoomed = next((at for at, rival in enumerate(self._rivals) if rival.player == self._zoomed), -1)
        if zoomed >= 0:
            watched = self._boards.get(self._zoomed)
            return cell_head(self._rivals[zoomed], NUMBERS[zoomed], watched, self.look, self.size.width, self.look.card)
        if not self._boards:
            return ()
        at = self._grid()
        pages = f"page {self._page + 1} of {at.pages}   " if at.pages > 1 else ""
        return (Span(f" {pages}by {self._order}", "label"),)

    def key_hints(self) -> Iterable[KeyHint]:
        """The keys."""
        count = len(self._rivals)
        left, right = ("<", ">") if self.look.ascii else ("←", "→")
        if self.model.through:
            yield KeyHint("o", "your own board", "o")
        if self._boards:
            if self._zoomed:
                yield KeyHint("0", "all boards", "0")
                up, down = ("Up", "Down") if self.look.ascii else ("↑", "↓")
                yield KeyHint(up, "previous", "up")
                yield KeyHint(down, "next", "down")
            else:
                first = NUMBERS[min(self._page * self._grid().on_page, len(NUMBERS) - 1)]
                yield KeyHint(f"1-{NUMBERS[max(count - 1, 0)]}", "one board", first)
                if self._grid().pages > 1:
                    yield KeyHint("PgDn", "more", "pagedown")
            yield KeyHint("s", "sort", "s")
            yield KeyHint(left, "10 s back", "left")
            if self._back:
                yield KeyHint(right, "forth", "right")
                yield KeyHint("n", "now", "n")
        yield KeyHint("F1", "help", "f1")
        yield KeyHint(LOBBY_KEY, "lobby", LOBBY_KEY)
        yield KeyHint(key_sign(QUIT_KEY, self.look), "quit", QUIT_KEY)

    # ---------------------------------------------------------------- keys and mouse

    def press(self, key: str) -> None:
        """Take a key."""
        if self._take(key):
            self._refit_and_show()
        else:
            self.say_unknown(key)

    def _take(self, key: str) -> bool:
        if key in NUMBERS and len(key) == 1:
            self._zoom(NUMBERS.index(key))
            return True
        match key:
            case "0" | "escape":
                self._zoomed = ""
            case "left" | "right":
                self._go_back(BACK if key == "left" else -BACK)
            case "n" | "end":
                self._back = 0
            case "s":
                self._order = ORDERS[(ORDERS.index(self._order) + 1) % len(ORDERS)]
                if self._zoomed:
                    self.say(f"The boards are sorted by {self._order} now", "label")
            case "up" | "down":
                self._turn(-1 if key == "up" else 1)
            case "pageup" | "pagedown":
                self._page = min(max(self._page + (1 if key == "pagedown" else -1), 0), self._grid().pages - 1)
            case "o" if self.model.through:
                self.ask(self._sit_down)
            case _ if key in (LOBBY_KEY, "q"):
                self.ask(self.client.leave)
            case "f1" | "?":
                self.app.call_later(self.samedeal.help)
            case _:
                return False
        return True

    async def _sit_down(self) -> None:
        """Go back to one's own board."""
        room = self.model.room
        if room is not None:
            await self.client.join(room.room, self.client.passphrase)

    def _zoom(self, number: int) -> None:
        if number < len(self._rivals) and self._rivals[number].player in self._boards:
            self._zoomed = self._rivals[number].player
        elif self._boards:
            self.say("There is no board to be seen at that number")

    def _turn(self, by: Literal[-1, 1]) -> None:
        players = [rival.player for rival in self._rivals]
        if self._zoomed in players:
            self._zoom((players.index(self._zoomed) + by) % len(players))

    def on_rows_clicked(self, event: Rows.Clicked) -> None:
        """A click on a board shows it large; what else is clicked the base class hears of by itself."""
        if event.rows.id == "gallery" and self._boards:
            self._zoom(self._grid().hit(event.x, event.y, self._page))
            self._refit_and_show()

    def refit(self, size: Size) -> None:
        """Show everything in a new size; a large board that doesn't fit any more is shown small again."""
        least = self.least_size()
        if self._zoomed and (size.width < least.width or size.height < least.height):
            self._zoomed = ""
            self.say(f"One board alone needs {least.width} columns and {least.height} rows")
        super().refit(size)

    def _refit_and_show(self) -> None:
        """Show what was asked for."""
        self.refit(Size(self.size.width, self.size.height))
