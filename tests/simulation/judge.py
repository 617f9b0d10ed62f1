"""What the judge of a world knows besides the judge of chaos, because it sees the work of all nodes. Pure.

Each check yields a sentence for each broken promise. What a fault may delay or repeat is excused near that fault.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from operator import itemgetter
from typing import Final

from samedeal.protocol.messages import Acked, ProgressUpdate, RoomState, Tally, Watching
from samedeal.race.draws import SHARE_TIMEOUT
from samedeal.race.room_state import room_state
from samedeal_server.races.race_record import build_record, race_id
from samedeal_server.store.events import RaceChanged
from samedeal_server.store.store import LEASE
from tests.chaos.client_journal import Evidence, Journal, RoomEvidence
from tests.chaos.judge import _closed_early

_SETTLED: Final = LEASE + 1_000
"""Time, in milliseconds, for which a fault may still have effects on a duty."""

_SHOWN_WITHIN: Final = 300
"""Maximum time, in milliseconds, until rivals are shown an action that was acked."""


@dataclass(frozen=True)
class Disturbance:
    """A fault that took place, in milliseconds since 1970. ``is_brief`` says that only one connection was cut."""

    what: str
    begins: int
    ends: int
    is_brief: bool = False


@dataclass
class Duty:
    """A duty of a room that a node does: ``what`` names it. ``ends`` is 0 as long as it lasts."""

    room: str
    what: str
    host: str
    begins: int
    ends: int = 0


@dataclass
class Work:
    """What the nodes of a world did, and what it left in Redis besides the rooms.

    ``writes`` has for each race the times at which, and the hosts by which, its record was written. ``records`` are the
    texts of the records by the id of the race, and ``earlier`` the ids of the races that can be repeated. ``counted`` are
    the races that a node counted as recorded, ``told_early`` those whose end was told before they had a record, and
    ``pasts`` the ids of the races that count for the speed of each player.
    """

    duties: list[Duty] = field(default_factory=list)
    writes: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    records: dict[str, bytes] = field(default_factory=dict)
    earlier: list[str] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    told_early: list[str] = field(default_factory=list)
    pasts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    disturbances: list[Disturbance] = field(default_factory=list)

    def is_calm(self, begins: int, ends: int, *, brief: int = 0) -> bool:
        """Return whether no fault had effects between two times, apart from ``brief`` cuts."""
        for each in self.disturbances:
            if each.begins <= ends and each.ends >= begins:
                brief -= 1 if each.is_brief else 2
                if brief < 0:
                    return False
        return True


def judge_world(evidence: Evidence, work: Work) -> list[str]:
    """Return a sentence for each broken promise."""
    return [violation for check in CHECKS for violation in check(evidence, work)]


def races_are_recorded_once(evidence: Evidence, work: Work) -> Iterator[str]:
    """Each finished race has one record, which follows from its logs, and is written once unless there was a fault."""
    expected = {}
    for code, room in evidence.rooms.items():
        if room.race.phase in ("finished", "closed") and room.race.result.standings and not _closed_early(room):
            expected[race_id(room.race)] = str(build_record(room.race, room.logs)).encode()
            if race_id(room.race) not in work.records:
                yield f"{code}: the race has no record"
    for race, text in work.records.items():
        if race not in expected:
            yield f"{race}: there is a record of a race that did not end"
        elif text != expected[race]:
            yield f"{race}: the record differs from the logs"
    for race, writes in work.writes.items():
        if len(writes) > 1 and work.is_calm(writes[0][0] - _SETTLED, writes[-1][0]):
            yield f"{race}: the record was written {len(writes)} times: {writes}"
    for race in work.earlier:
        if race not in work.records:
            yield f"{race}: the race can be repeated and has no record"
    if len(work.earlier) != len(set(work.earlier)):
        yield f"a race can be repeated twice: {work.earlier}"


def races_count_once(evidence: Evidence, work: Work) -> Iterator[str]:
    """No race counts twice as a record or for the speed of a player, and each end is told once its record can be read."""
    if evidence.lost:
        return
    if twice := _repeated(work.counted):
        yield f"the records of {twice} were counted twice"
    for player, races in work.pasts.items():
        if twice := _repeated(races):
            yield f"{player}: {twice} count twice for the speed"
    if work.told_early:
        yield f"the ends of {work.told_early} were told before their records could be read"


def _repeated(races: Iterable[str]) -> list[str]:
    return [race for race, times in Counter(races).items() if times > 1]


def duties_have_one_owner(_evidence: Evidence, work: Work) -> Iterator[str]:
    """No two nodes do the same duty at the same time, unless a fault kept the first one from renewing its lease."""
    duties = defaultdict(list)
    for duty in work.duties:
        duties[duty.room, duty.what].append(duty)
    for (room, what), owners in duties.items():
        for one, two in combinations(owners, 2):
            begins, ends = max(one.begins, two.begins), min(one.ends or two.begins, two.ends or two.begins)
            if one.host != two.host and begins < ends and work.is_calm(one.begins - _SETTLED, two.begins):
                yield f"{room}: {one.host} and {two.host} do {what} at the same time"


def times_decide_by_the_clock_of_redis(evidence: Evidence, _work: Work) -> Iterator[str]:
    """No player loses a seat as silent, and no race starts, before its time on the clock of Redis."""
    back = evidence.stepped
    for code, room in evidence.rooms.items():
        for (_, before), (each, after) in pairwise(room.had(RaceChanged)):
            if "unseated" in after.changes and each.time + back < before.race.draw.reveal_by:
                early = before.race.draw.reveal_by - each.time
                yield f"{code}: a player was unseated {early} of {SHARE_TIMEOUT} ms too early"
            if "racing" in after.changes and each.time + back < before.race.starts:
                yield f"{code}: the race started {before.race.starts - each.time} ms too early"


def acked_actions_are_shown_soon(evidence: Evidence, work: Work) -> Iterator[str]:
    """A rival on a working connection is shown an action soon after its ack, unless the race has a window."""
    shown: dict[tuple[str, str], list[tuple[int, int, str, int]]] = {}
    for journal in evidence.journals:
        room = evidence.rooms.get(journal.room)
        if room and not room.race.window and not journal.is_spectator and journal.has_all_frames:
            shown[journal.name, journal.room] = list(_shown(journal, room))
    for actor in evidence.journals:
        acts = actor.acts()
        rivals = [
            each
            for each in evidence.journals
            if each.room == actor.room and each is not actor and (each.name, each.room) in shown
        ]
        for received, ack in actor.got(Acked):
            at, latest = received.received_at, received.received_at + _SHOWN_WITHIN
            if (act := acts.get(ack.to)) is None or not work.is_calm(at - 500, latest + 200, brief=1):
                continue
            for rival in rivals:
                if _lacks(shown[rival.name, rival.room], rival, actor.player, act.revision + 1, at, latest):
                    yield f"{rival.name}: was not shown revision {act.revision + 1} of {actor.name} in time"


def _shown(journal: Journal, room: RoomEvidence) -> Iterator[tuple[int, int, str, int]]:
    """Yield when, on which connection, of whom and up to which revision a racer was shown counts."""
    known: dict[tuple[int, int], Tally] = {}
    for received in journal.received:
        connection = received.connection
        match received.message:
            case RoomState(players=players, tallies=tallies):
                for seat, tally in zip(players, tallies, strict=False):
                    known[connection, seat.seat] = tally
                    yield received.received_at, connection, tally.player, tally.moves + tally.undos
            case ProgressUpdate(seat=seat) as update:
                whose = next(
                    (each.player for race in reversed(room.races) for each in race.racers if each.seat == seat), ""
                )
                tally = known.get((connection, seat), Tally(player=whose)).updated(update)
                known[connection, seat] = tally
                yield received.received_at, connection, tally.player, tally.moves + tally.undos
            case _:
                pass


def _lacks(
    shown: Sequence[tuple[int, int, str, int]], rival: Journal, player: str, revision: int, at: int, latest: int
) -> bool:
    """Return whether a rival used one connection all the time, and was not shown a player's revision by ``latest``.

    Whoever has resigned and watches is shown delayed boards instead.
    """
    if any(received.received_at <= latest for received, _ in rival.got(Watching)):
        return False
    alive: dict[int, list[int]] = defaultdict(list)
    for each in rival.received:
        if isinstance(each.message, RoomState | ProgressUpdate):
            alive[each.connection].append(each.received_at)
    newest = max(alive, default=0)
    connected = newest in alive and alive[newest][0] < at and alive[newest][-1] > latest
    return connected and not any(
        when <= latest and connection == newest and whose == player and reached >= revision
        for when, connection, whose, reached in shown
    )


def last_counts_are_final(evidence: Evidence, _work: Work) -> Iterator[str]:
    """The counts in the state of a finished race are those of the standings, or a client would show others for ever."""
    for journal in evidence.journals:
        room = evidence.rooms.get(journal.room)
        states = [state for _, state in journal.got(RoomState) if state.phase == "finished"]
        if room is None or not states or evidence.lost:
            continue
        final = {line.player: (line.foundation_cards, line.moves, line.undos) for line in room.race.result.standings}
        for tally in states[-1].tallies:
            counts = tally.foundation_cards, tally.moves, tally.undos
            if final.get(tally.player, counts) != counts:
                yield f"{journal.name}: was last shown {counts} of {tally.player}, which has {final[tally.player]}"


def states_follow_from_the_events(evidence: Evidence, _work: Work) -> Iterator[str]:
    """A state of a room shows the race as it was after the newest event that the state has."""
    for journal in evidence.journals:
        room = evidence.rooms.get(journal.room)
        if room is None or evidence.lost:
            continue
        changes = [(each.number, changed.race) for each, changed in room.had(RaceChanged)]
        for _, state in journal.got(RoomState):
            if (known := bisect_right(changes, state.event, key=itemgetter(0))) == 0:
                continue  # the room was just opened, which is no event
            ours = room_state(changes[known - 1][1], {}, state.event, 0, 0)
            names = ("phase", "host", "draw", "lost", "next")
            theirs, mine = ([_seats(each), *(getattr(each, name) for name in names)] for each in (state, ours))
            if theirs != mine:
                yield f"{journal.name}: was shown {theirs} at event {state.event}, which was {mine}"


def _seats(state: RoomState) -> list[tuple[int, str, bool, bytes]]:
    return [(seat.seat, seat.name, seat.ready, seat.share_commitment) for seat in state.players]


Check = Callable[[Evidence, Work], Iterator[str]]
CHECKS: Final[tuple[Check, ...]] = (
    races_are_recorded_once,
    races_count_once,
    duties_have_one_owner,
    times_decide_by_the_clock_of_redis,
    acked_actions_are_shown_soon,
    last_counts_are_final,
    states_follow_from_the_events,
)
