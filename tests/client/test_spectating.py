"""The spectator's choices as a value: one board or all, sort order and page."""

from __future__ import annotations

import pytest

from samedeal_link.records.spectating import SORT_ORDERS, Spectating, Watched

KEYS = {"p1": "1", "p2": "2", "p3": "4"}
RACE = Watched(("p2", "p3", "p1"), {"p1", "p3"}, KEYS, pages=2)


def after(*keys: str, state: Spectating | None = None, race: Watched = RACE) -> Spectating:
    """The state after some keys."""
    state = state or Spectating()
    for key in keys:
        response = state.press(key, race)
        assert response is not None
        state = response.state
    return state


@pytest.mark.parametrize(("keys", "zoomed"), [("1", "p1"), ("4", "p3"), ("2", ""), ("3", ""), ("9", ""), ("10", "")])
def test_number_zooms_a_board_that_is_there(keys: str, zoomed: str) -> None:
    assert after(*keys).zoomed == zoomed


def test_up_and_down_go_round_the_boards() -> None:
    everyone = RACE._replace(boards={"p1", "p2", "p3"})
    state = Spectating("p1")
    for key, player in (("up", "p3"), ("down", "p1"), ("down", "p2")):
        state = after(key, state=state, race=everyone)
        assert state.zoomed == player
    assert after("down").zoomed == ""


def test_pages_stay_within_their_number() -> None:
    assert [after(*["pagedown"] * count).page for count in range(4)] == [0, 1, 1, 1]
    assert after("pageup").page == 0


def test_sort_goes_through_all_orders() -> None:
    assert [after(*["s"] * count).order for count in range(len(SORT_ORDERS) + 1)] == [*SORT_ORDERS, SORT_ORDERS[0]]


def test_state_is_limited_to_what_is_there() -> None:
    assert Spectating("p2", page=5).limited_to(RACE) == Spectating(page=1)
    assert Spectating("p1").limited_to(RACE) == Spectating("p1")
