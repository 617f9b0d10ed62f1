from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.cards import Card
from samedeal.errors import MalformedText
from samedeal.games import GAMES, Kind
from samedeal.moves import DEAL, DRAW, Move
from samedeal_client.board.bindings import DEFAULT, NAMED_KEYS, PILES, Bindings, Command, load_bindings, normal_key
from samedeal_client.board.keys import Cancel, Choose, Do, Effect, Find, Keys, LookInto, Typing, Unknown, Which
from samedeal_client.board.marks import Marks, picked
from tests.client.boards import board, reachable

ATHENA = "1: KH QS JD | 2: TC | 3: ?? KD | 4: 2H | 5: | w: 9C AH 9D | stock: ??"
STEVE = "1: 9H 8S 7S 6S | 2: 9D | 3: 7D | 4: | 01: AH-5H | 02: AS-5S | 03: AD | 04: AH-5H | 8: 6C | stock: [3C]"
WILLOW = "1: TH 9S 8H | 2: 9C | 3: TD | 5: 8C | q: 8S | w: 7H | e: | 01: AH-7H"
PHOENIX = "1: 8S | 2: QH | q: 7H | d: AC | u: KS | k: 7D"
HEARTS = "1: 4S 9C 3D | 2: 5S | 3: | 4: KD 2C | stock: [AH]"
NAMED = {"athena": ATHENA, "steve": STEVE, "willow": WILLOW, "phoenix": PHOENIX, "ace-of-hearts": HEARTS}


def effects(game: str, typed: str, bindings: Bindings = DEFAULT, text: str | None = None) -> list[Effect]:
    """What each of some keys, parted by blanks, comes to on the game's board above."""
    now = board(game, NAMED[game] if text is None else text)
    keys = Keys(bindings)
    seen: list[Effect] = []
    for key in typed.split():
        keys, effect = keys.press(key, now)
        seen.append(effect)
    return seen


def last(game: str, typed: str, bindings: Bindings = DEFAULT) -> Effect:
    return effects(game, typed, bindings)[-1]


def move(text: str) -> Move:
    return Move.parse(text)


@pytest.mark.parametrize(
    ("game", "typed", "made"),
    [
        ("athena", "w 2", "w 2"),
        ("athena", "3 5", "3 5"),
        ("athena", "1 5", "1 5 x3"),
        ("steve", "3 1", None),
        ("steve", "1 3", "1 3"),
        ("steve", "8 3", "8 3"),
        ("steve", "1 2", "1 2 x3"),
        ("steve", "1 4", "1 4 x3"),
        ("steve", "1 1", "1 0"),
        ("steve", "1 0", "1 0"),
        ("steve", "2 4", "2 4"),
        ("willow", "1 2", "1 2"),
        ("willow", "1 3", "1 3 x2"),
        ("willow", "1 7", "1 7 x3"),
        ("willow", "1 0", "1 0"),
        ("willow", "5 q", "5 q"),
        ("willow", "q 2", None),
        ("willow", "w 5", "w 5"),
        ("phoenix", "q 1", "q 1"),
        ("phoenix", "d 0", "d 0"),
        ("phoenix", "d d", "d 0"),
        ("phoenix", "u 3", "u 3"),
        ("phoenix", "2 3", "2 3"),
        ("ace-of-hearts", "1 2", "1 2 x3"),
        ("ace-of-hearts", "4 3", "4 3 x2"),
    ],
)
def test_two_keys_are_a_move(game: str, typed: str, made: str | None) -> None:
    effect = last(game, typed)
    if made is None:
        assert isinstance(effect, Unknown)
    else:
        assert effect == move(made)


