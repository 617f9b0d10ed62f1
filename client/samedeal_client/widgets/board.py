"""A board as a widget, with a child for each region of its picture. Only rows that changed are drawn again."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.widget import Widget

from samedeal.board import Board
from samedeal.games import Game
from samedeal_client.drawing.board_picture import HitTarget, Region
from samedeal_client.drawing.drag_preview import DragPreview
from samedeal_client.drawing.layout import RESERVE, TOP, Layout, Rect, layout, smallest
from samedeal_client.drawing.marks import NO_MARKS, Marks
from samedeal_client.drawing.render import draw_region
from samedeal_client.text.appearance import Look
from samedeal_client.widgets.plain_container import PlainContainer
from samedeal_client.widgets.rows_widget import Rows
from samedeal_client.widgets.theme import style_of


class RegionView(Rows):
    """One region of a board: the top row, the reserve, a column or a fan."""

    DEFAULT_CSS: ClassVar[str] = "RegionView { position: absolute; }"

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self.region_shown: Region | None = None
        self._place: Rect | None = None

    def show_region(self, region: Region, corner: tuple[int, int]) -> None:
        """Show a region in its place. ``corner`` is the position of the container on the board."""
        self.region_shown = region
        place = region.place._replace(x=region.place.x - corner[0], y=region.place.y - corner[1])
        if place != self._place:
            self._place = place
            _put(self, place)
        self.show(region.rows)


class BoardView(PlainContainer):
    """A board in the places of a layout, which may change at any time.

    Columns and fans have a container of their own, so that Textual skips them when it draws widgets next to the container.
    The regions above them have one too, because mouse events bubble through the containers. With unequal depths, the end
    of a quick drag would arrive before its start.
    """

    ALLOW_SELECT: ClassVar[bool] = False
    DEFAULT_CSS = """
    BoardView > PlainContainer { position: absolute; }
    """

    def __init__(self, look: Look, game: Game, *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self.look = look = look.on_table()
        self._views = {name: RegionView(look) for name in layout(game, *smallest(game)).places}
        self._above = PlainContainer(*(view for name, view in self._views.items() if name in (TOP, RESERVE)))
        self._columns = PlainContainer(*(view for name, view in self._views.items() if name not in (TOP, RESERVE)))
        self.blank_style = self._above.blank_style = self._columns.blank_style = style_of("", look)
        self._shown: tuple[Board, Layout, Marks, DragPreview | None] | None = None
        self._block: Rect | None = None

    def compose(self) -> ComposeResult:
        """The containers with the regions."""
        yield from (self._above, self._columns)

    def show(self, board: Board, at: Layout, marks: Marks = NO_MARKS, preview: DragPreview | None = None) -> None:
        """Show a board in a layout, with the preview of a drag."""
        if self._shown == (board, at, marks, preview):
            return
        self._shown = (board, at, marks, preview)
        places = [place for name, place in at.places.items() if name not in (TOP, RESERVE)]
        body = at.body
        block = Rect(places[0].x, places[0].y, body.x + body.width - places[0].x, places[0].height)
        if block != self._block:
            self._block = block
            _put(self._columns, block)
            _put(self._above, Rect(body.x, body.y, body.width, block.y - body.y))
        for name, view in self._views.items():
            corner = (body.x, body.y) if name in (TOP, RESERVE) else (block.x, block.y)
            drawn, marked = (
                (preview.board, preview.marks) if preview is not None and preview.region == name else (board, marks)
            )
            view.show_region(draw_region(drawn, name, self.look, at, marked), corner)

    def hit(self, x: int, y: int) -> HitTarget | None:
        """The card or pile at a column and row of the board."""
        for view in self._views.values():
            region = view.region_shown
            if region is not None and _within(region.place, x, y):
                return region.hit(x - region.place.x, y - region.place.y)
        return None


def panel_layout(game: Game, size: tuple[int, int]) -> Layout | None:
    """The layout of a board with the ranking beside it; None if the board does not fit."""
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
