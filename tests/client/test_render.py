from __future__ import annotations

import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.cards import DOWN, FACE, Card
from samedeal.games import GAMES, Game, Kind
from samedeal.moves import DEAL, DRAW, FOUNDATION, Move
from samedeal_client.board.column import draw_column, squeeze
from samedeal_client.board.layout import RESERVE, TOP, board_size, layout, smallest
from samedeal_client.board.marks import NO_MARKS, Marks, brought, foundation_for, lifted, picked
from samedeal_client.board.picture import Hit, Part, Picture
from samedeal_client.board.render import draw, draw_board, draw_part, part_of, pile_line, pile_rows
from samedeal_client.board.toprow import draw_reserve, draw_top
from samedeal_client.text.look import STYLES, Look
from samedeal_client.text.spans import row_text, row_width
from tests.client.boards import SCREENS, STAGES, board, kept, playout, reachable

GLYPHS = Look()
ASCII = Look(ascii=True)
BARE = Look(colour=False)
SIZES = ((80, 24), (120, 40))
KINDS = ("glyphs", "ascii")


# ---------------------------------------------------------------- goldens


def screen(now: Board, look: Look, width: int, height: int, marks: Marks) -> str:
    """A board with an empty panel, in a screen with a title and two lines of keys, as text."""
    at = layout(now.game, width, height - 3, panel=True)
    lines = draw(now, look, at, marks).text().splitlines()
    lines += [""] * (height - 3 - len(lines))
    assert at.panel is not None
    edge = "|" if look.ascii else "▏"
    for y in range(at.panel.y, at.panel.y + at.panel.height):
        lines[y] = f"{lines[y]:<{at.panel.x}}{edge}{'panel' if y == at.panel.y else ''}"
    return "\n".join(["title", *(line.rstrip() for line in lines), "message", "keys"]) + "\n"


def telling_marks(now: Board) -> Marks:
    """Marks of every kind on a board: the pile with most places to go, what came last, a card, a hint."""
    keys = [now.game.keys[at] for at in now.game.sources]
    source = max(keys, key=lambda key: (len(picked(now, key).targets), lifted(now, key)))
    deep = max((now.piles[at] for at in (*now.game.columns, *now.game.fans)), key=len)
    found = next((card for card in deep if card < DOWN), None)
    hints = [move for move in now.legal_moves() if move.source != source]
    one = picked(now, source, last=((now.game.keys[now.game.columns[-1]], 2),))
    return Marks(one.source, one.targets, one.last, found, hints[-1] if hints else None)


def sections(game: str, width: int, height: int, kind: str) -> str:
    coloured, bare = Look(ascii=kind == "ascii"), Look(ascii=kind == "ascii", colour=False)
    text = ""
    for stage in STAGES:
        now = kept(game, stage)
        text += f"== {stage}\n" + screen(now, coloured, width, height, NO_MARKS)
        text += f"== {stage}, with marks and without colour\n" + screen(now, bare, width, height, telling_marks(now))
    return text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("game", GAMES)