@pytest.mark.parametrize(
    ("game", "typed", "sentence"),
    [
        ("athena", "5", "There is nothing to take: column 5 is empty"),
        ("athena", "0", "Athena lets nothing be taken from a foundation: start with another pile"),
        ("athena", "4 1", "2H can't go on JD: a column builds down by one in alternating colours"),
        ("athena", "4 5", "2H can't go to the empty column 5: an empty column takes only a king"),
        ("athena", "4 4", "2H can't go to a foundation: an empty foundation takes only an ace"),
        ("willow", "w e", "7H can't go to the empty fan e: an empty fan takes nothing"),
        ("athena", "q", "'q' is no pile of Athena and no command: F1 lists the keys"),
        ("athena", "ctrl+t", "ctrl+t is no pile of Athena and no command: F1 lists the keys"),
        ("athena", "8", "'8' is no pile of Athena and no command: F1 lists the keys"),
        ("athena", "enter", "Choose a pile first: by the key that stands at it, or with a click"),
        ("athena", "-", "Choose a pile first: then - and + change how many of its cards go"),
        ("athena", "4 enter", "No card of column 4 can go anywhere that helps"),
        ("willow", "space", "Willow has no stock: all its cards are in play"),
        ("steve", "0 0", "A card can't go from a foundation to a foundation: say which column takes it"),
        ("steve", "0 enter", "Say which column takes the card from the foundation, as in 0 5"),
    ],
)
def test_what_goes_wrong_is_said_and_ends_what_was_begun(game: str, typed: str, sentence: str) -> None:
    assert last(game, typed) == Unknown(sentence)
    keys = Keys()
    for key in typed.split():
        keys, _ = keys.press(key, board(game, NAMED[game]))
    assert keys.idle


def test_a_source_is_chosen_with_as_many_cards_as_go_together() -> None:
    assert effects("athena", "1") == [Choose("1", 3)]
    assert effects("athena", "3") == [Choose("3", 1)]
    assert effects("athena", "w") == [Choose("w", 1)]
    assert effects("steve", "0") == [Choose("0", 1)]
    assert effects("ace-of-hearts", "1") == [Choose("1", 3)]


def test_a_pile_that_takes_nothing_says_so() -> None:
    assert last("athena", "3 w") == Unknown("KD can't go to waste w: no card is ever put there")
    assert last("phoenix", "1 k") == Unknown("8S can't go to reserve k: no card is ever put there")
    assert last("phoenix", "1 a") == Unknown("8S can't go to reserve a: no card is ever put there")


@pytest.mark.parametrize(
    ("game", "typed", "sentence"),
    [
        ("athena", "5 1", "There is nothing to take: column 5 is empty"),
        ("athena", "0 4", "Athena lets nothing be taken from a foundation: start with another pile"),
        ("athena", "5 enter", "There is nothing to take: column 5 is empty"),
    ],
)
def test_the_destination_of_a_source_that_gives_nothing_is_no_new_source(game: str, typed: str, sentence: str) -> None:
    """Who types both keys at once has begun nothing with the second."""
    assert effects(game, typed) == [Unknown(sentence)] * 2
    assert effects(game, f"{typed} 3 5")[2:] == effects(game, "3 5")


def test_minus_and_plus_change_how_many_cards_go() -> None:
    assert effects("willow", "1 - 7") == [Choose("1", 3), Choose("1", 2), move("1 7 x2")]
    least = Choose("1", 1, "No fewer cards of column 1 can go")
    assert effects("willow", "1 - - - + 7")[2:] == [Choose("1", 1), least, Choose("1", 2), move("1 7 x2")]
    assert effects("willow", "1 + 7") == [
        Choose("1", 3),
        Choose("1", 3, "No more cards of column 1 can go"),
        move("1 7 x3"),
    ]
    assert effects("willow", "1 = 7")[1] == Choose("1", 3, "No more cards of column 1 can go")
    assert last("athena", "3 -") == Choose("3", 1, "No fewer cards of column 3 can go")
    assert isinstance(last("willow", "1 - 2"), Unknown)


