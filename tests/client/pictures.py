"""Pictures of boards: their text, and the positions of piles and cards."""

from __future__ import annotations

from samedeal_client.board.board_picture import BoardPicture, HitTarget
from samedeal_client.text.spans import row_text


def text_of(picture: BoardPicture) -> str:
    """The rows without styles and without trailing blanks."""
    return "\n".join(row_text(row).rstrip() for row in picture.rows) + "\n"


def hit(picture: BoardPicture, x: int, y: int) -> HitTarget | None:
    """The hit target at a position, or None if there is no pile."""
    for region in picture.regions:
        place = region.place
        if place.x <= x < place.x + place.width and place.y <= y < place.y + place.height:
            return region.hit(x - place.x, y - place.y)
    return None


def position_of(picture: BoardPicture, pile: str, card: int | None = None) -> tuple[int, int] | None:
    """The position of a pile or a card, or None if the card is not shown."""
    for region in picture.regions:
        for area in region.hit_areas:
            if area.target == HitTarget(pile, card):
                return region.place.x + area.x, region.place.y + area.y
    return None
