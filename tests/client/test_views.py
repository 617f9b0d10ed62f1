"""The screens around a race as text, kept to be read by eye, and what holds of them in every size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
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
from samedeal_client.board.bindings import DEFAULT
from samedeal_client.rooms.lobby import Lobby
from samedeal_client.rooms.model import Model
from samedeal_client.rooms.room_form import RoomForm
from samedeal_client.rooms.series import Point, Series
from samedeal_client.text.look import Look
from samedeal_client.text.spans import row_text, row_width
from samedeal_client.views.help import PAGES, help_view
from samedeal_client.views.key_help import Where
from samedeal_client.views.lobby import lobby_view
from samedeal_client.views.new_room import new_room_view, said
from samedeal_client.views.page import Page, View
from samedeal_client.views.results import Aftermath, race_length, results_keys, results_view
from samedeal_client.views.waiting import NO_BOTS, Invitation, OwnBots, waiting_keys, waiting_view, waits_for
from tests.client.test_lobby import line
from tests.golden.kept import assert_kept

NOW = 1_790_000_000_000
TODAY = date(2026, 11, 21)
EVENING = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)

Draw = Callable[[Look, int, int], View]
LOOKS = {"glyphs": Look(), "ascii": Look(ascii=True, colour=False)}
SIZES = {"80x24": (80, 21), "120x40": (120, 37), "60x20": (60, 17)}
"""Of the terminal, and what the frame leaves of it."""

ROOMS = (
    line("friday", "3/6", game="steve", deal="#4821"),
    line("lunch", "5/5", deal="daily 2026-11-21"),
    line("cup-semis", "4/4", "racing", game="ace-of-hearts", starts=NOW - 167_000),
    line("quiet", "1/4", game="phoenix", private=True),
    line("k7m2qx", "2/8", "countdown", game="athena", deal="#1", starts=NOW + 2_500),
    line("last-week", "2/8", "finished", game="athena"),
)
NAMES = ("ana", "mira", "k0ji", "漢字の名前", "bot-easy")


def room(players: int = 3, **more: Any) -> RoomState:
    """A room with so many players, the second of them oneself."""
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
            Seat(player=f"p{at}", name=NAMES[at % 5] + str(at) * (at > 4), seat=at + 1, ready=not at % 2)
            for at in range(players)
        ),
        tallies=tuple(Tally(player=f"p{at}", connected=at != 2) for at in range(players)),
        **given,
    )


def waiting(me: str = "p1", **more: Any) -> Model:
    return Model(me=me, name="mira").after(room(**more))


def finished(*ups: int, following: str = "") -> Model:
    """A race of which the players have so many cards up in the end; who has 104 is home."""
    standings = tuple(
        Standing(
            place=at + 1,
            player=f"p{at}",
            name=NAMES[at % 5] + str(at) * (at > 4),
            up=up,
            time=418_000 if up == 104 else 0,
            moves=2 * up,
            undos=at,
        )
        for at, up in enumerate(ups)
    )
    seed = Deal.parse("#4821").public_seed()
    model = waiting(players=len(ups)).after(
        room(len(ups), phase="finished", starts=NOW, ends=NOW + 900_000, seed=seed, standings=standings, next=following)
    )
    series = {
        line.player: Series(
            tuple(Point(NOW + 400_000 * card // max(line.up, 1), card, 2 * card) for card in range(1, line.up + 1))
        )
        for line in standings
    }
    return replace(model, series=MappingProxyType(series))


INVITATION = Invitation("samedeal join cards.example.org friday")
HERE = Invitation("samedeal join localhost friday", "localhost")
SAVED = "Your race: ~/.local/share/samedeal/records/2026-11-21-180000-friday.txt"
CYCLE = Options(games=("steve", "athena"), players=16, start="at", start_at=NOW + 600_000, spectators=False)


def lobby(**more: Any) -> Lobby:
    return Lobby(TODAY, **more).listed(ROOMS)


def drawn(lobby: Lobby) -> Draw:
    return lambda look, width, height: lobby_view(lobby, look, width, height, NOW)


def form(made: RoomForm) -> Draw:
    return lambda look, width, height: new_room_view(made, look, width, height, EVENING)


def waits(model: Model, invitation: Invitation = INVITATION, bots: OwnBots = NO_BOTS) -> Draw:
    return lambda look, width, height: waiting_view(model, invitation, look, width, height, 0, UTC, bots)


def ends(model: Model, after: Aftermath) -> Draw:
    return lambda look, width, height: results_view(model, after, look, width, height)


def helps(page: str, over: Where = "race") -> Draw:
    return lambda look, width, height: help_view(page, DEFAULT, look, width, height, 0, over)


BOTS = OwnBots(("k0ji", "bot-easy"), ("ott (greedy)",))
WRONG = RoomForm().with_value("players", "99").with_value("start", "at a time").with_value("start_at", "20:99")
VIEWS: dict[str, Draw] = {
    "lobby": drawn(lobby()),
    "lobby_empty": drawn(Lobby(TODAY).listed(())),
    "lobby_unknown": drawn(Lobby(TODAY)),
    "lobby_passphrase": drawn(lobby(game="steve").asking("quiet", watch=False, wrong=True).press("a")[0].press("b")[0]),
    "lobby_crowded": drawn(
        Lobby(TODAY, chosen="room-33").listed(tuple(line(f"room-{number}") for number in range(60)))
    ),
    "new_room": form(RoomForm()),
    "new_room_wrong": form(WRONG),
    "waiting": waits(waiting()),
    "waiting_host": waits(waiting("p0"), HERE),
    "waiting_bots": waits(waiting("p0", players=5), HERE, BOTS),
    "waiting_full": waits(waiting(players=16, private=True, watching=3, options=CYCLE), HERE),
    "waiting_crowded": waits(waiting(players=15, options=CYCLE), HERE, BOTS),
    "results": ends(finished(104, 97, 64, 22), Aftermath(SAVED)),
    "results_rematch": ends(finished(104, 30, following="friday-2"), Aftermath(SAVED, 1)),
    "results_many": ends(finished(*range(104, 8, -6)), Aftermath()),
    "help_keys": helps("keys"),
    "help_lobby": helps("keys", "lobby"),
    "help_new_room": helps("keys", "new room"),
    "help_waiting": helps("keys", "waiting"),
    "help_athena": helps("athena"),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("size", SIZES)
def test_views_are_the_kept_ones(look: str, size: str) -> None:
    width, height = SIZES[size]
    edge = "=" * width
    texts = [f"{name}\n{edge}\n{draw(LOOKS[look], width, height).text()}{edge}" for name, draw in VIEWS.items()]
    assert_kept(f"screens/around/{size}_{look}.txt", "\n\n".join(texts) + "\n")


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
def test_what_can_be_clicked_can_be_found(name: str) -> None:
    view = VIEWS[name](Look(), 80, 21)
    for area in view.areas:
        at = view.where(area.does)
        assert at is not None
        assert view.hit(*at) is not None


# ---------------------------------------------------------------- pages


def test_a_later_link_lies_over_its_row() -> None:
    page = Page(Look(), 60)
    page.add(page_link("here", "inner"), does="row")
    view = page.view(3)
    assert (view.hit(0, 0), view.hit(3, 0), view.hit(4, 0), view.hit(59, 0)) == ("inner", "inner", "row", "row")
    assert view.hit(0, 1) is None


def page_link(text: str, does: str) -> Any:
    from samedeal_client.views.page import Link

    return Link(text, "key", does)


def long_page(rows: int, chosen: int = -1) -> Page:
    from samedeal_client.text.spans import Span

    page = Page(Look(), 60)
    for number in range(rows):
        page.add(Span(str(number)), chosen=number == chosen)
    return page


@pytest.mark.parametrize(
    ("scroll", "first", "above", "below"),
    [(0, "0", 0, 20), (5, "5", 5, 15), (20, "20", 20, 0), (99, "20", 20, 0), (-4, "0", 0, 20)],
)
def test_scrolling_ends_at_the_ends(scroll: int, first: str, above: int, below: int) -> None:
    view = long_page(30).view(10, scroll)
    assert (row_text(view.rows[0]).strip(), view.scroll, view.beyond) == (first, above, below)


def test_the_chosen_row_is_in_sight() -> None:
    for chosen in range(30):
        view = long_page(30, chosen).view(10)
        assert str(chosen) in [row_text(row).strip() for row in view.rows]


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("me", "options", "words"),
    [
        ("p0", Options(games=("steve",), players=6), "You are the host: you start the race; 2 of 3 are ready"),
        ("p1", Options(games=("steve",), players=6), "ana starts the race; 2 of 3 are ready"),
        ("p1", Options(games=("steve",), start="all-ready"), "It starts when all are ready: 2 of 3 are"),
        ("p1", Options(games=("steve",), start="full", players=6), "It starts when every seat is taken: 3 of 6 are"),
        (
            "p1",
            Options(games=("steve",), start="at", start_at=NOW + 63_000, countdown=3),
            "It starts in 01:00",
        ),
    ],
)
def test_what_a_race_waits_for_is_said(me: str, options: Options, words: str) -> None:
    assert waits_for(waiting(me, options=options), NOW) == words


def test_one_alone_is_told_that_another_is_needed() -> None:
    model = waiting("p0", players=1, options=Options(games=("steve",), start="all-ready"))
    assert "one more player is needed" in waits_for(model, NOW)


def test_only_the_host_is_shown_the_key_that_starts() -> None:
    assert "enter" in [word.key for word in waiting_keys(waiting("p0"))]
    assert "enter" not in [word.key for word in waiting_keys(waiting("p1"))]


def test_the_key_for_ready_says_what_it_does_next() -> None:
    words = {me: {word.key: word.word for word in waiting_keys(waiting(me))}["space"] for me in ("p0", "p1")}
    assert words == {"p0": "not ready", "p1": "ready"}


def test_who_only_watches_has_no_seat_to_be_ready_on() -> None:
    assert "space" not in [word.key for word in waiting_keys(waiting("stranger"))]


def test_a_bot_can_be_added_while_there_is_a_seat_that_none_is_on_the_way_to() -> None:
    def keys(seats: int, bots: OwnBots) -> list[str]:
        model = waiting("p0", players=3, options=Options(games=("steve",), players=seats))
        return [word.word for word in waiting_keys(model, bots)]

    assert "add a bot" in keys(4, NO_BOTS)
    assert "add a bot" not in keys(3, NO_BOTS)
    assert "add a bot" not in keys(4, OwnBots((), ("ott (greedy)",)))
    assert "a bot out" in keys(4, OwnBots((), ("ott (greedy)",)))
    assert "a bot out" not in keys(4, NO_BOTS)


def test_each_bot_of_ones_own_is_taken_out_by_a_click_on_it_and_the_last_one_by_the_key() -> None:
    view = VIEWS["waiting_bots"](Look(), 80, 21)
    lines = view.text().splitlines()
    for name, told in (
        ("k0ji", "your bot     out"),
        ("bot-easy", "your bot     out"),
        ("ott (greedy)", "on the way - out"),
    ):
        at = view.where(f"out {name}")
        assert at is not None
        assert name in lines[at[1]]
        assert told in lines[at[1]]
    assert view.where("out ana") is None


def test_the_form_says_in_full_what_its_line_is_too_narrow_for() -> None:
    assert said(RoomForm(), Look(), EVENING).text.startswith("Game: 7 columns")
    assert said(WRONG, Look(), EVENING).text.startswith("! write 20:30")
    missed = said(RoomForm().press("x"), Look(), EVENING).text
    assert missed == "Nothing begins with 'x': Athena, Steve, Phoenix, Ace of Hearts, Willow"
    assert "Opening" in said(RoomForm(busy=True), Look(), EVENING).text


def test_the_rematch_key_says_whether_there_is_one_to_join() -> None:
    assert results_keys(finished(104, 3))[0].word == "rematch: #4822"
    assert results_keys(finished(104, 3, following="friday-2"))[0].word == "join the rematch"


@pytest.mark.parametrize(
    ("deal", "words"),
    [
        ("#7", ["rematch: #8", "new room: random", "#7 again"]),
        ("daily 2026-11-21", ["rematch: random deal", "new room: random", "daily 2026-11-21 again"]),
        ("random", ["rematch: random deal", "new room: random"]),
    ],
)
def test_what_comes_next_says_on_which_deal(deal: str, words: list[str]) -> None:
    model = finished(104, 3)
    assert model.room is not None
    model = replace(model, room=with_(model.room, deal=deal))
    assert [key.word for key in results_keys(model)][: len(words)] == words
    assert (deal == "random") == ("a" not in [key.key for key in results_keys(model)])


def unknown_before(model: Model, player: str, at: int) -> Model:
    """The model of a client that knows of a player's cards only from so many milliseconds after the start on."""
    series = model.series[player]
    kept = Series(tuple(point for point in series.points if point.at >= NOW + at), ((0, NOW + at),))
    return replace(model, series=MappingProxyType({**model.series, player: kept}))