def test_minus_and_plus_pass_over_what_can_go_nowhere() -> None:
    text = "1: 4S KD 3H KC 9C | 2: TH | 3: "
    assert effects("ace-of-hearts", "1 - - + 3", text=text) == [
        Choose("1", 4),
        Choose("1", 2),
        Choose("1", 2, "No fewer cards of column 1 can go"),
        Choose("1", 4),
        move("1 3 x4"),
    ]


def test_enter_is_the_best_destination() -> None:
    assert last("willow", "1 enter") == move("1 0")
    assert last("willow", "5 enter") == move("5 q")
    assert last("willow", "1 - enter") == move("1 3 x2")
    assert last("willow", "1 - - enter") == move("1 0")
    assert last("steve", "1 enter") == move("1 0")
    assert last("athena", "w enter") == move("w 2")


def test_a_card_comes_back_from_a_foundation_where_the_game_lets_it() -> None:
    assert effects("steve", "0 8") == [
        Choose("0", 1),
        Which((move("01 8"), move("02 8")), "Which foundation's card? Type 1 for 5H, 2 for 5S"),
    ]
    assert last("steve", "0 8 2") == move("02 8")
    assert last("steve", "0 8 4") == Unknown("None of these foundations: the choice was 1 or 2")
    assert last("steve", "0 8 x") == Unknown("None of these foundations: the choice was 1 or 2")
    assert last("steve", "0 8 escape") == Cancel(idle=False)
    assert last("steve", "0 3") == Unknown("5H can't go on 7D: a column builds down by one in any suit")
    one = effects("steve", "0 1", text="1: 6H | 02: AS-5S | 03: AD")
    assert one[-1] == move("02 1")
    assert effects("steve", "0", text="1: 6H") == [Unknown("There is nothing to take: the foundations are empty")]


def test_the_stock_is_drawn_or_dealt() -> None:
    assert last("athena", "space") == DRAW
    assert last("athena", "3 space") == DRAW
    assert last("steve", "space") == DEAL
    assert last("ace-of-hearts", "space") == DEAL
    assert effects("steve", "space", text="1: 9C") == [Unknown("There is nothing to deal: the stock is empty")]
    assert effects("athena", "space", text="w: 9C") == [DRAW]


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("x", Command.ALL_UP),
        ("X", Command.ALL_UP),
        ("backspace", Command.UNDO),
        ("z", Command.UNDO),
        ("?", Command.HINT),
        ("question_mark", Command.HINT),
        ("f1", Command.HELP),
    ],
)
def test_commands(key: str, command: Command) -> None:
    assert last("phoenix", key) == Do(command)


def test_help_leaves_what_was_begun_and_other_commands_end_it() -> None:
    assert effects("willow", "1 f1 2")[-1] == move("1 2")
    assert effects("willow", "1 ? 2")[-1] == Choose("2", 1)


def test_escape_gives_up_what_was_begun_and_says_whether_anything_was() -> None:
    assert effects("willow", "1 escape escape") == [Choose("1", 3), Cancel(idle=False), Cancel(idle=True)]
    assert last("willow", "/ escape") == Cancel(idle=False)
    assert last("willow", "v escape") == Cancel(idle=False)


def test_cards_are_found_by_rank_and_suit() -> None:
    assert effects("willow", "/ 7 h") == [Typing("/"), Typing("/7"), Find(Card.parse("7H"))]
    assert effects("willow", "/ 1 0 s") == [Typing("/"), Typing("/1"), Typing("/10"), Find(Card.parse("TS"))]
    assert last("willow", "slash t S") == Find(Card.parse("TS"))
    assert last("willow", "/ q d") == Find(Card.parse("QD"))
    assert effects("willow", "/ 7 backspace q backspace backspace")[2:] == [
        Typing("/"),
        Typing("/Q"),
        Typing("/"),
        Cancel(idle=False),
    ]


