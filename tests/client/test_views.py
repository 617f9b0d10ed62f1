"""The screens around a race: golden texts, and properties that hold in every size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as with_

from samedeal.deal import Deal, commitment
from samedeal.games import GAMES
from samedeal.options import Options
from samedeal.protocol.messages import RoomState, Seat, Standing, Tally
from samedeal.terminal_text import columns_of
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.state.model import Model
from samedeal_client.state.progress_history import ProgressHistory, ProgressPoint
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import fit_player_name
from samedeal_client.text.spans import row_text, row_width
from samedeal_client.views.help import PAGES, help_view
from samedeal_client.views.key_help import HelpContext
from samedeal_client.views.results import ResultDetails, race_length, results_keys, results_view
from samedeal_client.views.screen_body import Page, View
from samedeal_client.views.waiting import (
    KICK_KEY,
    NO_BOTS,
    Invitation,
    OwnBots,
    players_to_kick,
    start_condition,
    waiting_keys,
    waiting_view,
)
from tests.golden.golden_files import assert_golden, assert_sentences

NOW = 1_790_000_000_000

Draw = Callable[[Look, int, int], View]
LOOKS = {"glyphs": Look(), "ascii": Look(ascii=True, colour=False)}
SIZES = {"80x24": (80, 21), "120x40": (120, 37), "60x20": (60, 17)}
"""Sizes of the terminal, each with the size of the view inside the frame."""

NAMES = ("ana", "mira", "k0ji", "漢字の名前", "easy")
BOT_PLAYERS = ("k0ji", "easy")


def room(players: int = 3, **more: Any) -> RoomState:
    """A room with some players. The second one is the player of this client."""
    given: dict[str, Any] = {
        "phase": "open",
        "options": Options(games=("steve",), players=max(6, players)),
        "private": False,
        "commitment": commitment(Deal.parse("#4821").public_seed()),
        **more,
    }
    return RoomState(
        room="friday",
        event=1,
        game=given["options"].games[0],
        deal="#4821",
        host="p0",
        players=tuple(
            Seat(
                player=f"p{at}",
                name=NAMES[at % 5] + str(at) * (at > 4),
                seat=at + 1,
                ready=not at % 2,
                bot=NAMES[at % 5] in BOT_PLAYERS,
            )
            for at in range(players)
        ),
        tallies=tuple(Tally(player=f"p{at}", connected=at != 2) for at in range(players)),
        **given,
    )


def waiting(me: str = "p1", **more: Any) -> Model:
    return Model(me=me, name="mira").after(room(**more))


def finished(*ups: int, following: str = "") -> Model:
    """A finished race with these numbers of foundation cards. A player with all 104 cards has finished."""
    standings = tuple(
        Standing(
            place=at + 1,
            player=f"p{at}",
            name=NAMES[at % 5] + str(at) * (at > 4),
            foundation_cards=up,
            time=418_000 if up == 104 else 0,
            moves=2 * up,
            undos=at,
            bot=NAMES[at % 5] in BOT_PLAYERS,
        )
        for at, up in enumerate(ups)
    )
    seed = Deal.parse("#4821").public_seed()
    model = waiting(players=len(ups)).after(
        room(len(ups), phase="finished", starts=NOW, ends=NOW + 900_000, seed=seed, standings=standings, next=following)
    )
    series = {
        line.player: ProgressHistory(
            tuple(
                ProgressPoint(NOW + 400_000 * card // max(line.foundation_cards, 1), card, 2 * card)
                for card in range(1, line.foundation_cards + 1)
            )
        )
        for line in standings
    }
    return replace(model, history=MappingProxyType(series))


INVITATION = Invitation("samedeal join cards.example.org friday")
HERE = Invitation("samedeal join localhost friday", "localhost", "http://localhost:7777/friday")
SAVED = "Record saved in ~/.local/share/samedeal/records/2026-11-21-180000-friday.txt"
CYCLE = Options(games=("steve", "athena"), players=16, start="at", start_at=NOW + 600_000, spectators=False, bots=False)


def waits(model: Model, invitation: Invitation = INVITATION, bots: OwnBots = NO_BOTS, *, kicking: bool = False) -> Draw:
    return lambda look, width, height: waiting_view(
        model, invitation, look, width, height, 0, UTC, bots, kicking=kicking
    )


def ends(model: Model, after: ResultDetails) -> Draw:
    return lambda look, width, height: results_view(model, after, look, width, height)


def helps(page: str, over: HelpContext = "race") -> Draw:
    return lambda look, width, height: help_view(page, DEFAULT, look, width, height, 0, over)


BOTS = OwnBots(BOT_PLAYERS, ("ott",))
VIEWS: dict[str, Draw] = {
    "waiting": waits(waiting()),
    "waiting_explained": lambda look, width, height: waiting_view(
        waiting("p0"), HERE, look, width, height, 0, UTC, explained=True
    ),
    "waiting_host": waits(waiting("p0"), HERE),
    "waiting_kicking": waits(waiting("p0", players=5), HERE, BOTS, kicking=True),
    "waiting_bots": waits(waiting("p0", players=5), HERE, BOTS),
    "waiting_full": waits(waiting(players=16, private=True, watching=3, options=CYCLE), HERE),
    "waiting_crowded": waits(waiting(players=15, options=CYCLE), HERE, BOTS),
    "results": ends(finished(104, 97, 64, 22), ResultDetails(SAVED)),
    "results_rematch": ends(finished(104, 30, following="friday-2"), ResultDetails(SAVED, 1)),
    "results_many": ends(finished(*range(104, 8, -6)), ResultDetails()),
    "help_keys": helps("keys"),
    "help_lobby": helps("keys", "lobby"),
    "help_new_room": helps("keys", "new room"),
    "help_waiting": helps("keys", "waiting"),
    "help_athena": helps("athena"),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("size", SIZES)
def test_views_match_their_goldens(look: str, size: str) -> None:
    width, height = SIZES[size]
    edge = "=" * width
    texts = [f"{name}\n{edge}\n{draw(LOOKS[look], width, height).text()}{edge}" for name, draw in VIEWS.items()]
    assert_golden(f"screens/lobby_flow/{size}_{look}.txt", "\n\n".join(texts) + "\n")


@pytest.mark.parametrize("name", VIEWS)
@settings(max_examples=30)
@given(width=st.integers(60, 200), height=st.integers(16, 70), ascii_only=st.booleans(), colour=st.booleans())
def test_a_view_fills_its_size_exactly(name: str, width: int, height: int, ascii_only: bool, colour: bool) -> None:
    look = Look(ascii=ascii_only, colour=colour)
    view = VIEWS[name](look, width, height)
    assert len(view.rows) == height
    assert {row_width(row) for row in view.rows} == {width}
    assert all(0 <= area.y < height and 0 <= area.x < area.x + area.width <= width for area in view.areas)
    assert not ascii_only or view.text().isascii()


@pytest.mark.parametrize("name", VIEWS)
def test_every_action_has_a_position(name: str) -> None:
    view = VIEWS[name](Look(), 80, 21)
    for area in view.areas:
        at = view.position_of(area.action)
        assert at is not None
        assert view.action_at(*at) is not None


def test_a_clickable_part_takes_precedence_over_its_row() -> None:
    page = Page(Look(), 60)
    page.add_row(clickable("here", "inner"), action="row")
    view = page.view(3)
    assert (view.action_at(0, 0), view.action_at(3, 0), view.action_at(4, 0), view.action_at(59, 0)) == (
        "inner",
        "inner",
        "row",
        "row",
    )
    assert view.action_at(0, 1) is None


def clickable(text: str, action: str) -> Any:
    from samedeal_client.views.screen_body import ClickableText

    return ClickableText(text, "key", action)


def long_page(rows: int) -> Page:
    from samedeal_client.text.spans import Span

    page = Page(Look(), 60)
    for number in range(rows):
        page.add_row(Span(str(number)))
    return page


@pytest.mark.parametrize(
    ("scroll", "first", "above", "below"),
    [(0, "0", 0, 20), (5, "5", 5, 15), (20, "20", 20, 0), (99, "20", 20, 0), (-4, "0", 0, 20)],
)
def test_scrolling_stops_at_the_ends(scroll: int, first: str, above: int, below: int) -> None:
    view = long_page(30).view(10, scroll)
    assert (row_text(view.rows[0]).strip(), view.scroll, view.rows_below) == (first, above, below)


STARTS = {
    "host": ("p0", Options(games=("steve",), players=6)),
    "host, to another player": ("p1", Options(games=("steve",), players=6)),
    "all-ready": ("p1", Options(games=("steve",), start="all-ready")),
    "full": ("p1", Options(games=("steve",), start="full", players=6)),
    "at": ("p1", Options(games=("steve",), start="at", start_at=NOW + 63_000, countdown=3)),
}


def test_the_wording_of_start_conditions() -> None:
    lines = [f"{name}\t{start_condition(waiting(me, options=each), NOW)}" for name, (me, each) in STARTS.items()]
    alone = waiting("p0", players=1, options=Options(games=("steve",), start="all-ready"))
    assert_sentences("waiting for a race", [*lines, f"all-ready, alone\t{start_condition(alone, NOW)}"])


def test_only_the_host_has_a_start_key() -> None:
    assert "enter" in [word.key for word in waiting_keys(waiting("p0"))]
    assert "enter" not in [word.key for word in waiting_keys(waiting("p1"))]


def test_the_ready_key_names_its_effect() -> None:
    words = {me: {word.key: word.description for word in waiting_keys(waiting(me))}["space"] for me in ("p0", "p1")}
    assert words == {"p0": "not ready", "p1": "ready"}


def test_only_the_host_can_kick_and_not_itself() -> None:
    def can_kick(me: str, players: int = 3, bots: OwnBots = NO_BOTS) -> list[str]:
        model = waiting(me, players=players)
        shown = KICK_KEY in [word.key for word in waiting_keys(model, bots)]
        assert shown == bool(players_to_kick(model, bots))
        return [f"{key} {seat.name}" for key, seat in players_to_kick(model, bots).items()]

    assert can_kick("p0") == [f"2 {NAMES[1]}", f"3 {NAMES[2]}"]
    assert can_kick("p0", bots=OwnBots((NAMES[1],))) == [f"3 {NAMES[2]}"]
    assert can_kick("p0", players=1) == []
    assert can_kick("p1") == []
    assert can_kick("stranger") == []


def test_keys_while_kicking_are_those_of_the_players() -> None:
    keys = waiting_keys(waiting("p0", players=12, options=Options(games=("steve",), players=16)), kicking=True)
    assert [(word.key, word.description) for word in keys] == [("2", "kick"), ("f1", "help"), ("escape", "cancel")]
    assert keys[0].label == "2-c"
    assert waiting_keys(waiting("p0", players=2), kicking=True)[0].label == "2"


def test_a_spectator_has_no_ready_key() -> None:
    assert "space" not in [word.key for word in waiting_keys(waiting("stranger"))]


def test_a_bot_can_be_added_while_a_seat_is_free() -> None:
    def keys(seats: int, bots: OwnBots) -> list[str]:
        model = waiting("p0", players=3, options=Options(games=("steve",), players=seats))
        return [word.description for word in waiting_keys(model, bots)]

    assert "add a bot" in keys(4, NO_BOTS)
    assert "add a bot" not in keys(3, NO_BOTS)
    assert "add a bot" not in keys(4, OwnBots((), ("ott",)))
    assert "remove bot" in keys(4, OwnBots((), ("ott",)))
    assert "remove bot" not in keys(4, NO_BOTS)


def test_no_bot_can_be_added_to_a_room_without_bots() -> None:
    model = waiting("p0", players=3, options=Options(games=("steve",), players=8, bots=False))
    assert "add a bot" not in [word.description for word in waiting_keys(model)]


@pytest.mark.parametrize("name", ["ott", "a-name-of-20-columns", "漢字の名前漢字の名前"])
@pytest.mark.parametrize("width", range(5, 30))
def test_mark_of_a_bot_is_never_cut(name: str, width: int) -> None:
    shown = fit_player_name(name, Look(), width, bot=True)
    assert "(bot)" in shown
    assert columns_of(shown) == width
    assert "(bot)" not in fit_player_name(name, Look(), width, bot=False)


def test_own_bots_can_be_removed_by_click() -> None:
    view = VIEWS["waiting_bots"](Look(), 80, 21)
    lines = view.text().splitlines()
    for name, label in (
        ("k0ji", "your bot       remove"),
        ("easy (bot)", "your bot       remove"),
        ("ott (bot)", "joining    [-] remove"),
    ):
        position = view.position_of(f"remove {name.partition(' ')[0]}")
        assert position is not None
        assert name in lines[position[1]]
        assert label in lines[position[1]]
    assert view.position_of("remove ana") is None


def test_the_rematch_key_names_an_open_rematch() -> None:
    assert results_keys(finished(104, 3))[0].description == "rematch: #4822"
    assert results_keys(finished(104, 3, following="friday-2"))[0].description == "join the rematch"


@pytest.mark.parametrize(
    ("deal", "words"),
    [
        ("#7", ["rematch: #8", "new room: random", "#7 again"]),
        ("daily 2026-11-21", ["rematch: random deal", "new room: random", "daily 2026-11-21 again"]),
        ("random", ["rematch: random deal", "new room: random"]),
    ],
)
def test_result_keys_name_the_deals(deal: str, words: list[str]) -> None:
    model = finished(104, 3)
    assert model.room is not None
    model = replace(model, room=with_(model.room, deal=deal))
    assert [key.description for key in results_keys(model)][: len(words)] == words
    assert (deal == "random") == ("a" not in [key.key for key in results_keys(model)])


def unknown_before(model: Model, player: str, at: int) -> Model:
    """The model of a client that knows a player's progress only from ``at`` milliseconds after the start."""
    series = model.history[player]
    kept = ProgressHistory(tuple(point for point in series.points if point.time >= NOW + at), ((0, NOW + at),))
    return replace(model, history=MappingProxyType({**model.history, player: kept}))


