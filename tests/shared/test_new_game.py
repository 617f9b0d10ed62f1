"""A sixth game made of today's policies: one value is all that the rules need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from samedeal.errors import BadRecord, MalformedGame, UnknownGame
from samedeal.game import Game
from samedeal.game_file import parse_game_file
from samedeal.games import DEFAULT_GAME, GAMES, MOST_OFFERED, SHIPPED_RULES, game_named, offer, offered
from samedeal.record import Record
from tests.golden.golden_files import assert_answers, values_on
from tests.shared.recorded import recorded
from tests.shared.sixth_game import HAMLET, HAMLET_FILE
from tests.tools.solver_tables import FOLDER, with_wins

SEED = bytes(range(32))


@pytest.fixture(autouse=True)
def sixth_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the game for the time of a test."""
    monkeypatch.setitem(GAMES, HAMLET.name, HAMLET)


VARIANT = f"""{HAMLET_FILE}
[variants.laertes]
title = "Laertes"
stock = "draws of one"
"""


def test_variant_has_the_rest_of_the_file() -> None:
    hamlet, laertes = (Game(*game) for game in parse_game_file("hamlet", VARIANT).items())
    assert (laertes.name, laertes.title, laertes.stock.drawn) == ("laertes", "Laertes", 1)
    assert (hamlet.file.variant_of, laertes.file.variant_of) == ("", "hamlet")
    assert (hamlet.rules["piles"], hamlet.stock.drawn) == (laertes.rules["piles"], 3)


def test_broken_files_are_refused_as_the_page_says() -> None:
    def answer(_: str, question: str) -> str:
        old, new = map(eval, question.split(" to "))
        assert old in VARIANT
        with pytest.raises(MalformedGame) as caught:
            parse_game_file("hamlet", VARIANT.replace(old, new))
        line = ["", *VARIANT.replace(old, new).splitlines()][caught.value.line]
        return f"{caught.value}{f' {line[:40]!r}' * bool(line)}"

    assert_answers("game_files", answer)


def house(**changes: str) -> str:
    """The file of Hamlet with other values of some keys."""
    return "".join(f"{key} = {value}\n" for key, value in changes.items()) + HAMLET_FILE


@pytest.fixture
def nothing_offered() -> Iterator[None]:
    yield
    offer({})


@pytest.mark.usefixtures("nothing_offered")
def test_offered_games_are_games_until_the_next_offer() -> None:
    shipped = dict(GAMES)
    assert offer({"house": VARIANT, "other": HAMLET_FILE}) == []
    assert {*GAMES} - {*shipped} == {"house", "laertes", "other"}
    assert offered() == {"house": VARIANT, "other": HAMLET_FILE}
    assert offered((*SHIPPED_RULES, GAMES["house"].rules_hash, GAMES["laertes"].rules_hash)) == {"other": HAMLET_FILE}
    assert {*offered(())} > {"house", "other", DEFAULT_GAME}
    offer({"third": HAMLET_FILE})
    assert {*GAMES} - {*shipped} == {"third"}
    offer({})
    assert shipped == GAMES
    assert offered() == {}


@pytest.mark.usefixtures("nothing_offered")
@pytest.mark.parametrize(
    ("name", "title", "shown"),
    [
        ("house", "Willow", "Willow (this server's own)"),
        ("house", "VViIl0w", "VViIl0w"),
        ("house", "wil-I0w.", "wil-I0w. (this server's own)"),
        ("wil-low", "House", "House (this server's own)"),
        ("house", "Weeping Willow", "Weeping Willow"),
    ],
)
def test_game_that_looks_like_a_shipped_one_is_marked(name: str, title: str, shown: str) -> None:
    assert offer({name: HAMLET_FILE.replace("Hamlet", title)}) == []
    assert GAMES[name].title == shown
    assert offered()[name].startswith(f'title = "{title}"')
    assert {game.title for game in GAMES.values() if game.title.endswith("own)")} <= {shown}


@pytest.mark.usefixtures("nothing_offered")
def test_games_that_cannot_be_offered_are_refused() -> None:
    given = values_on("offered_games", globals(), {"MOST_OFFERED": MOST_OFFERED})

    def answer(_: str, question: str) -> str:
        files = given[question]
        (error,) = offer(files)
        assert str(error).isprintable()
        assert len(offered()) == len(files) - 1
        if (last := [*files][-1]) not in GAMES:
            with pytest.raises(UnknownGame) as caught:
                game_named(last)
            assert str(error) in str(caught.value)
        return str(error)

    assert_answers("offered_games", answer)


@pytest.mark.usefixtures("nothing_offered")
def test_rules_hash_depends_on_the_rules_alone() -> None:
    text = "".join(f"[variants.{name}]\n{line}\n" for name, line in {
        "title": 'title = "House"',
        "searched": "search = [{ card = 1, side_card = 1 }]",
        "suits": "suits = 2",
        "stock": 'stock = "draws of one"',
    }.items())  # fmt: skip
    games = {"house": HAMLET_FILE + text}
    offer(games)
    hashes = {name: Game("house", GAMES[name].file).rules_hash for name in ("title", "searched", "suits", "stock")}
    house = GAMES["house"].rules_hash
    assert [name for name, found in hashes.items() if found == house] == ["title", "searched"]
    assert house not in (HAMLET.rules_hash, GAMES["title"].rules_hash)


@pytest.mark.usefixtures("nothing_offered")
def test_record_needs_the_file_of_its_game() -> None:
    offer({"house": HAMLET_FILE})
    text = str(recorded("house", "random", ("ana", ((500, "draw"),)), seed=SEED))
    Record.parse(text).check()
    for files, reason in (({}, "no rules of"), ({"house": HAMLET_FILE.replace("3 3", "4 3")}, "other rules of")):
        offer(files)
        with pytest.raises(BadRecord, match=f"{reason} the game 'house' here.*--games FILE") as caught:
            Record.parse(text)
        assert (caught.value.first, caught.value.last) == (4, 5)


def test_measured_share_of_won_deals_is_written_into_the_file() -> None:
    for game in [game for game in GAMES.values() if game.rules_hash in SHIPPED_RULES]:
        text = (FOLDER / f"{game.file.variant_of or game}.toml").read_text("utf-8")
        assert with_wins(text, game, game.file.wins) == text
        changed = parse_game_file(game.file.variant_of or game.name, with_wins(text, game, 0.25))
        assert changed[game.name].wins == 0.25
