"""What the terminal says in a race with a window, and what a client knows of its own time there."""

from __future__ import annotations

import time
from ast import literal_eval
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from samedeal.errors import PlayError
from samedeal.options import Options
from samedeal.protocol.messages import Phase, RoomState, Seat, Tally
from samedeal.series import place_of
from samedeal_client.menus.lobby import Lobby
from samedeal_client.menus.option_parsing import read_every, read_window
from samedeal_client.panels.final_standings import standing_cells, standing_lines
from samedeal_client.panels.live_ranking import current_ranking
from samedeal_client.panels.lobby import enter_does, own_race_row, room_cells
from samedeal_client.panels.narration import Narrator, room_lines
from samedeal_client.panels.outcome import rematch_wish
from samedeal_client.panels.race import quit_warnings, return_text
from samedeal_client.panels.results import ResultDetails, headline_rows, shared_result
from samedeal_client.panels.waiting import room_rows, start_condition
from samedeal_client.panels.window import attempt_rows, moving_rows, raced_sentence
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from samedeal_link.machine.terminal import Terminal
from samedeal_link.model.model import Model
from samedeal_link.records.past_races import race_result
from tests.client.room_lines import line as line_of
from tests.client.server_messages import room_state, standing
from tests.golden.golden_files import assert_answers

