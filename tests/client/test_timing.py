"""The server's clock from afar, and patience."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from samedeal_client.net.timing import Offset, Patience


def test_the_exchange_with_the_shortest_round_trip_tells_the_time() -> None:
    offset = Offset()
    assert offset.now(5.0) == 0
    offset.heard(10.0, 10.8, 1_000_000)
    assert offset.now(10.4) == 1_000_000
    offset.heard(20.0, 20.01, 1_010_000)
    assert offset.now(20.005) == 1_010_000
    offset.heard(30.0, 31.0, 1_000_000)
    assert offset.now(30.005) == 1_020_000


def test_old_exchanges_are_forgotten() -> None:
    offset = Offset()
    offset.heard(0.0, 0.001, 7_000_000)
    for number in range(8):
        offset.heard(10.0 + number, 10.1 + number, 1000 * number)
    assert offset.now(10.05) == 0


def test_after_a_cut_only_the_newest_counts() -> None:
    offset = Offset()
    offset.heard(0.0, 0.001, 7_000_000)
    offset.heard(1.0, 1.5, 1_250)
    offset.forget()
    assert offset.now(2.0) == 2_000


def test_the_wait_is_at_random_and_its_bound_doubles_up_to_two_seconds() -> None:
    waits = []
    for seed in range(300):
        patience = Patience(Random(seed))
        waits.append([patience.wait() for _ in range(7)])
    for attempt, bound in enumerate([0.2, 0.4, 0.8, 1.6, 2, 2, 2]):
        tried = [each[attempt] for each in waits]
        assert max(tried) <= bound
        assert bound * 0.95 < max(tried)
        assert min(tried) < bound * 0.05


@given(st.randoms(use_true_random=False), st.integers(1, 200))
def test_nobody_waits_much_longer_than_it_was_worth(rng: Random, attempts: int) -> None:
    patience = Patience(rng)
    waited = 0.0
    for _ in range(attempts):
        wait = patience.wait()
        assert wait <= min(max(2, waited / 4), 10)
        waited += wait


def test_who_is_away_for_long_asks_less_and_less() -> None:
    patience = Patience(Random(1))
    assert sum(patience.wait() for _ in range(60)) > 120


def test_an_attempt_that_went_well_starts_it_anew() -> None:
    patience = Patience(Random(1))
    for _ in range(100):
        patience.wait()
    patience.rewarded()
    assert patience.wait() <= 0.2
