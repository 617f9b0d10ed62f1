"""Honest troubles. They never make a race *not fair*, and *not fully checked* only as ``TROUBLES`` says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from msgspec.structs import replace as with_fields

from samedeal.protocol import messages
from samedeal.protocol.messages import Phase
from samedeal.protocol_codes import RefusalCode
from samedeal.race.commands import CommitShareCommand, KickCommand, LeaveCommand, RenameCommand, RevealShareCommand
from samedeal.race.held_race import HeldRace
from tests.lies.seen import Event, Seen
from tests.lies.worlds import STEPS, Client, Plan, Server, with_share


@dataclass(frozen=True)
class Trouble:
    """A step that goes wrong. ``rows`` are those that it may cause. ``is_own`` says that it happens to one client."""

    step: Callable[[Server, Any], None]
    rows: frozenset[str] = frozenset()
    is_own: bool = True


FORGOTTEN: Final = frozenset(
    {"other_window", "resigned_for_you", "stuck_for_you", "missed_draw", "no_first_board", "foreign_action"}
)
LOST: Final = frozenset({"lost_data"})
OTHERS: Final = frozenset({"other_action", "other_board", "other_counts", "other_watched", "unfinished"})
WINDOW: Final = frozenset({"other_window", "foreign_action"})


def _back(server: Server, client: Client) -> None:
    if client.seen.state is not None:
        client.connect()
        server.settle()


def _fail_over(server: Server, held: HeldRace) -> None:
    """Let another node take the room, as it was at some time: everybody connects again."""
    present = list(server.present)
    for client in present:
        client.disconnect()
    server.held, server.shown = held, held.race
    for client in present:
        client.connect()
        server.settle()


def _before(server: Server, phase: Phase) -> HeldRace:
    """The race at the end of a phase."""
    return next(held for held in reversed(server.past) if held.race.phase == phase)


def _recovered(server: Server, client: Client) -> None:
    """Lose an acknowledged action that the client recovers."""
    _lost(server, client, b"receipt")


def _lost_for_good(server: Server, client: Client) -> None:
    """Lose an acknowledged action that the client cannot recover."""
    _lost(server, client, b"")


def _lost(server: Server, client: Client, receipt: bytes) -> None:
    racer = server.racer_of(client)
    is_racing = racer is not None and not racer.resigned and client in server.present
    if server.race.phase != "racing" or racer is None or not is_racing or not server.logs[racer.player]:
        return
    lost = server.undo(racer.player)
    _fail_over(server, replace(server.held, event=server.held.event - 2))
    own, revision = client.seen.own.play, lost.revision - 1
    if client in server.present and own is not None and own.revision > revision:
        actions = (messages.AckedAction(id=0, action=lost.action, time=lost.committed_at),)
        client.send(messages.Recover(id=0, revision=revision, actions=actions, receipt=receipt))


def _lost_resignation(server: Server, client: Client) -> None:
    """Let a player resign, and lose that in a failover that no number of an event tells of."""
    racer = server.racer_of(client)
    if racer is None or server.race.phase != "racing" or client not in server.present:
        return
    client.send(messages.Resign(id=0))
    server.settle()
    if server.race.phase == "racing":
        server.change_racer(client.player, resigned=False)
        server.settle()


def _lost_end(server: Server, _: Client) -> None:
    """Lose the end of the race, which ends again later."""
    if server.race.phase == "finished":
        _fail_over(server, _before(server, "racing"))
        server.now += 1000
        server.tick()


def _other_end(server: Server, _: Client) -> None:
    """Lose the end of the race, which ends later before anybody is back. The records of both ends are read."""
    if server.race.phase != "finished" or server.now >= server.race.ends:
        return
    server.lost_records = {client.name: server.record_for(client) for client in server.present}
    server.held = _before(server, "racing")
    server.now += 1000
    server.tick()
    _fail_over(server, server.held)


def _lost_start(server: Server, _: Client) -> None:
    """Lose the start of the race, which begins a second later before anybody is back."""
    has_begun = any(own.began_at for own in server.held.progress.values())
    if server.race.phase == "racing" and not any(server.logs.values()) and not has_begun:
        event, race = server.held.event, server.race
        server.held = _before(server, "countdown")
        server.change(starts=race.starts + 1000, ends=race.ends + 1000 * (not race.window))
        server.begin_race()
        _fail_over(server, replace(server.held, event=event))


def _lost_beginning(receipt: bytes) -> Callable[[Server, Client], None]:
    """A step in which the beginning of a player is lost, which the player can prove with a receipt, or cannot."""

    def lose(server: Server, client: Client) -> None:
        own = server.held.progress_of(client.player)
        if not server.race.is_hidden or not own.began_at or own.revision or client not in server.present:
            return
        progress = {**server.held.progress, client.player: with_fields(own, began_at=0)}
        _fail_over(server, replace(server.held, progress=progress))
        server.now += 500
        client.send(messages.Begin(id=0, time=own.began_at if receipt else 0, receipt=receipt))

    return lose


def _slow(server: Server, client: Client) -> None:
    """Let a player make two moves: one answer comes five seconds late, and the other one is lost with the program."""
    client.is_slow = True
    STEPS["move"](server, client)
    server.settle()
    server.now += 5000 * bool(client.held)
    client.is_slow = False
    client.deliver()
    client.is_slow = True
    STEPS["move"](server, client)
    server.settle()
    client.is_slow = False
    client.held.clear()
    if client.seen.state is not None:
        STEPS["restart"](server, client)


def _too_late(server: Server, client: Client) -> None:
    """Let a player ask to begin just before the window closes, too late for the request to arrive."""
    race = server.race
    if race.is_hidden and client in server.present and not server.held.progress_of(client.player).began_at:
        server.now = max(server.now, race.ends - 10)
        client.send(messages.Begin(id=0))
        server.settle()


def _window(server: Server, client: Client) -> None:
    """Let another program of the player come, make a move, and leave again."""
    racer = server.racer_of(client)
    if racer is None or client.seen.state is None:
        return
    client.disconnect()
    client.happens(Event("taken over", client.now))
    server.set_presence(racer.player, connected=True)
    if server.race.phase == "racing" and not racer.resigned:
        if server.race.window:
            server.held = server.held.begun(racer.player, server.now)
        for move in server.held.play(racer.player).board.legal_moves()[:1]:
            server.play_on(racer.player, str(move), server.now)
            server.show_move(racer, str(move))
            server.tick()
    _back(server, client)


def _window_in_draw(server: Server, client: Client) -> None:
    """Let another program of the player take part in the draw, for which only this player is awaited."""
    race = server.race
    if [each.player for each in race.awaited] == [client.player] and not race.is_sealed:
        shared = with_share(race, race.seated(client.player))
        server.apply(CommitShareCommand(client.player, race.draw.number, shared.commitment))
        server.settle()
        server.apply(RevealShareCommand(client.player, race.draw.number, shared.share))


def _window_in_redraw(server: Server, client: Client) -> None:
    """Let another program of the player take part in the second draw, after one who is awaited in the first was silent."""
    silent = server.race.awaited
    if (
        server.race.draw.number != 1
        or not silent
        or client.seen.state is None
        or client.player in {each.player for each in silent}
    ):
        return
    client.disconnect()
    client.happens(Event("taken over", client.now))
    STEPS["silent"](server, None)
    server.settle()
    _window_in_draw(server, client)
    _back(server, client)


def _lost_redraw(server: Server, _: Client) -> None:
    """Lose what came after the first draw was sealed, so that a player is silent in it once more."""
    if server.race.phase == "countdown" and server.race.draw.number == 2:
        _fail_over(server, next(held for held in reversed(server.past) if held.race.draw.number == 1))
        STEPS["silent"](server, None)


def _unanswered(server: Server, client: Client) -> None:
    """Commit an action, and end the race for the player before the answer leaves."""
    before = len(client.events)
    present = client in server.present
    STEPS["move"](server, client)
    if len(client.events) == before or not present:
        return
    server.present.remove(client)
    hears, client.is_deaf = client.is_deaf, True
    server.settle()
    client.is_deaf = hears
    STEPS["limit"](server, None)
    _back(server, client)


def _refused(code: RefusalCode, retry_after: float = 0.0) -> Callable[[Server, Client], None]:
    """A step in which an action is refused for a reason that is not in the rules, and sent again if that may help."""

    def refuse(server: Server, client: Client) -> None:
        if client not in server.present:
            return
        STEPS["move"](server, client)
        for each, request in server.inbox:
            if each is client and isinstance(request, messages.Act):
                server.inbox.remove((each, request))
                revision = client.seen.own.play.revision if client.seen.own.play else -1
                client.receive(
                    messages.Refused(request.id, code, message="No.", revision=revision, retry_after=retry_after)
                )
                if retry_after:
                    server.inbox.append((each, request))
                break

    return refuse


def _put_off(server: Server, _: Client) -> None:
    """Put the start off by two seconds."""
    if (race := server.race).phase == "countdown" and not race.window:
        server.change(starts=race.starts + 2000, ends=race.ends + 2000)


def _wait(server: Server, time: int) -> None:
    """Let time pass, after which the race may end without players who are idle or away."""
    if server.race.phase == "racing":
        server.now = min(server.now + time, server.race.ends)
        server.tick(end_wait=True)


def _idle(server: Server, _: Client) -> None:
    """Wait until idle players count no more."""
    _wait(server, 250_000)


def _away(server: Server, client: Client) -> None:
    """Let a client be away for more than a minute."""
    _leave_for_a_minute(server, [client])


def _all_away(server: Server, client: Client) -> None:
    """Let everybody be away for more than a minute, from one client that goes first and comes back last."""
    _leave_for_a_minute(server, [*(each for each in server.present if each is not client), client])


def _leave_for_a_minute(server: Server, clients: Sequence[Client]) -> None:
    present = [client for client in clients if client in server.present]
    for client in reversed(present):
        client.disconnect()
    if present:
        _wait(server, 61_000)
    for client in present:
        _back(server, client)


def _asleep(server: Server, client: Client) -> None:
    """Set the client's clock, as a laptop that was suspended does."""
    client.skew += 3_600_000