OPENED = 1_796_083_200_000  # 2026-12-01 00:00 UTC, a Tuesday
HOUR = 3_600_000
WINDOW = 48 * HOUR
ENDS = OPENED + WINDOW
OPTIONS = Options(games=("willow",), deal="winnable", bots=False)
SEATS = tuple(Seat(player=name, name=name, seat=at) for at, name in enumerate(("ana", "ben", "cid"), 1))
LOOK = Look()
PLACES = ("ana", "cid", "ben")
"""The players in the order of their places in ``finished``."""


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let local time be UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def room(phase: str = "open", **changes: Any) -> RoomState:
    fixed = {"window": WINDOW // 1000, "doors_close_at": OPENED + WINDOW // 4, "ends": ENDS}
    return room_state("friday", OPTIONS, SEATS, phase=phase, **{**fixed, **changes})


def model(me: str = "ben", phase: str = "racing", began: int = 0, **changes: Any) -> Model:
    """A room with a window, of which ben sees his own attempt."""
    starts = OPENED + 13 * HOUR if phase == "racing" else 0
    tallies = tuple(Tally(player=seat.player, connected=False) for seat in SEATS)
    own = tuple(replace(each, began_at=began) if each.player == me else each for each in tallies)
    return Model(me=me, name=me).after(room(phase, starts=starts, tallies=own, **changes))


def text(rows: Any) -> list[str]:
    return [line for row in rows if (line := row_text(row).strip())]


@pytest.mark.parametrize("me", ["ana", "ben"])
def test_doors_that_the_host_may_open_again(me: str) -> None:
    known = model(me, "countdown", waits_for_host=True)
    how = "Open the doors again with" if me == "ana" else "ana can open the doors again."
    assert how in " ".join(text(attempt_rows(known, OPENED, LOOK)))
    assert all(len(line) <= 74 for line in text(attempt_rows(known, OPENED, LOOK)))
    before = model(me, "countdown", drawing=(1,))
    assert any(how in line for line in Narrator(LOOK).narrate(before, known)), "and without a screen"
    assert known.may_open_doors is (me == "ana")


def test_link_for_another_device_is_whole_and_its_code_is_shown_if_it_fits() -> None:
    link = "https://race.example.org/friday#move=ana/k1f0Qe2mT8sYw5cXr7uZ9A"
    lines = text(moving_rows(link, 40, LOOK))
    assert link in "".join(lines), "also if it takes several lines"
    assert max(map(len, lines)) <= 40
    assert "█" in "".join(lines)
    for width, look in ((20, LOOK), (40, Look(ascii=True))):
        assert "█" not in "".join(text(moving_rows(link, width, look)))


def test_open_doors() -> None:
    lines = "\n".join(text(room_rows(room(), 80, UTC)))
    for line in ("Doors", "Starts", "when all have raced, at the latest Thursday 00:00", "15 min for each"):
        assert line in lines
    assert "Bots" not in lines
    assert start_condition(model("ana", "open"), OPENED) == (
        "One name each: who are they? Close the doors with Enter, at the latest Tuesday 12:00."
    )
    assert "The host closes the doors" in start_condition(model("ben", "open"), OPENED)


@pytest.mark.parametrize(
    ("drawing", "sentence"),
    [
        ((), "The deal is drawn by whoever is here. Nobody is yet."),
        ((1, 3), "The deal is drawn by ana and cid."),
        ((2, 3), "The deal is drawn by you and cid."),
        ((1, 2, 3), "The deal is drawn by you, ana and cid."),
    ],
)
def test_draw(drawing: tuple[int, ...], sentence: str) -> None:
    drawn = model(phase="countdown", drawing=drawing)
    assert text(attempt_rows(drawn, OPENED, LOOK)) == [sentence]
    assert Narrator(LOOK).describe_room(drawn)[-1] == sentence
    assert quit_warnings(drawn, lasting=True, server_gone=False) == ("The deal is not drawn yet.",)
    if drawing:
        was_drawn = sentence.replace("is", "was") if 2 in drawing else "The deal was drawn by ana and cid, without you."
        waits = model(drawing=drawing)
        assert text(attempt_rows(waits, OPENED, LOOK))[-1] == was_drawn, "who begins reads who drew"
        assert Narrator(LOOK).describe_room(waits)[-1] == was_drawn


def test_one_try() -> None:
    waits = model(drawing=(2,))
    assert waits.may_begin
    assert not waits.racing, "who has not begun may quit"
    assert text(attempt_rows(waits, OPENED + 20 * HOUR, LOOK)) == [
        "Your one try: 15:00, the clock does not stop. Ready?",
        "Enter: begin",
        "You can also come back later, until Thursday 00:00.",
        "The deal was drawn by you.",
    ]
    assert "Your one try: 4:10" in text(attempt_rows(waits, ENDS - 250_000, LOOK))[0]
    assert return_text(waits, "samedeal join", OPENED, server_gone=False).startswith("Your seat is kept.")


def test_own_clock() -> None:
    began = OPENED + 20 * HOUR
    own = model(began=began)
    assert not own.may_begin
    assert own.time_left(began + 60_000) == 14 * 60_000
    assert model(began=ENDS - 60_000).time_left(ENDS - 30_000) == 30_000
    assert not raced_sentence(own, began + 60_000)
    over = "You have raced. Nobody sees how until all have, at the latest Thursday 00:00."
    assert raced_sentence(own, began + 900_000) == over
    for now, sentence in ((0, "Your seat is kept, and the clock keeps running."), (900_000, "Your seat is kept.")):
        assert return_text(own, "samedeal join", began + now, server_gone=False).startswith(f"{sentence} ")
    resigned = tuple(replace(seat, resigned=seat.player == "ben") for seat in SEATS)
    assert raced_sentence(own.after(replace(own.this_room, players=resigned)), began) == over
    with pytest.raises(PlayError):
        own.with_action("draw", 1, began + 900_000)


def test_others_are_not_ranked_while_the_window_is_open() -> None:
    assert [player.name for player in current_ranking(model(), OPENED)] == ["ben"]
    assert not model().may_watch_others


def test_presence_is_shown_until_the_draw() -> None:
    """Who is connected is known to nobody while the window is open, and then it is no news."""
    doors, drawn, over = model("ana", "open"), model("ana", drawing=(1,)), model("ana", "finished")
    assert [[seat.name for seat in each.others_away] for each in (doors, drawn, over)] == [
        ["ben", "cid"],
        [],
        ["ben", "cid"],
    ]
    assert not any(
        "back" in line or "away" in line for line in Narrator(LOOK).narrate(doors, model("ana", "countdown"))
    )
    assert "away" not in "".join(Narrator(LOOK).describe_room(drawn))
    assert Narrator(LOOK).rivals_line(drawn) == "ben and cid: nobody sees how they do until all have raced."


def test_times_in_a_session_of_the_door_have_their_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Terminal, "owns_process", False)
    assert start_condition(model("ana", "open"), OPENED).endswith("Enter, at the latest Tuesday 12:00 UTC.")
    scheduled = replace(room(window=0), options=replace(OPTIONS, start="at", start_at=OPENED))
    assert "at 00:00 on 2026-12-01 UTC" in "\n".join(text(room_rows(scheduled, 80)))


def finished(me: str, began: dict[str, int], **cards: int) -> Model:
    """A window that is over. ``began`` says when players began, and ``cards`` how many they placed."""
    lines = [standing(at, name, cards.get(name, 0), began_at=began.get(name, 0)) for at, name in enumerate(PLACES, 1)]
    return model(me, "finished", standings=tuple(lines), finished_at=ENDS)


