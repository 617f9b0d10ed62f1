"""Judges whether a round kept the server's promises. Each check yields a sentence for each broken promise. Pure.

The rules replay the logs from the seed. Everything else in the evidence is compared with these replays.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from msgspec.structs import replace

from samedeal.action_chain import next_head
from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.deal import shuffled
from samedeal.deal_proof import DealProof, RevealedShare
from samedeal.errors import SamedealError
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import (
    Acked,
    Act,
    Begun,
    BoardState,
    Created,
    DelayedBoard,
    DelayedMove,
    Done,
    Drawn,
    Join,
    Joined,
    Leave,
    Notice,
    Pong,
    ProgressUpdate,
    Refused,
    Resign,
    RevealShare,
    Rooms,
    RoomState,
    Tally,
    Watching,
    Welcome,
)
from samedeal.race.draws import first_board
from samedeal.race.endings import standings
from samedeal.race.progress import MoveCommitted, Progress
from samedeal.race.room_state import acked, board_state, room_state
from samedeal.race.values import RaceResult
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import WINDOW
from samedeal_server.races.log_entry import LogEntry
from samedeal_server.races.race_record import build_record, first_head
from samedeal_server.store import keys
from samedeal_server.store.earlier_races import PAST_LIFETIME
from samedeal_server.store.events import AttemptBegan, PresenceChanged, RaceChanged
from samedeal_server.store.house_store import AT_HOME, HOUSE_LEASE
from samedeal_server.store.news import TOLD_LIFETIME
from samedeal_server.store.node_registry import NODE_LIFETIME, PLAYER_LIFETIME
from samedeal_server.store.sessions import GUEST_LIFETIME, SESSION_LIFETIME
from samedeal_server.store.store import CLOSED_LIFETIME, LIFETIME
from samedeal_server.store.tide_store import CLAIMS_LIFETIME
from tests.chaos.client_journal import Evidence, Journal, ReceivedMessage, RoomEvidence
from tests.client.server_messages import delayed_board, delayed_move

MAX_LATENESS: Final = 5_000
"""Maximum time, in milliseconds, for finishing a race after its end or the last fault, whichever is later."""

_CLOCK_ERROR: Final = 2
"""Maximum difference, in milliseconds, between two readings of one clock."""

_ROOM_SIZE: Final = 60_000
"""Maximum size, in bytes, of a room in Redis apart from its players' actions."""

_ACTION_SIZE: Final = 500
"""Maximum size, in bytes, of an action in Redis: in the log of its player and in the events of the room."""

_PERMANENT_KEYS: Final = frozenset(
    (
        keys.ROOMS,
        keys.LISTED,
        keys.DUE,
        keys.SCHEMAS,
        keys.RECEIPT_KEY,
        keys.RECORDS,
        keys.HOUSE,
        keys.LAST_BACKUP,
        keys.NEWS,
        keys.ORDERS,
        keys.BANS,
        keys.WINDOWS,
        *map(keys.node_names, keys.NODE_COPIES),
    )
)
_LIFETIMES: Final = {
    keys.PROBE: 1,
    keys.HOUSE_LEASE: HOUSE_LEASE // 1000,
    keys.HOUSE_HOME: AT_HOME // 1000,
    **{keys.node(copy, ""): NODE_LIFETIME for copy in keys.NODE_COPIES},
    keys.player(""): PLAYER_LIFETIME,
    keys.guest(""): GUEST_LIFETIME,
    keys.session(""): SESSION_LIFETIME,
    keys.record(""): 86_400 * Limits().record_days,
    keys.earlier(""): PAST_LIFETIME,
    keys.past(""): PAST_LIFETIME,
    f"{keys.PREFIX}told:": TOLD_LIFETIME,
    keys.tide_claims(""): CLAIMS_LIFETIME,
    keys.last_record(""): 86_400 * Limits().record_days,
}
"""Maximum lifetimes, in seconds, of keys that belong to no room, by the beginning of their names."""

_UNTIMELY: Final = frozenset(("time_up", "not_racing"))
"""Refusals that depend on the time."""

_FINAL: Final = _UNTIMELY | {
    *("illegal", "cannot_undo", "malformed", "unseen", "stale", "already_finished", "too_many_actions")
}
"""Refusals that mean that an action does not count. Other refusals leave that open."""

_FIXED: Final = ("terms", "commitment", "seed", "proof", "standings")
_FINAL_FIELDS: Final = ("starts", "ends", "table")
"""Fields of the state of a room that the judge compares always, and those that it also compares once the race is over."""

_ANSWERS: Final = (Welcome, Pong, Rooms, Created, Joined, Watching, Done, Begun, Acked, Refused)
_FOR_RACERS: Final = (*(set(_ANSWERS) - {Watching}), RoomState, Drawn, BoardState, ProgressUpdate, Notice)


@dataclass(frozen=True)
class ReplayedLog:
    """The replay of a player's log.

    ``plays[n]`` is the play at revision n, ``progress[n]`` the player's progress, and ``heads[n]`` the head of the player's
    chain. ``error`` says why the log can't be replayed.
    """

    entries: Sequence[LogEntry]
    plays: Sequence[Play]
    progress: Sequence[Progress]
    heads: Sequence[bytes]
    error: str = ""