def test_screens_look_as_kept(game: str, width: int, height: int, kind: str) -> None:
    """To keep new ones: REGENERATE=1 pytest tests/client/test_render.py, then look at every one of them."""
    path = SCREENS / f"{game}_{width}x{height}_{kind}.txt"
    text = sections(game, width, height, kind)
    if os.environ.get("REGENERATE"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("game", GAMES)
def test_a_screen_of_ascii_is_ascii(game: str) -> None:
    for stage in STAGES:
        now = kept(game, stage)
        for look in (ASCII, Look(ascii=True, colour=False)):
            assert screen(now, look, 120, 40, telling_marks(now)).isascii()
            assert all(pile_line(now, key, look).isascii() for key in now.game.keys)


# ---------------------------------------------------------------- columns


def column(game: str, cards: str, look: Look = GLYPHS, rows: int = 18, marks: Marks = NO_MARKS, width: int = 80) -> str:
    """The first column (or fan q) of a game, its name first, rows parted by bars and without blanks at their ends."""
    key = "q" if game == "willow-fan" else "1"
    now = board(game.removesuffix("-fan"), f"{key}: {cards}")
    small = smallest(now.game).height
    at = next(
        at for height in range(small, 99) if (at := layout(now.game, width, height)).places[key].height == rows + 1
    )
    part = draw_column(now, key, look, at, marks)
    assert all(row_width(row) == part.place.width for row in part.rows)
    return "|".join(row_text(row).rstrip() for row in part.rows)


def test_a_column_is_its_name_and_its_cards_one_below_the_other() -> None:
    assert column("steve", "9H TC AS") == "  1|  9♥| 10♣|  A♠"
    assert column("steve", "9H TC AS", ASCII) == "  1|  9H| 10C|  AS"


def test_cards_never_seen_seen_but_down_and_up_differ() -> None:
    assert column("athena", "[9H] (TC) (9S) ?? AS") == "  1|▒▒▒▒▒|(10♣)| (9♠)|▒▒▒▒▒|  A♠"
    assert column("athena", "[9H] (TC) AS", ASCII) == "  1|#####|(10C)|  AS"


def test_an_empty_column_is_a_place_and_an_empty_fan_a_dot() -> None:
    assert column("steve", "") == "  1|·····"
    assert column("willow-fan", "") == "  q|  ·"
    assert column("steve", "", ASCII) == "  1|....."


def test_a_roomy_column_has_a_row_between_cards_while_they_fit() -> None:
    assert column("willow", "9H TC AS", rows=24, width=120) == "   1|   9♥||  10♣||   A♠"
    twelve = "AC 3C 5C 7C 9C JC KC 2C 4C 6C 8C TC"
    assert column("willow", twelve, rows=24, width=120).count("||") == 11
    assert column("willow", twelve + " QC", rows=24, width=120).count("||") == 0


def test_where_rows_are_dealt_columns_are_roomy_on_very_high_screens_only() -> None:
    assert column("steve", "9H TC AS", rows=40, width=120) == "   1|   9♥|  10♣|   A♠"
    assert column("steve", "9H TC AS", rows=58, width=120) == "   1|   9♥||  10♣||   A♠"


MIXED = "3H QD 5S TC 7D 2C 8H KS 4D JS 6C AH 9D KC"


@pytest.mark.parametrize(
    ("cards", "shown"),
    [
        (MIXED, "  1|  3♥|  Q♦|  5♠| 10♣|  7♦|  2♣|  8♥|  K♠|  4♦|  J♠|  6♣|  A♥|  9♦|  K♣"),
        (f"{MIXED} 3D", "  1|3♥Q♦|  5♠| 10♣|  7♦|  2♣|  8♥|  K♠|  4♦|  J♠|  6♣|  A♥|  9♦|  K♣|  3♦"),
        (f"{MIXED} 3D AS", "  1|3♥Q♦|5♠T♣|  7♦|  2♣|  8♥|  K♠|  4♦|  J♠|  6♣|  A♥|  9♦|  K♣|  3♦|  A♠"),
    ],
)
def test_a_column_too_deep_shows_two_buried_cards_a_row(cards: str, shown: str) -> None:
    assert column("steve", cards, rows=14) == shown


def test_what_is_too_deep_for_that_too_is_counted_and_the_run_on_top_stays_readable() -> None:
    run = "KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S AS"
    assert column("steve", f"3H QD {run}", rows=14) == (
        "  1|3♥Q♦|  K♠|  Q♠|  J♠| 10♠|  9♠|  8♠|  7♠|  6♠|  5♠|  4♠|  3♠|  2♠|  A♠"
    )
    assert column("steve", f"3H QD 5S {run}", rows=14) == (
        "  1| ⋮+3|  K♠|  Q♠|  J♠| 10♠|  9♠|  8♠|  7♠|  6♠|  5♠|  4♠|  3♠|  2♠|  A♠"
    )
    assert column("steve", f"3H QD 5S TC 7D {run}", rows=15, look=ASCII) == (
        "  1| :+3|TC7D|  KS|  QS|  JS| 10S|  9S|  8S|  7S|  6S|  5S|  4S|  3S|  2S|  AS"
    )


def test_any_cards_can_be_lifted_in_ace_of_hearts_but_those_in_sequence_stay_readable() -> None:
    ten, five = "3H QD 5S TC 7D 2C 8H KS 4D JS", "JC 6C AH 9D KC"
    assert column("ace-of-hearts", f"{ten} {five} {ten} {five} 9S 8S 7S", rows=14) == (
        "  1| ⋮+10|J♣6♣|A♥9♦|K♣3♥|Q♦5♠|T♣7♦|2♣8♥|K♠4♦|J♠J♣|6♣A♥|9♦K♣|  9♠|  8♠|  7♠"
    )


def test_marks_without_colour_are_signs() -> None:
    cards = "9H TC 9C AS"
    assert column("steve", cards, BARE, marks=Marks(source=("1", 2))) == " [1]|  9♥| 10♣| [9♣]| [A♠]"
    assert column("steve", "9H TC", BARE, marks=Marks(source=("1", 1))) == " [1]|  9♥|[10♣]"
    assert column("steve", cards, BARE, marks=Marks(targets=frozenset("1"))) == " >1|  9♥| 10♣|  9♣| >A♠"
    assert column("steve", "TH", BARE, marks=Marks(targets=frozenset("1"))) == " >1|>10♥"
    assert column("steve", "", BARE, marks=Marks(targets=frozenset("1"))) == " >1|>····"
    assert column("steve", cards, BARE, marks=Marks(last=(("1", 2),))) == "  1|  9♥| 10♣|  9♣<|  A♠<"
    assert column("steve", cards, BARE, marks=Marks(found=Card.parse("TC"))) == "  1|  9♥|*10♣*|  9♣|  A♠"
    assert column("steve", cards, BARE, marks=Marks(hint=Move("1", "4", 2))) == " ?1?|  9♥| 10♣| ?9♣?| ?A♠?"
    assert column("steve", cards, BARE, marks=Marks(hint=Move("4", "1"))) == " >1|  9♥| 10♣|  9♣| >A♠"


def test_marks_with_colour_are_styles_and_leave_the_text_alone() -> None:
    every = Marks(("1", 2), frozenset("1"), (("1", 3),), Card.parse("AS"), Move("2", "1"))
    assert column("steve", "9H TC 9C AS", GLYPHS, marks=every) == column("steve", "9H TC 9C AS")
    now = board("steve", "1: 9H TC 9C AS")
    part = draw_column(now, "1", GLYPHS, layout(now.game, 80, 21), every)
    assert [row[0].style for row in part.rows] == ["source", "red", "black last", "black source", "black found"]


def test_marks_reach_cards_that_share_a_row_and_those_that_are_covered() -> None:
    deep = f"{MIXED} 3D AS"
    assert column("steve", deep, BARE, rows=14, marks=Marks(found=Card.parse("QD"))).startswith("  1|3♥*Q♦|5♠T♣|")
    assert column("ace-of-hearts", deep, BARE, rows=14, marks=Marks(source=("1", 14))).startswith(" [1]|3♥Q♦|[5♠T♣|")
    assert column("ace-of-hearts", deep, BARE, rows=14, marks=Marks(source=("1", 15))).startswith(" [1]|3♥[Q♦|[5♠T♣|")
    run = "KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S AS"
    covered = f"3H QD 5S TC {run}"
    assert column("steve", covered, BARE, rows=14, marks=Marks(found=Card.parse("QD"))).startswith("  1|*⋮+4|")
    assert column("steve", covered, BARE, rows=14, marks=Marks(source=("1", 16))).startswith(" [1]|[⋮+4|")


def test_suits_have_four_colours_for_who_wants_them() -> None:
    assert [Look().style(Card.parse(card)) for card in ("AC", "AD", "AH", "AS")] == ["black", "red", "red", "black"]
    four = Look(four_colour=True)
    assert [four.style(Card.parse(card)) for card in ("AC", "AD", "AH", "AS")] == ["club", "diamond", "red", "black"]


# ---------------------------------------------------------------- the top line


def top(game: str, text: str, look: Look = GLYPHS, marks: Marks = NO_MARKS) -> str:
    now = board(game, text)
    part = draw_top(now, look, layout(now.game, 80, 21), marks)
    assert all(row_width(row) == part.place.width for row in part.rows)
    return "|".join(row_text(row).rstrip() for row in part.rows)


def test_the_waste_shows_its_last_three_and_which_can_be_played() -> None:
    assert top("athena", "w: 9H") == " ␣ redeal 1   w   9♥            0   ·♠   ·♥   ·♦   ·♣"
    assert top("athena", "stock: [2C] | w: 2H 9H KS TH") == " ␣ stock 1    w   9♥   K♠  10♥  0   ·♠   ·♥   ·♦   ·♣"
    assert top("athena", "stock: [2C] | w: 9H KS", BARE) == " ␣ stock 1    w   9♥  |K♠|      0   ·♠   ·♥   ·♦   ·♣"
    assert top("athena", "stock: [2C] | w: 9H KS", BARE, Marks(source=("w", 1))) == (
        " ␣ stock 1    w   9♥  [K♠]      0   ·♠   ·♥   ·♦   ·♣"
    )


def test_the_stock_is_a_count_and_empty_what_a_redeal_would_bring() -> None:
    assert top("athena", "stock: [2C] (3C)").startswith(" ␣ stock 2    w  ")
    assert top("athena", "w: 2C 3C 4C").startswith(" ␣ redeal 3   w  ")
    assert top("athena", "").startswith(" ␣ stock 0    w  ")
    assert top("steve", "", ASCII).startswith(" _ stock 0    0  ")
    assert top("athena", "stock: [2C]", BARE, Marks(hint=DRAW)).startswith("?␣ stock 1?   w  ")
    assert top("ace-of-hearts", "stock: [2C]", BARE, Marks(hint=DEAL)).startswith("?␣ stock 1?   0  ")


def test_four_foundations_lie_in_the_order_of_suits_whichever_pile_holds_them() -> None:
    assert top("willow", "01: AD-4D | 02: AC | 04: AS 2S") == " 0   2♠   ·♥   4♦   A♣"
    assert top("willow", "", ASCII) == " 0   .S   .H   .D   .C"


def test_eight_foundations_lie_in_their_own_order_under_their_names() -> None:
    assert top("steve", "01: AD-4D | 02: AC | 04: AS 2S | 08: AD") == (
        " ␣ stock 0    0   4♦   A♣   ·    2♠   ·    ·    ·    A♦|"
        "                  01   02   03   04   05   06   07   08"
    )


def test_the_one_foundation_tells_what_it_waits_for() -> None:
    assert top("ace-of-hearts", "") == " ␣ stock 0    0   ·    next A♥   0/52"
    assert top("ace-of-hearts", "01: AH 2C 3D 4D") == " ␣ stock 0    0   4♦   next 5    4/52"
    assert top("ace-of-hearts", "01: AH-KH").endswith("next A   13/52")
    assert top("ace-of-hearts", "01: AH-9H").endswith("next 10   9/52")
    full = "01: " + " ".join(f"A{suit}-K{suit}" for suit in "HSDC")
    assert top("ace-of-hearts", full) == " ␣ stock 0    0   K♣  52/52"


def test_foundations_are_marked_as_sources_and_targets() -> None:
    assert top("willow", "01: AD", BARE, Marks(targets=frozenset(["01"]))) == " 0   ·♠   ·♥  >A♦   ·♣"
    assert top("willow", "", BARE, Marks(targets=frozenset(["01"]))) == " 0  >·♠   ·♥   ·♦   ·♣"
    assert top("steve", "01: AD TD", BARE, Marks(source=("01", 1))).startswith(" ␣ stock 0    0 [10♦]  ·  ")
    assert top("steve", "01: AD TD", BARE, Marks(last=(("01", 1),))).startswith(" ␣ stock 0    0  10♦<  ·  ")


def test_the_reserve_has_each_card_after_its_name() -> None:
    now = board("phoenix", "q: TH | w: 9S | k: AC")
    at = layout(now.game, 80, 21)
    rows = [row_text(row).rstrip() for row in draw_reserve(now, GLYPHS, at).rows]
    assert rows == ["q 10♥ w 9♠  e ·   r ·   t ·   y ·   u ·   i ·", "a ·   s ·   d ·   f ·   g ·   h ·   j ·   k A♣"]
    marked = draw_reserve(now, BARE, at, Marks(("q", 1), hint=Move("w", "3"))).rows[0]
    assert row_text(marked).startswith("q[10♥]w?9♠? e ·")


# ---------------------------------------------------------------- places


@pytest.mark.parametrize(
    ("game", "small", "compact", "roomy"),
    [
        ("athena", (54, 16), 42, 56),
        ("steve", (56, 17), 48, 64),
        ("phoenix", (48, 18), 48, 48),
        ("ace-of-hearts", (38, 16), 42, 56),
        ("willow", (57, 16), 57, 90),
    ],
)
def test_the_board_takes_what_it_needs(game: str, small: tuple[int, int], compact: int, roomy: int) -> None:
    assert smallest(Game.named(game)) == small
    assert board_size(Game.named(game), 80, 21) == (compact, 21)
    assert board_size(Game.named(game), 120, 37) == (roomy, 37)
    assert layout(Game.named(game), 80, 21, panel=True).step == 1


def test_under_the_smallest_size_there_is_a_sentence() -> None:
    now = kept("willow", "start")
    assert draw_board(now, GLYPHS, 56, 30).text() == "Willow needs 57 columns and 16 rows; here are 56 and 30\n"
    assert draw_board(now, GLYPHS, 20, 15).text() == "Willow needs 57\ncolumns and 16 rows;\nhere are 20 and 15\n"
    assert draw_board(now, GLYPHS, 9, 2).text() == "Willow\nneeds 57\n"
    assert "1  " in draw_board(now, GLYPHS, 57, 16).text()


def test_a_line_client_gets_as_many_rows_as_there_are_cards() -> None:
    text = draw_board(kept("willow", "start"), GLYPHS, 120, 200, roomy=False).text()
    assert len(text.splitlines()) == 1 + 1 + 1 + 7


def test_the_mouse_finds_what_lies_there() -> None:
    picture = draw_board(board("athena", "1: [9H] TC | 3: 2H | stock: [3C] | w: 4H 5H | 02: AS"), GLYPHS, 80, 21)
    assert picture.hit(3, 0) == Hit("stock")
    assert picture.hit(17, 0) == Hit("w", 0)
    assert picture.hit(21, 0) == Hit("w", 1)
    assert picture.where("02", 0) is not None
    assert picture.hit(0, 2) == Hit("1")
    assert picture.hit(0, 3) == Hit("1", 0)
    assert picture.hit(4, 4) == Hit("1", 1)
    assert picture.hit(4, 5) == Hit("1")
    assert picture.hit(8, 12) == Hit("2")
    assert picture.hit(79, 20) is None
    assert picture.hit(3, 1) is None


def test_the_mouse_finds_both_cards_of_a_row_and_what_is_covered() -> None:
    now = board("steve", "1: 3H QD 5S TC 7D KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S AS")
    at = layout(now.game, 80, 18)
    picture = draw(now, GLYPHS, at)
    assert picture.text().splitlines()[3:5] == [" ⋮+3  ····· ····· ····· ····· ····· ····· ·····", "T♣7♦"]
    assert picture.hit(2, 3) == Hit("1", None, 3)
    assert [picture.hit(x, 4) for x in range(6)] == [Hit("1", 3)] * 2 + [Hit("1", 4)] * 4
    assert picture.where("1", 2) is None
    assert picture.where("1", 4) == (2, 4)


def test_a_roomy_card_is_hit_on_the_blank_row_under_it_too() -> None:
    picture = draw_board(board("willow", "1: 3H QD"), GLYPHS, 120, 37)
    assert [picture.hit(3, y) for y in range(3, 7)] == [Hit("1", 0), Hit("1", 0), Hit("1", 1), Hit("1", 1)]
    assert picture.hit(3, 7) == Hit("1")


def test_a_part_alone_is_the_part_of_the_whole() -> None:
    for game in GAMES:
        now = kept(game, "deepest")
        at = layout(now.game, 80, 21, panel=True)
        whole = draw(now, BARE, at, telling_marks(now))
        assert [part.name for part in whole.parts] == list(at.places)
        for part in whole.parts:
            assert draw_part(now, part.name, BARE, at, telling_marks(now)) == part
        for key in now.game.keys:
            assert part_of(now.game, key) in at.places
    assert part_of(Game.named("phoenix"), "q") == RESERVE
    assert part_of(Game.named("willow"), "q") == "q"
    assert part_of(Game.named("athena"), "w") == TOP


# ---------------------------------------------------------------- a whole pile, marks of moves


def test_a_whole_pile_can_be_read() -> None:
    now = board("athena", "3: [9H] TS [2D] (3C) 2H | stock: [AC] (2C) | w: AS 4H")
    assert pile_line(now, "3", GLYPHS) == "column 3, 5 cards: ▒▒ 10♠ ▒▒ (3♣) 2♥"
    assert pile_line(now, "stock", GLYPHS) == "stock, 2 cards"
    assert pile_line(now, "w", ASCII) == "waste w, 2 cards: AS 4H"
    assert pile_line(now, "4", GLYPHS) == "column 4, empty"
    assert pile_line(now, "01", GLYPHS) == "foundation 01, empty"
    assert pile_line(board("athena", "3: 9H"), "3", GLYPHS) == "column 3, 1 card: 9♥"
    assert [row_text(row) for row in pile_rows(now, "3", GLYPHS, 20)] == ["column 3, 5 cards:", "▒▒ 10♠ ▒▒ (3♣) 2♥"]


def test_what_is_picked_up_shows_where_it_can_go() -> None:
    now = board("willow", "1: KH 9S 8H | 2: 9C | 3: TD | 4: 7H | 5: 8C | q: 8S | w: 7H | e: 2C | 02: AH-7H | r: 5C")
    assert picked(now, "1") == Marks(("1", 2), frozenset(["2", "3", "6", "7", "q", "02"]))
    assert picked(now, "1", 1) == Marks(("1", 1), frozenset(["2", "6", "7", "q", "02"]))
    assert picked(now, "1", 2) == Marks(("1", 2), frozenset(["3", "6", "7"]))
    assert lifted(now, "6") == 0
    assert foundation_for(now, Card.parse("AS")) == "01"
    assert foundation_for(now, Card.parse("2S")) is None


def test_what_came_last_is_known_from_the_step() -> None:
    athena, steve = kept("athena", "start"), kept("steve", "start")
    drawn = athena.play(DRAW)
    assert brought(drawn.board, drawn.step) == (("w", 3),)
    emptied = board("athena", "w: AC 2C")
    assert brought(*emptied.play(DRAW)) == ()
    assert brought(*steve.play(DEAL)) == tuple((str(key), 1) for key in range(1, 9))
    two = board("steve", "1: 9C 8C | 2: TD")
    assert brought(*two.play(Move("1", "2", 2))) == (("2", 2),)
    assert brought(*board("steve", "1: AC").play(Move("1", FOUNDATION))) == (("01", 1),)


# ---------------------------------------------------------------- laws

LOOKS = st.builds(Look, ascii=st.booleans(), four_colour=st.booleans(), colour=st.booleans())


def shown_text(part: Part, x: int, y: int, width: int) -> str:
    return row_text(part.rows[y])[x : x + width]


def check_cards(now: Board, picture: Picture, look: Look) -> None:
    """Each card of a column, fan or reserve is drawn where the picture says, or counted by the sign above the others."""
    parts = {part.name: part for part in picture.parts}
    for key, group, pile in zip(now.game.keys, now.game.piles, now.piles, strict=True):
        if group.kind not in (Kind.COLUMN, Kind.FAN, Kind.RESERVE):
            continue
        part = parts[part_of(now.game, key)]
        places = [picture.where(key, card) for card in range(len(pile))]
        covered = places.count(None)
        assert places[:covered] == [None] * covered
        sign = re.search(r"[⋮:]\+(\d+)", row_text(part.rows[1])) if group.kind is not Kind.RESERVE else None
        assert covered == (int(sign[1]) if sign else 0)
        for card, place in enumerate(places):
            if place is None:
                continue
            x, y = place
            assert picture.hit(x, y) == Hit(key, card)
            spot = next(spot for spot in part.spots if spot.hit == Hit(key, card))
            text = shown_text(part, spot.x, spot.y, spot.width)
            faces = (look.card(pile[card]), look.short(pile[card]))
            assert any(face in text for face in faces), (key, card, text)


@settings(max_examples=150)
@given(reachable(), LOOKS, st.integers(0, 140), st.integers(0, 50), st.booleans(), st.booleans(), st.data())
def test_every_board_fits_every_size_with_every_card_on_it(
    now: Board, look: Look, wider: int, higher: int, panel: bool, roomy: bool, data: st.DataObject
) -> None:
    small = smallest(now.game)
    width, height = small.width + wider, small.height + higher
    marks = NO_MARKS
    if data.draw(st.booleans()):
        keys = list(now.game.keys)
        source = data.draw(st.sampled_from(keys))
        picked_up = data.draw(st.sampled_from([None, 1, 2, 40]))
        last = data.draw(st.lists(st.tuples(st.sampled_from(keys), st.integers(1, 13)), max_size=3))
        found = data.draw(st.sampled_from([None, *(Card(code & FACE) for pile in now.piles for code in pile)]))
        hint = data.draw(st.sampled_from([None, *now.legal_moves()]))
        chosen = picked(now, source) if picked_up is None else Marks((source, picked_up), frozenset(keys))
        marks = Marks(chosen.source, chosen.targets, tuple(last), found, hint)
    at = layout(now.game, width, height, panel=panel, roomy=roomy)
    picture = draw(now, look, at, marks)
    assert len(picture.rows) <= height
    assert all(row_width(row) <= width for row in picture.rows)
    taken: set[tuple[int, int]] = set()
    for part in picture.parts:
        assert len(part.rows) <= part.place.height
        assert all(row_width(row) == part.place.width for row in part.rows)
        cells = {
            (part.place.x + x, part.place.y + y) for x in range(part.place.width) for y in range(part.place.height)
        }
        assert not cells & taken
        taken |= cells
        assert all(set(span.style.split()) <= STYLES for row in part.rows for span in row)
    if at.panel is not None:
        assert at.panel.x + at.panel.width == width
        assert at.panel.y + at.panel.height == height
        assert not any(at.panel.x <= x and at.panel.y <= y for x, y in taken)
    check_cards(now, picture, look)
    assert draw(now, look, at, marks) == picture
    assert draw(now.masked(), look, at, marks) == picture
    assert draw_board(now, look, width, height, marks).text()


@settings(max_examples=100)
@given(reachable(), st.integers(14, 40), st.sampled_from([1, 2]))
def test_the_run_on_top_always_has_a_row_for_each_card(now: Board, rows: int, step: int) -> None:
    for index in (*now.game.columns, *now.game.fans):
        pile, group = now.piles[index], now.game.piles[index]
        how = squeeze(group, pile, rows, step)
        singles = len(pile) - how.covered - 2 * how.pairs
        used = bool(how.covered) + how.pairs + singles * how.step - (how.step - 1 if singles else 0)
        assert used <= rows
        assert how.covered != 1
        assert singles >= min(len(pile), 1)
        run = 1
        while (
            run < len(pile)
            and pile[-run] in (group.on if group.lift.name in ("ANY", "TOP") else group.run)[pile[-run - 1]]
        ):
            run += 1
        assert singles >= min(run, len(pile))


def test_playouts_come_to_deep_columns() -> None:
    """The laws above would say little if the boards they hold for were all shallow."""
    deepest = max(len(pile) for number in range(20) for pile in playout(Game.named("steve"), number, 120).piles[:8])
    assert deepest > 18