def test_player_who_never_began_did_not_race() -> None:
    """Nobody is praised or placed for it, in the results, in the text to share and in the history."""
    some = {"ana": OPENED + 20 * HOUR, "cid": OPENED + 21 * HOUR}
    over = finished("ben", some, ana=9, cid=4)
    room_over, look = over.this_room, LOOK
    assert [row_text(row) for row in headline_rows(over, ResultDetails(), look, 80)] == [
        "  You did not race. Nobody finished. ana was closest."
    ]
    assert standing_lines(room_over.standings, 52, look, "ben")[-1] == "Did not race: you."
    cells = standing_cells(room_over.standings[-1], 52, look, you=True, width=80)
    assert [row_text(cell) for cell in cells[:4]] == ["", "ben (you)", "0/52", "did not race"]
    assert shared_result(over, ResultDetails(), None) == ""
    assert race_result(over) is None
    second = finished("cid", some, ana=9, cid=4)
    assert text(headline_rows(second, ResultDetails(), look, 80)) == [
        "Nobody finished. ana was closest. You are 2nd of 2, 5 cards behind ana."
    ]
    assert ", 2nd of 2" in shared_result(second, ResultDetails(), None)
    race = race_result(second)
    assert race is not None
    assert (race.place, race.players, [each.name for each in race.opponents]) == (2, 2, ["ana"])
    alone = finished("ana", {"ana": OPENED}, ana=9)
    (row,) = headline_rows(alone, ResultDetails(), look, 80)
    assert row_text(row).strip() == "You placed 9 of 52 cards."
    assert row[-1].style == "title", "no praise for being the only one"
    assert text(headline_rows(finished("ana", {}), ResultDetails(), look, 80)) == ["You did not race."]


@pytest.mark.parametrize(
    ("phase", "closes", "own", "shown"),
    [
        ("open", OPENED + 12 * HOUR, False, "doors close 1 Dec 12:00"),
        ("countdown", ENDS, False, "closes 3 Dec 00:00"),
        ("racing", ENDS, False, "closes 3 Dec 00:00"),
        ("racing", ENDS, True, "yours, closes 3 Dec 00:00"),
        ("finished", ENDS, False, "finished"),
    ],
)
def test_lists_of_rooms_say_when_windows_close(phase: Phase, closes: int, own: bool, shown: str) -> None:
    listed = line_of("friday", phase=phase, closes=closes, bots=False, spectators=False, starts=OPENED)
    lobby = Lobby(date(2026, 12, 1), own_room="friday" if own else "")
    assert row_text(room_cells(lobby, 1, listed, LOOK, OPENED, 80)[-1]) == shown
    full = room_cells(lobby, 1, replace(listed, seats=listed.players), LOOK, OPENED, 80)[-1]
    assert row_text(full).startswith("full, ") == (phase == "open")
    marks = room_lines([listed], LOOK)[-1]
    assert ("close" in marks) == (phase != "finished")
    assert shown.rpartition(", ")[2] in marks
    assert "no bots" not in marks or phase == "finished"
    assert enter_does(lobby, listed) != "watch", "nobody may"
    if own:
        assert "closes 3 Dec 00:00" in row_text(own_race_row(listed, LOOK, OPENED))


def standing_room(*opens: int, phase: str = "open", **changes: Any) -> RoomState:
    """A race of a standing series, which is the third."""
    given = {"opens": opens, "doors_close_at": opens[0], "ends": opens[0] + WINDOW, "rooms_before": ("k1", "k2")}
    return replace(room(phase, **given, **changes), options=replace(OPTIONS, series=4), round=2)


def test_standing_series() -> None:
    opens = OPENED + 18 * HOUR, OPENED + (24 * 3 + 18) * HOUR
    series = Model(me="ana", name="ana").after(standing_room(*opens))
    sentence = "One name each: who are they? The race opens Tuesday 1 Dec 18:00, and nobody can enter after that."
    assert start_condition(series, OPENED) == sentence
    assert Narrator(LOOK).describe_room(series)[-1] == sentence
    assert "the next race opens Friday 4 Dec 18:00, with the same seats" in "\n".join(
        text(room_rows(series.this_room, 90, UTC))
    )
    over = standing_room(*opens, phase="finished", next="k1-4")
    assert rematch_wish(over, "ana", LOOK) == "The next race opens Friday 4 Dec 18:00."
    assert place_of(over) == "s/k1"
    assert place_of(standing_room(opens[1])) == "s/k1"
    assert place_of(room()) == "friday"
    again = series.after(standing_room(*opens, draw=1))
    assert start_condition(again, OPENED).startswith("One name each: who are they? Close the doors with Enter, at"), (
        "now"
    )
    assert Narrator(LOOK).describe_room(again)[-1].endswith("You are the host: type start to close the doors.")


def test_typed_windows_and_times_mean_what_the_page_says() -> None:
    zone = ZoneInfo("Europe/Berlin")
    now = datetime(2026, 3, 28, 11, 59, 30, tzinfo=zone).astimezone(UTC)

    def answer(heading: str, question: str) -> str:
        try:
            if heading == "Windows":
                return str(read_window(literal_eval(question)))
            times = read_every(literal_eval(question), 4, now, zone)
        except ValueError as error:
            return str(error)
        assert len(times) == 4
        shown = [datetime.fromtimestamp(each / 1000, zone).isoformat(" ", "minutes") for each in times]
        return f"{shown[0]} to {shown[-1]}"

    assert_answers("typed_windows", answer)
