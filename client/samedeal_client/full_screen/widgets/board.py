"""A board as a widget, with a child for each region of its picture. Only rows that changed are drawn again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.widget import Widget

from samedeal.board import Board
from samedeal.game import Game
from samedeal_client.board.board_picture import HitTarget, Region
from samedeal_client.board.drag_preview import DragPreview
from samedeal_client.board.draw_board import draw_region
from samedeal_client.board.layout import RESERVE, Layout, Rect, around, layout, smallest
from samedeal_client.board.marks import NO_MARKS, Marks
from samedeal_client.full_screen.widgets.blank_container import PlainContainer
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.full_screen.widgets.style_colours import style_of
from samedeal_client.text.appearance import Look


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

    def compose(self) -> ComposeResult:
        """Yield the containers with the regions."""
        yield from (block.container for block in self._blocks)

    def show(
        self,
        board: Board,
        at: Layout,
        marks: Marks = NO_MARKS,
        preview: DragPreview | None = None,
    ) -> None:
        """Show a board in a layout, with the preview of a drag."""
        shown = (board, at, marks, preview)
        if self._shown == shown:
            return
        self._shown = shown
        for block in self._blocks:
            block.move(at)
        regions = {name: draw_region(board, name, self.look, at, marks) for name in self._views}
        if preview is not None:
            regions[preview.region] = draw_region(preview.board, preview.region, self.look, at, preview.marks)
        for block in self._blocks:
            for name in block.names:
                self._views[name].show_region(regions[name], block.corner)

    def hit(self, x: int, y: int) -> HitTarget | None:
        """Return the card or pile at a column and row of the board."""
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
