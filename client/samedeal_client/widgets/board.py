"""A board on the screen: a widget for each part of its picture, of which only the rows that changed are drawn again."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.widget import Widget

from samedeal.board import Board
from samedeal.games import Game
from samedeal_client.board.carrying import Carried
from samedeal_client.board.layout import RESERVE, TOP, Layout, Rect, layout, smallest
from samedeal_client.board.marks import NO_MARKS, Marks
from samedeal_client.board.picture import Hit, Part
from samedeal_client.board.render import draw_part
from samedeal_client.text.look import Look
from samedeal_client.widgets.blank import Blank
from samedeal_client.widgets.rows import Rows


class PartView(Rows):
    """One part of a board: the top line, the reserve, a column or a fan."""

    DEFAULT_CSS: ClassVar[str] = "PartView { position: absolute; }"

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self.part: Part | None = None
        self._place: Rect | None = None

    def show_part(self, part: Part, corner: tuple[int, int]) -> None:
        """Show the part, in its place, which is counted from a corner of the board."""
        self.part = part
        place = part.place._replace(x=part.place.x - corner[0], y=part.place.y - corner[1])
        if place != self._place:
            self._place = place
            _put(self, place)
        self.show(part.rows)


class BoardView(Blank):
    """A board in the places of a layout, which may be changed at any time.

    Columns and fans are in a block of their own: what is drawn beside it, Textual then draws without looking at them. What
    stands above them is in one too, since what the mouse does comes up from part to part: of a drag in one go the end
    would come up before its beginning where that has a longer way.
    """

    ALLOW_SELECT: ClassVar[bool] = False
    DEFAULT_CSS = """
    BoardView > Blank { position: absolute; }
    """

    def __init__(self, look: Look, game: Game, *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self.look = look
        self._views = {name: PartView(look) for name in layout(game, *smallest(game)).places}
        self._above = Blank(*(view for name, view in self._views.items() if name in (TOP, RESERVE)))
        self._columns = Blank(*(view for name, view in self._views.items() if name not in (TOP, RESERVE)))
        self._shown: tuple[Board, Layout, Marks, Carried | None] | None = None
        self._block: Rect | None = None

    def compose(self) -> ComposeResult:
        """The parts."""
        yield from (self._above, self._columns)

    def show(self, board: Board, at: Layout, marks: Marks = NO_MARKS, over: Carried | None = None) -> None:
        """Show a board of its game in the places of a layout, and cards that are held over a part of it."""
        if self._shown == (board, at, marks, over):
            return
        self._shown = (board, at, marks, over)
        places = [place for name, place in at.places.items() if name not in (TOP, RESERVE)]
        block = Rect(0, places[0].y, at.body, places[0].height)
        if block != self._block:
            self._block = block
            _put(self._columns, block)
            above = [place for name, place in at.places.items() if name in (TOP, RESERVE)]
            _put(self._above, Rect(0, 0, max(place.x + place.width for place in above), block.y))
        for name, view in self._views.items():
            corner = (0, 0) if name in (TOP, RESERVE) else (block.x, block.y)
            drawn, marked = (over.board, over.marks) if over is not None and over.part == name else (board, marks)
            view.show_part(draw_part(drawn, name, self.look, at, marked), corner)

    def hit(self, x: int, y: int) -> Hit | None:
        """What lies at a column and row, counted from the corner of the board."""
        for view in self._views.values():
            part = view.part
            if part is not None and _within(part.place, x, y):
                return part.hit(x - part.place.x, y - part.place.y)
        return None


def _within(place: Rect, x: int, y: int) -> bool:
    return place.x <= x < place.x + place.width and place.y <= y < place.y + place.height


def _put(widget: Widget, place: Rect) -> None:
    widget.styles.offset = (place.x, place.y)
    widget.styles.width, widget.styles.height = place.width, place.height
