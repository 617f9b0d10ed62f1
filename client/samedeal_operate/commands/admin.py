"""``samedeal admin``: operate a server."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from samedeal.command_line_help import ArgumentRows, add_rows
from samedeal.data_files import read_data
from samedeal.errors import RequestRefused
from samedeal.forbidden_words import LONGEST_LIST
from samedeal.protocol.admin import (
    MAX_BAN_SECONDS,
    MAX_SENTENCE_LENGTH,
    REQUESTS,
    Ban,
    BanList,
    Drain,
    Forget,
    Forgotten,
    FromOperator,
    ListBans,
    ListReports,
    ListServerRooms,
    Reports,
    RoomShown,
    Say,
    ServerRooms,
    SetWords,
    ShowRoom,
    Status,
    Survey,
    ToOperator,
)
from samedeal.protocol.messages import Done
from samedeal.terminal_text import printable
from samedeal_client.panels.narration import room_lines
from samedeal_client.terminal_io.line_io import Printer, ask, ask_secret, terminal_look
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span
from samedeal_link.connection.address import ServerAddress, is_loopback_url, parse_address
from samedeal_link.errors import Failure
from samedeal_link.machine.paths import private_file
from samedeal_link.machine.signals import until_stopped
from samedeal_operate.admin_tables import ban_rows, report_rows, room_rows, size_text, survey_rows

if TYPE_CHECKING:
    from samedeal_operate.operator_client import OperatorClient


URL: Final = "SAMEDEAL_ADMIN_URL"
TOKEN: Final = "SAMEDEAL_ADMIN_TOKEN"  # noqa: S105 (the name of a variable, not a token)

_WIDTH: Final = 200
"""Width, in columns, of output that does not go to a terminal."""

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"([1-9][0-9]{0,5})([smhdw])")


class _Action(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of ``admin.toml``. ``json`` says that the action can print JSON, and ``request`` is the tag of a request."""

    help: str
    arguments: ArgumentRows = {}
    json: bool = False
    request: str = ""
    done: str = ""


