"""A board as a widget, with a child for each region of its picture. Only rows that changed are drawn again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual.app import ComposeResult
from textual.timer import Timer
from textual.widget import Widget

from samedeal.board import Board
from samedeal.game import Game
from samedeal_client.board.board_picture import HitTarget, Region
from samedeal_client.board.drag_preview import DragPreview
from samedeal_client.board.draw_board import draw_region
from samedeal_client.board.layout import RESERVE, Layout, Rect, around, layout, smallest
from samedeal_client.board.marks import NO_MARKS, Marks
from samedeal_client.board.motion import Flight, Sprite, board_in_flight, cascade, flights, with_sprites
from samedeal_client.full_screen.widgets.blank_container import PlainContainer
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.full_screen.widgets.style_colours import style_of
from samedeal_client.text.appearance import Look

if TYPE_CHECKING:
    from samedeal_client.full_screen.widgets.look_app import LookApp

FLIGHT_TIME: Final = 0.12
"""Time, in seconds, that a card takes to fly to its new pile."""

FLASH_TIME: Final = 0.1
"""Time, in seconds, for which a card that arrives on a foundation is highlighted."""

FLIGHT_FRAMES: Final = 6
FLIGHT_BYTES: Final = 2_000
"""Number of bytes after which a flight ends early, and the card lands at once. A move may take 6,000 bytes in all."""

CASCADE_BYTES: Final = 30_000
"""Number of bytes after which the animation of a won board ends."""

CASCADE_FRAME: Final = 1 / 30
"""Time, in seconds, between two frames of the animation of a won board."""


class RegionView(Rows):
    """One region of a board: the top row, the reserve, a column or a fan."""

    DEFAULT_CSS: ClassVar[str] = "RegionView { position: absolute; }"

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self.region_shown: Region | None = None

    def show_region(self, region: Region, corner: tuple[int, int]) -> None:
        """Show a region in its place. ``corner`` is the position of the container on the board."""
        self.region_shown = region
        _put(self, region.place._replace(x=region.place.x - corner[0], y=region.place.y - corner[1]))
        self.show(region.rows)


class _Block:
    """Regions in a container that fills the smallest rectangle around them."""

    def __init__(self, names: Collection[str], views: Mapping[str, RegionView]) -> None:
        self.names = tuple(name for name in views if name in names)
        self.container = PlainContainer(*(views[name] for name in self.names))
        self.corner = (0, 0)

    def move(self, at: Layout) -> None:
        """Move the container to its place in a layout."""
        place = around(at.places[name] for name in self.names)
        self.corner = (place.x, place.y)
        _put(self.container, place)


class BoardView(PlainContainer):
    """A board, placed by a layout that may change at any time.

    The columns of cards are in one container, so that Textual skips them all when it draws other widgets. The other
    regions are in containers too, so that all regions are at the same depth in the tree of widgets. A mouse event passes
    through the tree one level at a time. If regions were at different depths, the end of a quick drag could arrive before
    its start.
    """

    ALLOW_SELECT: ClassVar[bool] = False
    DEFAULT_CSS = """
    BoardView > PlainContainer { position: absolute; }
    """

    def __init__(self, look: Look, game: Game, *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self.look = look = look.on_table()
        self._views = {name: RegionView(look) for name in layout(game, *smallest(game)).places}
        columns = frozenset(game.keys[at] for at in game.columns)
        rest = frozenset(self._views) - columns - {RESERVE}
        self._blocks = [
            _Block(names, self._views) for names in (rest, columns, {RESERVE} & self._views.keys()) if names
        ]
        self.blank_style = style_of("", look)
        for block in self._blocks:
            block.container.blank_style = self.blank_style
        self._shown: tuple[Board, Layout, Marks, DragPreview | None] | None = None
        self._regions: Mapping[str, Region] = {}
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Yield the containers with the regions."""
        yield from (block.container for block in self._blocks)

    def show(
        self,
        board: Board,
        at: Layout,
        marks: Marks = NO_MARKS,
        preview: DragPreview | None = None,
        *,
        motion: bool = False,
    ) -> None:
        """Show a board in a layout, with the preview of a drag. If ``motion`` is true, cards fly to their new piles."""
        shown = (board, at, marks, preview)
        before, self._shown = self._shown, shown
        if before == shown:
            return
        self._stop_motion()
        for block in self._blocks:
            block.move(at)
        self._regions = self._drawn(board, at, marks, preview)
        if motion and before is not None and before[1] == at and before[3] is None:
            flying = flights(before[0], board, self.look, at)
            if flying:
                self._fly(self._drawn(board_in_flight(before[0], board, flying), at, marks, None), flying)
                return
            if board.won and not before[0].won:
                self.play_cascade()
                return
        self._show_regions(self._regions)

    def _drawn(self, board: Board, at: Layout, marks: Marks, preview: DragPreview | None) -> dict[str, Region]:
        regions = {name: draw_region(board, name, self.look, at, marks) for name in self._views}
        if preview is not None:
            regions[preview.region] = draw_region(preview.board, preview.region, self.look, at, preview.marks)
        return regions

    def _show_regions(self, regions: Mapping[str, Region]) -> None:
        for block in self._blocks:
            for name in block.names:
                self._views[name].show_region(regions[name], block.corner)

    def _fly(self, regions: Mapping[str, Region], flying: Sequence[Flight]) -> None:
        """Show cards in flight over ``regions``, then the board."""
        frames = (
            with_sprites(regions, [flight.sprite(frame / FLIGHT_FRAMES) for flight in flying])
            for frame in range(FLIGHT_FRAMES)
        )
        self._play_frames(frames, FLIGHT_TIME / FLIGHT_FRAMES, FLIGHT_BYTES, partial(self._land, flying))

    def _land(self, flying: Sequence[Flight]) -> None:
        """Flash the cards that have arrived on foundations, or let those of a won board bounce."""
        flashes = [Sprite(flight.end.x, flight.end.y, flight.flash) for flight in flying if flight.flash]
        if self._shown is not None and self._shown[0].won:
            self.play_cascade()
        elif flashes:
            self._show_regions(with_sprites(self._regions, flashes))
            self._timer = self.set_timer(FLASH_TIME, self._stop_motion)

    def _play_frames(
        self, frames: Iterator[Mapping[str, Region]], interval: float, most_bytes: int, then: Callable[[], None]
    ) -> None:
        """Show the next frame after each ``interval``. After the last one, or ``most_bytes`` bytes, call ``then``."""
        terminal = cast("LookApp[object]", self.app).terminal
        last = terminal.written + most_bytes

        def show_frame() -> None:
            frame = next(frames, None)
            if frame is not None and terminal.written < last:
                self._show_regions(frame)
            else:
                self._stop_motion()
                then()

        show_frame()
        self._timer = self.set_interval(interval, show_frame)

    def play_cascade(self) -> None:
        """Let the cards of a won board bounce off the table. The motion ends early if something else is shown."""
        if self._shown is None:
            return
        board, at, _, _ = self._shown
        sprites = cascade(board, self.look, at)
        tables = accumulate(sprites, lambda table, sprite: with_sprites(table, [sprite]), initial=self._regions)
        self._play_frames(tables, CASCADE_FRAME, CASCADE_BYTES, lambda: None)

    def _stop_motion(self) -> None:
        """End all motion and show the board as it is."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
            self._show_regions(self._regions)

    def hit(self, x: int, y: int) -> HitTarget | None:
        """Return the card or pile at a column and row of the board. Moving cards are put in their places first."""
        self._stop_motion()
        for view in self._views.values():
            region = view.region_shown
            if region is not None and _within(region.place, x, y):
                return region.hit(x - region.place.x, y - region.place.y)
        return None


def panel_layout(game: Game, size: tuple[int, int]) -> Layout | None:
    """Return the layout of a board with the ranking beside it, or None if the board does not fit."""
    width, height = size
    minimum = smallest(game)
    if width < minimum.width or height < minimum.height:
        return None
    return layout(game, width, height, panel=True)


def _within(place: Rect, x: int, y: int) -> bool:
    return place.x <= x < place.x + place.width and place.y <= y < place.y + place.height


def _put(widget: Widget, place: Rect) -> None:
    widget.styles.offset = (place.x, place.y)
    widget.styles.width, widget.styles.height = place.width, place.height