def test_a_player_known_only_at_the_end_has_no_curve() -> None:
    model = unknown_before(finished(104, 97, 64, 22), "p0", 300_000)
    text = results_view(model, ResultDetails(), Look(), 80, 21).text()
    legend = next(row for row in text.splitlines() if row.startswith(" foundations"))
    assert "ana" not in legend
    assert "No curve, because you were away for most of the race: ana." in text


def test_a_curve_has_gaps_where_it_is_unknown() -> None:
    model = unknown_before(finished(104, 97, 64, 22), "p0", 100_000)
    text = results_view(model, ResultDetails(), Look(), 80, 21).text()
    assert "ana" in next(row for row in text.splitlines() if row.startswith(" foundations"))
    assert "Curves have gaps where you were away." in text


def test_without_progress_there_is_no_plot() -> None:
    model = replace(finished(104, 97), history=MappingProxyType({}))
    text = results_view(model, ResultDetails(), Look(), 80, 21).text()
    assert "\n foundations" not in text
    assert "There is no plot" in text


def test_the_own_curve_comes_from_the_record() -> None:
    model = replace(finished(104, 97), history=MappingProxyType({}))
    text = results_view(model, ResultDetails(own_progress=((100_000, 30), (300_000, 97))), Look(), 80, 21).text()
    legend = next(row for row in text.splitlines() if row.startswith(" foundations"))
    assert "mira" in legend
    assert "most of the race: ana." in text


