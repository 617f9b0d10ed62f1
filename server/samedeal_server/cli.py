"""The command ``samedeal-server``, which runs a node."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from importlib import resources
from typing import Any

from samedeal.command_line_help import HelpFormatter
from samedeal.versions import versions
from samedeal_server.config.config import PROGRAM, Config
from samedeal_server.config.load import load_config
from samedeal_server.config.setting_sources import InvalidSetting, add_flags, describe, suggestion, table


def parser(name: str = PROGRAM) -> argparse.ArgumentParser:
    """Return the parser of the command line. Usage messages show ``name`` as the name of the program."""
    notes = resources.files("samedeal_server").joinpath("help.txt").read_text("utf-8")
    command = argparse.ArgumentParser(
        prog=name,
        description="Host races in solitaire games. Everyone plays the same deal, and the fastest player wins.",
        usage=f"{name} [--config FILE] [--print-config] [--SETTING VALUE ...]",
        epilog=notes.format(name=name),
        formatter_class=HelpFormatter,
        allow_abbrev=False,
        exit_on_error=False,
    )
    command.add_argument("--version", action="version", version=versions())
    command.add_argument(
        "--config", metavar="FILE", help="TOML file of settings, named like the flags (SAMEDEAL_CONFIG)"
    )
    command.add_argument(
        "--print-config",
        action="store_true",
        help="print all settings and their sources in the format of the file, and exit",
    )
    add_flags(command, Config)
    return command


def main(arguments: Sequence[str] | None = None, name: str = PROGRAM) -> int:
    """Run the command ``samedeal-server`` and return its exit code. Messages show ``name`` as the program's name."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["restore"]:
        from samedeal_server.process import restore

        return restore.main(words[1:], name)
    command = parser(name)
    try:
        flags, unknown = command.parse_known_args(words)
        if unknown:
            raise InvalidSetting(_unknown_argument(unknown, words))
        reading = load_config(flags, house=0 if name == PROGRAM else 3)
    except (argparse.ArgumentError, InvalidSetting) as error:
        command.error(str(error))
    if flags.print_config:
        print(describe(reading), end="")
        return 0
    config = reading.values
    from samedeal_server.process import sd_notify
    from samedeal_server.process.app import node_name, run
    from samedeal_server.process.banner import ListenAddresses, banner
    from samedeal_server.process.own_house import make_house_key
    from samedeal_server.process.workers import announce_worker, is_worker, run_workers
    from samedeal_server.telemetry import logs

    node_id = node_name()
    logs.set_up(config, node_id)

    def announce(addresses: ListenAddresses, health_url: str) -> None:
        sd_notify.notify("READY=1")
        if is_worker():
            announce_worker(health_url)
        elif config.announce:
            print(f"listening on {addresses.local}", flush=True)
        elif logs.is_pretty(config):
            print(f"\n{banner(config, addresses, health_url)}\n", flush=True)

    make_house_key(config)
    if config.workers > 1:
        serving = run_workers(config, words, announce)
    else:
        serving = run(config, node_id, announce, lambda: load_config(flags).values, is_worker=is_worker())
    return _run(serving, config, name)


def _run(serving: Coroutine[Any, Any, None], config: Config, name: str) -> int:
    """Run the coroutine that serves clients, and return the exit code."""
    from samedeal_server.errors import StartupError
    from samedeal_server.telemetry import logs
    from samedeal_server.telemetry.logger import get_logger

    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(serving)
    except StartupError as error:
        if os.environ.get("SAMEDEAL_DEBUG"):
            raise
        if not logs.is_pretty(config):
            get_logger().error("failed", code=error.code, error=str(error))
        print(f"{name}: {error.code}: {error}", file=sys.stderr)
        return 1
    return 0


def _unknown_argument(unknown: Sequence[str], words: Sequence[str]) -> str:
    """Return the error message about an unknown argument.

    ``unknown`` holds all of ``words`` that the parser does not know. It may contain values of unknown flags.
    """
    argument = next((word for word in unknown if word.startswith("-")), unknown[0]).partition("=")[0]
    flags = ["config", "print-config", "version", "help", *(setting.name for setting in table(Config))]
    is_cut = any(word.endswith(",") for word in words)
    hint = "Leave out the blank after the comma." if is_cut else suggestion(argument.lstrip("-"), flags, "--")
    return f"{argument} is not a setting. {hint}"


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop
