"""The race screen by keys and by mouse, in several games and sizes, against the engine in the same process."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from samedeal.cards import Card
from samedeal.games import GAMES
from samedeal.options import Options
from samedeal.protocol.messages import Leave, ListRooms, Notice, Refused, Resign, Tally
from samedeal_client.board.bindings import load_bindings
from samedeal_client.board.layout import smallest
from samedeal_client.net.link import Connected, Ended, Lost, Unseated
from samedeal_client.screens.race import FRAME_ROWS, RaceScreen
from samedeal_client.text.look import Look
from samedeal_client.widgets.board import PartView
from tests.client.boards import SCREENS, board, kept
from tests.client.referee import ME, START, Referee, Sitting, sitting

WILLOW = "1: KS | 2: 9H QH | 3: 4C JC TD | 4: 7S | 6: 8D AS | 7: 2C | q: 5H 7H | w: 7D | r: 3S 2S"
ATHENA = "1: [9S] 4H [KD] QC | 2: [2D] KH | 3: [6S] JH | 4: 3C | 5: [TS] QS | stock: [8C] [7C] [6C] [5C] [4S] | w: AH"


def willow(text: str = WILLOW, **options: object) -> Referee:
    return Referee("willow", board=board("willow", text), options=_options("willow", **options))


def athena(text: str = ATHENA, **options: object) -> Referee:
    return Referee("athena", board=board("athena", text), options=_options("athena", **options))


def _options(game: str, **options: object) -> Options:
    return Options(games=(game,), deal="#7", **options)  # type: ignore[arg-type]  # a test names real options


def pile(table: Sitting, key: str) -> str:
    shown = table.board
    return " ".join(str(Card(card)) if card < 0x40 else "?" for card in shown.piles[shown.game.index[key]])


# ---------------------------------------------------------------- the keyboard


async def test_two_keys_move_cards() -> None:
    async with sitting(willow()) as table:
        await table.press("32")
        assert (pile(table, "2"), pile(table, "3"), table.acts) == ("9H QH JC TD", "4C", ["3 2 x2"])


async def test_a_move_is_shown_before_the_server_has_answered() -> None:
    async with sitting(willow()) as table:
        table.referee.hold()
        await table.press("32")
        assert pile(table, "2") == "9H QH JC TD"
        assert "10♦" in table.text()
        assert table.referee.play.moves == 0


async def test_a_refused_move_is_put_back_with_the_reason() -> None:
    async with sitting(willow()) as table:
        table.referee.refuse = "TD stays where it is"
        table.referee.hold()
        await table.press("32")
        assert pile(table, "3") == "4C"
        table.referee.release()
        await table.settle()
        assert pile(table, "3") == "4C JC TD"
        assert table.sentence == "10♦ stays where it is"


async def test_a_sentence_that_is_too_long_for_its_line_takes_that_of_the_keys() -> None:
    async with sitting(willow("1: KS | 2: 9H QH | 4: 7S"), (60, 20)) as table:
        await table.press("41")
        assert table.sentence == "7♠ can't go on K♠: a column builds down by one in"
        assert table.line("#keys") == "alternating colours"
        await table.press("4")
        assert "Esc cancel" in table.line("#keys")


async def test_what_is_known_to_be_illegal_is_not_sent() -> None:
    async with sitting(willow()) as table:
        await table.press("14")
        assert table.acts == []
        assert table.sentence == "K♠ can't go on 7♠: a column builds down by one in alternating colours"


async def test_what_turns_up_a_card_is_shown_with_it_and_not_before() -> None:
    async with sitting(athena()) as table:
        table.referee.hold()
        await table.press("12")
        assert pile(table, "1") == "? 4H ? QC"
        table.referee.release()
        await table.settle()
        assert pile(table, "1") == "? 4H KD"
        assert pile(table, "2") == "? KH QC"


async def test_moves_typed_while_a_card_is_turned_up_are_made_then() -> None:
    async with sitting(athena()) as table:
        table.referee.hold()
        await table.press("12", "32")
        assert table.acts == ["1 2"]
        assert "3 2" in table.sentence
        table.referee.release()
        await table.settle()
        assert table.acts == ["1 2", "3 2"]
        assert pile(table, "2") == "? KH QC JH"


async def test_escape_forgets_what_waits_to_be_made() -> None:
    async with sitting(athena()) as table:
        table.referee.hold()
        await table.press("12", "32", "escape")
        table.referee.release()
        await table.settle()
        assert table.acts == ["1 2"]


@pytest.mark.parametrize(
    ("keys", "acts"),
    [
        (["6", "enter"], ["6 0"]),
        (["66"], ["6 0"]),
        (["60"], ["6 0"]),
        (["3", "enter"], ["3 2 x2"]),
        (["q", "w"], ["q w"]),
        (["w", "q"], ["w q"]),
        (["5"], []),
        (["3", "5"], ["3 5 x2"]),
        (["3", "minus", "5"], ["3 5"]),
        (["3", "minus", "plus", "5"], ["3 5 x2"]),
        (["3", "escape", "2"], []),
        (["62", "backspace"], []),
        (["66", "backspace"], ["6 0", "undo"]),
        (["66", "z"], ["6 0", "undo"]),
        (["x"], ["6 0", "r 0", "r 0"]),
    ],
)
async def test_the_grammar(keys: list[str], acts: list[str]) -> None:
    async with sitting(willow()) as table:
        await table.press(*keys)
        assert table.acts == acts


async def test_space_draws() -> None:
    async with sitting(athena()) as table:
        await table.press("space")
        assert table.acts == ["draw"]
        assert pile(table, "w") == "AH 4S 5C 6C"


async def test_everything_goes_up_across_cards_that_are_turned_up() -> None:
    text = "1: [2H] AH | 2: [3H] KC | 3: AS | w: 2S | 5: [KD] 4H"
    async with sitting(athena(text)) as table:
        await table.press("x")
        assert table.acts == ["1 0", "1 0", "3 0", "w 0"] or set(table.acts) == {"1 0", "3 0", "w 0"}
        assert table.board.cards_up == 4


async def test_what_is_picked_up_and_where_it_can_go_is_shown_at_once() -> None:
    async with sitting(willow(), look=Look(colour=False)) as table:
        await table.press("3")
        text = table.text()
        assert "[10♦]" in text
        assert "[J♣]" in text
        assert ">Q♥" in text
        assert "column 3: J♣ 10♦" in table.sentence
        await table.press("escape")
        assert "[" not in table.text()


async def test_a_card_is_found() -> None:
    async with sitting(willow(), look=Look(colour=False)) as table:
        await table.press("slash", "9", "h")
        assert "*9♥*" in table.text()
        assert table.sentence == "9♥ is in column 2, under 1 other"
        await table.press("slash", "k", "d")
        assert table.sentence == "K♦ is not in sight"


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("qc", "Q♣ is in column 1"),
        ("ah", "A♥ is in waste w"),
        ("2d", "2♦ is not in sight: it lies face down in a column or in the stock"),
    ],
)
async def test_where_a_card_is_or_may_be(typed: str, sentence: str) -> None:
    async with sitting(athena()) as table:
        await table.press("slash", *typed)
        assert table.sentence == sentence


async def test_a_card_is_found_by_clicks() -> None:
    async with sitting(willow(), look=Look(colour=False)) as table:
        for word in ("find", "9", "♥"):
            await table.pilot.click("#keys", offset=(table.line("#keys").index(word) + 1, 0))
            await table.settle()
        assert "*9♥*" in table.text()


async def test_a_destination_that_comes_at_once_after_an_empty_source_is_no_new_source() -> None:
    async with sitting(willow()) as table:
        await table.press("5", "6")
        assert table.sentence == "There is nothing to take: column 5 is empty"
        await table.press("66")
        assert table.acts == ["6 0"]


async def test_who_has_seen_that_a_source_is_empty_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_client.screens.race._AT_ONCE", 0.01)
    async with sitting(willow()) as table:
        await table.press("5")
        await table.until(lambda: not table.app.screen._keys.nothing)  # type: ignore[attr-defined]
        await table.press("66")
        assert table.acts == ["6 0"]


async def test_moves_are_counted_and_so_are_those_taken_back() -> None:
    async with sitting(willow()) as table:
        await table.press("66")
        assert "1/52  1 move " in table.text()
        await table.press("backspace", "32")
        assert "0/52  2 moves " in table.text()


async def test_a_key_redraws_what_something_else_has_written_over() -> None:
    async with sitting(willow()) as table:
        await table.press("ctrl+l")
        assert table.sentence.startswith("type from")


async def test_a_deep_pile_can_be_looked_into() -> None:
    async with sitting(Referee("ace-of-hearts", board=kept("ace-of-hearts", "deepest"))) as table:
        deepest = max(table.board.game.columns, key=lambda at: len(table.board.piles[at]))
        key = table.board.game.keys[deepest]
        await table.press("v", key)
        words = " ".join(table.text().split())
        cards = " ".join(Look().card(card) for card in table.board.piles[deepest])
        assert f"column {key}, {len(table.board.piles[deepest])} cards: {cards}" in words
        await table.press("escape")
        assert "cards:" not in table.text()


async def test_hints_only_where_the_room_has_them() -> None:
    async with sitting(willow(hints=False)) as table:
        await table.press("question_mark")
        assert table.sentence == "This room has no hints"
    async with sitting(willow(hints=True), look=Look(colour=False)) as table:
        await table.press("question_mark")
        await table.until(lambda: "?A♠?" in table.text())
        assert table.sentence == "hint: 6 0 moves the A♠ up"
        assert table.acts == []


async def test_a_key_that_means_nothing_says_so() -> None:
    async with sitting(willow()) as table:
        await table.press("j")
        assert table.sentence == "'j' is no pile of Willow and no command: F1 lists the keys"


async def test_keys_can_be_others() -> None:
    bindings = load_bindings('[commands]\nundo = "m"\n[piles]\n1 = "&"\n')
    async with sitting(willow("1: AS | 2: 2S"), bindings=bindings) as table:
        assert "undo" not in table.line("#keys")
        await table.press("&", "&")
        assert "m undo" in table.line("#keys")
        await table.press("m")
        assert table.acts == ["1 0", "undo"]


async def test_f1_helps_and_the_race_goes_on_after_it() -> None:
    async with sitting(willow()) as table:
        await table.press("f1")
        assert table.screen == "HelpScreen"
        await table.referee.rival_moves("p2", "6 0")
        await table.press("escape")
        assert table.screen == "RaceScreen"
        assert "1 mira" in table.text()


# ---------------------------------------------------------------- the mouse


async def test_a_click_on_cards_and_one_on_where_they_go() -> None:
    async with sitting(willow()) as table:
        await table.click("3", 1)
        assert "column 3: J♣ 10♦" in table.sentence
        await table.click("2", 1)
        assert table.acts == ["3 2 x2"]


async def test_what_is_seen_picked_up_is_what_goes() -> None:
    async with sitting(willow()) as table:
        await table.click("3", 2)
        await table.click("2", 1)
        assert table.acts == []
        assert table.sentence == "10♦ can't go on Q♥: a column builds down by one in alternating colours"
        await table.drag("3", 2, "2", 1)
        assert table.acts == []


async def test_a_click_on_the_name_of_a_column_picks_up_what_fits() -> None:
    async with sitting(willow()) as table:
        await table.click("3")
        await table.click("2")
        assert table.acts == ["3 2 x2"]


async def test_a_click_on_the_name_of_the_foundations_is_its_key() -> None:
    async with sitting(willow()) as table:
        await table.click("6", 1)
        text = table.text().splitlines()
        row = next(y for y, line in enumerate(text) if " 0 " in line[:20])
        await table.pilot.click(offset=(text[row].index("0"), row))
        await table.settle()
        assert table.acts == ["6 0"]


async def test_a_click_where_cards_do_not_fit_says_why_and_picks_up_others() -> None:
    async with sitting(willow(), look=Look(colour=False)) as table:
        await table.click("1", 0)
        await table.click("4", 0)
        assert table.sentence == "K♠ can't go on 7♠: a column builds down by one in alternating colours"
        assert "[7♠]" in table.text()
        await table.click("5")
        assert table.acts == ["4 5"]


async def test_a_pile_is_looked_into_by_two_clicks() -> None:
    async with sitting(willow()) as table:
        await table.pilot.click("#keys", offset=(table.line("#keys").index("look") + 1, 0))
        await table.click("2")
        assert "column 2, 2 cards: 9♥ Q♥" in table.text()
        assert table.acts == []


async def test_a_click_on_the_stock_with_cards_in_hand_deals_nothing() -> None:
    async with sitting(athena()) as table:
        await table.click("4", 0)
        await table.click("stock")
        assert table.acts == []
        assert table.sentence == "No card is ever put on the stock"


async def test_dragging() -> None:
    async with sitting(willow()) as table:
        await table.drag("3", 1, "2", 1)
        assert table.acts == ["3 2 x2"]


async def test_dragged_cards_are_seen_over_the_pile_that_takes_them() -> None:
    async with sitting(willow(), look=Look(colour=False)) as table:
        await table.hold("3", 1)
        lifted = table.text()
        await table.move("2", 1)
        assert [word in table.text() for word in ("[J♣]", "[10♦]")] == [True, True]
        assert table.text().count("10♦") == lifted.count("10♦") + 1
        await table.move("1")
        assert table.text() == lifted
        await table.move("2")
        await table.let_go("2")
        assert (table.acts, pile(table, "2")) == (["3 2 x2"], "9H QH JC TD")
        assert "[" not in table.text()


async def test_a_dragged_card_is_seen_on_its_foundation() -> None:
    async with sitting(willow(), look=Look(colour=False)) as table:
        await table.hold("6", 1)
        await table.move("01")
        assert "[A♠]" in table.text().splitlines()[1]
        await table.let_go("1")
        assert table.acts == []
        assert "A♠" not in table.text().splitlines()[1]


async def test_one_card_is_dragged_into_an_empty_column() -> None:
    async with sitting(willow()) as table:
        await table.drag("3", 2, "5")
        assert table.acts == ["3 5"]


async def test_cards_let_go_between_the_piles_stay_where_they_are() -> None:
    async with sitting(willow(), look=Look(colour=False)) as table:
        await table.pilot.mouse_down(offset=table.where("3", 2))
        await table.pilot.mouse_up(offset=(70, 20))
        await table.settle()
        assert table.acts == []
        assert "[" not in table.text()


async def test_dragging_to_a_foundation() -> None:
    async with sitting(willow()) as table:
        await table.drag("6", 1, "01")
        assert table.acts == ["6 0"]


@pytest.mark.parametrize(("source", "target", "act"), [("6", "01", "6 0"), ("3", "2", "3 2 x2"), ("q", "2", None)])
async def test_a_drag_that_comes_in_one_go_is_a_drag(source: str, target: str, act: str | None) -> None:
    async with sitting(willow()) as table:
        table.fling(source, target)
        await table.settle()
        assert table.acts == ([act] if act else [])
        assert table.sentence.startswith("type from") or act is None


async def test_a_double_click_moves_to_the_best_place() -> None:
    async with sitting(willow()) as table:
        await table.pilot.click(offset=table.where("6", 1), times=2)
        await table.settle()
        assert table.acts == ["6 0"]


async def test_a_second_click_on_the_same_card_puts_it_back() -> None:
    async with sitting(willow()) as table:
        await table.click("3", 2)
        table.app.screen._pointer = table.app.screen._pointer.__class__(clicked=-100)  # type: ignore[attr-defined]
        await table.click("3", 2)
        await table.press("2")
        assert table.acts == []


async def test_a_click_elsewhere_picks_up_other_cards() -> None:
    async with sitting(willow()) as table:
        await table.click("4", 0)
        await table.click("3", 1)
        assert "column 3" in table.sentence or table.sentence.startswith("7♠ can't go")
        await table.click("2", 1)
        assert table.acts == ["3 2 x2"]


async def test_a_click_on_the_stock_draws() -> None:
    async with sitting(athena()) as table:
        await table.click("stock")
        assert table.acts == ["draw"]


async def test_the_other_button_gives_up() -> None:
    async with sitting(willow(), look=Look(colour=False)) as table:
        await table.click("3", 2)
        await table.click("2", 1, button=3)
        assert table.acts == []
        assert "[" not in table.text()


async def test_a_click_on_a_key_hint_presses_the_key() -> None:
    async with sitting(willow()) as table:
        await table.press("66")
        await table.pilot.click("#keys", offset=(table.line("#keys").index("undo") + 2, 0))
        await table.settle()
        assert table.acts == ["6 0", "undo"]


async def test_covered_cards_are_looked_into_by_a_click() -> None:
    async with sitting(Referee("ace-of-hearts", board=kept("ace-of-hearts", "deepest")), (80, 20)) as table:
        parts = [view.part for view in table.app.screen.query(PartView) if view.part is not None]
        place, spot = next((part.place, spot) for part in parts for spot in part.spots if spot.hit.covered)
        await table.pilot.click("#board", offset=(place.x + spot.x + 1, place.y + spot.y))
        await table.settle()
        assert f"column {spot.hit.pile}, " in table.text()


async def test_a_race_is_won_with_the_mouse_alone() -> None:
    text = "1: " + " ".join(f"{rank}S" for rank in "KQJT98765432A") + " | 2: KH | 3: KD | 4: KC"
    text += " | 01: AH-QH | 02: AD-QD | 03: AC-QC"
    async with sitting(willow(text)) as table:
        table.referee.tallies[ME] = Tally(player=ME, home=START + 61_000)
        await table.pilot.click("#keys", offset=(table.line("#keys").index("all up") + 2, 0))
        await table.settle()
        assert table.board.won
        await table.referee.tell(table.referee.state())
        await table.settle()
        assert "You are home in 01:01" in table.sentence


# ---------------------------------------------------------------- the frame


async def test_rivals_are_counted_as_they_move() -> None:
    async with sitting(willow()) as table:
        assert re.search(r"1 mira +0/52", table.text())
        await table.referee.rival_moves("p3", "6 0")
        await table.settle()
        text = table.text()
        assert text.index("1 k0ji") < text.index("2 you") < text.index("2 mira")


async def test_ones_own_cards_count_at_once() -> None:
    async with sitting(willow()) as table:
        table.referee.hold()
        await table.press("66")
        assert "1/52" in table.line("#header")
        assert re.search(r"1 you +1/52", table.text())


async def test_without_room_for_a_panel_the_place_is_in_the_header() -> None:
    async with sitting(willow(), (60, 24)) as table:
        await table.referee.rival_moves("p3", "6 0")
        await table.until(lambda: "2nd of 3" in table.line("#header"))


async def test_the_clock_runs_down() -> None:
    async with sitting(willow(limit=90)) as table:
        assert "00:30 left" in table.line("#header")


async def test_the_countdown_then_the_cards() -> None:
    referee = Referee("willow", phase="countdown")
    referee.time = START - 2_500
    async with sitting(referee) as table:
        assert "██" in table.text()
        assert "the same cards for everybody" in table.text()
        await table.press("35")
        assert table.acts == []
        assert table.sentence == "The cards are not out yet: what you do counts from the start on"
        referee.phase, referee.time = "racing", START
        await referee.tell(referee.state())
        for message in referee._board():
            await referee.tell(message)
        await table.settle()
        assert "██" not in table.text()
        assert "K♠" in table.text()


async def test_a_cut_is_told_and_what_is_typed_meanwhile_is_kept() -> None:
    async with sitting(willow()) as table:
        table.referee.hold()
        await table.referee._news.put(Lost("The connection was cut", 3.0))
        await table.settle()
        assert "Cut off, trying again in 3 s; your seat and your moves are kept" in table.line("#banner")
        assert "cut off" in table.line("#header")
        await table.press("32")
        assert pile(table, "2") == "9H QH JC TD"
        await table.referee._news.put(Connected(again=True))
        table.referee.release()
        await table.settle()
        assert not table.app.screen.query_one("#banner").display
        assert table.referee.play.moves == 1


async def test_what_the_server_says_unasked_stays_above_the_board_while_one_plays() -> None:
    async with sitting(willow()) as table:
        await table.referee.tell(Notice(code="said", message="We stop for an hour at eight."))
        await table.settle()
        await table.press("32")
        assert table.line("#banner") == "The operator of this server says: We stop for an hour at eight."
        await table.referee.tell(Notice(code="of a later version", message="Something new"))
        await table.settle()
        assert table.line("#banner") == "Something new"


async def test_who_loses_the_seat_is_told_why_in_the_lobby() -> None:
    async with sitting(willow()) as table:
        await table.referee._news.put(Unseated("kicked", "The operator has taken you out of this room"))
        await table.until(lambda: table.screen == "LobbyScreen")
        await table.settle()
        assert table.line("#banner") == "The operator has taken you out of this room"


async def test_a_refusal_of_a_code_that_is_not_known_is_told_in_the_servers_words() -> None:
    async with sitting(willow()) as table:
        table.referee.denied[Resign] = Refused(to=0, code="of_a_later_version", message="Not before noon")
        await table.press("ctrl+r", "y")
        await table.until(lambda: table.sentence == "Not before noon")


async def test_the_lobby_says_that_rooms_cant_be_listed_until_they_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_client.screens.lobby.LIST_EVERY", 0.02)
    async with sitting(willow(NEARLY_HOME)) as table:
        table.referee.denied[ListRooms] = Refused(to=0, code="unavailable", message="The store is away", retry_after=1)
        await table.press("1", "1", "l")
        await table.until(lambda: table.screen == "LobbyScreen")
        await table.until(lambda: table.sentence == "The store is away")
        table.referee.denied.clear()
        await table.until(lambda: not table.sentence)


async def test_an_end_for_good_is_told() -> None:
    async with sitting(willow()) as table:
        await table.referee._news.put(Ended("4002", "You are connected from somewhere else now"))
        await table.settle()
        assert "You are connected from somewhere else now. Ctrl+Q closes this window." in table.line("#banner")


async def test_nothing_that_helps_is_left() -> None:
    async with sitting(athena("1: KS | 2: KH | 3: KD | 4: 2C | 5: 2D | 6: 2H | 7: 2S")) as table:
        await table.press("space")
        table.app.client.model = replace(table.app.client.model, blocked=True)
        table.app.screen.update(table.app.client.model)  # type: ignore[attr-defined]
        table.app.say("")
        assert table.sentence == "Nothing that helps is left: resign with Ctrl+R"


async def test_where_nothing_helps_the_hint_is_that() -> None:
    async with sitting(athena("1: KS | 2: KH | 3: KD | 4: 2C | 5: 2D | 6: 2H | 7: 2S", hints=True)) as table:
        table.app.client.model = replace(table.app.client.model, blocked=True)
        await table.press("question_mark")
        assert table.sentence.startswith("Nothing that helps is left: ")


TO_AND_FRO = "1: KH JS TH | 2: KC JC | 3: KD 5C | 4: KS 5S | 5: QD 5D | 6: QH 5H"


@pytest.mark.parametrize("undo", ["free", "off"])
async def test_a_card_that_can_only_go_to_and_fro_does_not_help(undo: str) -> None:
    options = Options(games=("phoenix",), undo=undo, hints=True)  # type: ignore[arg-type]  # one of its words
    async with sitting(Referee("phoenix", board=board("phoenix", TO_AND_FRO), options=options)) as table:
        stuck = "Nothing that helps is left: resign with Ctrl+R"
        assert table.sentence == stuck
        await table.press("1", "2")
        assert table.acts == ["1 2"]
        if undo == "free":
            stuck = "Nothing that helps is left: undo with ⌫, or resign with Ctrl+R"
        assert table.sentence == stuck
        await table.press("question_mark")
        assert table.sentence == stuck
        assert table.screen == "RaceScreen"


# ---------------------------------------------------------------- leaving


async def test_quitting_asks_once_during_a_race() -> None:
    async with sitting(willow()) as table:
        await table.press("ctrl+q")
        assert table.screen == "QuitScreen"
        await table.press("escape")
        assert table.screen == "RaceScreen"
        await table.press("ctrl+c", "q")
        assert table.app.return_code == 0
        assert table.app._exit


async def test_asked_twice_it_quits() -> None:
    async with sitting(willow()) as table:
        await table.press("ctrl+q", "ctrl+q")
        assert table.app._exit


async def test_resigning() -> None:
    async with sitting(willow()) as table:
        await table.press("ctrl+q", "r")
        assert table.referee.out == {ME}
        assert table.sentence.startswith("You are out")
        await table.press("32")
        assert table.sentence == "You are out of this race"


async def test_a_key_of_its_own_resigns_after_a_question() -> None:
    async with sitting(willow()) as table:
        assert "^R resign" in table.line("#keys")
        await table.press("ctrl+r", "escape")
        assert (table.screen, table.referee.out) == ("RaceScreen", set())
        await table.press("ctrl+r", "y")
        assert table.referee.out == {ME}
        assert table.sentence.startswith("You are out; your cards up count. Now w watches the others, l is the lobby.")
        await table.press("ctrl+r")
        assert table.sentence == "Your race is over already: there is nothing to resign from"


async def test_asked_whether_to_resign_one_can_still_quit() -> None:
    async with sitting(willow()) as table:
        await table.press("ctrl+r", "ctrl+q")
        assert table.screen == "QuitScreen"
        await table.press("escape")
        assert table.screen == "RaceScreen"


# ---------------------------------------------------------------- through with the race, while others are not

NEARLY_HOME = "1: KS | 01: AH-KH | 02: AD-KD | 03: AC-KC | 04: AS-QS"


async def test_who_is_home_quits_without_a_question() -> None:
    async with sitting(willow(NEARLY_HOME)) as table:
        await table.press("11", "ctrl+q")
        assert table.app._exit


async def test_who_is_home_watches_the_others_and_comes_back() -> None:
    async with sitting(willow(NEARLY_HOME, spectators=True)) as table:
        await table.press("1", "1")
        assert table.sentence.startswith("You are home in 01:00! Now w watches the others, l is the lobby.")
        assert table.line("#keys").startswith("w watch the others  l lobby")
        await table.press("w")
        await table.until(lambda: table.screen == "SpectateScreen")
        assert "o your own board" in table.line("#keys")
        await table.press("o")
        await table.until(lambda: table.screen == "RaceScreen")
        assert table.board.won
        assert len(table.app.client.model.done) == 1


async def test_who_is_out_goes_to_the_lobby() -> None:
    async with sitting(willow()) as table:
        await table.press("ctrl+r", "y", "l")
        await table.until(lambda: table.screen == "LobbyScreen")
        assert any(isinstance(asked, Leave) for asked in table.referee.asked)


async def test_while_one_races_the_same_keys_are_piles() -> None:
    async with sitting(willow()) as table:
        await table.press("w")
        assert table.screen == "RaceScreen"
        assert "fan w: 7♦" in table.sentence


async def test_where_nobody_may_watch_no_key_for_it_is_shown() -> None:
    async with sitting(willow(NEARLY_HOME, spectators=False)) as table:
        await table.press("1", "1")
        assert table.line("#keys").startswith("l lobby")
        assert "w watches" not in table.sentence


async def test_a_mistake_of_the_client_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def stumble(_: object, __: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(RaceScreen, "_take", stumble)

    async def race() -> None:
        async with sitting(willow()) as table:
            table.app.simulate_key("3")
            await table.until(lambda: table.app._exception is not None)

    with pytest.raises(ZeroDivisionError):
        await race()
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("samedeal has made a mistake and stopped (what happened is in")
    assert said.endswith("Your seat is kept: the same command brings you back.")
    assert "ZeroDivisionError: of all things" in (tmp_path / "samedeal" / "crash.txt").read_text()


# ---------------------------------------------------------------- sizes


@pytest.mark.parametrize("game", GAMES)
async def test_any_size_at_any_moment(game: str) -> None:
    least = smallest(GAMES[game])
    sizes = [(80, 24), (120, 40), (least.width, least.height + FRAME_ROWS), (200, 60), (20, 5), (1, 1), (81, 25)]
    async with sitting(Referee(game, board=kept(game, "middle"))) as table:
        at_first = table.text()
        for width, height in sizes:
            await table.press("3")
            await table.pilot.resize_terminal(width, height)
            await table.settle()
            lines = table.text().splitlines()
            assert all(len(line) <= width for line in lines)
            if width >= least.width and height >= least.height + FRAME_ROWS:
                assert "needed" not in table.text()
                assert "left" in lines[0]
            await table.press("escape")
        await table.pilot.resize_terminal(80, 24)
        await table.settle()
        assert table.text() == at_first


@pytest.mark.parametrize("game", GAMES)
async def test_a_new_size_looks_as_if_it_had_been_so_from_the_start(game: str) -> None:
    texts = []
    for size in [(120, 40), (80, 24)]:
        async with sitting(Referee(game, board=kept(game, "middle")), size) as table:
            await table.pilot.resize_terminal(120, 40)
            await table.settle()
            texts.append(table.text())
    assert texts[0] == texts[1]


async def test_a_screen_that_is_too_small_says_so() -> None:
    async with sitting(Referee("steve")) as table:
        await table.pilot.resize_terminal(50, 18)
        await table.settle()
        words = " ".join(table.text().split())
        assert words.startswith("56 columns and 20 rows are needed, here are 50 and 18: make the window larger")
        assert "Until then no key counts" in words
        await table.press("space")
        assert table.acts == []
        await table.pilot.resize_terminal(80, 24)
        await table.settle()
        assert "Steve" in table.line("#header")


CHOSEN = "123456789"
VIEWS = (
    ("80x24", (80, 24), Look()),
    ("80x24 in ASCII", (80, 24), Look(ascii=True)),
    ("80x24 without colour", (80, 24), Look(colour=False)),
    ("120x40", (120, 40), Look()),
)


@pytest.mark.parametrize("game", GAMES)
async def test_screens_look_as_kept(game: str) -> None:
    """To keep new ones: REGENERATE=1 pytest tests/client/test_race_screen.py, then look at every one of them."""
    text = ""
    for name, size, look in VIEWS:
        async with sitting(Referee(game, board=kept(game, "middle")), size, look) as table:
            moves = table.board.legal_moves()
            await table.referee.rival_moves("p2", moves[0])
            table.referee.time += 3_000
            await table.press(*([move.source for move in moves if move.source in CHOSEN] or ["1"])[-1:])
            text += f"== {name}\n{table.text()}"
    path = SCREENS / "race" / f"{game}.txt"
    if os.environ.get("REGENERATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
