"""When a link pings its server, and when it gives it up."""

from __future__ import annotations

from samedeal_link.connection.liveness import LinkTimeouts, Liveness
from tests.golden.golden_files import assert_answers

TIMEOUTS = LinkTimeouts(silence=10.0, move=2.0, pong=5.0)


def patience(_: str, question: str) -> str:
    """What a link does after some events, each with the time at which it happens."""
    liveness, moved = Liveness(TIMEOUTS, 0.0), None
    *events, now = question.split(", ")
    for event, at in map(str.split, events):
        match event:
            case "connects":
                liveness = Liveness(TIMEOUTS, float(at))
            case "moves":
                moved = float(at)
            case _:
                {"hears": liveness.hear, "pings": liveness.ping}[event](float(at))
    then = "gives up" if liveness.awaits_pong else "pings"
    return f"{then} after {liveness.patience(float(now), moved):g} s"


def test_links_are_as_patient_as_the_page_says() -> None:
    assert_answers("patience", patience)
