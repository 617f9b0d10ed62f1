"""Honest troubles. They never make a race *not fair*, and *not fully checked* only as ``TROUBLES`` says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace as with_fields

from samedeal.board_history import Play
from samedeal.joint_deal import share_commitment
from samedeal.protocol import messages
from samedeal.protocol_codes import RefusalCode
from tests.lies.deals import some_bytes
from tests.lies.seen import Event, Seen
from tests.lies.worlds import STEPS, Client, Plan, Racer, Server, _enter, _gone, _move


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
WINDOW: Final = frozenset({"other_window", "foreign_action"})


def _back(server: Server, client: Client) -> None:
    if client in server.clients.values() and client.seen.state is not None:
        _enter(server, client)
        server.settle()


def undone(server: Server, racer: Racer, times: int = 1) -> list[messages.AckedAction]:
    """Lose the newest actions of a racer."""
    lost = racer.actions[len(racer.actions) - times :]
    kept = racer.actions[: len(racer.actions) - times]
    client = server.clients.get(racer.name)
    play = Play(server.first_board(racer), server.options_for(client).undo_rule)
    racer.actions, racer.acked_at, racer.progress_at, racer.finished_at = [], 0, 0, 0
    racer.head = b""
    for time, action in kept:
        after = play.act(action)
        racer.actions.append((time, action))
        racer.acked_at = time
        if after.board.foundation_cards != play.board.foundation_cards:
            racer.progress_at = time
        play = after
    racer.play = play
    racer.head = server.head_of(racer)
    return [messages.AckedAction(id=0, action=action, time=time) for time, action in lost]


def _fail_over(server: Server) -> None:
    """Let another node take the room: everybody connects again."""
    server.event = max(0, server.event - 1)
    for client in list(server.present):
        _gone(server, client)


def _recovered(server: Server, client: Client) -> None:
    """Lose an acknowledged action that the client recovers."""
    _lost(server, client, b"receipt")


def _lost_for_good(server: Server, client: Client) -> None:
    """Lose an acknowledged action that the client cannot recover."""
    _lost(server, client, b"")


def _lost(server: Server, client: Client, receipt: bytes) -> None:
    racer = server.racer_of(client)
    if server.phase != "racing" or racer is None or not racer.actions:
        return
    actions = undone(server, racer)
    assert racer.play is not None
    present = list(server.present)
    _fail_over(server)
    for each in present:
        _enter(server, each)
        server.settle()
        if each is client and client.seen.own.play is not None:
            if client.seen.own.play.revision > racer.play.revision:
                client.send(
                    messages.Recover(id=0, revision=racer.play.revision, actions=tuple(actions), receipt=receipt)
                )
            server.settle()


def _lost_resignation(server: Server, client: Client) -> None:
    """Let a player resign, and lose that in a failover that no number of an event tells of."""
    racer = server.racer_of(client)
    if racer is None or server.phase != "racing" or racer.finished_at or client not in server.present:
        return
    client.send(messages.Resign(id=0))
    server.settle()
    if server.phase == "racing":
        racer.resigned = False
        server.push()


def _lost_end(server: Server, _: Client) -> None:
    """Lose the end of the race, which ends again later."""
    if server.phase != "finished":
        return
    standings, ended = server.standings, server.finished_at
    present = list(server.present)
    server.phase, server.standings, server.finished_at = "racing", (), 0
    _fail_over(server)
    for client in present:
        _enter(server, client)
        server.settle()
    server.now += 1000
    server.standings, server.finished_at, server.phase = standings, ended, "finished"
    if server.now > ended:
        server.finish()


def _other_end(server: Server, _: Client) -> None:
    """Lose the end of the race, which ends later before anybody is back. The records of both ends are read."""
    if server.phase != "finished" or server.now >= server.ends:
        return
    present, server.now = list(server.present), server.now + 1000
    server.lost_records = {client.name: server.record_for(client) for client in present}
    _fail_over(server)
    server.phase = "racing"
    server.finish()
    for client in present:
        _enter(server, client)
        server.settle()


def _lost_start(server: Server, _: Client) -> None:
    """Lose the start of the race, which begins a second later before anybody is back."""
    if server.phase != "racing" or any(racer.actions for racer in server.racers):
        return
    present, event = list(server.present), server.event
    _fail_over(server)
    server.starts, server.ends, server.event = server.starts + 1000, server.ends + 1000, event
    server.now = max(server.now, server.starts)
    for client in present:
        _enter(server, client)
        server.settle()


def _window(server: Server, client: Client) -> None:
    """Let another program of the player come, make a move, and leave again."""
    racer = server.racer_of(client)
    if racer is None or client.seen.state is None:
        return
    _gone(server, client)
    client.happens(Event("taken over", client.now))
    racer.generation += 1
    if racer.play is not None and server.phase == "racing" and not racer.resigned:
        legal = racer.play.board.legal_moves()
        if legal:
            server.play_on(racer, racer.play.act(legal[0]), str(legal[0]), server.now)
            server.show_move(racer, str(legal[0]))
            server.end_if_over()
    _back(server, client)


def _window_in_draw(server: Server, client: Client) -> None:
    """Let another program of the player take part in the draw."""
    racer = server.racer_of(client)
    if racer is None or server.phase != "countdown" or server.sealed or server.deal.kind != "winnable":
        return
    racer.share = some_bytes("of another program")
    digest, promise = server.terms_for(client).digest, server.commitment_for(client)
    racer.promise = share_commitment(digest, promise, racer.seat, racer.name, server.draw, racer.share)
    server.seal()


def _lost_redraw(server: Server, _: Client) -> None:
    """Lose what came after the first draw was sealed, so that a player is silent in it once more."""
    if server.phase != "countdown" or server.draw != 2:
        return
    first = server.lost[0]
    racer = server.gone[first.name]
    server.racers = sorted((*server.racers, racer), key=lambda each: each.seat)
    digest, commitment = server.terms_for(None).digest, server.commitment_for(None)
    for each in server.racers:
        client = server.clients[each.name]
        each.share = client.seen.evidence.shares.get(1, b"")
        each.promise = share_commitment(digest, commitment, each.seat, each.name, 1, each.share)
    racer.share = b""
    server.draw, server.sealed, server.shares, server.lost, server.proof = 1, True, (), [], None
    present = list(server.present)
    _fail_over(server)
    for client in present:
        _enter(server, client)
        server.settle()
    STEPS["silent"](server, None)


def _unanswered(server: Server, client: Client) -> None:
    """Commit an action, and end the race for the player before the answer leaves."""
    before = len(client.events)
    present = client in server.present
    _move(server, client)
    if len(client.events) == before or not present:
        return
    server.present.remove(client)
    hears, client.is_deaf = client.is_deaf, True
    server.settle()
    client.is_deaf = hears
    if server.phase != "finished":
        server.now = server.ends
        server.end_if_over()
    _back(server, client)


def _limited(server: Server, client: Client) -> None:
    """Refuse an action for a reason that is not in the rules."""
    if client not in server.present:
        return
    _move(server, client)
    for each, request in server.inbox:
        if each is client and isinstance(request, messages.Act):
            server.inbox.remove((each, request))
            revision = client.seen.own.play.revision if client.seen.own.play else -1
            refused = messages.Refused(
                to=request.id, code=RefusalCode.RATE_LIMITED, message="Wait.", revision=revision, retry_after=1
            )
            client.receive(refused)
            break


def _put_off(server: Server, _: Client) -> None:
    """Put the start off by two seconds."""
    if server.phase == "countdown":
        server.starts += 2000
        server.ends += 2000
        server.push()


def _without(server: Server, absent: Sequence[Racer]) -> None:
    """End the race if it is over for somebody, and for all who are not absent."""
    if server.phase == "racing":
        is_over = all(server.is_done(racer) for racer in server.awaited if racer not in absent)
        if server.now >= server.ends or (is_over and any(map(server.is_done, server.racers))):
            server.finish()


def _idle(server: Server, _: Client) -> None:
    """Wait until idle players count no more."""
    if server.phase == "racing":
        server.now = min(server.now + 250_000, server.ends)
        _without(server, server.racers)


def _away(server: Server, client: Client) -> None:
    """Let a client be away for more than a minute."""
    _leave_for_a_minute(server, [client])


def _all_away(server: Server, client: Client) -> None:
    """Let everybody be away for more than a minute, from one client that goes first and comes back last."""
    _leave_for_a_minute(server, [*(each for each in server.present if each is not client), client])


def _leave_for_a_minute(server: Server, clients: Sequence[Client]) -> None:
    present = [client for client in clients if client in server.present]
    for client in reversed(present):
        _gone(server, client)
    server.now += 61_000 if present else 0
    _without(server, [racer for racer in server.racers if not racer.connected])
    for client in present:
        _back(server, client)


def _asleep(server: Server, client: Client) -> None:
    """Set the client's clock, as a laptop that was suspended does."""
    client.skew += 3_600_000


