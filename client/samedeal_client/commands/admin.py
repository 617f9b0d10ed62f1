"""``samedeal admin``: what an operator asks of a server, and tells it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import getpass
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from samedeal.protocol.admin import (
    LONGEST_BAN,
    LONGEST_SENTENCE,
    Ban,
    BanList,
    CloseRoom,
    Drain,
    Kick,
    ListBans,
    ListRooms,
    RoomList,
    RoomShown,
    Say,
    ShowRoom,
    Status,
    Survey,
    ToOperator,
    Unban,
)
from samedeal.protocol.messages import Done
from samedeal_client.commands.common import whole
from samedeal_client.net.address import Address, is_loopback_url, parse_address
from samedeal_client.running import Failure, is_terminal, until_stopped
from samedeal_client.text.lines import Printer, terminal_look
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.admin import ban_rows, room_rows, size, survey_rows
from samedeal_client.views.narration import room_lines

if TYPE_CHECKING:
    from samedeal_client.net.operator import Operator

DESCRIPTION: Final = """\
Look after a server: see how it fares, and act where players can't. The server must have been given a token (16
characters or more, in its SAMEDEAL_ADMIN_TOKEN or in a file that --admin-token-file names); this command takes it from
SAMEDEAL_ADMIN_TOKEN or --token-file, or asks for it on a terminal."""

EXAMPLES: Final = """\
URL may be left out where SAMEDEAL_ADMIN_URL has it.

examples:
  samedeal admin example.org top                       the server as it fares, live; q quits
  samedeal admin example.org rooms --json              for scripts
  samedeal admin example.org room friday               who is in it, with ids and addresses
  samedeal admin example.org kick friday mira          out of the room, for good
  samedeal admin example.org ban 203.0.113.0/24 --for 1d --reason 'a flood of bots'
  samedeal admin example.org say friday 'Ten minutes more'
  samedeal admin example.org drain node-7-1a2b         as SIGTERM does; its players resume on the others
  samedeal admin example.org backup /var/backups       put back with samedeal-server restore FILE

