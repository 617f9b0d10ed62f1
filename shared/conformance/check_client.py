"""Plays the server's part against any client, and says in plain sentences what the client did wrong.

A real server stands behind this program. The program passes the messages on and checks those of the client. It loses
connections, adds fields, withholds an answer, damages a hash, and pretends that the server has lost moves. Then it starts
the client again for each of ``LIES``, which it tells about a draw: the client must not reveal its share any more.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
import tomllib
from asyncio.subprocess import PIPE, STDOUT
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_bytes
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import urlopen

import msgpack  # type: ignore[import-untyped]  # it ships no types
from local_server import local_server
from record_transcripts import Recorded, commitment_to
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from samedeal.errors import SamedealError
from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import (
    Act,
    CommitShare,
    Done,
    Hello,
    Join,
    Notice,
    Ping,
    Recover,
    Refused,
    RevealShare,
    ToClient,
    ToServer,
)
from samedeal_server.errors import StartupError

_SENTENCES: Final[dict[str, str]] = tomllib.loads((Path(__file__).parent / "mistakes.toml").read_text("utf-8"))

_PROTOCOL: Final = Subprotocol("samedeal.v1")
_JUDGE: Final = "Judge"
_LEAVER: Final = "Leaver"
"""The name of the player who leaves in the first draw, so that there is a second one."""

LIES: Final = ("changed_commitment", "other_hash", "changed_list", "lone_draw")
"""What the server says of a draw: another commitment of its own, another hash of the client, another list after the client
has revealed its share, and another draw although nobody has lost a seat. A client that believes it makes this mistake."""

_QUIET: Final = 3.0
"""Time, in seconds, for which a client has to leave a lie or a takeover unanswered."""

_LOST_ANSWER, _WRONG_HASH, _RATE_LIMITED, _LOST_MOVES, _END = 2, 5, 7, 10, 12
"""After how many accepted moves each of the client's troubles begins, and the check ends."""

_FORGOTTEN: Final = 2
"""How many moves the server seems to have lost."""

_ON_ITS_WAY: Final = 3
"""How many moves a client may have sent before it reads that a hash is wrong."""

_RETRY_AFTER: Final = 0.5
_SEAL_DELAY: Final = 1.0
"""Time, in seconds, for which the other player holds back its commitment, so that a hasty client reveals too early."""

_UNKNOWN: Final = {"a_later_field": {"anything": [1, None]}}

Message = dict[str, Any]


class Mistake(Exception):
    """A mistake of the client. ``facts`` go into the sentence for its code."""

    def __init__(self, code: str, **facts: object) -> None:
        super().__init__(_SENTENCES[code].format(**facts))
        self.code = code


