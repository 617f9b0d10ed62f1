"""People who race now meet no more rarely than when the first one waited for 40 seconds."""

from __future__ import annotations

import pytest

from tests.tools.arrivals import RATES, former_start, grid_start, met


@pytest.mark.parametrize("rate", RATES)
def test_races_of_two_are_no_rarer_if_a_third_go_to_somebody(rate: float) -> None:
    races, share = met(grid_start, rate, 1 / 3, presses=5_000)
    former_races, former_share = met(former_start, rate, presses=5_000)
    assert races >= former_races
    assert share >= former_share