def _jump(server: Server, _: Client) -> None:
    """Set the server's clock, as another node does that takes the room. Those of the clients go on."""
    server.now += 3000
    for client in server.clients.values():
        client.skew -= 3000


def _new_session(server: Server, client: Client) -> None:
    """Forget the client's session: it comes back as somebody else."""
    if server.racer_of(client) is None or server.race.phase != "open" or client.seen.state is None:
        return
    client.disconnect()
    server.apply(LeaveCommand(client.player))
    client.player = f"{client.player}2"
    _back(server, client)


def _seated(server: Server, client: Client) -> None:
    """Let a spectator take a seat."""
    if client.role != "spectator" or server.race.phase != "open":
        return
    client.role = "player"
    asked = with_fields(client.seen.asked, role="player")
    client.trail.append(client.seen)
    client.events.append(Event("forgot", client.now))
    client.seen = Seen.of(asked, client.player, client.called, server.seed)
    client.connect()


def _watches(server: Server, client: Client) -> None:
    """Let a player watch the others after the race."""
    if server.race.phase == "finished" and client in server.present and client.role == "player":
        client.send(messages.Watch(id=0, room="friday"))


def _left(server: Server, client: Client) -> None:
    if client in server.present:
        client.send(messages.Leave(id=0))


def _operator_kick(server: Server, client: Client) -> None:
    """Let the operator remove a player, during the race too."""
    if server.racer_of(client) is None or client not in server.present:
        return
    client.receive(messages.Notice(code="kicked", message="You were removed."))
    server.present.remove(client)
    server.apply(KickCommand(client.player))
    if server.race.phase == "racing":
        server.tick()


