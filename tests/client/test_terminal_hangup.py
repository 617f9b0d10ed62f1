"""The loss of the terminal: output goes nowhere, and a process that hangs is ended."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress

from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from samedeal_client.full_screen.widgets.terminal_driver import LossyStream
from samedeal_client.terminal_io.terminal_hangup import EXIT_CODE

HANGING = """
import threading
from samedeal_client.terminal_io.terminal_hangup import on_terminal_lost
with on_terminal_lost(0, lambda: None):
    print("watching", flush=True)
    threading.Event().wait()
"""

BLOCKED = """
import asyncio, threading
from samedeal_link.machine.signals import on_signals
async def wait_for_the_terminal():
    with on_signals(print, must_end=True):
        print("waiting", flush=True)
        threading.Event().wait()
asyncio.run(wait_for_the_terminal())
"""


def test_process_that_hangs_ends_with_its_terminal() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", HANGING]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, start_new_session=True) as process:
        os.close(theirs)
        assert process.stdout is not None
        assert process.stdout.readline() == b"watching\n"
        os.close(ours)
        assert process.wait() == EXIT_CODE


def test_signal_ends_a_process_whose_event_loop_waits_forever() -> None:
    with subprocess.Popen([sys.executable, "-c", BLOCKED], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGHUP)
        assert process.wait() == EXIT_CODE


def test_output_to_a_lost_terminal_is_dropped() -> None:
    ours, theirs = pty.openpty()
    stream = os.fdopen(theirs, "w", encoding="utf-8", buffering=1)
    os.close(ours)
    output = LossyStream(stream)
    writer = WriterThread(output)  # type: ignore[arg-type]  # it has what the thread uses
    writer.start()
    for _ in range(3 * MAX_QUEUED_WRITES):
        writer.write("text\n")  # waits forever if the thread has ended
    writer.stop()
    with suppress(OSError):
        stream.close()
