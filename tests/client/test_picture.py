from __future__ import annotations

from tests.tools.picture import PICTURE, draw_race


async def test_picture_shows_the_present_client() -> None:
    """After a change of the race screen, run ``make picture`` and check the picture by eye."""
    assert await draw_race() == PICTURE.read_text(encoding="utf-8")