@dataclass(frozen=True)
class Case:
    """The evidence, and the replays of its logs by room and player."""

    evidence: Evidence
    replays: dict[tuple[str, str], ReplayedLog]

    @property
    def clock_error(self) -> int:
        """Maximum difference, in milliseconds, between the clock of Redis and the one that journals are kept by."""
        return _CLOCK_ERROR + self.evidence.stepped

    def replay(self, room: str, player: str) -> ReplayedLog | None:
        """Return the replay of a player, or None if the store has no such player."""
        return self.replays.get((room, player))

    def clients(self) -> Iterator[tuple[Journal, RoomEvidence]]:
        """Yield the journals of clients, each with its room."""
        for journal in self.evidence.journals:
            if (room := self.evidence.rooms.get(journal.room)) is not None:
                yield journal, room

    def racers(self) -> Iterator[tuple[Journal, ReplayedLog]]:
        """Yield the journals of racers, each with its replay."""
        for journal in self.evidence.journals:
            if not journal.is_spectator and (replay := self.replay(journal.room, journal.player)) is not None:
                yield journal, replay


def judge(evidence: Evidence) -> list[str]:
    """Return a sentence for each broken promise."""
    replays = {
        (code, player): _replay(room, player, log)
        for code, room in evidence.rooms.items()
        for player, log in room.logs.items()
    }
    case = Case(evidence, replays)
    return [violation for check in CHECKS for violation in check(case)]


def _replay(room: RoomEvidence, player: str, log: Sequence[LogEntry]) -> ReplayedLog:
    game = room.race.game
    dealt = first_board(room.race, room.secret) or Board.deal(game, shuffled(room.seed, game.decks))
    play = Play(dealt, room.race.options.undo_rule)
    plays, progress = [play], [room.first_progress(player)]
    racer, own = room.race.racer(player), progress[0]
    began = room.race.began_at(own)
    heads = [first_head(room.race, racer, began) if racer and began else b""]
    for entry in log:
        heads.append(next_head(heads[-1], entry.revision, entry.committed_at - began, entry.action))
        try:
            play = play.act(entry.action)
            play.board.check()
        except SamedealError as error:
            wrong = f"action {entry.revision} ({entry.action}) can't be played: {error}"
            return ReplayedLog(log, plays, progress, heads, wrong)
        plays.append(play)
        moved = MoveCommitted.of(player, entry.action, play)
        progress.append(progress[-1].after(moved, entry.committed_at))
    return ReplayedLog(log, plays, progress, heads)


def logs_replay(case: Case) -> Iterator[str]:
    """Every log replays from the seed to legal, complete boards with the logged counts."""
    for (room, player), replay in case.replays.items():
        if replay.error:
            yield f"{room}: {player}: {replay.error}"
        if [entry.revision for entry in replay.entries] != list(range(1, len(replay.entries) + 1)):
            yield f"{room}: {player}: the log's revisions are not 1, 2, 3 and so on"
        for entry, play in zip(replay.entries, replay.plays[1:], strict=False):
            counts = (play.seen, play.board.foundation_cards, play.moves, play.undos)
            if counts != (entry.seen, entry.foundation_cards, entry.moves, entry.undos):
                yield f"{room}: {player}: entry {entry.revision} differs from its replay"


def logs_are_in_time(case: Case) -> Iterator[str]:
    """No action counts before the start or after the end, and the times of a log never go backwards."""
    back = case.evidence.stepped
    for code, room in case.evidence.rooms.items():
        race, over = room.race, False
        for each, moved in room.had(MoveCommitted):
            own = room.first_progress(moved.player)
            # If the first finish ends the race, actions before it count even within the same millisecond.
            until = race.ends_at(own) - (not race.options.first_finish_ends or over)
            if not race.began_at(own) <= each.time <= until + back:
                yield f"{code}: {moved.player}: action {moved.revision} counts outside the time of the race"
            over = over or moved.finished
        for player, log in room.logs.items():
            if any(after.committed_at < before.committed_at for before, after in pairwise(log)):
                yield f"{code}: {player}: the times of the log go backwards"


def only_seated_players_move(case: Case) -> Iterator[str]:
    """An action counts only if its player has a seat when it is committed. Nobody else has an action acked."""
    for code, room in case.evidence.rooms.items():
        seated: set[str] = set()
        for each in room.events:
            match each.event:
                case RaceChanged(race=race):
                    seated = {racer.player for racer in race.racers}
                case MoveCommitted(player=player, revision=revision) if player not in seated:
                    yield f"{code}: {player}: action {revision} counts although the player has no seat"
    for journal in case.evidence.journals:
        acked = any(journal.got(Acked)) and journal.room in case.evidence.rooms
        if acked and case.replay(journal.room, journal.player) is None:
            yield f"{journal.name}: was acked an action without having a seat"


