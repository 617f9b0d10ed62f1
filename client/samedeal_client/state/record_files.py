"""Files with records of the player's own races, in the data directory."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from samedeal.record import Record
from samedeal_client.paths import data_home, write_new


def record_path(room: str, starts: int) -> Path:
    """Return the file for a race that started at a time, in milliseconds since 1970."""
    day = datetime.fromtimestamp(starts / 1000, UTC).strftime("%Y-%m-%d-%H%M%S")
    return data_home() / "records" / f"{day}-{room}.txt"


def save_record(record: Record, room: str, starts: int) -> Path:
    """Write a record and return its file. Raises OSError if the file can't be written.

    Two players of one race on one machine get a file each, even if they save at the same time.
    """
    path = record_path(room, starts)
    text = str(record)
    number = 1
    while not write_new(path, text) and path.read_text(encoding="utf-8") != text:
        number += 1
        path = record_path(f"{room}-{number}", starts)
    return path
