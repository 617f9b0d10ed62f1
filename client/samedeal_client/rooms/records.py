"""Where records of one's own races are kept: a text file for each, in the data directory."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from samedeal.record import Record
from samedeal_client.places import data_home, write_new


def record_path(room: str, starts: int) -> Path:
    """The file for a race that started at a time, in milliseconds since 1970."""
    day = datetime.fromtimestamp(starts / 1000, UTC).strftime("%Y-%m-%d-%H%M%S")
    return data_home() / "records" / f"{day}-{room}.txt"


def save_record(record: Record, room: str, starts: int) -> Path:
    """Write a record; two players of one race on one machine have a file each, also at the same time. Raises OSError."""
    path = record_path(room, starts)
    text = str(record)
    number = 1
    while not write_new(path, text) and path.read_text(encoding="utf-8") != text:
        number += 1
        path = record_path(f"{room}-{number}", starts)
    return path
