"""Delays between attempts to reconnect."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from samedeal_link.connection.backoff import Backoff


def test_delay_is_random_below_a_bound_that_doubles() -> None:
    delays = []
    for seed in range(300):
        backoff = Backoff(Random(seed))
        delays.append([backoff.next_delay() for _ in range(7)])
    for attempt, bound in enumerate([0.2, 0.4, 0.8, 1.6, 2, 2, 2]):
        of_attempt = [each[attempt] for each in delays]
        assert max(of_attempt) <= bound
        assert bound * 0.95 < max(of_attempt)
        assert min(of_attempt) < bound * 0.05


@given(st.randoms(use_true_random=False), st.integers(1, 200))
def test_delay_is_bounded_by_the_time_already_waited(rng: Random, attempts: int) -> None:
    backoff = Backoff(rng)
    waited = 0.0
    for _ in range(attempts):
        delay = backoff.next_delay()
        assert delay <= min(max(2, waited / 4), 10)
        waited += delay


def test_reset_starts_from_the_first_bound() -> None:
    backoff = Backoff(Random(1))
    for _ in range(100):
        backoff.next_delay()
    backoff.reset()
    assert backoff.next_delay() <= 0.2
