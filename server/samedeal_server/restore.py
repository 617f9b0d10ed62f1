"""``samedeal-server restore``: a backup put into an empty store."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import structlog
from redis.exceptions import RedisError, ResponseError

from samedeal_server import backup
from samedeal_server.app import _store
from samedeal_server.cli import NAME, read_config
from samedeal_server.config import Config
from samedeal_server.embedded import EmbeddedRedis
from samedeal_server.errors import StartupError
from samedeal_server.settings import BadSetting
from samedeal_server.store.copies import Copies, Copy
from samedeal_server.store.nodes import Nodes
from samedeal_server.store.redis import Store

_AT_A_TIME: Final = 200
_LARGEST: Final = 1 << 23

_EPILOG: Final = """\
examples:
  {name} restore samedeal.backup --redis redis://10.0.0.5:6379/0
  {name} restore samedeal.backup --data ~/.local/share/samedeal/server

Stop all nodes first. What was played after the backup was made is not in it; races go on where it has them, unless their
time was up meanwhile. Without --redis and --data it goes to where a server that is started without them keeps its data.
Exit codes: 0 restored, 1 it could not be done (the reason is printed), 2 bad usage.
"""


def parser(name: str = NAME) -> argparse.ArgumentParser:
    """The command line, under the name by which the server was called."""
    command = argparse.ArgumentParser(
        prog=f"{name} restore",
        description="Put a backup, made with samedeal admin URL backup, into a store that is empty.",
        epilog=_EPILOG.format(name=name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument("file", metavar="FILE", type=Path, help="the backup")
    command.add_argument("--redis", metavar="URL", default=argparse.SUPPRESS, help="the Redis to put it into")
    command.add_argument(
        "--data", metavar="DIR", default=argparse.SUPPRESS, help="the data directory of a server's own Redis"
    )
    command.add_argument("--config", metavar="FILE", help=f"a file with settings, as for {name}")
    command.add_argument("--replace", action="store_true", help="throw away what is in the store")
    return command


def main(arguments: Sequence[str], name: str = NAME) -> int:
    """Restore; returns the exit code. ``name`` is how the server was called."""
    command = parser(name)
    given = command.parse_args(arguments)
    try:
        config = read_config(given).values
    except BadSetting as error:
        command.error(str(error))
    # What goes wrong is said once, by the reason for ending.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        rooms, sessions = asyncio.run(_restore(given.file, config, replace=given.replace))
    except StartupError as error:
        if os.environ.get("SAMEDEAL_DEBUG"):
            raise
        print(f"{name}: {error.code}: {error}", file=sys.stderr)
        return 1
    print(f"Restored: rooms: {rooms}, sessions: {sessions}. Start the nodes, and races go on.")
    return 0


async def _restore(path: Path, config: Config, *, replace: bool) -> tuple[int, int]:
    records = backup.read(path)
    head = next(records)  # the file is looked through before anything is touched
    async with AsyncExitStack() as stack:
        url = config.redis or await stack.enter_async_context(EmbeddedRedis(config.data, config.durability))
        store = await stack.enter_async_context(_store(url, config.replicas))
        try:
            await _check(store, replace=replace)
            tail = await _put(records, Copies(store))
            await store.check_layout()  # the nodes of this version would not start
        except ResponseError as error:
            made = head.redis if isinstance(head, backup.Head) else "another version"
            raise StartupError(
                "redis_too_old",
                f"This Redis does not take the backup, which was made of Redis {made} ({error}): restore it into that "
                "version or a newer one, with --replace",
            ) from None
        except (RedisError, TimeoutError, OSError) as error:
            raise StartupError(
                "redis_unreachable", f"Redis does not answer any more ({error}): restore again, with --replace"
            ) from None
        return tail.rooms, tail.sessions


async def _check(store: Store, *, replace: bool) -> None:
    copies = Copies(store)
    if running := await Nodes(store).lines():
        names = ", ".join(line.node for line in running)
        raise StartupError("nodes_running", f"Nodes run on this store ({names}): stop them first")
    if replace:
        await copies.clear()
    elif key := await copies.some_key():
        raise StartupError(
            "not_empty",
            f"The store is not empty (there is {key}): choose an empty one, or throw away what is in it with --replace",
        )


async def _put(records: backup.Records, copies: Copies) -> backup.Tail:
    waiting: list[Copy] = []
    put = size = 0
    for record in records:
        if isinstance(record, Copy):
            waiting.append(record)
            size += len(record.value)
        if waiting and (len(waiting) == _AT_A_TIME or size > _LARGEST or isinstance(record, backup.Tail)):
            await copies.put(waiting)
            await copies.index(waiting)
            put += len(waiting)
            waiting, size = [], 0
        if isinstance(record, backup.Tail) and record.keys == put:
            return record
    raise StartupError("bad_backup", "The backup has no end: take another one")