def acked_moves_are_logged(case: Case) -> Iterator[str]:
    """Every acked action is in the log with the acked revision and outcome."""
    for journal, replay in case.racers():
        acts = journal.acts()
        for _, ack in journal.got(Acked):
            act = acts.get(ack.to)
            if act is None:
                yield f"{journal.name}: was acked request {ack.to}, which it had not sent"
                continue
            revision = act.revision + 1
            if revision > len(replay.entries):
                yield f"{journal.name}: {act.action!r} was acked as revision {revision} and is lost"
                continue
            entry = replay.entries[revision - 1]
            if (entry.request, entry.action) != (ack.to, act.action):
                yield f"{journal.name}: {act.action!r} was acked as revision {revision}, the log has {entry.action!r}"
            elif revision < len(replay.plays) and ack != acked(
                act, replay.plays[revision], entry.committed_at, ack.receipt
            ):
                yield f"{journal.name}: revision {revision} ({act.action}) was acked with another board than the log's"


def logged_moves_were_sent(case: Case) -> Iterator[str]:
    """Every action in a log was sent by its player."""
    for journal, replay in case.racers():
        acts = journal.acts()
        for entry in replay.entries:
            act = acts.get(entry.request)
            if act is None or (act.action, act.revision + 1) != (entry.action, entry.revision):
                yield f"{journal.name}: the log has {entry.action!r} as revision {entry.revision}, which was not sent"
    known_players = {(journal.room, journal.player) for journal in case.evidence.journals}
    for code, room in case.evidence.rooms.items():
        for racer in room.race.racers:
            if (code, racer.player) not in known_players and not racer.house:
                yield f"{code}: {racer.player} has a seat but no client"


def refused_moves_are_not_logged(case: Case) -> Iterator[str]:
    """No refused action is in the log. (``acked_moves_are_logged`` checks the acked ones.)"""
    # If the clock is set back, a repeated request may be in time although it was refused before.
    final = _FINAL - _UNTIMELY if case.evidence.stepped else _FINAL
    for journal, replay in case.racers():
        kept = {(entry.request, entry.revision - 1, entry.action) for entry in replay.entries}
        acts = journal.acts()
        for _, refusal in journal.got(Refused):
            act = acts.get(refusal.to)
            # An action for a later revision may be sent again once the board is at that revision.
            ahead = act is not None and refusal.code == "stale" and refusal.revision < act.revision
            is_final = refusal.code in final and not ahead
            if act is not None and is_final and (act.id, act.revision, act.action) in kept:
                yield (
                    f"{journal.name}: {act.action!r} on revision {act.revision} is in the log "
                    f"and was refused as {refusal.code}: {refusal.message}"
                )


def only_newest_connection_counts(case: Case) -> Iterator[str]:
    """An action counts only if it was sent over its player's newest connection."""
    for journal, _ in case.racers():
        if not journal.has_all_frames:
            continue
        answered_joins = {
            (received.connection, received.message.to)
            for received in journal.received
            if isinstance(received.message, Joined | Refused) and getattr(received.message, "code", "") != "unavailable"
        }
        # If the answer to a Join is missing, the age of that connection is unknown.
        newest = {
            sent.connection: sys.maxsize
            for sent in journal.sent
            if isinstance(sent.message, Join) and (sent.connection, sent.message.id) not in answered_joins
        }
        for received, joined in journal.got(Joined):
            newest[received.connection] = max(newest.get(received.connection, 0), joined.generation)
        sent_generation: dict[int, int] = {}
        for sent in journal.sent:
            if isinstance(sent.message, Act):
                sent_generation[sent.message.id] = max(
                    sent_generation.get(sent.message.id, 0), newest.get(sent.connection, 0)
                )
        present = 0
        entries = {entry.revision: entry for entry in case.evidence.rooms[journal.room].logs[journal.player]}
        for each in case.evidence.rooms[journal.room].events:
            if isinstance(event := each.event, PresenceChanged) and event.player == journal.player and event.connected:
                present = max(present, event.generation)
            if isinstance(event, MoveCommitted) and event.player == journal.player:
                entry = entries.get(event.revision)
                if entry is not None and sent_generation.get(entry.request, sys.maxsize) < present:
                    yield f"{journal.name}: action {event.revision} was sent over a replaced connection"


def boards_match_the_logs(case: Case) -> Iterator[str]:
    """Every board sent to a player is the replayed board of that revision."""
    for journal, replay in case.racers():
        for received, state in journal.got(BoardState):
            if state.revision >= len(replay.plays):
                yield f"{journal.name}: was sent a board of revision {state.revision}, which does not exist"
                continue
            # A move that was not acked may be lost with its store after a board showed it, and be made again later.
            remade = received.received_at < case.evidence.lost.stop + case.clock_error
            head = state.head if remade else replay.heads[state.revision]
            if state != board_state(journal.room, replay.plays[state.revision], head):
                yield f"{journal.name}: was sent another board of revision {state.revision} than the log's"


