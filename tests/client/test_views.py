"""The text that is shown before, during and after a race."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest
from msgspec.structs import replace as with_

from samedeal.deal import Deal
from samedeal.options import Options
from samedeal.protocol.messages import RoomState, Seat, Tally
from samedeal.terminal_text import columns_of
from samedeal_client.panels.results import (
    rematch_does,
    rematch_text,
)
from samedeal_client.panels.waiting import (
    Invitation,
    OwnBots,
    away_question,
    invitation_rows,
    player_cells,
    room_rows,
    start_condition,
)
from samedeal_client.run_client import invitation_lines
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import fit_player_name
from samedeal_client.text.spans import Row, row_text
from samedeal_link.connection.address import parse_address
from samedeal_link.model.model import Model
from tests.client.server_messages import room_state, standing
from tests.golden.golden_files import assert_sentences

NOW = 1_790_000_000_000

NAMES = ("ana", "mira", "k0ji", "漢字の名前", "easy")
BOT_PLAYERS = ("k0ji", "easy")


def room(players: int = 3, **more: Any) -> RoomState:
    """A room with some players. The second one is the player of this client."""
    options = more.pop("options", Options(games=("steve",), players=max(6, players)))
    seats = tuple(
        Seat(player=f"p{at}", name=name_at(at), seat=at + 1, ready=not at % 2, bot=NAMES[at % 5] in BOT_PLAYERS)
        for at in range(players)
    )
    tallies = tuple(Tally(player=f"p{at}", connected=at != 2) for at in range(players))
    return room_state("friday", options, seats, **{"deal": "#4821", "tallies": tallies, **more})


def name_at(at: int) -> str:
    return NAMES[at % 5] + str(at) * (at > 4)


def waiting(me: str = "p1", **more: Any) -> Model:
    return Model(me=me, name="mira").after(room(**more))


def finished(*ups: int, following: str = "") -> Model:
    """A finished race with these numbers of foundation cards. A player with all 104 cards has finished."""
    standings = tuple(
        standing(at + 1, name_at(at), up, f"p{at}", time=418_000 * (up == 104), bot=NAMES[at % 5] in BOT_PLAYERS)
        for at, up in enumerate(ups)
    )
    seed = Deal.parse("#4821").public_seed()
    model = waiting(players=len(ups)).after(
        room(len(ups), phase="finished", starts=NOW, ends=NOW + 900_000, seed=seed, standings=standings, next=following)
    )
    tallies = {line.player: Tally(player=line.player, acted_at=NOW + 400_000) for line in standings}
    return replace(model, tallies=tallies)


def text(rows: Iterable[Row]) -> str:
    return "\n".join(row_text(row).rstrip() for row in rows)


def lines_of(rows: Iterable[Row]) -> list[str]:
    return text(rows).splitlines()


COMMAND, LINK = "samedeal join localhost friday", "http://localhost:7777/friday"
CYCLE = Options(games=("steve", "athena"), players=16, start="at", start_at=NOW + 600_000, spectators=False, bots=False)


def test_wording_of_an_invitation() -> None:
    invitations = {
        "without a page": invitation_rows(room(), Invitation(COMMAND)),
        "this machine, with a passphrase": invitation_rows(room(private=True), Invitation(COMMAND, LINK, "localhost")),
        "without TLS": invitation_rows(room(), Invitation(COMMAND, LINK, encrypted=False)),
    }
    lines = [f"{case}\t{line}" for case, rows in invitations.items() for line in lines_of(rows)]
    for url in ("ws://192.168.1.5:7777", "localhost", "example.org"):
        address = parse_address(url)
        lines += [f"line client, {url}\t{line}" for line in invitation_lines(address, "friday", has_page=True)]
    lines += invitation_lines(parse_address("example.org"), "friday", has_page=False, private=True)
    assert_sentences("invitation", lines)


def test_wording_of_the_options_of_a_room() -> None:
    """In a race for whoever comes now, bots of the server come only to a player who is alone."""
    lines = lines_of(room_rows(room(options=CYCLE), 60, UTC))
    now = lines_of(room_rows(room(options=Options.scheduled("willow", NOW, 3, bots=False)), 60, UTC))
    assert_sentences("options of a room", [*lines, *(line for line in now if line.startswith("Bots"))])


def test_wording_of_the_players() -> None:
    cells = player_cells(waiting("p0", players=5), OwnBots(BOT_PLAYERS, ("ott",)), Look())
    rows = {key: " ".join(map(row_text, row)).rstrip() for key, row in cells.items()}
    assert_sentences("players", [f"{key}\t{row}" for key, row in rows.items()])


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
    lines.append(f"all-ready, alone\t{start_condition(alone, NOW)}")
    model = waiting("p0", players=5)
    assert not away_question(waiting("p0", players=2), Look(), "")
    assert not away_question(replace(model, me="p2"), Look(), "")
    lines.append(f"one away\t{away_question(model, Look(), 'Press Enter again')}")
    first, *others = model.this_room.players
    both = replace(model, room=with_(model.this_room, players=(with_(first, away=True), *others)), me="p1")
    lines.append(f"two away\t{away_question(both, Look(), 'Type start again')}")
    assert_sentences("waiting for a race", lines)


@pytest.mark.parametrize("name", ["ott", "a-name-of-20-columns", "漢字の名前漢字の名前"])
@pytest.mark.parametrize("width", range(5, 30))
def test_mark_of_a_bot_is_never_cut(name: str, width: int) -> None:
    shown = fit_player_name(name, Look(), width, bot=True)
    assert "(bot)" in shown
    assert columns_of(shown) == width
    assert "(bot)" not in fit_player_name(name, Look(), width, bot=False)


def test_wording_of_a_rematch() -> None:
    before, opened = finished(104, 3), finished(104, 3, following="friday-2")
    asked = replace(opened, room=with_(opened.this_room, next_by="p0"))
    goes_on = replace(asked, room=with_(asked.this_room, options=Options(series=3), round=4))
    assert rematch_text(before, Look()) == ""
    told = {
        "key before it is opened": rematch_does(before),
        "key": rematch_does(opened),
        "key of a spectator": rematch_does(replace(before, me="stranger")),
        "opened": rematch_text(opened, Look()),
        "a rival asked": rematch_text(asked, Look()),
        "the player asked": rematch_text(replace(asked, me="p0"), Look()),
        "key in a series": rematch_does(goes_on),
        "a rival asked in a series": rematch_text(goes_on, Look()),
        "after the last race": rematch_does(replace(goes_on, room=with_(goes_on.this_room, round=5))),
    }
    assert_sentences("rematch", [f"{case}\t{sentence}" for case, sentence in told.items()])