class Check:
    """The check of one client. ``report`` gets what the client did right, and ``task`` is what it has to do next."""

    def __init__(self, server: str, report: Callable[[str], None] = print, lie: str = "") -> None:
        self.server = server
        self._lie = lie
        self._lied = asyncio.Event()
        self._reveals = 0
        self.room = ""
        self.task = "connect"
        self._report = report
        self._verdict: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._progress = asyncio.Event()
        self._due = asyncio.Event()
        self._due.set()
        self._is_taken_over = False
        self._connections = 0
        self._expects_loss = False
        self._session = ""
        self._name = ""
        self._has_joined = False
        self._commitments: dict[int, bytes] = {}
        self._committed: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)
        self._revealed: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)
        self._sealed: dict[int, Message] = {}
        self._shares: dict[int, bytes] = {}
        self._revision = -1
        self._accepted: list[tuple[Act, Message]] = []
        self._pending: dict[int, Act] = {}
        self._owed: list[Act] = []
        self._not_before = 0.0
        self._patience_with_hash = -1
        self._has_forgotten = False
        self._troubles: set[int] = set()
        self._has_new_fields = False

    # The race

    async def run(self, command: list[str], port: int, patience: float, game: str) -> None:
        """Check a client. Raise Mistake. Without a ``command``, wait for a client that somebody else starts."""
        judge = await Recorded.hello(self.server, _JUDGE)
        others = {_JUDGE: judge}
        if not self._lie:
            others[_LEAVER] = await Recorded.hello(self.server, _LEAVER)
        seats = len(others) + 1
        options = {"games": [game], "deal": "winnable", "players": seats, "start": "full", "countdown": 0}
        created = await judge.ask("create", options=options)
        if created["type"] == "refused":
            raise ValueError(created["message"])
        self.room = created["room"]
        for other in others.values():
            await other.ask("join", room=self.room)
        kept: dict[str, Any] = {"subprotocols": [_PROTOCOL], "compression": None, "process_request": self._answer_http}
        async with serve(self._serve, "127.0.0.1", port, **kept) as listening:
            url = f"ws://127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"
            self._report(f"the client has to race at {url} in the room {self.room}")
            words = [word.replace("{url}", url).replace("{room}", self.room) for word in command]
            program = await asyncio.create_subprocess_exec(*words, stdout=PIPE, stderr=STDOUT) if words else None
            tasks = [asyncio.create_task(self._draw(others)), asyncio.create_task(self._wait(patience))]
            if self._lie:
                tasks.append(asyncio.create_task(self._stay_quiet()))
            if program is not None:
                tasks.append(asyncio.create_task(self._ended(program)))
            try:
                await asyncio.wait((self._verdict, *tasks[1:]), return_when=asyncio.FIRST_COMPLETED)
                for task in (self._verdict, *tasks[1:]):
                    if task.done():
                        task.result()
                if self._is_taken_over:
                    self._pass("it stays away when another client has taken over its seat", "")
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                if program is not None:
                    with suppress(ProcessLookupError):
                        program.kill()
                    await program.communicate()
                for other in others.values():
                    await other.close()

    async def _wait(self, patience: float) -> None:
        """Wait until the client has done nothing for a while, although it has something to answer."""
        while True:
            await self._due.wait()
            if not self._due.is_set():
                continue  # the client has answered since
            self._progress.clear()
            try:
                async with asyncio.timeout(patience):
                    await self._progress.wait()
            except TimeoutError:
                raise Mistake("silence", seconds=patience, task=self.task) from None

    async def _stay_quiet(self) -> None:
        """End the check if the client leaves a lie unanswered."""
        await self._lied.wait()
        await asyncio.sleep(_QUIET)

    async def _ended(self, program: asyncio.subprocess.Process) -> None:
        output, _ = await program.communicate()
        if self._is_taken_over or self._lied.is_set():
            return
        last = output.decode(errors="replace").strip()[-400:]
        await asyncio.sleep(0.1)  # what it has sent before is judged first
        self._blame_fields()
        raise Mistake("ended", task=self.task, output=last)

    async def _draw(self, others: dict[str, Recorded]) -> None:
        """Draw the deal with the client, as the other players, who commit later than the client.

        The last of them leaves when the client has revealed its share. A liar never reveals one.
        """
        share, judge = bytes(32), others[_JUDGE]
        for draw in (1, 2):
            begun = await judge.state(_begins(draw))
            await self._committed[draw].wait()
            await asyncio.sleep(_SEAL_DELAY)
            for name, other in others.items():
                await other.ask("commitshare", draw=draw, commitment=commitment_to(begun, name, share))
            if self._lie:
                return
            await self._revealed[draw].wait()
            if draw == 1:
                await others[_LEAVER].ask("leave")
                await others.pop(_LEAVER).close()
        await judge.ask("revealshare", draw=2, share=share)

    def _pass(self, done: str, task: str) -> None:
        self._report(f"ok: {done}")
        self.task = task

    # Connections

    async def _answer_http(self, _client: ServerConnection, request: Request) -> Response | None:
        """Return what the server answers to a plain HTTP request, such as one for ``/games.json``."""
        if "Upgrade" in request.headers:
            return None

        def answer() -> Response:
            with suppress(HTTPError), urlopen(self.server.replace("ws", "http", 1) + request.path) as found:  # noqa: S310  # our own server
                return Response(200, "OK", Headers({"Content-Type": found.headers["Content-Type"]}), found.read())
            return Response(404, "Not Found", Headers(), b"")

        return await asyncio.to_thread(answer)

    async def _serve(self, client: ServerConnection) -> None:
        self._connections += 1
        self._progress.set()
        self._expects_loss = self._has_joined = False
        self._has_new_fields = self._connections > 1
        path = client.request.path if client.request else "/"
        try:
            if client.subprotocol != _PROTOCOL:
                raise Mistake("subprotocol")
            if self._is_taken_over:
                raise Mistake("takeover")
            async with connect(self.server + path, subprotocols=[_PROTOCOL], compression=None) as server:
                passing = [asyncio.create_task(self._to_server(client, server))]
                passing.append(asyncio.create_task(self._to_client(client, server)))
                done, left = await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
                for task in left:
                    task.cancel()
                await asyncio.gather(*left, return_exceptions=True)
                for task in done:
                    with suppress(ConnectionClosed):
                        task.result()
            await client.close()
            if not self._expects_loss:
                self._blame_fields()
        except Mistake as mistake:
            if not self._verdict.done():
                self._verdict.set_exception(mistake)

    def _blame_fields(self) -> None:
        """Blame new fields if the client has left after the first message that has some."""
        if self._has_new_fields and not self._has_joined:
            raise Mistake("unknown_field")

    async def _lose_connection(self, client: ServerConnection) -> None:
        self._expects_loss = True
        client.transport.abort()
        self._due.set()

    async def _to_server(self, client: ServerConnection, server: ClientConnection) -> None:
        async for frame in client:
            try:
                message = decode_to_server(frame)
            except SamedealError as error:
                raise Mistake("bad_frame", error=error) from None
            if not isinstance(message, Ping):
                self._due.clear()
                self._progress.set()
            answer = self._judge(message)
            if answer is None:
                await server.send(frame)
            else:
                await client.send(encode(answer))
            if isinstance(message, CommitShare):
                self._committed[message.draw].set()
            if self._lie and isinstance(message, CommitShare | RevealShare) and not self._lied.is_set():
                await self._tell_lie(client, message)

    async def _to_client(self, client: ServerConnection, server: ClientConnection) -> None:
        async for frame in server:
            message = msgpack.unpackb(frame)
            if self._change(message):
                await client.send(msgpack.packb(_with_new_fields(message) if self._has_new_fields else message))
                if self._asks(message):
                    self._due.set()
                if message["type"] == "joined" and self._connections == 1:
                    await client.send(encode(Notice(code="a_later_notice", message="Ignore this.")))
            if self._is_taken_over:
                await client.close(4002, "This player is now connected from elsewhere.")
                await asyncio.sleep(_QUIET)
                if not self._verdict.done():
                    self._verdict.set_result(None)
                return
            if self._expects_loss:
                await self._lose_connection(client)
                return

    def _asks(self, message: Message) -> bool:
        """Return whether a client has to answer a message, so that its silence can be counted."""
        match message["type"]:
            case "roomstate":
                draw = message["draw"] if message["phase"] == "countdown" else 0
                return draw > 0 and draw not in (self._shares if _is_sealed(message) else self._commitments)
            case "joined":
                return self._connections > 1
            case "done":
                return self._revision >= 0
            case kind:
                return kind in ("welcome", "boardstate", "acked", "refused")

    async def _tell_lie(self, client: ServerConnection, message: CommitShare | RevealShare) -> None:
        """Show a state that is a lie, once the client has done what comes before it."""
        if isinstance(message, RevealShare) and self._lie in ("changed_list", "lone_draw"):
            state = dict(self._sealed[1])
            if self._lie == "lone_draw":
                state |= {"draw": 2, "players": [seat | {"share_commitment": b""} for seat in state["players"]]}
            else:
                state["players"] = _with_hashes(state, _JUDGE, token_bytes(32))
            await client.send(msgpack.packb(state))
            if self._lie == "changed_list":
                self._lied.set()
        elif message.draw == 2 and isinstance(message, CommitShare):
            await client.send(encode(Done(to=message.id)))
            players = _with_hashes(self._sealed[1], self._name, message.commitment)
            await client.send(msgpack.packb(self._sealed[1] | {"draw": 2, "players": players}))
            self._lied.set()

    # The client's requests

    def _judge(self, message: ToServer) -> ToClient | None:
        """Check a request. Return the answer if the server shall not get the request."""
        if self._lie and isinstance(message, RevealShare):
            self._reveals -= 1
            if self._reveals < 0:
                raise Mistake(self._lie)
        match message:
            case Hello():
                if self._connections > 1 and message.session != self._session:
                    raise Mistake("session")
                self._name = message.name
                self.task = f"send Join for the room {self.room}"
            case Join():
                self._judge_join(message)
            case CommitShare():
                self._commitments[message.draw] = message.commitment
                self.task = "reveal its share when all players have committed to theirs"
                if self._lie == "lone_draw" and message.draw == 2:
                    return Done(to=message.id)
            case RevealShare():
                self._judge_share(message)
            case Recover():
                return self._judge_recovery(message)
            case Act():
                return self._judge_act(message)
            case _:
                pass
        return None

    def _judge_join(self, join: Join) -> None:
        if self._connections > 1 and not self._has_joined and join.revision not in (-1, self._revision):
            raise Mistake("resume", given=join.revision, wanted=self._revision)
        if self._patience_with_hash >= 0 and join.revision == -1:
            self._patience_with_hash = -1
            self._pass("it asks for the board when the hash of an answer is not that of its own", "play on")

    def _judge_share(self, reveal: RevealShare) -> None:
        sealed = self._sealed.get(reveal.draw)
        if sealed is None:
            raise Mistake("early_share", draw=reveal.draw)
        if self._commitments.get(reveal.draw) != commitment_to(sealed, self._name, reveal.share):
            raise Mistake("wrong_share")
        if self._shares.setdefault(reveal.draw, reveal.share) != reveal.share:
            raise Mistake("second_share")
        if len(set(self._shares.values())) < len(self._shares):
            raise Mistake("reused_share")
        if not self._revealed[reveal.draw].is_set():
            done = "draws again, with a new share," if reveal.draw > 1 else "reveals its share"
            task = "make a move when the cards are dealt" if reveal.draw > 1 else "commit to another share"
            self._pass(f"it {done} when the draw is sealed", task)
        self._revealed[reveal.draw].set()

    def _judge_act(self, act: Act) -> ToClient | None:
        if self._revision < 0 or (self._connections > 1 and not self._has_joined):
            raise Mistake("early_move")
        if self._has_forgotten:
            raise Mistake("recover", action=act.action)
        if time.monotonic() < self._not_before and act.id not in [owed.id for owed in self._owed]:
            self._owed.append(act)  # it was on its way before the client knew that the one before it was refused
            return Refused(to=act.id, code="stale", message="The move before was refused.", revision=self._revision)
        if self._owed:
            self._judge_repetition(act)
        else:
            highest = self._revision + len(self._pending)
            if not self._revision <= act.revision <= highest:
                raise Mistake("revision", action=act.action, given=act.revision, wanted=highest)
            if self._patience_with_hash == 0:
                raise Mistake("hash")
            self._patience_with_hash -= self._patience_with_hash > 0
        if len(self._accepted) == _RATE_LIMITED and self._begins(_RATE_LIMITED):
            self._owed, self._not_before = [act], time.monotonic() + 0.9 * _RETRY_AFTER
            self.task = f"send {act.action!r} again after {_RETRY_AFTER:g} seconds, because it was rate_limited"
            return Refused(to=act.id, code="rate_limited", message="Slower, please.", retry_after=_RETRY_AFTER)
        self._pending[act.id] = act
        return None

    def _judge_repetition(self, act: Act) -> None:
        """Check an action while others have to be sent again first."""
        owed = self._owed[0]
        facts = {"action": act.action, "owed": owed.action}
        if (act.revision, act.action) != (owed.revision, owed.action):
            raise Mistake("order", given=act.revision, wanted=owed.revision, **facts)
        if act.id != owed.id:
            raise Mistake("repeat", given=act.id, wanted=owed.id, **facts)
        if time.monotonic() < self._not_before:
            raise Mistake("retry")
        del self._owed[0]
        if not self._owed:
            why = "that was rate_limited, after the wait" if self._not_before else "without an answer, with the same id"
            self._not_before = 0.0
            self._pass(f"it sends a move again {why}", "play on")

    def _judge_recovery(self, recover: Recover) -> ToClient:
        lost = self._accepted[-_FORGOTTEN:]
        wanted = [(act.id, act.action, answer["time"]) for act, answer in lost]
        given = [(each.id, each.action, each.time) for each in recover.actions]
        revision = self._revision - _FORGOTTEN
        if (recover.revision, given, recover.receipt) != (revision, wanted, lost[-1][1]["receipt"]):
            raise Mistake("recovered", wanted=wanted, revision=revision, given=given, given_revision=recover.revision)
        self._has_forgotten = False
        self._pass("it gives back moves that the server has lost", "play on")
        return Done(to=recover.id)

    # The server's messages

    def _change(self, message: Message) -> bool:
        """Note a message to the client, and perhaps change it. Return whether the client gets it."""
        match message["type"]:
            case "welcome":
                self._session = message["session"]
            case "joined":
                self._has_joined = True
                if self._connections == 1:
                    self._pass("it says hello and joins", "commit to a share for the draw")
                elif self._has_forgotten:
                    message["revision"] -= _FORGOTTEN
                    self.task = "give back with Recover the moves that the server has lost"
                elif self._owed:
                    self._pass("it reconnects, and ignores what it does not know", "send its unanswered move again")
            case "roomstate":
                return self._note_state(message)
            case "boardstate":
                self._revision = message["revision"]
            case "acked" if message["to"] in self._pending:
                return self._note_ack(message)
            case "refused":
                self._pending.pop(message["to"], None)
            case _:
                pass
        return True

    def _note_state(self, state: Message) -> bool:
        if self._lie and 1 in self._shares:
            return False  # what the server still says of the list that the client has answered
        if _is_sealed(state):
            self._sealed[state["draw"]] = dict(state)
            self._reveals += self._lie in ("changed_list", "lone_draw")
            if self._lie == "changed_commitment":
                state["commitment"] = token_bytes(32)
            if self._lie == "other_hash":
                state["players"] = _with_hashes(state, self._name, token_bytes(32))
            if self._lie in ("changed_commitment", "other_hash"):
                self._lied.set()
        return True

    def _note_ack(self, message: Message) -> bool:
        if len(self._accepted) == _LOST_ANSWER and self._begins(_LOST_ANSWER):
            self._owed = list(self._pending.values())
            self._pending.clear()
            self._expects_loss = True
            self.task = "connect again, because the connection was lost"
            return False
        act = self._pending.pop(message["to"])
        self._accepted.append((act, message))
        self._revision = act.revision + 1
        if len(self._accepted) == _WRONG_HASH and self._begins(_WRONG_HASH):
            message["hash"] = bytes(byte ^ 1 for byte in message["hash"])
            self._patience_with_hash = _ON_ITS_WAY
            self.task = "ask for the board, because the hash of an Acked is not that of its own board"
        if len(self._accepted) >= _LOST_MOVES and not self._pending and self._begins(_LOST_MOVES):
            self._has_forgotten = self._expects_loss = True
            self.task = "connect again, because the connection was lost"
        if len(self._accepted) >= _END and not self._is_taken_over:
            self._pass(f"its moves have the right revisions: {len(self._accepted)} were accepted", "stay away")
            self._is_taken_over = True
        return True

    def _begins(self, trouble: int) -> bool:
        """Return whether a trouble begins now, which it does once."""
        is_new = trouble not in self._troubles
        self._troubles.add(trouble)
        return is_new