def _jump(server: Server, _: Client) -> None:
    """Set the server's clock, as another node does that takes the room."""
    server.now += 3000


def _new_session(server: Server, client: Client) -> None:
    """Forget the client's session: it comes back as somebody else."""
    racer = server.racer_of(client)
    if racer is None or server.phase != "open" or client.seen.state is None:
        return
    _gone(server, client)
    server.racers.remove(racer)
    client.player = f"{client.player}2"
    _back(server, client)


def _seated(server: Server, client: Client) -> None:
    """Let a spectator take a seat."""
    if client.role != "spectator" or server.phase != "open":
        return
    client.role = "player"
    asked = with_fields(client.seen.asked, role="player")
    client.trail.append(client.seen)
    client.events.append(Event("forgot", client.now))
    client.seen = Seen.of(asked, client.player, client.name, server.seed)
    _enter(server, client)


def _watches(server: Server, client: Client) -> None:
    """Let a player watch the others after the race."""
    if server.phase == "finished" and client in server.present and client.role == "player":
        client.send(messages.Watch(id=0, room="friday"))


def _left(server: Server, client: Client) -> None:
    if client in server.present:
        client.send(messages.Leave(id=0))


def _operator_kick(server: Server, client: Client) -> None:
    """Let the operator remove a player, during the race too."""
    racer = server.racer_of(client)
    if racer is None or client not in server.present:
        return
    client.receive(messages.Notice(code="kicked", message="You were removed."))
    server.present.remove(client)
    if server.phase == "racing" and not racer.finished_at:
        racer.resigned = True
        server.push()
        server.end_if_over()
    elif server.phase in ("open", "countdown"):
        server.lose(racer, "kicked")