def requests_are_answered_once(case: Case) -> Iterator[str]:
    """On each connection, requests are answered once and in order, up to the end of the connection."""
    for journal in case.evidence.journals:
        if not journal.has_all_frames:
            continue
        asked: dict[int, list[int]] = defaultdict(list)
        answered: dict[int, list[int]] = defaultdict(list)
        for each in journal.sent:
            asked[each.connection].append(each.message.id)
        for received in journal.received:
            if isinstance(received.message, _ANSWERS):
                answered[received.connection].append(received.message.to)
        for connection, answers in answered.items():
            if answers != asked[connection][: len(answers)]:
                yield f"{journal.name}: connection {connection} was not answered once for each request, in order"


def races_end(case: Case) -> Iterator[str]:
    """Every race is finished once, soon after its end."""
    for code, room in case.evidence.rooms.items():
        race, finished = room.race, room.finishes
        if _closed_early(room):
            continue
        if race.phase not in ("finished", "closed") or not finished:
            yield f"{code}: the race is {race.phase}, not finished"
        elif len(finished) > 1:
            yield f"{code}: the race was finished {len(finished)} times"
        elif finished[0] > max(race.ends, case.evidence.calm_at) + MAX_LATENESS + case.evidence.stepped:
            yield f"{code}: the race was finished {(finished[0] - race.ends) / 1000:.1f} s after its end"


def ends_are_announced(case: Case) -> Iterator[str]:
    """Every client learns of the end of its race soon, even if the announcement to the nodes is lost."""
    latest = MAX_LATENESS + case.evidence.stepped
    for journal, room in case.clients():
        finished = room.finishes
        learned_at = [each.received_at for each, state in journal.got(RoomState) if state.phase == "finished"]
        if finished and learned_at and (late := learned_at[0] - max(finished[0], case.evidence.calm_at)) > latest:
            yield f"{journal.name}: learned of the end {late / 1000:.1f} s after it"


def events_match_the_logs(case: Case) -> Iterator[str]:
    """The events of a room have no gap, and contain each logged action once."""
    for code, room in case.evidence.rooms.items():
        numbers = [0, *(each.number for each in room.events)]
        if [each.previous for each in room.events] != numbers[:-1] or sorted(set(numbers)) != numbers:
            yield f"{code}: the events have a gap or are out of order"
        moved: dict[str, list[LogEntry]] = defaultdict(list)
        for each, event in room.had(MoveCommitted):
            counts = (event.foundation_cards, event.moves, event.undos)
            moved[event.player].append(LogEntry(event.revision, 0, event.action, event.seen, *counts, each.time))
        for player, log in room.logs.items():
            if [replace(entry, request=0) for entry in log] != moved[player]:
                yield f"{code}: {player}: the events differ from the log"


def standings_match_the_logs(case: Case) -> Iterator[str]:
    """The standings of a finished race follow from the logs."""
    for code, room in case.evidence.rooms.items():
        progress = {player: replay.progress[-1] for (at, player), replay in case.replays.items() if at == code}
        ours = () if _closed_early(room) else standings(room.race, progress)
        if room.race.result.standings != ours:
            yield f"{code}: the standings are {room.race.result.standings}, the replay gives {ours}"


def _closed_early(room: RoomEvidence) -> bool:
    """Whether the operator closed a room before its race was finished, or it closed because it got no deal."""
    changes = {name for _, changed in room.had(RaceChanged) for name in changed.changes}
    return bool(changes & {"closed_by_operator", "not_drawn", "not_found"}) and "finished" not in changes


def records_hold(case: Case) -> Iterator[str]:
    """The record of each race holds, also if the deal is searched for again, and is about the deal that was dealt.

    A room that was closed early reveals nothing of its deal.
    """
    for code, room in case.evidence.rooms.items():
        race = room.race
        if _closed_early(room):
            if race.result.seed or race.result.proof:
                yield f"{code}: a room that was closed early reveals its deal"
            continue
        if race.result.seed != (b"" if race.is_searched else room.seed):
            yield f"{code}: the race does not reveal its seed"
        if not {racer.player for racer in race.racers} <= {line.player for line in race.result.standings}:
            continue  # which is said of the standings
        try:
            record = build_record(race, room.logs)
            if record.first_play.board != first_board(race, room.secret):
                yield f"{code}: another deal was dealt than the record has"
            record.check_deeply()
        except SamedealError as error:
            yield f"{code}: the record does not hold: {error}"


def states_match_the_races(case: Case) -> Iterator[str]:
    """Every client is sent the terms, commitment and times of the race, and its result when it is over, not before."""
    for journal, room, state in _states(case):
        over = state.phase in ("finished", "closed")
        race = room.race if over else replace(room.race, result=RaceResult())
        ours = room_state(race, {}, state.event, 0, 0)
        for name in (*_FIXED, *(_FINAL_FIELDS if over else ())):
            if getattr(state, name) != getattr(ours, name):
                yield f"{journal.name}: was sent another {name} while the race was {state.phase}"


def seeds_stay_secret(case: Case) -> Iterator[str]:
    """No message has the seed, apart from the states of a room."""
    for journal, room in case.clients():
        for received in journal.received:
            if not isinstance(received.message, RoomState) and room.seed in encode(received.message):
                yield f"{journal.name}: was sent the seed in a {type(received.message).__name__}"


