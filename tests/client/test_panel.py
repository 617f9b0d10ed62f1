from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.options import MAX_SEATS
from samedeal.protocol.messages import Standing
from samedeal.terminal_text import columns_of
from samedeal_client.full_screen.widgets.style_colours import COLOURS
from samedeal_client.panels.final_standings import standing_cells
from samedeal_client.panels.meters import bar, sparkline
from samedeal_client.panels.players_panel import panel_title, ranking_rows
from samedeal_client.panels.plot import Curve, cards_plot
from samedeal_client.panels.race_feed import RankedPlayer
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, cut, fit, fit_row, row_text, row_width, wrap
from samedeal_client.text.time_text import clock_text
from tests.client.server_messages import standing
from tests.golden.golden_files import assert_golden, assert_sentences

GLYPHS = Look()
ASCII = Look(ascii=True)
BARE = Look(colour=False)


def texts(rows: tuple[Row, ...], width: int) -> list[str]:
    """The texts of rows, after checking their widths and style names."""
    assert [row_width(row) for row in rows] == [width] * len(rows)
    assert all(set(span.style.split()) <= COLOURS.styles.keys() for row in rows for span in row)
    return [row_text(row).rstrip() for row in rows]


FIELD = (
    RankedPlayer(1, "mira", 19, 52, (2, 3, 5, 6, 8)),
    RankedPlayer(2, "k0ji", 14, 52, (1, 2), connected=False),
    RankedPlayer(3, "名前名前", 6, 52, resigned=True),
    RankedPlayer(4, "bot-easy-going", 52, 52, time=167_000),
    RankedPlayer(5, "ana", 0, 52, (1, 2, 3, 4, 5), you=True),
)


ORDER = (
    standing(1, "ana", 104, "a", time=418_000, moves=141, undos=3),
    standing(2, "mira", 97, "m", moves=152, undos=11),
    standing(3, "名前名前名前名前", 64, "k", moves=118, undos=2, resigned=True),
    standing(4, "bot-easy", 1, "b", moves=60),
)


def cells(line: Standing, look: Look, width: int) -> list[str]:
    return [row_text(cell) for cell in standing_cells(line, 104, look, you=line.player == "m", width=width)]


ANA = Curve("ana", ((60_000, 13), (90_000, 26), (150_000, 52), (210_000, 52)))
MIRA = Curve("mira", ((30_000, 13), (120_000, 26), (150_000, 13)))


NAMES = st.text(st.sampled_from("ab1 é名ｱ́̈한🂡"), min_size=0, max_size=30)


def test_parts_of_the_panel_match_their_golden() -> None:
    falling = Curve("ana", ((10_000, 52), (40_000, 26), (70_000, 0)))
    shown: dict[str, list[str]] = {
        "times": [clock_text(ms) for ms in (0, 999, 167_000, 3_599_999, 3_767_000, 36_000_000, -1)],
        "bars": [row_text(bar(part, 52, 8, look)) for look in (BARE, ASCII) for part in (0, 1, 10, 26, 51, 52)],
        "short bars": [row_text(bar(52, 52, 3, ASCII)), row_text(bar(1, 52, 0, ASCII))],
        "sparklines": [sparkline(counts, GLYPHS, 8) for counts in ([0, 1, 2, 4, 8], [0, 1, 16], [])],
        "sparklines of other kinds": [sparkline([0, 1, 2, 4, 8], ASCII, 8), sparkline([0, 1, 1], GLYPHS, maximum=1)],
        "two rows for each player": texts(ranking_rows(FIELD, BARE, 30, 18), 30),
        "two narrow rows": texts(ranking_rows(FIELD[2:4], BARE, 18, 4), 18),
        "names in ASCII": texts(ranking_rows(FIELD[2:3], ASCII, 30, 4), 30)[:1],
        "one row for each of many": texts(ranking_rows(FIELD, BARE, 40, 5), 40),
        "one narrow row": texts(ranking_rows(FIELD, GLYPHS, 22, 9), 22),
        "players are left out": texts(ranking_rows(FIELD, GLYPHS, 22, 4), 22),
        "the first one is you": texts(ranking_rows(FIELD[::-1], GLYPHS, 22, 3), 22),
        "no room": texts(ranking_rows(FIELD, GLYPHS, 22, 0), 22),
        "nobody": texts(ranking_rows((), GLYPHS, 22, 9), 22),
        "titles": [
            row_text(panel_title(players, spectators, GLYPHS, width))
            for players, spectators, width in ((5, 2, 30), (5, 2, 22), (1, 0, 22))
        ],
        "last seconds": [row_text(panel_title(5, 2, GLYPHS, 18, left)) for left in (30_001, 30_000, 29_001, 1_001, 0)],
        "standings": [" | ".join(cells(line, GLYPHS, 80)) for line in ORDER],
        "narrow standings": [" | ".join(cells(ORDER[1], ASCII, 60))],
        "a plot of two players": texts(cards_plot([ANA, MIRA], 52, 240_000, 48, 7, GLYPHS), 48),
        "a plot in ASCII": texts(cards_plot([ANA, MIRA], 52, 240_000, 48, 7, ASCII), 48),
        "equal curves take turns": texts(cards_plot([falling, falling], 52, 100_000, 25, 5, GLYPHS), 25),
        "a curve that a lying record takes too high": texts(cards_plot([ANA], 8, 240_000, 25, 5, GLYPHS), 25),
        "an empty plot": texts(cards_plot([], 52, 0, 24, 5, GLYPHS), 24),
    }
    pages = [f"== {name}\n" + "".join(f"{row.rstrip()}\n" for row in rows) for name, rows in shown.items()]
    assert_golden("screens/panel.txt", "\n".join(pages))
    with pytest.raises(ValueError, match="not 23 and 5"):
        cards_plot([], 52, 0, 23, 5, GLYPHS)


def test_crowd_shows_leaders_and_those_around_you() -> None:
    lines: list[str] = []
    for you, height in ((0, 30), (10, 30), (11, 30), (64, 30), (40, 4), (40, 2)):
        crowd = [RankedPlayer(place, f"p{place}", 0, 52, you=place == you) for place in range(1, MAX_SEATS + 1)]
        rows = texts(ranking_rows(crowd, Look(), 40, height), 40)
        shown = " ".join(row[1:].split()[0] for row in rows[:-1])
        lines.append(f"place {you}, {height} rows\t{shown} {' '.join(rows[-1].split())}")
    assert_sentences("a crowd in the panel", lines)


@given(NAMES, st.integers(0, 25))
def test_text_is_cut_and_padded_to_columns(text: str, width: int) -> None:
    short = cut(text, width)
    assert columns_of(short) <= width
    assert columns_of(fit(text, width)) == width
    assert row_width(fit_row((Span(text, "name"), Span("b")), width)) == width
    assert text.startswith(short.removesuffix("…"))
    if short == text or not short:
        return
    rest = text[len(short) - 1 :]
    assert columns_of(rest[0]), "a combining mark was separated from its character"


@given(NAMES, st.integers(1, 12))
def test_wrapped_text_keeps_its_words(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(columns_of(line) <= width for line in lines)
    if all(columns_of(word) <= width for word in text.split()):
        assert " ".join(lines).split() == text.split()
    if width > 1:
        assert "".join("".join(lines).split()) == "".join(text.split())
