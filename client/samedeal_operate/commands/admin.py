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

from samedeal.errors import RequestRefused
from samedeal.forbidden_words import LONGEST_LIST
from samedeal.protocol.admin import (
    MAX_BAN_SECONDS,
    MAX_CLOSED_ROOMS,
    MAX_SENTENCE_LENGTH,
    Ban,
    BanList,
    CloseRoom,
    CloseRooms,
    DeleteRecord,
    Drain,
    Forget,
    Forgotten,
    Kick,
    ListBans,
    ListReports,
    ListServerRooms,
    Rename,
    Reports,
    RoomsClosed,
    RoomShown,
    Say,
    ServerRooms,
    SetWords,
    ShowRoom,
    Status,
    Survey,
    ToOperator,
    Unban,
)
from samedeal.protocol.messages import Done
from samedeal.protocol_codes import OperatorRefusalCode
from samedeal.terminal_text import printable
from samedeal_client.commands.arguments import add_number
from samedeal_client.panels.narration import room_lines
from samedeal_client.terminal_io.line_io import Printer, ask, ask_secret, terminal_look
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span
from samedeal_link.connection.address import ServerAddress, is_loopback_url, parse_address
from samedeal_link.errors import Failure
from samedeal_link.machine.paths import private_file
from samedeal_link.machine.signals import until_stopped
from samedeal_link.machine.terminal import terminal
from samedeal_operate.admin_tables import ban_rows, report_rows, room_rows, size_text, survey_rows

if TYPE_CHECKING:
    from samedeal_operate.operator_client import OperatorClient


URL: Final = "SAMEDEAL_ADMIN_URL"
TOKEN: Final = "SAMEDEAL_ADMIN_TOKEN"  # noqa: S105 (the name of a variable, not a token)

_WIDTH: Final = 200
"""Width, in columns, of output that does not go to a terminal."""

_CLEAR: Final = "\x1b[H\x1b[2J"
"""What clears the screen of a terminal."""

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"([1-9][0-9]{0,5})([smhdw])")