def _begins(draw: int) -> Callable[[Message], bool]:
    return lambda state: state["draw"] == draw and state["phase"] == "countdown"


def _is_sealed(state: Message) -> bool:
    return state["draw"] > 0 and all(seat["share_commitment"] for seat in state["players"])


def _with_hashes(state: Message, name: str, commitment: bytes) -> list[Message]:
    """Return the seats of a state with another hash of one player."""
    return [seat | {"share_commitment": commitment} if seat["name"] == name else seat for seat in state["players"]]


def _with_new_fields(value: Any) -> Any:
    """Return a message with a field that no client knows in each of its maps."""
    if isinstance(value, list):
        return [_with_new_fields(each) for each in value]
    return (
        {name: _with_new_fields(each) for name, each in value.items()} | _UNKNOWN if isinstance(value, dict) else value
    )


async def check(server: str, given: argparse.Namespace) -> None:
    """Check a client against a server. Raise Mistake. Only a client that has a command can be started for each lie."""
    run = given.command, given.port, given.patience, given.game
    await Check(server).run(*run)
    for lie in LIES if given.command else ():
        await Check(server, lambda _: None, lie).run(*run)
        print(f"ok: it keeps its share to itself after a lie ({lie})")


async def _main(given: argparse.Namespace) -> int:
    try:
        if given.server:
            await check(given.server, given)
        else:
            async with local_server() as (url, _):
                await check(url, given)
    except Mistake as mistake:
        print(f"mistake ({mistake.code}): {mistake}")
        return 1
    except (OSError, ValueError, StartupError) as error:
        print(f"The check can't begin: {error}")
        return 2
    print("no mistakes found")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("--server", default="", help="a server to stand behind; without it, one is started")
    command.add_argument("--port", type=int, default=0, help="the port for the client; 0 is any free port")
    command.add_argument("--patience", type=float, default=30.0, help="seconds to wait for the client's next message")
    command.add_argument("--game", default="ace-of-hearts", help="the game of the race")
    command.add_argument(
        "command", nargs="*", help="the client, after --; {url} and {room} stand for where it has to race"
    )
    return command


if __name__ == "__main__":
    sys.exit(asyncio.run(_main(parser().parse_args())))