def _step(name: str) -> Callable[[Server, Any], None]:
    return STEPS[name]


TROUBLES: Final[dict[str, Trouble]] = {
    "cut": Trouble(lambda server, client: _step("cut")(server, client) if client.seen.state else None),
    "restart": Trouble(lambda server, client: _step("restart")(server, client) if client.seen.state else None),
    "forget": Trouble(lambda server, client: _step("forget")(server, client) if client.seen.state else None, FORGOTTEN),
    "recovered": Trouble(_recovered, LOST),
    "lost for good": Trouble(_lost_for_good, LOST | {"other_action", "other_board", "other_counts", "other_watched"}),
    "lost end": Trouble(_lost_end, LOST | {"other_results", "unfinished"}, is_own=False),
    "other end": Trouble(_other_end, LOST | {"changed_record", "other_results"}, is_own=False),
    "lost resignation": Trouble(_lost_resignation, LOST | {"other_results"}),
    "lost start": Trouble(_lost_start, LOST | {"other_start"}, is_own=False),
    "window": Trouble(_window, WINDOW),
    "window in draw": Trouble(_window_in_draw, frozenset({"missed_draw"})),
    "lost redraw": Trouble(_lost_redraw, LOST | {"went_back", "other_drawn"}, is_own=False),
    "unanswered": Trouble(_unanswered),
    "limited": Trouble(_limited),
    "put off": Trouble(_put_off, is_own=False),
    "idle": Trouble(_idle, is_own=False),
    "away": Trouble(_away, frozenset({"unfinished"})),
    "all away": Trouble(_all_away, frozenset({"unfinished"})),
    "asleep": Trouble(_asleep),
    "clock": Trouble(_jump, is_own=False),
    "new session": Trouble(_new_session, frozenset({"new_session"})),
    "takes a seat": Trouble(_seated, FORGOTTEN),
    "watches": Trouble(_watches),
    "leaves": Trouble(_left, frozenset({"unfinished"})),
    "kicked": Trouble(_operator_kick, frozenset({"unfinished"})),
    "lossy": Trouble(_step("lossy"), frozenset({"unfinished", "no_first_board"})),
    "silent": Trouble(_step("silent"), is_own=False),
    "due": Trouble(_step("due"), is_own=False),
    "limit": Trouble(_step("limit"), is_own=False),
    "quiet": Trouble(_step("quiet")),
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
        if self.phase == "racing":
            self.step("limit")
        return self


def hold_troubled(plan: Plan, seed: str, at: int, who: str, trouble: Trouble) -> Server:
    server = Troubled(plan, seed)
    server.at, server.who, server.trouble = at, who, trouble
    return server.run()
