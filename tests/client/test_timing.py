"""The server's clock from afar, and patience."""

from __future__ import annotations

from random import Random

from samedeal_client.timing import Offset, Patience


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


def test_the_wait_is_at_random_and_its_bound_doubles_up_to_ten_seconds() -> None:
    waits = []
    for seed in range(300):
        patience = Patience(Random(seed))
        waits.append([patience.wait() for _ in range(9)])
    for attempt, bound in enumerate([0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10, 10]):
        tried = [each[attempt] for each in waits]
        assert max(tried) <= bound
        assert bound * 0.95 < max(tried)
        assert min(tried) < bound * 0.05


def test_an_attempt_that_went_well_starts_it_anew() -> None:
    patience = Patience(Random(1))
    for _ in range(9):
        patience.wait()
    patience.rewarded()
    assert patience.wait() <= 0.2
