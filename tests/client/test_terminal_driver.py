"""The output to the terminal: what is left out, and when it counts as slow."""

from __future__ import annotations

import io

from samedeal_client.full_screen.widgets.terminal_driver import SLOW_FOR, SLOW_WRITE, LossyStream


class SlowStream(io.StringIO):
    """A stream that takes ``seconds`` of a clock for each write."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.seconds = 0.0

    def write(self, text: str) -> int:
        self.now += self.seconds
        return super().write(text)


def test_output_is_slow_for_a_while_after_a_slow_write() -> None:
    stream = SlowStream()
    output = LossyStream(stream, lambda: stream.now)
    stream.seconds = SLOW_WRITE / 2
    output.write("card")
    assert not output.is_slow
    stream.seconds = SLOW_WRITE * 2
    output.write("card")
    slow = [output.is_slow]
    stream.now += SLOW_FOR
    slow.append(output.is_slow)
    assert slow == [True, False]


def test_output_is_slow_while_a_write_takes_long() -> None:
    asked = []
    stream = SlowStream()

    class Asking(io.StringIO):
        def write(self, text: str) -> int:
            stream.now += SLOW_WRITE * 2
            asked.append(output.is_slow)
            return len(text)

    output = LossyStream(Asking(), lambda: stream.now)
    output.write("card")
    assert asked == [True]
