"""The command ``samedeal-server restore``, which restores a backup into an empty store."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from importlib import resources
from pathlib import Path
from typing import Final

import structlog

from samedeal.command_line_help import ArgumentRows, HelpFormatter, add_rows
from samedeal.data_files import read_data
from samedeal_server.config.config import PROGRAM, Config
from samedeal_server.config.load import load_config
from samedeal_server.config.setting_sources import InvalidSetting
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.errors import StartupError, StoreRejected, StoreUnavailable
from samedeal_server.operators import backup
from samedeal_server.operators.personal_data import PersonalData
from samedeal_server.process.open_store import open_store
from samedeal_server.store.dump import DumpedKey, KeyDump
from samedeal_server.store.node_registry import Nodes
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics

_MAX_KEYS: Final = 200
"""Maximum number of keys that are sent to Redis in one batch."""

_MAX_BYTES: Final = 1 << 23
"""Size of the values, in bytes, above which a batch is sent to Redis."""


def parser(name: str = PROGRAM) -> argparse.ArgumentParser:
    """Return the parser of the command line. Usage messages show ``name`` as the name of the program."""
    epilog = resources.files("samedeal_server.process").joinpath("restore_help.txt").read_text("utf-8")
    command = argparse.ArgumentParser(
        prog=f"{name} restore",
        description="Restore a backup into an empty store. Make backups with samedeal admin URL backup.",
        epilog=epilog.format(name=name),
        formatter_class=HelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    add_rows(command, read_data("samedeal_server.process", "restore.toml", ArgumentRows), {"path": Path})
    return command


def main(arguments: Sequence[str], name: str = PROGRAM) -> int:
    """Restore a backup and return the exit code. Messages show ``name`` as the name of the program."""
    command = parser(name)
    flags = command.parse_args(arguments)
    try:
        config = load_config(flags).values
    except InvalidSetting as error:
        command.error(str(error))
    # Errors are printed once, as the reason for the exit, so nothing else is logged.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        tail = asyncio.run(restore(flags.file, config, replace=flags.replace, new_receipt_key=flags.new_receipt_key))
    except StartupError as error:
        if os.environ.get("SAMEDEAL_DEBUG"):
            raise
        print(f"{name}: {error.code}: {error}", file=sys.stderr)
        return 1
    print(
        f"The backup is restored (rooms: {tail.rooms}, sessions: {tail.sessions}). Start the nodes to continue the races."
    )
    return 0


async def restore(path: Path, config: Config, *, replace: bool, new_receipt_key: bool = False) -> backup.Tail:
    """Restore a backup into the store that ``config`` names, and return the last record of the backup.

    If ``replace`` is true, delete everything in the store first. Otherwise raise StartupError if the store is not
    empty. If ``new_receipt_key`` is true, replace the key for receipts. The nodes of this store and of the store that
    was backed up then refuse each other's receipts. What an operator has removed, from the store or
    from what is in the backup, is removed again. Raise StartupError if the backup or the store cannot be used, or if
    nodes are running on the store.
    """
    records = backup.read(path)
    head = next(records)  # this checks the whole file before the store is changed
    async with AsyncExitStack() as stack:
        url = config.redis or await stack.enter_async_context(EmbeddedRedis(config.data, config.durability))
        store = await stack.enter_async_context(open_store(url, config.replicas, Metrics()))
        try:
            removed = await _prepare(store, replace=replace)
            tail = await _write(records, KeyDump(store))
            await PersonalData(store).remove_again(removed | await store.records.all_removed())
            if new_receipt_key:
                await store.replace_receipt_key()
            await store.check_schema()  # otherwise nodes of this version would not start
        except StoreRejected as error:
            version = head.redis if isinstance(head, backup.Head) else "another version"
            raise StartupError("backup_rejected", error=error, version=version) from None
        except StoreUnavailable as error:
            raise StartupError("redis_stopped_at_restore", error=error) from None
        return tail


async def _prepare(store: Store, *, replace: bool) -> set[str]:
    """Empty the store. Return what was removed there, and must be removed from the backup too."""
    dump, removed = KeyDump(store), await store.records.all_removed()
    if nodes := await Nodes(store).lines():
        raise StartupError("nodes_running", nodes=", ".join(line.node for line in nodes))
    if replace:
        await dump.clear()
    elif key := await dump.find_key():
        raise StartupError("not_empty", key=key)
    return removed


async def _write(records: Iterator[backup.BackupRecord], dump: KeyDump) -> backup.Tail:
    """Write all keys of a backup to the store. Return the last record of the backup."""
    pending: list[DumpedKey] = []
    written = pending_bytes = 0
    for record in records:
        if isinstance(record, DumpedKey):
            pending.append(record)
            pending_bytes += len(record.value)
        if pending and (len(pending) == _MAX_KEYS or pending_bytes > _MAX_BYTES or isinstance(record, backup.Tail)):
            await dump.restore(pending)
            await dump.rebuild_indexes(pending)
            written += len(pending)
            pending, pending_bytes = [], 0
        if isinstance(record, backup.Tail) and record.keys == written:
            return record
    raise StartupError("backup_cut_off")
