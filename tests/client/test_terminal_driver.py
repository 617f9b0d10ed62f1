"""The output to the terminal: what is left out, and when it counts as slow."""

from __future__ import annotations

import io

from samedeal_client.full_screen.widgets.terminal_driver import SLOW_FOR, SLOW_WRITE, LossyStream


class SlowStream(io.StringIO):
    """A stream that takes ``seconds`` of a clock for each write, and asks after them whether its output is slow."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.seconds = 0.0
        self.output = LossyStream(self, lambda: self.now)
        self.was_slow: list[bool] = []

    def write(self, text: str) -> int:
        self.now += self.seconds
        self.was_slow.append(self.output.is_slow)
        return super().write(text)


def test_output_is_slow_during_and_for_a_while_after_a_slow_write() -> None:
    stream = SlowStream()
    for stream.seconds in (SLOW_WRITE / 2, SLOW_WRITE * 2):
        stream.output.write("card")
        stream.was_slow.append(stream.output.is_slow)
    stream.now += SLOW_FOR
    assert [*stream.was_slow, stream.output.is_slow] == [False, False, True, True, False]