def draws_are_honest(case: Case) -> Iterator[str]:
    """A joint deal follows from what all racers were shown before they revealed their shares in its draw.

    Whoever lost a seat before all shares were known is listed, and the room shows the list and the shares as they are.
    """
    for code, room in case.evidence.rooms.items():
        if room.race.is_joint:
            yield from _losses_are_listed(code, room)
            race, shares = room.race, room.race.draw.shares
            if race.result.proof:
                proof = DealProof.parse(race.result.proof)
                shares = proof.shares
                if (proof.draw, proof.lost) != (race.draw.number, race.draw.lost):
                    yield f"{code}: the proof is about another draw"
            for journal, entered in case.clients():
                if entered is room:
                    yield from _draws_were_as_shown(journal, room, tuple(shares))


def _losses_are_listed(code: str, room: RoomEvidence) -> Iterator[str]:
    for before, race in pairwise([*room.races, room.race]):
        gone = {
            (before.draw.number, racer.seat, racer.name) for racer in before.racers if race.racer(racer.player) is None
        }
        listed = {(lost.draw, lost.seat, lost.name) for lost in room.race.draw.lost}
        for draw, seat, name in sorted(gone - listed) if before.lacks_shares else ():
            yield f"{code}: {name} lost seat {seat} in draw {draw} and is not listed"
        if race.draw.lost[: len(before.draw.lost)] != before.draw.lost:
            yield f"{code}: the list of lost seats was changed"


def _draws_were_as_shown(journal: Journal, room: RoomEvidence, shares: tuple[RevealedShare, ...]) -> Iterator[str]:
    race = room.race
    drawn = tuple(share[:3] for share in shares)
    raced = race.racer(journal.player) in race.drawing and race.phase in ("racing", "finished")
    if (race.draw.number in journal.revealed or raced) and shares and journal.revealed.get(race.draw.number) != drawn:
        shown = journal.revealed.get(race.draw.number)
        yield f"{journal.name}: the deal was drawn from other seats than those shown in draw {race.draw.number}: {shown}"
    reveals = {sent.message.id: sent.message.draw for sent in journal.sent if isinstance(sent.message, RevealShare)}
    accepted = {reveals.get(done.to) for _, done in journal.got(Done)}
    for lost in race.draw.lost:
        if lost.name == journal.name and lost.reason == "silent" and lost.draw in accepted:
            yield f"{journal.name}: revealed its share in draw {lost.draw}, and is listed as silent"
    for _, message in journal.got(Drawn):
        told = tuple((each.seat, each.name, each.commitment, each.share) for each in message.shares)
        if message.draw == race.draw.number and told != shares:
            yield f"{journal.name}: was shown other shares than those of the deal"
    shown_on = Counter(received.connection for received, _ in journal.got(Drawn))
    entered = chain(journal.got(Joined), journal.got(Watching), journal.got(Begun))
    shown_on.subtract(received.connection for received, _ in entered)
    if journal.has_all_frames and max(shown_on.values(), default=0) > 0:
        yield f"{journal.name}: was shown the shares more often than it entered the room"
    for _, state in journal.got(RoomState):
        if (
            tuple((each.draw, each.seat, each.reason, each.name) for each in state.lost)
            != race.draw.lost[: len(state.lost)]
        ):
            yield f"{journal.name}: was shown other lost seats than those of the race"


def terms_never_change(case: Case) -> Iterator[str]:
    """The terms of a race and the commitment of the server stay as they were when the room was opened."""
    for code, room in case.evidence.rooms.items():
        fixed = str(room.race.terms), room.race.commitment
        if any((str(race.terms), race.commitment) != fixed for race in room.races):
            yield f"{code}: the terms or the commitment were changed"


def room_states_are_in_order(case: Case) -> Iterator[str]:
    """On each connection, the states of a room come in the order of its events and phases."""
    order = ("open", "countdown", "racing", "finished", "closed")
    newest: dict[tuple[str, str, int], RoomState] = {}
    for journal in case.evidence.journals:
        for received, state in journal.got(RoomState) if journal.has_all_frames else ():
            where = journal.name, journal.room, received.connection
            before, newest[where] = newest.get(where, state), state
            tells_event = state.event > 0 or not state.window  # an open window does not
            if state.event < before.event and tells_event:
                yield f"{journal.name}: was sent event {state.event} after event {before.event}"
            if order.index(state.phase) < order.index(before.phase) and before.phase != "countdown":
                yield f"{journal.name}: was sent the phase {state.phase} after {before.phase}"


