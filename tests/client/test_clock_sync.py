"""The estimate of the server's clock."""

from __future__ import annotations

from samedeal_link.connection.clock_sync import ClockOffset


def test_shortest_round_trip_gives_the_time() -> None:
    offset = ClockOffset()
    assert offset.now(5.0) == 0
    offset.record(10.0, 10.8, 1_000_000)
    assert offset.now(10.4) == 1_000_000
    offset.record(20.0, 20.01, 1_010_000)
    assert offset.now(20.005) == 1_010_000
    offset.record(30.0, 31.0, 1_000_000)
    assert offset.now(30.005) == 1_020_000


def test_old_samples_are_dropped() -> None:
    offset = ClockOffset()
    offset.record(0.0, 0.001, 7_000_000)
    for number in range(8):
        offset.record(10.0 + number, 10.1 + number, 1000 * number)
    assert offset.now(10.05) == 0


def test_reset_keeps_only_the_newest_sample() -> None:
    offset = ClockOffset()
    offset.record(0.0, 0.001, 7_000_000)
    offset.record(1.0, 1.5, 1_250)
    offset.reset()
    assert offset.now(2.0) == 2_000