Action = Callable[["OperatorClient", argparse.Namespace], Awaitable[int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of ``samedeal admin``."""
    parser.add_argument("url", metavar="URL", help=f"the server's address, as for samedeal join (default: {URL})")
    _add_token(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    of: dict[str, argparse.ArgumentParser] = {}
    for name, (_, summary) in _ACTIONS.items():
        of[name] = actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        _add_token(of[name])
    for name in ("status", "rooms", "room", "bans", "reports"):
        of[name].add_argument("--json", action="store_true", help="print JSON, for scripts")
    add_number(of["top"], "--every", (1, 3600), 2, "seconds between updates", "SECONDS")
    add_number(of["rooms"], "--limit", (1, 1000), 100, "maximum number of rooms")
    of["top"].set_defaults(json=False)
    for name in ("room", "kick", "rename"):
        of[name].add_argument("room", metavar="ROOM")
    for name in ("kick", "rename"):
        of[name].add_argument("player", metavar="PLAYER", help="a name in the room, or an id")
    of["rename"].add_argument("name", metavar="NAME", help="what others see from now on")
    of["words"].add_argument("path", metavar="FILE", type=Path, help="a word in each line; an empty file allows all")
    of["delete-record"].add_argument("race", metavar="ID", help="the id of the race, as in friday.20261122-140543")
    of["forget"].add_argument("target", metavar="PLAYER|ADDRESS", help="a player's id or name, an address or a network")
    of["export"].add_argument("player", metavar="PLAYER", help="a player's id or name")
    ban, close, drain = of["ban"], of["close"], of["drain"]
    ban.add_argument(
        "target", metavar="PLAYER|ADDRESS", help="a player's id, an address, or a network as 203.0.113.0/24"
    )
    how_long = "how long: 10m, 1h, 7d (default: permanently)"
    ban.add_argument("--for", dest="seconds", type=_duration, default=0, metavar="TIME", help=how_long)
    ban.add_argument("--reason", type=_sentence, default="", help="shown to the banned player")
    of["unban"].add_argument("target", metavar="PLAYER|ADDRESS")
    of["say"].add_argument(
        "words",
        metavar="[ROOM] TEXT",
        nargs="+",
        type=_sentence,
        help="the text in quotes, after the room if only one room gets it",
    )
    close.add_argument("room", metavar="ROOM", nargs="?", default="")
    close.add_argument("--empty", action="store_true", help="rooms in which nobody has a seat")
    close.add_argument(
        "--idle", type=_duration, default=0, metavar="TIME", help="rooms without a change for 10m, 1h, 7d"
    )
    close.add_argument(
        "--from",
        dest="target",
        default="",
        metavar="PLAYER|ADDRESS",
        help="rooms of a player, or of players from an address or network",
    )
    drain.add_argument(
        "node",
        metavar="NODE",
        nargs="?",
        default="",
        help="its name, or the end of its name; not needed if there is only one node",
    )
    drain.add_argument("--yes", action="store_true", help="drain the last ready node without asking")
    where = "where to write it (default: this directory)"
    of["backup"].add_argument("path", metavar="FILE|DIR", nargs="?", type=Path, default=Path(), help=where)


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
        return await _ACTIONS[given.action][0](operator, given)


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


async def _top(operator: OperatorClient, given: argparse.Namespace) -> int:
    if not terminal().is_interactive:
        return await _status(operator, given)
    while True:
        print(_CLEAR, end="")
        await _status(operator, given)
        await asyncio.sleep(given.every)


async def _rooms(operator: OperatorClient, given: argparse.Namespace) -> int:
    answer = await operator.ask(ListServerRooms(id=0, limit=given.limit), ServerRooms)
    lines = room_lines(answer.rooms, _look()) if answer.rooms else ["There are no rooms."]
    if len(answer.rooms) < answer.total:
        lines.append(f"{answer.total - len(answer.rooms)} more rooms are not listed. Use --limit to list up to 1000.")
    return _print_answer(given, answer, [(Span(line),) for line in lines])


async def _room(operator: OperatorClient, given: argparse.Namespace) -> int:
    shown = await operator.ask(ShowRoom(id=0, room=given.room), RoomShown)
    return _print_answer(given, shown, room_rows(shown, operator.time, _look()))


async def _kick(operator: OperatorClient, given: argparse.Namespace) -> int:
    kick = Kick(id=0, room=given.room, player=given.player)
    return await _request(operator, kick, f"Removed {given.player} from {given.room}.")


async def _rename(operator: OperatorClient, given: argparse.Namespace) -> int:
    rename = Rename(id=0, room=given.room, player=given.player, name=given.name)
    return await _request(operator, rename, f"Others now see {given.name} instead of {given.player} in {given.room}.")


async def _words(operator: OperatorClient, given: argparse.Namespace) -> int:
    data = given.path.read_bytes()
    if len(data) > LONGEST_LIST:
        raise Failure(f"{given.path} has {len(data)} bytes. The maximum is {LONGEST_LIST}.")
    try:
        words = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Failure(f"Line {line} of {given.path} is not UTF-8. Save the file as UTF-8.") from None
    return await _request(operator, SetWords(id=0, words=words), "Names must not have these words from now on.")


async def _reports(operator: OperatorClient, given: argparse.Namespace) -> int:
    answer = await operator.ask(ListReports(id=0), Reports)
    rows = report_rows(answer.reports, _look()) if answer.reports else [(Span("Nobody has reported anything."),)]
    return _print_answer(given, answer, rows)


async def _delete_record(operator: OperatorClient, given: argparse.Namespace) -> int:
    return await _request(operator, DeleteRecord(id=0, race=given.race), f"Deleted the record of {given.race}.")


async def _forget(operator: OperatorClient, given: argparse.Namespace) -> int:
    answer = await operator.ask(Forget(id=0, target=given.target), Forgotten)
    return _print_lines(f"Forgotten: {', '.join(answer.players)}. Records changed: {answer.records}.")


async def _export(operator: OperatorClient, given: argparse.Namespace) -> int:
    return _print_lines(*(await operator.export(given.player)).decode().splitlines())


async def _ban(operator: OperatorClient, given: argparse.Namespace) -> int:
    ban = Ban(id=0, target=given.target, seconds=given.seconds, reason=given.reason)
    answer = await operator.ask(ban, BanList)
    return _print_lines(*(f"Banned {printable(line.target)}." for line in answer.bans))


async def _unban(operator: OperatorClient, given: argparse.Namespace) -> int:
    return await _request(operator, Unban(id=0, target=given.target), f"Removed the ban of {given.target}.")


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


async def _close(operator: OperatorClient, given: argparse.Namespace) -> int:
    conditions = CloseRooms(id=0, idle=given.idle, empty=given.empty, target=given.target)
    has_condition = conditions != CloseRooms(id=0)
    if bool(given.room) == has_condition:
        raise Failure("Name one room, or choose rooms with --empty, --idle or --from.", 2)
    if given.room:
        return await _request(operator, CloseRoom(id=0, room=given.room), f"Closed {given.room}.")
    closed, last = 0, MAX_CLOSED_ROOMS
    while last >= MAX_CLOSED_ROOMS:
        last = (await operator.ask(conditions, RoomsClosed)).rooms
        closed += last
    return _print_lines(f"Rooms closed: {closed}.")


async def _drain(operator: OperatorClient, given: argparse.Namespace) -> int:
    confirmation = (
        f"{given.node or operator.node} is draining and then stops. "
        "systemd and a server with --workers do not start it again. Compose and Kubernetes do."
    )
    try:
        return await _request(operator, Drain(id=0, node=given.node, force=given.yes), confirmation)
    except RequestRefused as refused:
        if refused.code != OperatorRefusalCode.LAST_NODE or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise
        if not await _confirmed("This is the last ready node, and without it nobody can race. Drain it?"):
            return 1
    return await _request(operator, Drain(id=0, node=given.node, force=True), confirmation)


async def _confirmed(question: str) -> bool:
    """Ask a question on the terminal, and return whether the answer is yes. The connection stays alive meanwhile."""
    return (await ask(f"{question} [y/N] ")).strip().casefold() in ("y", "yes")


async def _request(operator: OperatorClient, request: Any, confirmation: str) -> int:
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


_ACTIONS: Final[dict[str, tuple[Action, str]]] = {
    "status": (_status, "show the state of all nodes and of Redis"),
    "top": (_top, "show the state of all nodes and of Redis, updated continuously; in a pipe, print it once"),
    "rooms": (_rooms, "list the newest rooms"),
    "room": (_room, "show a room with its players"),
    "kick": (_kick, "remove a player from a room permanently"),
    "rename": (_rename, "show others another name of a player in a room"),
    "words": (_words, "replace the words that names of players and rooms must not have"),
    "reports": (_reports, "list the names that players have reported"),
    "delete-record": (_delete_record, "delete the record of a race"),
    "forget": (_forget, "remove the name of a player from everything, and what else is stored about them"),
    "export": (_export, "print what is stored about a player, as JSON"),
    "ban": (_ban, "ban a player, an address or a network from the server"),
    "unban": (_unban, "remove a ban"),
    "bans": (_bans, "list the bans"),
    "say": (_say, "send a message to everybody, or to everybody in a room"),
    "close": (_close, "close a room, even during a race, or all rooms that meet the given conditions"),
    "drain": (_drain, "stop a node; its players resume on the others"),
    "backup": (_backup, "write a backup of everything; it contains secrets, so only its owner can read it"),
}
"""What each action does, and what its help says."""