def resignations_count(case: Case) -> Iterator[str]:
    """A player with an acknowledged resignation has resigned, and no later action of theirs counts."""
    for journal, replay in case.racers():
        room = case.evidence.rooms[journal.room]
        asked = {sent.message.id for sent in journal.sent if isinstance(sent.message, Resign)}
        done = [received.received_at for received, answer in journal.got(Done) if answer.to in asked]
        racer = room.race.racer(journal.player)
        ends = room.race.ends_at(replay.progress[0])
        in_time = any(at + case.evidence.stepped < ends for at in done) and not replay.plays[-1].board.won
        removed = journal.player in {*room.race.kicked.players, *case.evidence.banned}
        if racer is not None and racer.resigned != in_time and (in_time or not asked) and not removed:
            yield f"{journal.name}: has {'' if racer.resigned else 'not '}resigned, contrary to the answers"
        has_resigned = False
        for each in room.events:
            if isinstance(event := each.event, RaceChanged):
                has_resigned = has_resigned or any(
                    racer.resigned for racer in event.race.racers if racer.player == journal.player
                )
            elif isinstance(event, MoveCommitted) and event.player == journal.player and has_resigned:
                yield f"{journal.name}: action {event.revision} counts although it came after the resignation"


def attempts_begin_once(case: Case) -> Iterator[str]:
    """A player begins at most once in a window, and is always told the same time. Until its end, rivals are told nothing."""
    for code, room in case.evidence.rooms.items():
        began = Counter(event.player for _, event in room.had(AttemptBegan))
        yield from (f"{code}: {player} began {count} times" for player, count in began.items() if count > 1)
    for journal, room in case.clients():
        own = room.first_progress(journal.player)
        if {begun.time for _, begun in journal.got(Begun)} - {own.began_at}:
            yield f"{journal.name}: was told that it began at another time than {own.began_at}"
        for each in journal.received if room.race.window else ():
            if isinstance(each.message, RoomState) and each.message.phase in ("finished", "closed"):
                break
            for tally in _tallies(room, each, {}):
                if tally.player != journal.player and tally not in _blank(tally.player):
                    yield f"{journal.name}: was told {tally} while the window was open"
            for seat in each.message.players if isinstance(each.message, RoomState) else ():
                if seat.player != journal.player and (seat.resigned or seat.stuck):
                    yield f"{journal.name}: was told how {seat.name} had ended while the window was open"


def _blank(player: str) -> tuple[Tally, ...]:
    return tuple(Tally(player=player, connected=connected) for connected in (True, False))


def rematches_agree(case: Case) -> Iterator[str]:
    """All players who ask for a rematch get the same room."""
    rooms: dict[str, set[str]] = defaultdict(set)
    for journal in case.evidence.journals:
        rooms[journal.room] |= {created.room for _, created in journal.got(Created)}
    for code, names in rooms.items():
        if code in case.evidence.rooms and names - {case.evidence.rooms[code].race.next, code}:
            yield f"{code}: the rematch is in {', '.join(sorted(names))}"


def tables_match_the_races(case: Case) -> Iterator[str]:
    """The table of a series continues that of the race before. A player has at most one seat in the rooms of a tide."""
    races = {code: room.race for code, room in case.evidence.rooms.items()}
    for code, race in races.items():
        before = races.get(race.before.room)
        if before is not None and race.before.table != before.table:
            yield f"{code}: the table of the series does not continue that of {race.before.room}"
    seats = Counter(
        (race.game, race.tide, racer.player) for race in races.values() if race.tide for racer in race.racers
    )
    for (game, _, player), count in seats.items():
        if count > 1:
            yield f"{player}: has seats in {count} rooms of the tide in {game}"


def _states(case: Case) -> Iterator[tuple[Journal, RoomEvidence, RoomState]]:
    for journal, room in case.clients():
        yield from ((journal, room, state) for _, state in journal.got(RoomState))


def racers_see_only_counts(case: Case) -> Iterator[str]:
    """Racers are sent nothing about rivals other than counts, and these match the logs."""
    for journal in case.evidence.journals:
        room = case.evidence.rooms.get(journal.room)
        ends = [at.received_at for at, state in journal.got(RoomState) if state.finished_at in case.evidence.lost]
        raced_until = min([_raced_until(room, journal.player) if room is not None else sys.maxsize, *ends])
        known: dict[tuple[int, int], Tally] = {}
        for received in journal.received:
            races = not journal.is_spectator and received.received_at + case.clock_error < raced_until
            if races and not isinstance(received.message, _FOR_RACERS):
                yield f"{journal.name}: is racing and was sent a {type(received.message).__name__}"
            for tally in _tallies(room, received, known):
                if (wrong := _wrong_counts(case, journal.room, tally)) is not None:
                    yield f"{journal.name}: was sent wrong counts of {tally.player}: {wrong}"


def _tallies(room: RoomEvidence | None, received: ReceivedMessage, known: dict[tuple[int, int], Tally]) -> list[Tally]:
    """The tallies that a client has been sent. ``known`` has those from before, by connection and seat."""
    match received.message:
        case RoomState(players=players, tallies=tallies):
            known |= {(received.connection, seat.seat): each for seat, each in zip(players, tallies, strict=False)}
            return list(tallies)
        case ProgressUpdate(seat=seat) as update:
            key = (received.connection, seat)
            known[key] = known.get(key, Tally(player=_player_at(room, seat))).updated(update)
            return [known[key]]
        case _:
            return []


def _player_at(room: RoomEvidence | None, seat: int) -> str:
    races = reversed(room.races if room else [])
    return next((racer.player for race in races for racer in race.racers if racer.seat == seat), "")


