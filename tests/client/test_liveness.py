"""When a link pings its server, and when it gives it up."""

from __future__ import annotations

from samedeal_link.connection.liveness import LinkTimeouts, Liveness

TIMEOUTS = LinkTimeouts(silence=10.0, move=2.0, pong=5.0)


def answered(at: float) -> Liveness:
    """A connection that was opened at 0 and has brought a message."""
    liveness = Liveness(TIMEOUTS, 0.0)
    liveness.hear(at)
    return liveness


def test_first_ping_without_an_answer_loses_the_connection() -> None:
    liveness = Liveness(TIMEOUTS, 100.0)
    assert liveness.awaits_pong
    assert liveness.patience(104.0, None) == 1.0
    assert liveness.patience(105.0, None) == 0.0


def test_silence_is_pinged_and_then_lost() -> None:
    liveness = answered(1.0)
    assert liveness.patience(10.5, None) == 0.5
    liveness.ping(11.0)
    assert liveness.patience(15.0, None) == 1.0
    liveness.hear(15.0)
    assert liveness.patience(24.0, None) == 1.0


def test_unanswered_move_is_pinged_sooner() -> None:
    liveness = answered(50.0)
    assert liveness.patience(50.5, 50.0) == 1.5
    assert liveness.patience(52.0, 50.0) == 0.0
    liveness.ping(52.0)
    assert liveness.patience(56.0, 50.0) == 1.0


def test_move_that_may_be_made_at_any_time_is_noticed_in_time() -> None:
    assert answered(1.0).patience(1.0, None) == TIMEOUTS.move


def test_answered_ping_is_repeated_while_the_move_waits() -> None:
    liveness = answered(50.0)
    liveness.ping(52.0)
    liveness.hear(52.1)
    assert liveness.patience(53.0, 50.0) == 1.0
    assert liveness.patience(54.0, 50.0) == 0.0


def test_move_of_an_earlier_connection_waits_from_the_new_one_on() -> None:
    liveness = Liveness(TIMEOUTS, 100.0)
    liveness.hear(100.1)
    assert liveness.patience(101.0, 50.0) == 1.0
