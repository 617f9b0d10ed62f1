"""Files with records in the data directory: records of the player's own races, and downloaded records."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from samedeal.record import Record
from samedeal_link.machine.paths import data_home, write_new, write_private


def record_path(room: str, starts: int) -> Path:
    """Return the file for the record of a race that started at ``starts``, in milliseconds since 1970."""
    day = datetime.fromtimestamp(starts / 1000, UTC).strftime("%Y-%m-%d-%H%M%S")
    return data_home() / "records" / f"{day}-{room}.txt"


def saved_record(room: str, starts: int) -> Path | None:
    """Return the file with the record of a race, or None if none is saved."""
    path = record_path(room, starts)
    return path if path.is_file() else None


def saved_records() -> list[Path]:
    """Return the files of all saved records, newest first."""
    directory = data_home() / "records"
    files = directory.glob("*.txt") if directory.is_dir() else ()
    return sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)


def save_record(record: Record, own: Path | None = None) -> Path:
    """Write a record and return its file. Raise OSError if the file can't be written.

    The record replaces ``own``, the file with the player's own part of the race, if there is one. Two players of one race
    on one machine get a file each, even if they save at the same time.
    """
    text = str(record)
    if own is not None:
        write_private(own, text)
        return own
    path, number = record_path(record.terms.room, record.start), 1
    while not write_new(path, text) and path.read_text(encoding="utf-8") != text:
        number += 1
        path = record_path(f"{record.terms.room}-{number}", record.start)
    return path