@pytest.mark.parametrize(
    ("typed", "text", "sentence"),
    [
        ("/ x", "/", "'x' is not a rank: A, 2 to 10, J, Q or K"),
        ("/ h", "/", "'h' is not a rank: A, 2 to 10, J, Q or K"),
        ("/ 0", "/", "'0' is not a rank: A, 2 to 10, J, Q or K"),
        ("/ 1 h", "/1", "'h' is not a rank: A, 2 to 10, J, Q or K"),
        ("/ 7 x", "/7", "'x' is not a suit: C, D, H or S"),
        ("/ 7 enter", "/7", "enter is not a suit: C, D, H or S"),
    ],
)
def test_a_wrong_letter_of_a_card_is_told_and_does_nothing_else(typed: str, text: str, sentence: str) -> None:
    assert last("willow", typed) == Typing(text, sentence)
    assert last("willow", f"{typed} escape") == Cancel(idle=False)


def test_a_pile_can_be_looked_into() -> None:
    assert effects("willow", "v 1") == [Typing("look into which pile?"), LookInto("1")]
    assert last("willow", "1 v") == LookInto("1")
    assert last("athena", "v w") == LookInto("w")
    assert last("ace-of-hearts", "v 0") == LookInto("01")
    assert last("willow", "v 0") == Unknown("All cards below a foundation's top one are in it: look into another pile")


def test_the_mouse_picks_up_a_card_and_those_on_it_and_puts_them_down() -> None:
    now = board("willow", WILLOW)
    keys, effect = Keys().pick("1", now, 2)
    assert effect == Choose("1", 2)
    assert keys.put("3", now).effect == move("1 3 x2")
    assert keys.put("7", now).effect == move("1 7 x2")
    assert keys.put("03", now).effect == Unknown(
        "2 cards can't go to a foundation together: it takes one card at a time"
    )
    assert Keys().pick("1", now).keys.put("03", now).effect == move("1 0")
    assert Keys().put("1", now).effect == Choose("1", 3)
    assert keys.best(now).effect == move("1 3 x2")
    steve = board("steve", STEVE)
    assert Keys().pick("02", steve).keys.put("1", steve).effect == move("02 1")
    assert isinstance(Keys().pick("1", steve, 4).effect, Unknown)
    assert Keys().pick("stock", board("athena", ATHENA)).effect == Unknown(
        "Athena lets nothing be taken from a stock: start with another pile"
    )


def test_what_a_foundation_could_give_back_is_marked() -> None:
    assert picked(board("steve", STEVE), "0") == Marks(None, frozenset(["1", "4", "5", "6", "7", "8"]))


@given(reachable(), st.data())
def test_keys_always_come_to_a_legal_move_or_a_sentence(now: Board, data: st.DataObject) -> None:
    """Every legal move but a smaller group into an empty column or another copy of a card has two keys; no key is amiss."""
    now, keys = now.masked(), Keys()
    for key in data.draw(st.lists(st.sampled_from([*PILES, *NAMED_KEYS[:4], *"xz?/v-+hm"]), max_size=12)):
        keys, effect = keys.press(key, now)
        if isinstance(effect, Move):
            assert now.is_legal(effect)
        if isinstance(effect, Which):
            assert all(now.is_legal(one) for one in effect.moves)
        if isinstance(effect, Unknown):
            assert effect.sentence
            assert keys.idle
    for legal in now.legal_moves():
        if not legal.is_transfer:
            assert Keys().press("space", now).effect == legal
            continue
        at = now.game.index[legal.source]
        source = "0" if now.game.piles[at].kind is Kind.FOUNDATION else legal.source
        second = Keys().press(source, now).keys.press(legal.target, now)
        if isinstance(second.effect, Which):
            tops = [now.piles[now.game.index[one.source]][-1] for one in second.effect.moves]
            assert now.piles[at][-1] in tops
            assert second.keys.press(second.effect.moves[-1].source[1:], now).effect == second.effect.moves[-1]
        elif legal.target != "0" and not now.piles[now.game.index[legal.target]]:
            assert isinstance(second.effect, Move)
            assert second.effect.size >= legal.size
            begun = Keys().pick(source, now).keys
            while begun.size != legal.size and source != "0":
                begun = begun.press("-" if (begun.size or 99) > legal.size else "+", now).keys
            assert begun.press(legal.target, now).effect == legal or source == "0"
        elif source == "0":
            assert isinstance(second.effect, Move)
        else:
            assert second.effect == legal


