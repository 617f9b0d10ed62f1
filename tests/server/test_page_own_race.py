"""A race with a window on the page for browsers, as it looks from the player's own start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from samedeal.options import Options
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import RoomState, Seat, Tally
from tests.client.server_messages import room_state, standing
from tests.shared.javascript import answer_of_page, needs_node

pytestmark = needs_node

OPENED, FOUND, LIMIT, CLOSES = 1_000_000, 2_000_000, 60_000, 4_600_000
BEGAN = 3_000_000
OPTIONS = Options(games=("ace-of-hearts",), deal="winnable", limit=60)
SEATS = (Seat(player="p1", name="ana", seat=1), Seat(player="p2", name="ben", seat=2, away=True))


def state(phase: str, own: Tally | None = None, **changes: Any) -> RoomState:
    tallies = (own or Tally(player="p1"), Tally(player="p2", connected=False))
    starts = FOUND if phase in ("racing", "finished") else 0
    usual = {"window": 3600, "doors_close_at": OPENED + 900_000, "starts": starts, "ends": CLOSES, "tallies": tallies}
    return room_state("k7", OPTIONS, SEATS, phase=phase, **{**usual, **changes})


BEGUN = state("racing", Tally(player="p1", began_at=BEGAN))
WON = state("racing", Tally(player="p1", began_at=BEGAN, finished_at=BEGAN + 9_000, foundation_cards=52))
RESIGNED = replace(state("racing"), players=(replace(SEATS[0], resigned=True), SEATS[1]))
LATE = state("racing", Tally(player="p1", began_at=CLOSES - 20_000))
WAITS, BOTH = {"k7": [[0, CLOSES]]}, ["ana", "ben"]


VIEWS: dict[str, tuple[RoomState, int, list[Any]]] = {
    "doors open": (state("open"), OPENED, ["open", 0, CLOSES, False, None, BOTH, WAITS]),
    "drawing": (state("countdown"), OPENED, ["countdown", 0, CLOSES, False, None, BOTH, WAITS]),
    "not begun": (state("racing"), FOUND, ["waiting", 0, CLOSES, "1:00", CLOSES - LIMIT, BOTH, WAITS]),
    "less time": (state("racing"), CLOSES - 9_000, ["waiting", 0, CLOSES, "0:09", CLOSES - 8_000, BOTH, WAITS]),
    "running": (BEGUN, BEGAN, ["racing", BEGAN, BEGAN + LIMIT, None, BEGAN + LIMIT, ["ana"], WAITS]),
    "late": (LATE, CLOSES - 9_000, ["racing", CLOSES - 20_000, CLOSES, None, CLOSES, ["ana"], WAITS]),
    "time up": (BEGUN, BEGAN + LIMIT, ["raced", BEGAN, CLOSES, False, None, BOTH, {}]),
    "won": (WON, BEGAN + 9_000, ["raced", BEGAN, CLOSES, False, None, BOTH, {}]),
    "resigned": (RESIGNED, FOUND, ["raced", 0, CLOSES, False, None, BOTH, {}]),
}


def test_window_is_shown_as_a_race_of_ones_own(tmp_path: Path) -> None:
    """Its phase, start and end, the time that is left for an attempt, when that changes, who is shown, and what waits."""
    given = [[encode(room).hex(), now] for room, now, _ in VIEWS.values()]
    found = answer_of_page("own_race.shown", tmp_path, given)
    assert dict(zip(VIEWS, found, strict=True)) == {name: expected for name, (*_, expected) in VIEWS.items()}


def test_window_that_is_over_waits_no_more(tmp_path: Path) -> None:
    given = [[encode(each).hex(), FOUND] for each in (state("racing"), state("finished", finished_at=CLOSES))]
    assert [shown[-1] for shown in answer_of_page("own_race.shown", tmp_path, given)] == [WAITS, {}]


def test_results_count_from_each_own_start(tmp_path: Path) -> None:
    """Ben began half an hour before Ana, who sees his times as if he had begun with her."""
    other = BEGAN - 1_800_000
    tallies = (
        Tally(
            player="p1", began_at=BEGAN, foundation_cards=52, last_progress_at=BEGAN + 9_000, finished_at=BEGAN + 9_000
        ),
        Tally(
            player="p2", began_at=other, foundation_cards=52, last_progress_at=other + 5_000, finished_at=other + 5_000
        ),
    )
    standings = (standing(1, "ben", 52, "p2", time=5_000), standing(2, "ana", 52, "p1", time=9_000))
    given = state("finished", finished_at=CLOSES, tallies=tallies, standings=standings)
    boards = [["p2", 2, other + 5_000, [2_000, 5_000]]]
    assert answer_of_page("own_race.results", tmp_path, [encode(given).hex(), CLOSES, boards]) == [
        ["p2", 1, BEGAN + 5_000, [[BEGAN, 0], [BEGAN + 2_000, 1], [BEGAN + 5_000, 2]]],
        ["p1", 2, BEGAN + 9_000, [[BEGAN, 0], [BEGAN + 9_000, 52]]],
    ]


def test_window_of_a_standing_series_waits_until_it_opens(tmp_path: Path) -> None:
    """Once the player has raced, only the windows of the later races wait, each until the next one opens."""
    opens, hour = (OPENED, OPENED + 3_000_000, OPENED + 9_000_000), 3_600_000
    later = [[opens[1], opens[1] + hour], [opens[2], opens[2] + hour]]
    ends = opens[1]
    given: dict[str, Any] = {
        "opens": opens,
        "doors_close_at": OPENED + 600_000,
        "ends": ends,
        "rooms_before": ("k5", "k6"),
    }
    raced = state("racing", Tally(player="p1", began_at=BEGAN, finished_at=BEGAN + 1), **given)
    states = [
        state("open", **given),
        raced,
        state("finished", **given),
        replace(state("open", **given), players=SEATS[1:]),
    ]
    found = [
        shown[-1]
        for shown in answer_of_page("own_race.shown", tmp_path, [[encode(each).hex(), OPENED] for each in states])
    ]
    assert found == [{"s/k5": [[OPENED + 600_000, ends], *later]}, {"s/k5": later}, {"s/k5": later}, {}]