def test_what_is_known_only_of_the_end_is_not_drawn() -> None:
    model = unknown_before(finished(104, 97, 64, 22), "p0", 300_000)
    text = results_view(model, Aftermath(), Look(), 80, 21).text()
    legend = next(row for row in text.splitlines() if "cards up over time" in row)
    assert "ana" not in legend
    assert "Not drawn, as how they got on while you were away is not known here: ana." in text


def test_a_line_is_drawn_only_from_where_it_is_known() -> None:
    model = unknown_before(finished(104, 97, 64, 22), "p0", 100_000)
    text = results_view(model, Aftermath(), Look(), 80, 21).text()
    assert "ana" in next(row for row in text.splitlines() if "cards up over time" in row)
    assert "Where a line is missing you were away" in text


def test_where_nothing_is_known_there_is_no_plot() -> None:
    model = replace(finished(104, 97), series=MappingProxyType({}))
    text = results_view(model, Aftermath(), Look(), 80, 21).text()
    assert "cards up over time  " not in text
    assert "How the cards went up over time is not known here" in text


def test_ones_own_line_comes_from_the_record_where_there_is_one() -> None:
    model = replace(finished(104, 97), series=MappingProxyType({}))
    text = results_view(model, Aftermath(climb=((100_000, 30), (300_000, 97))), Look(), 80, 21).text()
    legend = next(row for row in text.splitlines() if "cards up over time" in row)
    assert "mira" in legend
    assert "is not known here: ana." in text