def test_a_race_lasts_until_its_last_event() -> None:
    assert race_length(finished(104, 3)) == 418_000
    assert race_length(finished(50, 3)) == 400_000


def test_a_failed_deal_check_is_red() -> None:
    state = finished(104, 3).room
    assert state is not None
    model = waiting(players=2).after(msgspec.structs.replace(state, seed=b"\0" * 32))
    rows = results_view(model, ResultDetails(), Look(), 80, 21).rows
    (span,) = [span for row in rows for span in row if "NOT" in span.text]
    assert span.style == "bad"


def test_every_help_page_explains_moving_and_counts_its_rows() -> None:
    for page in PAGES:
        view = help_view(page, DEFAULT, Look(), 80, 21)
        assert "3 5" in view.text()
        assert view.rows_below > 0
        assert f"{view.rows_below} more lines below" in view.text().splitlines()[-1]
        last = help_view(page, DEFAULT, Look(), 80, 21, view.rows_below)
        assert last.rows_below == 0
        assert " end " in last.text().splitlines()[-1]


def test_a_game_page_names_the_key_of_the_stock() -> None:
    for game in GAMES.values():
        text = help_view(game.name, DEFAULT, Look(), 80, 200).text()
        assert ("Space" in text) == (game.stock_at >= 0)
