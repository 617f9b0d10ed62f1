from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.names import WIDEST_NAME, clean_name, columns_of
from samedeal.protocol.messages import Standing
from samedeal_client.text.look import STYLES, Look
from samedeal_client.text.spans import Row, Span, ascii_only, cut, fit, fit_row, row_text, row_width, wrap
from samedeal_client.views.panel import Rival, bar, clock_text, race_title, sparkline, standings_lines, tally_lines
from samedeal_client.views.plot import Curve, cards_plot

GLYPHS = Look()
ASCII = Look(ascii=True)


def texts(rows: tuple[Row, ...], width: int) -> list[str]:
    """Rows as text, each of them exactly as wide as asked, in styles that have names."""
    assert [row_width(row) for row in rows] == [width] * len(rows)
    assert all(set(span.style.split()) <= STYLES for row in rows for span in row)
    return [row_text(row).rstrip() for row in rows]


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "00:00"),
        (999, "00:00"),
        (167_000, "02:47"),
        (3_599_999, "59:59"),
        (3_767_000, "1:02:47"),
        (36_000_000, "10:00:00"),
        (-1, "00:00"),
    ],
)
def test_times(ms: int, text: str) -> None:
    assert clock_text(ms) == text


@pytest.mark.parametrize(
    ("up", "total", "text"),
    [
        (0, 52, "────────"),
        (1, 52, "╾───────"),
        (10, 52, "━╾──────"),
        (26, 52, "━━━━────"),
        (51, 52, "━━━━━━━╾"),
        (52, 52, "━━━━━━━━"),
    ],
)
def test_a_bar_is_never_empty_with_a_card_up_and_full_only_at_home(up: int, total: int, text: str) -> None:
    assert row_text(bar(up, total, 8, GLYPHS)) == text


def test_a_bar_of_ascii_has_whole_steps() -> None:
    assert [row_text(bar(up, 52, 8, ASCII)) for up in (0, 1, 26, 51, 52)] == [
        "--------",
        "#-------",
        "####----",
        "#######-",
        "########",
    ]
    assert bar(52, 52, 3, ASCII) == (Span("###", "bar"),)
    assert bar(1, 52, 0, ASCII) == ()


def test_a_sparkline_has_its_lowest_line_for_nothing_alone() -> None:
    assert sparkline([0, 1, 2, 4, 8], GLYPHS) == "▁▂▃▅█"
    assert sparkline([0, 1, 2, 4, 8], ASCII) == "_.:=#"
    assert sparkline([0, 1, 16], GLYPHS) == "▁▂█"
    assert sparkline([0, 1, 1], GLYPHS, busiest=1) == "▁██"
    assert sparkline([], GLYPHS) == ""


FIELD = (
    Rival(1, "mira", 19, 52, (2, 3, 5, 6, 8)),
    Rival(2, "k0ji", 14, 52, (1, 2), connected=False),
    Rival(3, "名前名前", 6, 52, out=True),
    Rival(4, "bot-easy-going", 52, 52, home=167_000),
    Rival(5, "ana", 0, 52, (1, 2, 3, 4, 5), you=True),
)


def test_each_player_has_two_lines() -> None:
    assert texts(tally_lines(FIELD, GLYPHS, 30, 18), 30) == [
        " 1 mira                 19/52",
        "   ━━━━━━━╾──────────── ▃▄▆▇█",
        " 2 k0ji            away 14/52",
        "   ━━━━━╾────────────── ▁▁▁▂▃",
        " 3 名前名前          out 6/52",
        "   ━━╾───────────────── ▁▁▁▁▁",
        " 4 bot-easy-going  home 02:47",
        "   ━━━━━━━━━━━━━━━━━━━━ ▁▁▁▁▁",
        " 5 you                   0/52",
        "   ──────────────────── ▂▃▄▅▆",
    ]


def test_names_are_cut_between_characters() -> None:
    assert texts(tally_lines(FIELD[2:4], GLYPHS, 18, 4), 18) == [
        " 3 名前… out 6/52",
        "   ━─────── ▁▁▁▁▁",
        " 4 bo… home 02:47",
        "   ━━━━━━━━ ▁▁▁▁▁",
    ]
    assert texts(tally_lines(FIELD[2:3], ASCII, 30, 4), 30)[0] == " 3 ????????          out 6/52"