def _renamed(server: Server, client: Client) -> None:
    """Let the operator show others another name of a player."""
    if server.racer_of(client) is not None and not _may_rename(server):
        server.apply(RenameCommand(client.player, "Kind"))


def _may_rename(server: Server) -> bool:
    race = server.race
    return race.phase == "open" and not race.draw.number and not race.before.rooms


def _renamed_early(server: Server, client: Client) -> None:
    """Let the operator give a player another name before the countdown."""
    if server.racer_of(client) is not None and _may_rename(server):
        server.apply(RenameCommand(client.player, "Kind"))


def _renamed_away(server: Server, client: Client) -> None:
    """Let the operator rename a player whose program is not running, and the countdown begin before it is back."""
    if client.seen.state is None or server.racer_of(client) is None or not _may_rename(server):
        return
    client.disconnect()
    _renamed_early(server, client)
    host = next((each for each in server.present if each.player == server.race.host), None)
    if host is not None:
        host.send(messages.Start(id=0))
        server.settle()
    client.happens(Event("restarted", client.now))
    client.connect()
    server.settle()


def _called_otherwise(server: Server, client: Client) -> None:
    """Let a player come back under another name, which the seat does not get."""
    client.called = f"{client.name}-7"
    STEPS["cut"](server, client)


def _knowing(name: str) -> Callable[[Server, Client], None]:
    """A step of a client that has seen the room."""
    return lambda server, client: STEPS[name](server, client) if client.seen.state else None


