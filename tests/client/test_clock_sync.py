"""The estimate of the server's clock."""

from __future__ import annotations

from samedeal_link.connection.clock_sync import ClockOffset
from tests.golden.golden_files import assert_answers


def test_times_are_as_the_page_says() -> None:
    def answer(_: str, question: str) -> str:
        samples, _, at = question.rpartition("; ")
        offset = ClockOffset()
        for sample in filter(None, samples.split(", ")):
            if sample == "reset":
                offset.reset()
            else:
                began, ended, told = map(float, sample.split())
                offset.record(began, ended, int(told))
        return str(offset.now(float(at)))

    assert_answers("clocks", answer)