def test_many_players_have_one_line_each() -> None:
    assert texts(tally_lines(FIELD, GLYPHS, 40, 5), 40) == [
        " 1 mira          ━━━━───────      19/52",
        " 2 k0ji          ━━━──────── away 14/52",
        " 3 名前名前      ━╾─────────   out 6/52",
        " 4 bot-easy-goi… ━━━━━━━━━━━ home 02:47",
        " 5 you           ───────────       0/52",
    ]
    assert texts(tally_lines(FIELD, GLYPHS, 22, 9), 22) == [
        " 1 mira         19/52",
        " 2 k0ji    away 14/52",
        " 3 名前名…   out 6/52",
        " 4 bot-ea… home 02:47",
        " 5 you           0/52",
    ]


def test_too_many_players_are_counted_but_never_oneself() -> None:
    assert texts(tally_lines(FIELD, GLYPHS, 22, 4), 22) == [
        " 1 mira         19/52",
        " 2 k0ji    away 14/52",
        " 5 you           0/52",
        "   … 2 more",
    ]
    assert texts(tally_lines(FIELD[::-1], GLYPHS, 22, 3), 22) == [
        " 5 you           0/52",
        " 4 bot-ea… home 02:47",
        "   … 3 more",
    ]
    assert texts(tally_lines(FIELD, GLYPHS, 22, 0), 22) == []
    assert texts(tally_lines((), GLYPHS, 22, 9), 22) == []


def test_the_heading_leaves_out_the_watchers_before_the_players() -> None:
    assert row_text(race_title(5, 2, GLYPHS, 30)).rstrip() == " RACE  5 players · 2 watching"
    assert row_text(race_title(5, 2, GLYPHS, 22)).rstrip() == " RACE  5 players"
    assert row_text(race_title(1, 0, GLYPHS, 22)).rstrip() == " RACE  1 player"


# ---------------------------------------------------------------- the end

ORDER = (
    Standing(place=1, player="a", name="ana", up=104, time=418_000, moves=141, undos=3),
    Standing(place=2, player="m", name="mira", up=97, time=0, moves=152, undos=11),
    Standing(place=3, player="k", name="名前名前名前名前", up=64, time=0, moves=118, undos=2, out=True),
    Standing(place=4, player="b", name="bot-easy", up=1, time=0, moves=60, undos=0),
)


def test_the_standings_of_a_wide_screen() -> None:
    assert texts(standings_lines(ORDER, 104, GLYPHS, 80, "m"), 80) == [
        "   # player             cards     time  moves  undos   all up",
        "   1 ana              104/104    06:58    141      3   ████████████████████",
        " ▸ 2 mira (you)        97/104        –    152     11   ██████████████████▋",
        "   3 名前名前名前名前  64/104      out    118      2   ████████████▎",
        "   4 bot-easy           1/104        –     60      0   ▎",
    ]


def test_narrow_standings_go_without_their_last_columns() -> None:
    assert texts(standings_lines(ORDER, 104, ASCII, 40, "m"), 40) == [
        "   # player             cards     time",
        "   1 ana              104/104    06:58",
        " > 2 mira (you)        97/104        -",
        "   3 ????????????????  64/104      out",
        "   4 bot-easy           1/104        -",
    ]
    assert texts(standings_lines(ORDER, 104, GLYPHS, 25), 25) == [
        "   # player         cards",
        "   1 ana          104/104",
        "   2 mira          97/104",
        "   3 名前名前名…   64/104",
        "   4 bot-easy       1/104",
    ]
    assert texts(standings_lines((), 104, GLYPHS, 25), 25) == ["   # player         cards"]


ANA = Curve("ana", ((60_000, 13), (90_000, 26), (150_000, 52), (210_000, 52)))
MIRA = Curve("mira", ((30_000, 13), (120_000, 26), (150_000, 13)))


def test_cards_up_over_time() -> None:
    assert texts(cards_plot([ANA, MIRA], 52, 240_000, 48, 7, GLYPHS), 48) == [
        " cards up over time   ana ──  mira ··",
        "  52┤                          ╭────────────────",
        "  39┤                          │",
        "  26┤                ╭─────────╯",
        "  13┤     ·····╭─────╯····     ·················",
        "   0┼──────────┴──────────┬─────────┬──────────┬",
        "  00:00      01:00      02:00     03:00    04:00",
    ]
    assert texts(cards_plot([ANA, MIRA], 52, 240_000, 48, 7, ASCII), 48) == [
        " cards up over time   ana **  mira ..",
        "  52|                          *****************",
        "  39|                          |",
        "  26|                ***********",
        "  13|     .....*******....     .................",
        "   0+----------+----------+---------+----------+",
        "  00:00      01:00      02:00     03:00    04:00",
    ]