_ACTIONS: Final = read_data("samedeal_operate.commands", "admin.toml", dict[str, _Action])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of ``samedeal admin``."""
    parser.add_argument("url", metavar="URL", help=f"the server's address, as for samedeal join (default: {URL})")
    _add_token(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, row in _ACTIONS.items():
        action = actions.add_parser(name, help=row.help, description=f"{row.help[0].upper()}{row.help[1:]}.")
        action.set_defaults(json=False)
        _add_token(action)
        if row.json:
            action.add_argument("--json", action="store_true", help="print JSON, for scripts")
        add_rows(action, row.arguments, _TYPES)


def _add_token(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--token-file",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help=f"a file that contains the token (default: {TOKEN}; otherwise asked for on a terminal)",
    )


def _duration(text: str) -> int:
    if not (match := _DURATION.fullmatch(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a length of time. Write 30s, 10m, 1h, 7d or 2w.")
    seconds = int(match[1]) * _SECONDS[match[2]]
    if seconds > MAX_BAN_SECONDS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is too long. Write at most 520w; without --for, a ban is permanent."
        )
    return seconds


def _sentence(text: str) -> str:
    if len(text) > MAX_SENTENCE_LENGTH:
        raise argparse.ArgumentTypeError(f"The text has {len(text)} characters. The maximum is {MAX_SENTENCE_LENGTH}.")
    return text


def expand(arguments: Sequence[str]) -> list[str]:
    """Return the command line of ``samedeal admin``, with the URL from the environment if ``arguments`` has none."""
    words = list(arguments)
    if words[:1] != ["admin"]:
        return words
    index = 1
    while index < len(words) and words[index].startswith("-"):
        index += 2 if words[index] == "--token-file" else 1
    if index < len(words) and words[index] in _ACTIONS:
        words.insert(index, os.environ.get(URL, ""))
    return words


def run(given: argparse.Namespace) -> int:
    """Perform the action and return the exit code."""

    async def act() -> int:
        return await perform(given, _address(given), await _token(given))

    return asyncio.run(until_stopped(act()))


async def perform(given: argparse.Namespace, address: ServerAddress, token: str) -> int:
    """Perform an action on a server and return the exit code.

    Raise CannotConnect, RequestRefused or Failure if the action fails.
    """
    from samedeal_operate.operator_client import OperatorClient

    async with OperatorClient(address, token) as operator:
        row = _ACTIONS[given.action]
        if not row.request:
            return await _FUNCTIONS[given.action](operator, given)
        kind = REQUESTS[row.request]
        fields = {name: getattr(given, name) for name in row.arguments}
        return await _request(operator, kind(id=0, **fields), row.done.format(**fields))


def _address(given: argparse.Namespace) -> ServerAddress:
    if not given.url:
        raise Failure(f"There is no server address. Write samedeal admin URL {given.action}, or set {URL}.", 2)
    address = ServerAddress(parse_address(given.url).url)
    if not address.encrypted and not is_loopback_url(address.url):
        print(f"samedeal: {address.url} is not encrypted. Others on the network can read the token.", file=sys.stderr)
    return address


async def _token(given: argparse.Namespace) -> str:
    if file := getattr(given, "token_file", ""):
        try:
            token = Path(file).expanduser().read_text(encoding="utf-8").strip()  # noqa: ASYNC240 (nothing else runs)
        except UnicodeDecodeError:
            raise Failure(f"{file} is not a text file. It must contain only the token.") from None
    else:
        token = os.environ.get(TOKEN, "").strip()
        if not token and sys.stdin.isatty():
            token = (await ask_secret("Token: ")).strip()
    if not token:
        raise Failure(f"There is no token. Set {TOKEN}, or pass --token-file FILE.")
    return token


def _look() -> Look:
    return terminal_look(ascii_only=False)


def _print_lines(*lines: str) -> int:
    Printer(sys.stdout, colour=False).print_lines(lines)
    return 0


def _print_answer(given: argparse.Namespace, answer: ToOperator, rows: Iterable[Row]) -> int:
    if given.json:
        from msgspec import to_builtins

        fields: dict[str, Any] = to_builtins(answer, builtin_types=(bytes,))
        shown = {name: value for name, value in fields.items() if name not in ("type", "to")}
        in_ascii = sys.stdout.encoding.lower().replace("-", "") != "utf8"
        print(json.dumps(shown, default=bytes.hex, ensure_ascii=in_ascii))
    else:
        Printer(sys.stdout, colour=_look().colour).print_rows(rows)
    return 0


async def _status(operator: OperatorClient, given: argparse.Namespace) -> int:
    survey = await operator.ask(Status(id=0), Survey)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
    return _print_answer(given, survey, survey_rows(survey, _look(), width))


async def _rooms(operator: OperatorClient, given: argparse.Namespace) -> int:
    answer = await operator.ask(ListServerRooms(id=0, limit=given.limit), ServerRooms)
    lines = room_lines(answer.rooms, _look()) if answer.rooms else ["There are no rooms."]
    if len(answer.rooms) < answer.total:
        lines.append(f"{answer.total - len(answer.rooms)} more rooms are not listed. Use --limit to list up to 1000.")
    return _print_answer(given, answer, [(Span(line),) for line in lines])


async def _room(operator: OperatorClient, given: argparse.Namespace) -> int:
    shown = await operator.ask(ShowRoom(id=0, room=given.room), RoomShown)
    return _print_answer(given, shown, room_rows(shown, operator.time, _look()))


async def _words(operator: OperatorClient, given: argparse.Namespace) -> int:
    data = given.path.read_bytes()
    if len(data) > LONGEST_LIST:
        raise Failure(f"{given.path} has {len(data)} bytes. The maximum is {LONGEST_LIST}.")
    try:
        words = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Failure(f"Line {line} of {given.path} is not UTF-8. Save the file as UTF-8.") from None
    done = "Names must not have these words from now on." if words.strip() else "Names may have any words from now on."
    return await _request(operator, SetWords(id=0, words=words), done)


async def _reports(operator: OperatorClient, given: argparse.Namespace) -> int:
    answer = await operator.ask(ListReports(id=0), Reports)
    rows = report_rows(answer.reports, _look()) if answer.reports else [(Span("Nobody has reported anything."),)]
    return _print_answer(given, answer, rows)


async def _forget(operator: OperatorClient, given: argparse.Namespace) -> int:
    answer = await operator.ask(Forget(id=0, target=given.target), Forgotten)
    return _print_lines(f"Forgotten: {', '.join(answer.players)}. Records changed: {answer.records}.")


async def _export(operator: OperatorClient, given: argparse.Namespace) -> int:
    return _print_lines(*(await operator.export(given.player)).decode().splitlines())


async def _ban(operator: OperatorClient, given: argparse.Namespace) -> int:
    ban = Ban(id=0, target=given.target, seconds=given.seconds, reason=given.reason)
    answer = await operator.ask(ban, BanList)
    return _print_lines(*(f"Banned {printable(line.target)}." for line in answer.bans))


async def _bans(operator: OperatorClient, given: argparse.Namespace) -> int:
    answer = await operator.ask(ListBans(id=0), BanList)
    return _print_answer(given, answer, ban_rows(answer.bans) if answer.bans else [(Span("Nobody is banned."),)])


async def _say(operator: OperatorClient, given: argparse.Namespace) -> int:
    if len(given.words) > 2:
        sentence = "There are too many words. Put the text in quotes, as in samedeal admin URL say [ROOM] 'TEXT'."
        raise Failure(sentence, 2)
    *room, text = given.words
    message = Say(id=0, text=text, room=room[0] if room else "")
    return await _request(operator, message, f"Sent to {f'everybody in {room[0]}' if room else 'everybody'}.")


async def _drain(operator: OperatorClient, given: argparse.Namespace) -> int:
    confirmation = (
        f"{given.node or operator.node} is draining and then stops. "
        "systemd and a server with --workers do not start it again. Compose and Kubernetes do."
    )
    try:
        return await _request(operator, Drain(id=0, node=given.node, force=given.yes), confirmation)
    except RequestRefused as refused:
        if refused.code != "last_node" or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise
        question = "This is the last ready node, and without it nobody can race. Drain it? [y/N] "
        if (await ask(question)).strip().casefold() not in ("y", "yes"):  # the connection stays alive meanwhile
            return 1
    return await _request(operator, Drain(id=0, node=given.node, force=True), confirmation)


async def _request(operator: OperatorClient, request: FromOperator, confirmation: str) -> int:
    await operator.ask(request, Done)
    return _print_lines(confirmation)


async def _backup(operator: OperatorClient, given: argparse.Namespace) -> int:
    path = _new_file(given.path)
    with private_file(path) as file:
        backed_up = await operator.back_up(file.write)
    return _print_lines(
        f"{path}: rooms: {backed_up.rooms}, sessions: {backed_up.sessions}, size: {size_text(backed_up.size)}",
        "It contains the seeds of running races and hashes of sessions and passphrases. Keep it private.",
    )


def _new_file(path: Path) -> Path:
    """Return a file that does not exist. If ``path`` is a directory, the file is in it, and its name contains the time."""
    if path.is_dir():
        path /= f"samedeal-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.backup"
    if path.exists():
        raise Failure(f"{path} already exists. Choose another file.")
    return path


_FUNCTIONS: Final[dict[str, Callable[[OperatorClient, argparse.Namespace], Awaitable[int]]]] = {
    "status": _status,
    "rooms": _rooms,
    "room": _room,
    "words": _words,
    "reports": _reports,
    "forget": _forget,
    "export": _export,
    "ban": _ban,
    "bans": _bans,
    "say": _say,
    "drain": _drain,
    "backup": _backup,
}
"""What the actions do that need more than a request."""

_TYPES: Final[dict[str, Callable[[str], Any]]] = {
    "duration": _duration,
    "sentence": _sentence,
    "path": Path,
}
"""The types of arguments in ``admin.toml``."""
