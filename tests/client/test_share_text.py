"""Results to send to others."""

from __future__ import annotations

from samedeal.protocol.messages import Standing
from samedeal_client.text.share_text import bar_text, share_text
from tests.golden.golden_files import assert_sentences

LINK = "https://play.example.org/replay?race=friday"


def test_wording_of_shared_results() -> None:
    curves: tuple[list[tuple[int, int]], ...] = (
        [],
        [(0, 0), (60_000, 26), (120_000, 52)],
        [(11_000, 52), (1_000, 8)],
        [(119_999, 51)],
    )
    lines = [f"{points}\t{bar_text(points, 120_000, 52)}" for points in curves]
    for place, cards, time, players, link in ((1, 52, 432_000, 5, LINK), (2, 31, 0, 2, ""), (1, 52, 60_000, 1, "")):
        own = Standing(place=place, player="p", name="ana", foundation_cards=cards, time=time, moves=70, undos=0)
        text = share_text(("willow", "winnable", 52), own, players, "▁█", link)
        lines.append(f"{place} of {players}\t{' / '.join(text.splitlines())}")
    assert_sentences("shared results", lines)