def test_a_curve_goes_down_with_cards_taken_back() -> None:
    down = Curve("ana", ((10_000, 52), (40_000, 26), (70_000, 0)))
    assert texts(cards_plot([down, down], 52, 100_000, 25, 5, GLYPHS), 25)[1:4] == [
        "  52┤ ╭─────╮",
        "  26┤ │     ╰─────╮",
        "   0┼─┴─────────┬─┴──────",
    ]


def test_a_plot_of_nobody_and_of_no_time_is_its_axes() -> None:
    assert texts(cards_plot([], 52, 0, 24, 5, GLYPHS), 24) == [
        " cards up over time",
        "  52┤",
        "  26┤",
        "   0┼───────────────────",
        "  00:00",
    ]
    with pytest.raises(ValueError, match="at least 24 columns and 5 rows, not 23 and 5"):
        cards_plot([], 52, 0, 23, 5, GLYPHS)


# ---------------------------------------------------------------- laws

NAMES = st.text(st.sampled_from("ab1 é名ｱ́̈한🂡"), min_size=0, max_size=30)
LOOKS = st.builds(Look, ascii=st.booleans(), colour=st.booleans())
RIVALS = st.builds(
    Rival,
    rank=st.integers(1, 16),
    name=NAMES,
    up=st.integers(0, 104),
    total=st.just(104),
    activity=st.lists(st.integers(0, 40), max_size=12).map(tuple),
    you=st.booleans(),
    connected=st.booleans(),
    out=st.booleans(),
    home=st.none() | st.integers(0, 7_200_000),
)


@given(st.lists(RIVALS, max_size=16), LOOKS, st.integers(16, 90), st.integers(1, 40))
def test_tallies_are_as_wide_as_asked_and_no_higher(rivals: list[Rival], look: Look, width: int, height: int) -> None:
    rows = tally_lines(rivals, look, width, height)
    assert len(rows) <= height
    lines = texts(rows, width)
    assert not look.ascii or all(line.isascii() for line in lines)


@given(st.lists(NAMES, max_size=6), LOOKS, st.integers(14, 120), st.integers(0, 104))
def test_standings_are_as_wide_as_asked(names: list[str], look: Look, width: int, up: int) -> None:
    order = [Standing(place=1, player=name, name=name, up=up, time=up, moves=3, undos=1) for name in names]
    assert len(texts(standings_lines(order, 104, look, width, names[0] if names else ""), width)) == len(names) + 1


CURVES = st.lists(st.tuples(st.integers(0, 900_000), st.integers(0, 52)), max_size=20).map(
    lambda points: Curve("ana 名", tuple(sorted(points)))
)


@given(st.lists(CURVES, max_size=6), LOOKS, st.integers(0, 8_000_000), st.integers(24, 100), st.integers(5, 30))
def test_plots_are_exactly_as_asked(curves: list[Curve], look: Look, length: int, width: int, height: int) -> None:
    rows = cards_plot(curves, 52, length, width, height, look)
    assert len(texts(rows, width)) == height


@given(NAMES, st.integers(0, 25))
def test_text_is_cut_and_padded_by_columns(text: str, width: int) -> None:
    short = cut(text, width)
    assert columns_of(short) <= width
    assert columns_of(fit(text, width)) == width
    assert row_width(fit_row((Span(text, "name"), Span("b")), width)) == width
    assert text.startswith(short.removesuffix("…"))
    if short == text or not short:
        return
    rest = text[len(short) - 1 :]
    assert columns_of(rest[0]), "a mark was parted from its character"


@given(NAMES, st.integers(1, 12))
def test_wrapped_text_keeps_its_words_in_lines(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(columns_of(line) <= width for line in lines)
    if all(columns_of(word) <= width for word in text.split()):
        assert " ".join(lines).split() == text.split()


def test_ascii_names_keep_their_width() -> None:
    assert ascii_only("Zoë 名前") == "Zoe ????"
    assert all(columns_of(ascii_only(name)) == columns_of(name) for name in ("Zoë", "é", "名é", "한국"))
    assert columns_of(ascii_only(clean_name("名" * (WIDEST_NAME // 2)))) == WIDEST_NAME
