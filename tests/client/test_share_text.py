"""Results to send to others."""

from __future__ import annotations

import pytest

from samedeal.protocol.messages import Standing
from samedeal_client.text.share_text import bar_text, share_text

LINK = "https://play.example.org/replay?race=friday"


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], "▁▁▁▁▁▁▁▁▁▁▁▁"),
        ([(0, 0), (60_000, 26), (120_000, 52)], "▁▁▁▁▁▄▄▄▄▄▄█"),
        ([(11_000, 52), (1_000, 8)], "▂███████████"),
        ([(119_999, 51)], "▁▁▁▁▁▁▁▁▁▁▁▇"),
    ],
)
def test_bars_rise_with_the_cards(points: list[tuple[int, int]], expected: str) -> None:
    assert bar_text(points, 120_000, 52) == expected


def standing(place: int, cards: int, time: int) -> Standing:
    return Standing(place=place, player="p", name="ana", foundation_cards=cards, time=time, moves=70, undos=0)


@pytest.mark.parametrize(
    ("own", "players", "link", "expected"),
    [
        (standing(1, 52, 432_000), 5, LINK, ["Samedeal: Willow, winnable deal", "▁█ 07:12, 1st of 5", LINK]),
        (standing(2, 31, 0), 2, "", ["Samedeal: Willow, winnable deal", "▁█ 31 of 52 cards, 2nd of 2"]),
        (standing(1, 52, 60_000), 1, "", ["Samedeal: Willow, winnable deal", "▁█ 01:00"]),
    ],
)
def test_result_is_three_lines(own: Standing, players: int, link: str, expected: list[str]) -> None:
    assert share_text(("willow", "winnable", 52), own, players, "▁█", link).split("\n") == expected


def test_tide_is_named() -> None:
    text = share_text(("willow", "winnable", 52), standing(7, 52, 60_000), 40, "▁█", "", "tide of 19:30 UTC")
    assert text == "Samedeal: Willow, tide of 19:30 UTC\n▁█ 01:00, 7th of 40"