def _raced_until(room: RoomEvidence, player: str) -> int:
    """The time from which a player may see boards, because their race is over."""
    for each in room.events:
        match each.event:
            case MoveCommitted(player=who, finished=home, no_moves_left=over) if who == player and (home or over):
                return each.time
            case RaceChanged(race=race) if race.phase in ("finished", "closed"):
                return each.time
            case RaceChanged(race=race) if any(racer.resigned for racer in race.racers if racer.player == player):
                return each.time
    return sys.maxsize


def _had_seat(room: RoomEvidence | None, player: str) -> bool:
    return room is not None and any(race.racer(player) for race in room.races)


def _wrong_counts(case: Case, room: str, tally: Tally) -> str | None:
    replay = case.replay(room, tally.player)
    if replay is None:
        # A player who lost the seat before the start may be in earlier messages.
        is_blank = (tally.foundation_cards, tally.moves, tally.undos) == (0, 0, 0)
        return None if is_blank and _had_seat(case.evidence.rooms.get(room), tally.player) else "no such seat"
    if tally.acted_at in case.evidence.lost:
        return None  # rivals may have been told of an action that was lost before it was acked, and is made again later
    revision = tally.moves + tally.undos
    if revision >= len(replay.progress):
        return f"{revision} actions instead of {len(replay.entries)}"
    own = replay.progress[revision]
    ours = (own.foundation_cards, own.moves, own.undos, own.last_action_at)
    if ours != (tally.foundation_cards, tally.moves, tally.undos, tally.acted_at):
        return f"{tally} never held"
    return None


def spectators_see_delayed_boards(case: Case) -> Iterator[str]:
    """Spectators see every board as it was logged, in order, and not before the delay has passed or the race is over."""
    for journal, room in case.clients():
        if not journal.is_spectator:
            continue
        delay = 1000 * room.race.options.delay
        over = min(room.finishes, default=None)
        newest: dict[tuple[int, str], int] = {}
        for received in journal.received:
            shown = received.message
            if not isinstance(shown, DelayedBoard | DelayedMove):
                continue
            replay = case.replay(journal.room, shown.player)
            if replay is None or shown.revision >= len(replay.plays):
                yield f"{journal.name}: saw an action that nobody made"
                continue
            ours = _shown(shown, replay, room.race.starts)
            if shown != ours:
                yield f"{journal.name}: saw another revision {shown.revision} than the log's: {shown}"
            at_latest = received.received_at + case.clock_error
            if at_latest < ours.time + delay and not (over is not None and at_latest >= over):
                early = ours.time + delay - received.received_at
                yield f"{journal.name}: saw revision {shown.revision} {early} ms too early"
            view = received.connection, shown.player
            before, newest[view] = newest.get(view), shown.revision
            follows = shown.revision - (-1 if before is None else before)
            if follows < 0 or (isinstance(shown, DelayedMove) and (before is None or follows != 1)):
                yield f"{journal.name}: saw revision {shown.revision} after {before}"


def _shown(like: DelayedBoard | DelayedMove, replay: ReplayedLog, starts: int) -> DelayedBoard | DelayedMove:
    """The move or the board that a spectator has to be shown in place of another one."""
    player, revision = like.player, like.revision
    entry, play = replay.entries[revision - 1] if revision else None, replay.plays[revision]
    at = entry.committed_at if entry else starts
    if isinstance(like, DelayedMove):
        return delayed_move(player, play, entry.action if entry else "", at)
    return delayed_board(player, play, at, _reached(replay, revision, starts) if like.reached else ())


def _reached(replay: ReplayedLog, revision: int, starts: int) -> tuple[int, ...]:
    times: list[int] = []
    for entry, play in zip(replay.entries[:revision], replay.plays[1 : revision + 1], strict=True):
        cards = play.board.foundation_cards
        times = times[:cards] + [entry.committed_at - starts] * (cards - len(times))
    return tuple(times)


def clients_found_no_error(case: Case) -> Iterator[str]:
    """Every client saw the end of its race and reported no error."""
    for journal in case.evidence.journals:
        yield from (f"{journal.name}: {complaint}" for complaint in journal.complaints)
        if not journal.saw_the_end:
            yield f"{journal.name}: did not see the end of the race"
        for _, refusal in journal.got(Refused):
            if refusal.code in ("fault", "error", "bad_frame"):
                yield f"{journal.name}: was refused as {refusal.code}: {refusal.message}"


def exclusions_are_justified(case: Case) -> Iterator[str]:
    """A client is excluded from its room only if the operator kicked or banned it, or closed the room."""
    for journal, room in case.clients():
        if not journal.excluded:
            continue
        justified = {
            "kicked": journal.player in room.race.kicked.players or bool(room.race.kicked.origins),
            "banned": journal.player in case.evidence.banned,
            "race_started": journal.replaces or any(lost.name == journal.name for lost in room.race.draw.lost),
            "left": _left(journal),
            "no_tide": journal.player not in {racer.player for racer in room.race.racers},  # it came too late
        }
        if not justified.get(journal.excluded, room.race.phase == "closed"):
            yield f"{journal.name}: was excluded as {journal.excluded} without a reason"


