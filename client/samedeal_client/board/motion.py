"""Cards in motion: a move as the flight of a card, and a won board as a cascade. Pure.

A moving card is a sprite: rows of styled text at a position of the board. The sprite is drawn over the regions that it
touches. So each step of the motion changes only a few characters of a few rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.cards import FACE
from samedeal_client.board.board_picture import HitTarget, Region
from samedeal_client.board.card_tile import tile
from samedeal_client.board.draw_board import draw_region, region_of
from samedeal_client.board.layout import RESERVE, TOP, Layout, Rect
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, row_part, row_width

MAX_FLIGHTS: Final = 4
"""Maximum number of cards that fly at the same time. If more piles receive cards, as in a deal, no card flies."""

_SPRITE_HEIGHT: Final = 3
"""Maximum height, in rows, of a flying card. With fewer rows, fewer bytes are sent to the terminal."""


class Sprite(NamedTuple):
    """A picture at a position of the board."""

    x: int
    y: int
    rows: tuple[Row, ...]


class Flight(NamedTuple):
    """The flight of a card to a pile.

    ``flash`` is the highlighted card that is shown briefly on a foundation. It is empty for other piles.
    """

    pile: str
    start: Sprite
    end: Sprite
    flash: tuple[Row, ...]

    def sprite(self, progress: float) -> Sprite:
        """Return the card on its way, with ``progress`` from 0 to 1. The card slows down towards the end."""
        eased = 1 - (1 - progress) ** 2
        x = self.start.x + round((self.end.x - self.start.x) * eased)
        y = self.start.y + round((self.end.y - self.start.y) * eased)
        return Sprite(x, y, self.start.rows)


def flights(before: Board, after: Board, look: Look, at: Layout) -> tuple[Flight, ...]:
    """Return the flights for a move: to each pile that has received cards, one card flies.

    A card whose start or end is not shown has no flight. If more than ``MAX_FLIGHTS`` piles have received cards, no
    card flies.
    """
    grown = [index for index, pile in enumerate(after.piles) if len(pile) > len(before.piles[index])]
    if len(grown) > MAX_FLIGHTS or before.game != after.game:
        return ()
    found = [_flight(before, after, index, look, at) for index in grown if index != after.game.stock_at]
    return tuple(flight for flight in found if flight is not None)


def board_in_flight(before: Board, after: Board, flying: Iterable[Flight]) -> Board:
    """Return the board that is shown while cards fly. The cards have left their piles and have not arrived yet."""
    piles = list(after.piles)
    for flight in flying:
        at = after.game.index[flight.pile]
        piles[at] = before.piles[at]
    return Board(after.game, tuple(piles))


def with_sprites(regions: Mapping[str, Region], sprites: Sequence[Sprite]) -> dict[str, Region]:
    """Return the regions with the sprites drawn over them."""
    return {name: _with_sprites(region, sprites) for name, region in regions.items()}


def _with_sprites(region: Region, sprites: Sequence[Sprite]) -> Region:
    place, rows = region.place, list(region.rows)
    for sprite in sprites:
        x = sprite.x - place.x
        if -row_width(sprite.rows[0]) < x < place.width:
            for y, row in enumerate(sprite.rows, sprite.y - place.y):
                if 0 <= y < place.height:
                    rows += [(Span(" " * place.width),)] * (y + 1 - len(rows))
                    rows[y] = _spliced(rows[y], row, x, place.width)
    return replace(region, rows=tuple(rows))


def cascade(board: Board, look: Look, at: Layout) -> Iterator[Sprite]:
    """Yield pictures of the foundations' cards as they bounce off the table, one card after the other."""
    game, body = board.game, at.body
    tops = [(game.keys[index], board.piles[index]) for index in game.foundations if board.piles[index]]
    for number in range(2 * len(tops)):
        key, pile = tops[number % len(tops)]
        place = _card_place(board, key, len(pile) - 1, look, at)
        if place is not None:
            card = pile[-1 - number // len(tops)] if len(pile) > 1 else pile[-1]
            rows = tile(card, look, at.card.width, at.card.height)
            yield from _bounce(place, rows, body, 1 if number % 2 == 0 else -1)


def _bounce(place: tuple[int, int], rows: tuple[Row, ...], body: Rect, direction: int) -> Iterator[Sprite]:
    x, y = float(place[0]), float(place[1])
    speed_x, speed_y = direction * 2.5, 0.0
    floor = body.y + body.height - len(rows)
    width = row_width(rows[0])
    while body.x - width < x < body.x + body.width:
        yield Sprite(round(x), round(y), rows)
        speed_y += 0.6
        x, y = x + speed_x, y + speed_y
        if y > floor:
            y, speed_y = float(floor), -0.75 * speed_y


def _flight(before: Board, after: Board, index: int, look: Look, at: Layout) -> Flight | None:
    game = after.game
    pile, key = after.piles[index], game.keys[index]
    to_foundation = index in game.foundations
    arrived = len(pile) - 1 if to_foundation or index == game.waste_at else len(before.piles[index])
    card = pile[arrived]
    start = _start(before, after, card, look, at)
    end = _card_place(after, key, arrived, look, at)
    if start is None or end is None:
        return None
    size = at.card
    rows = tile(card, look, size.width, min(size.height, _SPRITE_HEIGHT), mark="last")
    flash = tile(card, look, size.width, size.height, mark="target") if to_foundation else ()
    return Flight(key, Sprite(*start, rows), Sprite(*end, rows), flash)


def _start(before: Board, after: Board, card: int, look: Look, at: Layout) -> tuple[int, int] | None:
    """Return the place of a card before a move, or None if the card was not shown.

    Only piles that got smaller are searched.
    """
    for index, pile in enumerate(before.piles):
        if len(pile) > len(after.piles[index]):
            key = before.game.keys[index]
            if index == before.game.stock_at:
                return _card_place(before, key, None, look, at)
            for number in range(len(pile) - 1, len(after.piles[index]) - 1, -1):
                if pile[number] & FACE == card & FACE:
                    return _card_place(before, key, number, look, at)
    return None


def _card_place(board: Board, key: str, card: int | None, look: Look, at: Layout) -> tuple[int, int] | None:
    name = region_of(board.game, key)
    region = draw_region(board, name, look, at)
    area = next((area for area in region.hit_areas if area.target == HitTarget(key, card)), None)
    if area is None:
        return None
    small_reserve = name == RESERVE and not at.card.is_large
    beside = 0 if name == TOP or (name == RESERVE and at.card.is_large) else 1 if small_reserve else at.gap
    in_waste = card is not None and board.game.index[key] == board.game.waste_at
    below = (name == TOP and not in_waste) or (name == RESERVE and at.card.is_large)
    return region.place.x + area.x + beside, region.place.y + area.y + below


def _spliced(row: Row, over: Row, x: int, width: int) -> Row:
    """Return a row of ``width`` characters on which ``over`` begins at ``x``. Parts that do not fit are cut off."""
    end = x + row_width(over)
    return (*row_part(row, 0, x), *row_part(over, max(-x, 0), width - x), *row_part(row, end, width))