TROUBLES: Final[dict[str, Trouble]] = {
    "cut": Trouble(_knowing("cut")),
    "restart": Trouble(_knowing("restart")),
    "slow": Trouble(_slow),
    "forget": Trouble(_knowing("forget"), FORGOTTEN),
    "recovered": Trouble(_recovered, LOST),
    "too late": Trouble(_too_late),
    "lost beginning": Trouble(_lost_beginning(b"receipt"), LOST),
    "lost beginning for good": Trouble(_lost_beginning(b""), LOST | {"other_start", "other_counts"}),
    "lost for good": Trouble(
        _lost_for_good, LOST | {"other_action", "other_board", "other_counts", "other_watched", "unfinished"}
    ),
    "lost end": Trouble(_lost_end, LOST | {"other_results", "unfinished"}, is_own=False),
    "other end": Trouble(_other_end, LOST | {"changed_record", "other_results"}, is_own=False),
    "lost resignation": Trouble(_lost_resignation, LOST | {"other_results"}),
    "lost start": Trouble(_lost_start, LOST | {"other_start"}, is_own=False),
    "window": Trouble(_window, WINDOW),
    "window in draw": Trouble(_window_in_draw, frozenset({"missed_draw"})),
    "window in redraw": Trouble(_window_in_redraw, WINDOW | {"missed_draw"}),
    "lost redraw": Trouble(_lost_redraw, LOST | {"went_back", "other_drawn", "other_start"}, is_own=False),
    "unanswered": Trouble(_unanswered),
    "limited": Trouble(_refused(RefusalCode.RATE_LIMITED, 1)),
    "failed": Trouble(_refused(RefusalCode.FAULT), frozenset({"unfinished"})),
    "put off": Trouble(_put_off, is_own=False),
    "idle": Trouble(_idle, is_own=False),
    "away": Trouble(_away, frozenset({"unfinished"})),
    "all away": Trouble(_all_away, frozenset({"unfinished"})),
    "asleep": Trouble(_asleep),
    "clock": Trouble(_jump, frozenset({"unfinished"}), is_own=False),
    "new session": Trouble(_new_session, frozenset({"new_session"})),
    "takes a seat": Trouble(_seated, FORGOTTEN),
    "watches": Trouble(_watches),
    "leaves": Trouble(_left, frozenset({"unfinished"})),
    "kicked": Trouble(_operator_kick, frozenset({"unfinished"})),
    "called otherwise": Trouble(_called_otherwise),
    "renamed": Trouble(_renamed, frozenset({"replaced_name"})),
    "renamed early": Trouble(_renamed_early),
    "renamed away": Trouble(_renamed_away),
    "lossy": Trouble(STEPS["lossy"], frozenset({"unfinished", "no_first_board"})),
    "silent": Trouble(STEPS["silent"], is_own=False),
    "due": Trouble(STEPS["due"], is_own=False),
    "limit": Trouble(STEPS["limit"], is_own=False),
    "quiet": Trouble(STEPS["quiet"]),
}


def troubled(plan: Plan) -> Iterator[tuple[str, int, str, Trouble]]:
    """Each trouble at each place of a race, with the name of the client to whom it happens."""
    names = sorted({word.split(":")[0] for word in plan.script if ":" in word})
    for at in range(1, len(plan.script) + 1):
        for name, trouble in TROUBLES.items():
            for who in names if trouble.is_own else names[:1]:
                yield name, at, who, trouble


class Troubled(Server):
    """An honest server with a trouble before one step of its script."""

    at = 0
    who = ""
    trouble: Trouble

    def run(self) -> Server:
        for number, word in enumerate((*self.plan.script, "")):
            if number == self.at and self.who in self.clients:
                self.now += 200
                self.trouble.step(self, self.clients[self.who])
                self.settle()
            if word:
                self.step(word)
        self.step("limit")
        return self


def hold_troubled(plan: Plan, seed: str, at: int, who: str, trouble: Trouble) -> Server:
    server = Troubled(plan, seed)
    server.at, server.who, server.trouble = at, who, trouble
    return server.run()
