from __future__ import annotations

from tests.tools import door_picture, picture


async def test_pictures_show_the_present_client() -> None:
    """After a change of the race screen, run ``make picture`` and check the pictures by eye."""
    assert await picture.draw_race() == picture.PICTURE.read_text(encoding="utf-8")
    assert await door_picture.draw_door() == door_picture.PICTURE.read_text(encoding="utf-8")
