"""Plays the server's part against any client, and says in plain sentences what the client did wrong.

A real server stands behind this program. The program passes the messages on and checks those of the client. It loses
connections, adds fields, withholds an answer, damages a hash, and pretends that the server has lost moves.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
import tomllib
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]  # it ships no types
from local_server import local_server
from record_transcripts import Recorded, commitment_to
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
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

    def __init__(self, server: str, report: Callable[[str], None] = print) -> None:
        self.server = server
        self.room = ""
        self.task = "connect"
        self._report = report
        self._verdict: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._progress = asyncio.Event()
        self._connections = 0
        self._expects_loss = False
        self._session = ""
        self._name = ""
        self._has_joined = False
        self._commitments: dict[int, bytes] = {}
        self._committed = asyncio.Event()
        self._sealed: Message = {"draw": 0}
        self._shares: set[tuple[int, bytes]] = set()
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
        options = {"games": [game], "deal": "winnable", "players": 2, "start": "full", "countdown": 0}
        created = await judge.ask("create", options=options)
        if created["type"] == "refused":
            raise ValueError(created["message"])
        self.room = created["room"]
        await judge.ask("join", room=self.room)
        async with serve(self._serve, "127.0.0.1", port, subprotocols=[_PROTOCOL], compression=None) as listening:
            url = f"ws://127.0.0.1:{next(iter(listening.sockets)).getsockname()[1]}"
            self._report(f"the client has to race at {url} in the room {self.room}")
            words = [word.replace("{url}", url).replace("{room}", self.room) for word in command]
            program = await asyncio.create_subprocess_exec(*words, stdout=PIPE, stderr=STDOUT) if words else None
            tasks = [asyncio.create_task(self._draw(judge)), asyncio.create_task(self._wait(patience))]
            if program is not None:
                tasks.append(asyncio.create_task(self._ended(program)))
            try:
                await asyncio.wait((self._verdict, *tasks[1:]), return_when=asyncio.FIRST_COMPLETED)
                for task in (self._verdict, *tasks[1:]):
                    if task.done():
                        task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                if program is not None:
                    with suppress(ProcessLookupError):
                        program.kill()
                    await program.communicate()
                await judge.close()

    async def _wait(self, patience: float) -> None:
        """Wait until the client has done nothing for a while."""
        while True:
            self._progress.clear()
            try:
                await asyncio.wait_for(self._progress.wait(), patience)
            except TimeoutError:
                raise Mistake("silence", seconds=patience, task=self.task) from None

    async def _ended(self, program: asyncio.subprocess.Process) -> None:
        output, _ = await program.communicate()
        last = output.decode(errors="replace").strip()[-400:]
        await asyncio.sleep(0.1)  # what it has sent before is judged first
        self._blame_fields()
        raise Mistake("ended", task=self.task, output=last)

    async def _draw(self, judge: Recorded) -> None:
        """Draw the deal with the client, as the other player, who commits later than the client."""
        share = bytes(32)
        begun = await judge.state(lambda state: state["draw"] == 1)
        await self._committed.wait()
        await asyncio.sleep(_SEAL_DELAY)
        await judge.ask("commitshare", draw=1, commitment=commitment_to(begun, _JUDGE, share))
        await judge.state(_is_sealed)
        await judge.ask("revealshare", draw=1, share=share)

    def _pass(self, done: str, task: str) -> None:
        self._report(f"ok: {done}")
        self.task = task

    # Connections

    async def _serve(self, client: ServerConnection) -> None:
        self._connections += 1
        self._expects_loss = self._has_joined = False
        self._has_new_fields = self._connections > 1
        path = client.request.path if client.request else "/"
        try:
            if client.subprotocol != _PROTOCOL:
                raise Mistake("subprotocol")
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

    async def _to_server(self, client: ServerConnection, server: ClientConnection) -> None:
        async for frame in client:
            try:
                message = decode_to_server(frame)
            except SamedealError as error:
                raise Mistake("bad_frame", error=error) from None
            if not isinstance(message, Ping):
                self._progress.set()
            answer = self._judge(message)
            if answer is None:
                await server.send(frame)
            else:
                await client.send(encode(answer))
            if isinstance(message, CommitShare):
                self._committed.set()

    async def _to_client(self, client: ServerConnection, server: ClientConnection) -> None:
        async for frame in server:
            message = msgpack.unpackb(frame)
            if self._change(message):
                await client.send(msgpack.packb(_with_new_fields(message) if self._has_new_fields else message))
                if message["type"] == "joined" and self._connections == 1:
                    await client.send(encode(Notice(code="a_later_notice", message="Ignore this.")))
            if self._expects_loss:
                await self._lose_connection(client)
                return

    # The client's requests

    def _judge(self, message: ToServer) -> ToClient | None:
        """Check a request. Return the answer if the server shall not get the request."""
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
        if reveal.draw > self._sealed["draw"]:
            raise Mistake("early_share", draw=reveal.draw)
        if self._commitments.get(reveal.draw) != commitment_to(self._sealed, self._name, reveal.share):
            raise Mistake("wrong_share")
        self._shares.add((reveal.draw, reveal.share))
        if len(self._shares) > 1:
            raise Mistake("second_share")
        self._pass("it reveals its share when the draw is sealed", "make a move when the cards are dealt")

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
                if _is_sealed(message) and message["draw"] >= self._sealed["draw"]:
                    self._sealed = message
            case "boardstate":
                self._revision = message["revision"]
            case "acked" if message["to"] in self._pending:
                return self._note_ack(message)
            case "refused":
                self._pending.pop(message["to"], None)
            case _:
                pass
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
        if len(self._accepted) >= _END and not self._verdict.done():
            self._pass(f"its moves have the right revisions: {len(self._accepted)} were accepted", "")
            self._verdict.set_result(None)
        return True

    def _begins(self, trouble: int) -> bool:
        """Return whether a trouble begins now, which it does once."""
        is_new = trouble not in self._troubles
        self._troubles.add(trouble)
        return is_new


def _is_sealed(state: Message) -> bool:
    return state["draw"] > 0 and all(seat["share_commitment"] for seat in state["players"])


def _with_new_fields(value: Any) -> Any:
    """Return a message with a field that no client knows in each of its maps."""
    if isinstance(value, list):
        return [_with_new_fields(each) for each in value]
    return (
        {name: _with_new_fields(each) for name, each in value.items()} | _UNKNOWN if isinstance(value, dict) else value
    )


async def check(server: str, given: argparse.Namespace) -> None:
    """Check a client against a server. Raise Mistake."""
    await Check(server).run(given.command, given.port, given.patience, given.game)


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