def _left(journal: Journal) -> bool:
    """Whether a client has left the room by itself."""
    return any(isinstance(sent.message, Leave) for sent in journal.sent)


def nodes_logged_no_fault(case: Case) -> Iterator[str]:
    """No node crashed, logged a fault, or logged a seed, a token or a passphrase."""
    yield from case.evidence.failures
    seeds = [room.seed for room in case.evidence.rooms.values() if room.race.deal in ("random", "winnable")]
    secrets = [text for seed in seeds for text in (seed.hex(), repr(seed)[2:-1])]
    secrets += [token for journal in case.evidence.journals for token in journal.tokens]
    secrets += case.evidence.secrets
    for line in case.evidence.node_logs:
        name, _, text = line.partition(": ")
        try:
            event = json.loads(text)
        except ValueError:
            yield f"{name} wrote a line that is not an event: {text[:300]}"
            continue
        if event.get("event") == "fault" or "exception" in event:
            yield f"{name} logged a fault: {text[:8000]}"
        if any(secret in text for secret in secrets):
            yield f"{name} logged a secret: {event.get('event')}"


def news_is_public_and_told_once(case: Case) -> Iterator[str]:
    """Programs hear nothing of private rooms, and of each end of a race once, with its standings."""
    ends = Counter((each.race, each.time) for each in case.evidence.news if each.event == "finished")
    for (race, _), count in ends.items():
        if count > 1:
            yield f"the end of {race} was told {count} times"
    for each in case.evidence.news:
        room = case.evidence.rooms.get(each.room.room)
        if room is None or each.time < room.race.created:
            continue
        if room.race.private:
            yield f"the private room {each.room.room} was told"
        if each.time == room.race.result.finished_at and each.standings != room.race.result.standings:
            yield f"{each.race} was told with other standings"


def keys_expire(case: Case) -> Iterator[str]:
    """Every key in Redis expires in time, apart from the permanent ones."""
    for key in case.evidence.keys:
        if key.name in _PERMANENT_KEYS:
            continue
        longest = _longest_lifetime(case, key.name)
        if key.lifetime is None:
            yield f"{key.name} never expires"
        elif longest is None:
            yield f"{key.name} is an unknown key"
        elif key.lifetime > longest:
            yield f"{key.name} expires in {key.lifetime:.0f} s, which is more than {longest} s"


def _longest_lifetime(case: Case, name: str) -> int | None:
    """Return how long a key may live, in seconds, or None if it is unknown."""
    code = _room_of(name)
    if code is None:
        return next((longest for start, longest in _LIFETIMES.items() if name.startswith(start)), None)
    if name.startswith(f"{keys.channel(code)}:guesses:"):
        return 2 * WINDOW
    room = case.evidence.rooms.get(code)
    return CLOSED_LIFETIME if room is not None and room.race.phase == "closed" else LIFETIME


def _room_of(name: str) -> str | None:
    return keys.room_of(name.partition("}")[0].encode()) if name.startswith(f"{keys.PREFIX}{{") else None


def only_seated_players_have_keys(case: Case) -> Iterator[str]:
    """Redis keeps no log and no progress of players without a seat."""
    stored = {key.name for key in case.evidence.keys}
    for code, room in case.evidence.rooms.items():
        seated = {key(code, racer.player) for racer in room.race.racers for key in (keys.log, keys.progress)}
        of_players = tuple(key(code, "") for key in (keys.log, keys.progress))
        for name in sorted(stored - seated):
            if name.startswith(of_players):
                yield f"{name} belongs to a player without a seat"


def rooms_are_small(case: Case) -> Iterator[str]:
    """The size of a room in Redis has a limit, which rises with the number of actions."""
    sizes: dict[str | None, int] = defaultdict(int)
    for key in case.evidence.keys:
        sizes[_room_of(key.name)] += key.size
    for code, room in case.evidence.rooms.items():
        largest = _ROOM_SIZE + _ACTION_SIZE * sum(map(len, room.logs.values()))
        if sizes[code] > largest:
            yield f"{code}: uses {sizes[code]} bytes of Redis, which is more than {largest}"


Check = Callable[[Case], Iterator[str]]
CHECKS: Final[tuple[Check, ...]] = (
    logs_replay,
    logs_are_in_time,
    only_seated_players_move,
    acked_moves_are_logged,
    logged_moves_were_sent,
    refused_moves_are_not_logged,
    only_newest_connection_counts,
    boards_match_the_logs,
    requests_are_answered_once,
    races_end,
    ends_are_announced,
    events_match_the_logs,
    standings_match_the_logs,
    records_hold,
    states_match_the_races,
    seeds_stay_secret,
    draws_are_honest,
    terms_never_change,
    room_states_are_in_order,
    attempts_begin_once,
    resignations_count,
    rematches_agree,
    tables_match_the_races,
    racers_see_only_counts,
    spectators_see_delayed_boards,
    clients_found_no_error,
    exclusions_are_justified,
    nodes_logged_no_fault,
    news_is_public_and_told_once,
    keys_expire,
    only_seated_players_have_keys,
    rooms_are_small,
)