# ---------------------------------------------------------------- bindings


def test_a_file_changes_the_keys_of_commands_and_piles() -> None:
    changed = load_bindings('[commands]\nundo = ["delete", "ctrl+z"]\nall-up = "M"\nhint = []\n[piles]\n1 = "&"\n')
    assert changed.commands[Command.UNDO] == ("delete", "ctrl+z")
    assert effects("willow", "& 2", changed) == [Choose("1", 3), move("1 2")]
    assert last("willow", "ctrl+z", changed) == Do(Command.UNDO)
    assert last("willow", "m", changed) == Do(Command.ALL_UP)
    assert [type(last("willow", key, changed)) for key in ("backspace", "x", "?", "1")] == [Unknown] * 4
    assert last("willow", "enter", changed) == last("willow", "enter")


def test_an_empty_file_changes_nothing() -> None:
    assert load_bindings("") == DEFAULT
    assert load_bindings("# keys\n[commands]\n[piles]\n") == DEFAULT


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[commands\n", r"The key file is not TOML: .*line 1"),
        ("[colours]\nred = 1\n", r"line 1: 'colours' is no table of a key file: it has \[commands\] and \[piles\]"),
        ("undo = 'z'\n", r"line 1: 'undo' is no table of a key file: it has"),
        ("\n[commands]\n\nundoo = 'z'\n", r"line 4: 'undoo' is no command: the commands are best, stock, all-up, undo"),
        ("[piles]\n9 = 'z'\n", r"line 2: '9' is no pile: the piles are 0, 1, 2"),
        ("[commands]\nundo = 3\n", r"line 2: undo: write a key in quotes, or several in brackets"),
        ("[commands]\nundo = ['z', 3]\n", r"line 2: undo: write a key in quotes"),
        (
            "[commands]\nundo = 'bakspace'\n",
            r"line 2: undo: 'bakspace' is no key: write one character, or one of space, ",
        ),
        ("[commands]\nundo = ''\n", r"line 2: undo: '' is no key"),
        ("[commands]\nundo = 'hyper+z'\n", r"line 2: undo: 'hyper\+z' is no key"),
        ("[commands]\nundo = 'ctrl+ctrl+z'\n", r"line 2: undo: 'ctrl\+ctrl\+z' is no key"),
        ("[piles]\n1 = []\n", r"line 2: pile 1 needs a key"),
        ("[commands]\nundo = 'x'\n", r"line 2: 'x' can't mean both all-up \(its default\) and undo: give one of them"),
        ("[commands]\nundo = 'q'\n", r"line 2: 'q' can't mean both undo and pile q \(its default\)"),
        ("[commands]\nundo = 'm'\nhint = 'm'\n", r"line 3: 'm' can't mean both undo and hint"),
        ("[commands]\nundo = 'm'\n[piles]\n1 = 'm'\n", r"line 4: 'm' can't mean both undo and pile 1"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(MalformedText, match=sentence):
        load_bindings(text)


def test_no_key_means_two_things_from_the_start() -> None:
    every = [key for keys in (*DEFAULT.commands.values(), *DEFAULT.piles.values()) for key in keys]
    assert len(every) == len(set(every))
    assert set(Command) == set(DEFAULT.commands)
    for game in GAMES.values():
        named = {key for key in game.keys if not key.startswith("0") and key != "stock"}
        assert named < set(PILES)


def test_keys_have_one_name() -> None:
    assert [normal_key(key) for key in (" ", "return", "minus", "equals_sign", "q")] == [
        "space",
        "enter",
        "-",
        "=",
        "q",
    ]