def test_the_length_of_a_race_is_that_of_the_last_thing_in_it() -> None:
    assert race_length(finished(104, 3)) == 418_000
    assert race_length(finished(50, 3)) == 400_000


def test_a_deal_that_was_not_as_promised_is_said_in_red() -> None:
    state = finished(104, 3).room
    assert state is not None
    model = waiting(players=2).after(msgspec.structs.replace(state, seed=b"\0" * 32))
    rows = results_view(model, Aftermath(), Look(), 80, 21).rows
    (span,) = [span for row in rows for span in row if "NOT" in span.text]
    assert span.style == "bad"


def test_every_page_of_the_help_says_how_to_move_and_how_far_it_goes() -> None:
    for page in PAGES:
        view = help_view(page, DEFAULT, Look(), 80, 21)
        assert "3 5" in view.text()
        assert view.beyond > 0
        assert f"{view.beyond} more lines below" in view.text().splitlines()[-1]
        last = help_view(page, DEFAULT, Look(), 80, 21, view.beyond)
        assert last.beyond == 0
        assert "the end" in last.text().splitlines()[-1]


def test_the_page_of_a_game_with_a_stock_names_its_key() -> None:
    for game in GAMES.values():
        text = help_view(game.name, DEFAULT, Look(), 80, 200).text()
        assert ("Space" in text) == (game.stock_at >= 0)


@pytest.mark.parametrize(
    ("delay", "private", "says"), [(0, False, "open, live"), (0, True, "private, live"), (15, True, "open, private")]
)
@pytest.mark.parametrize("width", [60, 80])
def test_the_lobby_says_of_a_room_that_its_boards_are_seen_at_once(
    delay: int, private: bool, says: str, width: int
) -> None:
    line = with_(ROOMS[0], delay=delay, private=private, spectators=True)
    view = lobby_view(Lobby(TODAY).listed((line,)), Look(), width, 24, NOW)
    assert f" {says} " in row_text(view.rows[3])