exit codes: 0 done, 1 it could not be done (the reason is printed), 2 bad usage, 130 stopped with Ctrl-C."""

URL: Final = "SAMEDEAL_ADMIN_URL"
TOKEN: Final = "SAMEDEAL_ADMIN_TOKEN"  # noqa: S105 (its name, not the token itself)

_WIDE: Final = 200
"""Columns where nobody counts them."""

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_FOR: Final = re.compile(r"([1-9][0-9]{0,5})([smhdw])")

Deed = Callable[["Operator", argparse.Namespace], Awaitable[int]]


# ---------------------------------------------------------------- arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("url", metavar="URL", help=f"the server, as for samedeal join (or {URL})")
    _add_token(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, words: str, *, as_json: bool = False) -> argparse.ArgumentParser:
        made = actions.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        _add_token(made)
        if as_json:
            made.add_argument("--json", action="store_true", help="print JSON, for scripts")
        return made

    action("status", "how all nodes, and their Redis, fare", as_json=True)
    top = action("top", "the same live; in a pipe, once")
    top.add_argument("--every", type=whole(1, 3600), default=2, metavar="SECONDS", help="(default: %(default)s)")
    rooms = action("rooms", "the newest rooms", as_json=True)
    rooms.add_argument("--most", type=whole(1, 1000), default=100, metavar="N", help="(default: %(default)s)")
    room = action("room", "a room and its players", as_json=True)
    room.add_argument("room", metavar="ROOM")
    kick = action("kick", "take a player out of a room, for good")
    kick.add_argument("room", metavar="ROOM")
    kick.add_argument("player", metavar="PLAYER", help="a name in the room, or an id")
    ban = action("ban", "keep a player, an address or a network of addresses away from the server")
    ban.add_argument("who", metavar="PLAYER|ADDRESS", help="a player's id, an address, or a network as 203.0.113.0/24")
    ban.add_argument(
        "--for", dest="seconds", type=_span, default=0, metavar="TIME", help="10m, 1h, 7d (default: for good)"
    )
    ban.add_argument("--reason", type=_sentence, default="", help="which they are told")
    unban = action("unban", "take a ban back")
    unban.add_argument("who", metavar="PLAYER|ADDRESS")
    action("bans", "the bans in force", as_json=True)
    say = action("say", "say something to everybody, or to those in a room")
    say.add_argument(
        "words",
        metavar="[ROOM] TEXT",
        nargs="+",
        type=_sentence,
        help="the text in quotes, after the room if it is for one",
    )
    close = action("close", "close a room, whatever goes on in it")
    close.add_argument("room", metavar="ROOM")
    drain = action("drain", "have a node stop; its players resume on the others")
    drain.add_argument(
        "node",
        metavar="NODE",
        nargs="?",
        default="",
        help="its name, or the end of it (default: the node that answers)",
    )
    backup = action("backup", "write a backup of everything; it holds secrets, and is for its owner alone")
    backup.add_argument("path", metavar="FILE|DIR", nargs="?", type=Path, default=Path(), help="(default: here)")


def _add_token(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--token-file",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help=f"a file that holds the token (default: {TOKEN}; asked for on a terminal)",
    )


def _span(text: str) -> int:
    if not (found := _FOR.fullmatch(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 30s, 10m, 1h, 7d or 2w")
    seconds = int(found[1]) * _SECONDS[found[2]]
    if seconds > LONGEST_BAN:
        raise argparse.ArgumentTypeError(f"{text!r} is too long: leave it out for one that is for good")
    return seconds


def _sentence(text: str) -> str:
    if len(text) > LONGEST_SENTENCE:
        raise argparse.ArgumentTypeError(f"it has {len(text)} characters: {LONGEST_SENTENCE} at the most")
    return text


def with_url(arguments: Sequence[str]) -> list[str]:
    """A command line of ``samedeal`` with the URL of the environment where ``admin`` has none of its own."""
    words = list(arguments)
    if words[:1] != ["admin"]:
        return words
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] == "--token-file" else 1
    if at < len(words) and words[at] in _DEEDS:
        words.insert(at, os.environ.get(URL, ""))
    return words


# ---------------------------------------------------------------- doing it


def run(given: argparse.Namespace) -> int:
    """Do it: the exit code."""
    doing = look_after(given, _address(given), _token(given))
    if given.action == "top" and is_terminal():
        return asyncio.run(doing)  # it sees to signals itself
    return asyncio.run(until_stopped(doing))


async def look_after(given: argparse.Namespace, address: Address, token: str) -> int:
    """Do one thing at a server: the exit code. Raises CannotConnect, Refused and Failure."""
    from samedeal_client.net.operator import Operator

    async with Operator(address, token) as operator:
        return await _DEEDS[given.action](operator, given)


def _address(given: argparse.Namespace) -> Address:
    if not given.url:
        raise Failure(f"Name the server: samedeal admin URL {given.action}, or set {URL}", 2)
    address = Address(parse_address(given.url).url)
    if not address.encrypted and not is_loopback_url(address.url):
        print(f"samedeal: {address.url} is not encrypted: whoever can listen reads the token", file=sys.stderr)
    return address


def _token(given: argparse.Namespace) -> str:
    if file := getattr(given, "token_file", ""):
        try:
            token = Path(file).expanduser().read_text(encoding="utf-8").strip()
        except UnicodeDecodeError:
            raise Failure(f"{file} is no text: it has to hold the token alone") from None
    else:
        token = os.environ.get(TOKEN, "").strip()
        if not token and sys.stdin.isatty():
            token = getpass.getpass("Token: ").strip()
    if not token:
        raise Failure(f"Give the server's token: in {TOKEN}, or in a file with --token-file")
    return token


def _show(given: argparse.Namespace, answer: ToOperator, rows: Iterable[Row]) -> int:
    if given.json:
        from msgspec import to_builtins

        fields: dict[str, Any] = to_builtins(answer, builtin_types=(bytes,))
        shown = {name: value for name, value in fields.items() if name not in ("type", "to")}
        print(json.dumps(shown, default=bytes.hex, ensure_ascii=not _writes_all(sys.stdout.encoding)))
    else:
        Printer(sys.stdout, colour=terminal_look(ascii_only=False).colour).show(rows)
    return 0


def _writes_all(encoding: str) -> bool:
    return encoding.lower().replace("-", "") == "utf8"


async def _status(operator: Operator, given: argparse.Namespace) -> int:
    survey = await operator.ask(Status(id=0), Survey)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE
    return _show(given, survey, survey_rows(survey, terminal_look(ascii_only=False), width))


async def _top(operator: Operator, given: argparse.Namespace) -> int:
    if not is_terminal():
        return await _status(operator, argparse.Namespace(json=False))
    from samedeal_client.top import Top

    return await Top(operator, given.every, terminal_look(ascii_only=False)).run()


async def _rooms(operator: Operator, given: argparse.Namespace) -> int:
    found = await operator.ask(ListRooms(id=0, most=given.most), RoomList)
    lines = room_lines(found.rooms, terminal_look(ascii_only=False)) if found.rooms else ["There are no rooms"]
    if len(found.rooms) < found.all:
        lines.append(f"and {found.all - len(found.rooms)} more: --most shows up to 1000")
    return _show(given, found, [(Span(line),) for line in lines])


async def _room(operator: Operator, given: argparse.Namespace) -> int:
    shown = await operator.ask(ShowRoom(id=0, room=given.room), RoomShown)
    return _show(given, shown, room_rows(shown, operator.time, terminal_look(ascii_only=False)))


async def _kick(operator: Operator, given: argparse.Namespace) -> int:
    return await _done(
        operator, Kick(id=0, room=given.room, player=given.player), f"{given.player} is out of {given.room}"
    )


async def _ban(operator: Operator, given: argparse.Namespace) -> int:
    ban = Ban(id=0, who=given.who, seconds=given.seconds, reason=given.reason)
    return await _done(operator, ban, f"{given.who} is banned")


async def _unban(operator: Operator, given: argparse.Namespace) -> int:
    return await _done(operator, Unban(id=0, who=given.who), f"{given.who} is not banned any more")


async def _bans(operator: Operator, given: argparse.Namespace) -> int:
    found = await operator.ask(ListBans(id=0), BanList)
    return _show(given, found, ban_rows(found.bans) if found.bans else [(Span("Nobody is banned"),)])


async def _say(operator: Operator, given: argparse.Namespace) -> int:
    if len(given.words) > 2:
        raise Failure("Put the text in quotes: samedeal admin URL say [ROOM] 'TEXT'", 2)
    *room, text = given.words
    said = Say(id=0, text=text, room=room[0] if room else "")
    return await _done(operator, said, f"Said to {f'those in {room[0]}' if room else 'everybody'}")


async def _close(operator: Operator, given: argparse.Namespace) -> int:
    return await _done(operator, CloseRoom(id=0, room=given.room), f"{given.room} is closed")


async def _drain(operator: Operator, given: argparse.Namespace) -> int:
    return await _done(operator, Drain(id=0, node=given.node), f"{given.node or operator.node} drains")


async def _done(operator: Operator, request: Any, told: str) -> int:
    await operator.ask(request, Done)
    Printer(sys.stdout, colour=False).say([told])
    return 0


# ---------------------------------------------------------------- a backup


async def _backup(operator: Operator, given: argparse.Namespace) -> int:
    with _private_file(given.path) as (path, file):
        backed_up = await operator.back_up(file.write)
    Printer(sys.stdout, colour=False).say(
        [
            f"{path}: rooms: {backed_up.rooms}, sessions: {backed_up.sessions}, size: {size(backed_up.size)}",
            "It holds the seeds of races that are under way, and hashes of sessions and passphrases: keep it to yourself",
        ]
    )
    return 0


@contextlib.contextmanager
def _private_file(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file, or one in a directory, which only its owner may read; it is there when it is whole, and on disk."""
    if path.is_dir():
        path /= f"samedeal-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.backup"
    if path.exists():
        raise Failure(f"{path} is there already: name another file")
    part = path.with_name(f"{path.name}.part")
    try:
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        sentence = f"{part} is there already: another backup is written to it, or one was cut short; remove it then"
        raise Failure(sentence) from None
    try:
        with os.fdopen(file, "wb") as out:
            yield path, out
            out.flush()
            os.fsync(out.fileno())
        part.rename(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


_DEEDS: Final[dict[str, Deed]] = {
    "status": _status,
    "top": _top,
    "rooms": _rooms,
    "room": _room,
    "kick": _kick,
    "ban": _ban,
    "unban": _unban,
    "bans": _bans,
    "say": _say,
    "close": _close,
    "drain": _drain,
    "backup": _backup,
}
