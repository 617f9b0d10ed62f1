"""Whether a round kept the server's promises: each check takes the evidence and says in sentences what was broken. Pure.

What counts is worked out anew from the seed and the logs, with the engine alone; everything else is held against that.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from samedeal.board import Board
from samedeal.deal import commitment, shuffled
from samedeal.errors import SamedealError
from samedeal.play import UNDO, Play
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Created,
    Done,
    Join,
    Joined,
    LateBoard,
    LateMove,
    Notice,
    Pong,
    Progress,
    Refused,
    Resign,
    Rooms,
    RoomState,
    Standing,
    Tally,
    Watching,
    Welcome,
)
from samedeal_server.race import Racer
from samedeal_server.store.commits import Entry
from samedeal_server.store.events import Changed, Moved, Presence
from tests.chaos.journal import Evidence, Journal, RoomEvidence, Told

GRACE: Final = 5_000
"""Milliseconds after its end, or after the last fault, by which a race must be finished."""

_EARLY: Final = 2
"""Milliseconds that two readings of one clock may differ by."""

_FINAL: Final = frozenset(
    ("illegal", "cannot_undo", "malformed", "unseen", "stale", "time_up", "done", "not_racing", "too_many_actions")
)
"""Refusals that say that an action does not count; others say nothing about it."""

_FOR_RACERS: Final = (
    *(Welcome, Pong, Rooms, Created, Joined, Done, Acked, Refused, RoomState, BoardState, Progress, Notice),
)
_ANSWERS: Final = (Welcome, Pong, Rooms, Created, Joined, Watching, Done, Acked, Refused)


@dataclass(frozen=True)
class Story:
    """A player's play of the deal as the log tells it: ``plays[n]`` is the board at revision n."""

    entries: Sequence[Entry]
    plays: Sequence[Play]
    broken: str = ""


@dataclass(frozen=True)
class Case:
    """The evidence, and the stories that it tells, by room and player."""

    evidence: Evidence
    stories: dict[tuple[str, str], Story]

    def story(self, room: str, player: str) -> Story | None:
        """What a player did in a room, None where the store knows of no such player."""
        return self.stories.get((room, player))

    def racers(self) -> Iterator[tuple[Journal, Story]]:
        """The journals of those who have a story."""
        for journal in self.evidence.journals:
            if not journal.watches and (story := self.story(journal.room, journal.player)) is not None:
                yield journal, story


def judge(evidence: Evidence) -> list[str]:
    """Everything that was broken, one sentence each; empty for a round in which nothing was."""
    stories = {
        (code, player): _story(room, log) for code, room in evidence.rooms.items() for player, log in room.logs.items()
    }
    case = Case(evidence, stories)
    return [violation for check in CHECKS for violation in check(case)]


def _story(room: RoomEvidence, log: Sequence[Entry]) -> Story:
    game = room.race.game
    play = Play(Board.deal(game, shuffled(room.seed, game.decks)), room.race.options.undo_rule)
    plays = [play]
    for entry in log:
        try:
            play = play.act(entry.action)
            play.board.check()
        except SamedealError as error:
            return Story(log, plays, f"action {entry.revision} ({entry.action}) can't be played: {error}")
        plays.append(play)
    return Story(log, plays)


# ---------------------------------------------------------------- what was acked, and what is kept


def logs_replay(case: Case) -> Iterator[str]:
    """Every log replays from the seed to legal boards that hold their cards, with the counts that it gives."""
    for (room, player), story in case.stories.items():
        if story.broken:
            yield f"{room}: {player}: {story.broken}"
        if [entry.revision for entry in story.entries] != list(range(1, len(story.entries) + 1)):
            yield f"{room}: {player}: the log's revisions are not 1, 2, 3 and so on"
        for entry, play in zip(story.entries, story.plays[1:], strict=False):
            counts = (play.seen, play.board.cards_up, play.moves, play.undos)
            if counts != (entry.seen, entry.up, entry.moves, entry.undos):
                yield f"{room}: {player}: entry {entry.revision} says of itself what its replay does not"


def logs_keep_time(case: Case) -> Iterator[str]:
    """Nothing counts before the start or from the end on, and time does not run backwards."""
    for code, room in case.evidence.rooms.items():
        race, over = room.race, False
        for each in room.events:
            if not isinstance(moved := each.event, Moved):
                continue
            # Who is first home sets the end: what came before within the same millisecond counts, what came after does not.
            until = race.ends if race.options.first_home_ends and not over else race.ends - 1
            if not race.starts <= each.at <= until:
                yield f"{code}: {moved.player}: action {moved.revision} was taken out of time"
            over = over or moved.home
        for player, log in room.logs.items():
            if any(after.at < before.at for before, after in pairwise(log)):
                yield f"{code}: {player}: the log runs backwards in time"


def acks_are_kept(case: Case) -> Iterator[str]:
    """Every acked action is in its player's log, at the revision and with the outcome that were acked."""
    for journal, story in case.racers():
        acts = journal.acts()
        for told in journal.told:
            if not isinstance(ack := told.message, Acked):
                continue
            act = acts.get(ack.to)
            if act is None or ack.revision != act.revision + 1:
                yield f"{journal.name}: was acked request {ack.to} as revision {ack.revision}, and had not asked for that"
                continue
            if ack.revision > len(story.entries):
                yield f"{journal.name}: {act.action!r} was acked as revision {ack.revision} and is lost"
                continue
            entry = story.entries[ack.revision - 1]
            if (entry.request, entry.action) != (ack.to, act.action):
                yield f"{journal.name}: {act.action!r} was acked as revision {ack.revision}, the log has {entry.action!r}"
            elif ack.revision < len(story.plays) and ack != _ack(ack, act, story.plays[ack.revision], entry.at):
                yield f"{journal.name}: revision {ack.revision} ({act.action}) was acked with another board than the log's"


def _ack(told: Acked, act: Act, play: Play, at: int) -> Acked:
    return Acked(
        to=told.to,
        revision=play.revision,
        seen=play.seen,
        hash=play.board.state_hash(),
        up=play.board.cards_up,
        moves=play.moves,
        undos=play.undos,
        stuck=play.board.stuck,
        piles=play.board.masked().piles if act.action == UNDO else (),
        at=at,
        receipt=told.receipt,
    )


def logs_are_meant(case: Case) -> Iterator[str]:
    """Nothing is in a log that its player did not ask for."""
    for journal, story in case.racers():
        acts = journal.acts()
        for entry in story.entries:
            act = acts.get(entry.request)
            if act is None or (act.action, act.revision + 1) != (entry.action, entry.revision):
                yield f"{journal.name}: the log has {entry.action!r} as revision {entry.revision}, which was not asked for"
    told = {(journal.room, journal.player) for journal in case.evidence.journals}
    for room, player in case.stories:
        if (room, player) not in told:
            yield f"{room}: {player} has a seat and is nobody"


def refusals_hold(case: Case) -> Iterator[str]:
    """No action was both refused and kept. (Of those acked, ``acks_are_kept`` says that they are kept.)"""
    for journal, story in case.racers():
        kept = {(entry.request, entry.revision - 1, entry.action) for entry in story.entries}
        acts = journal.acts()
        for told in journal.told:
            if isinstance(refusal := told.message, Refused) and refusal.code in _FINAL:
                act = acts.get(refusal.to)
                # One made on a revision that was still to come may be asked again when it has come.
                ahead = act is not None and refusal.code == "stale" and refusal.revision < act.revision
                if act is not None and not ahead and (act.id, act.revision, act.action) in kept:
                    yield (
                        f"{journal.name}: {act.action!r} on revision {act.revision} is in the log "
                        f"and was refused as {refusal.code}: {refusal.message}"
                    )


def newest_alone_writes(case: Case) -> Iterator[str]:
    """An action counts only when it came over its player's newest connection."""
    for journal, _ in case.racers():
        if not journal.by_lines:
            continue
        heard = {
            (told.line, told.message.to)
            for told in journal.told
            if isinstance(told.message, Joined | Refused) and getattr(told.message, "code", "") != "unavailable"
        }
        # Of a connection that never heard what became of a Join it is not known how new it is.
        newest = {
            said.line: sys.maxsize
            for said in journal.said
            if isinstance(said.message, Join) and (said.line, said.message.id) not in heard
        }
        for told in journal.told:
            if isinstance(told.message, Joined):
                newest[told.line] = max(newest.get(told.line, 0), told.message.generation)
        came: dict[int, int] = {}
        for said in journal.said:
            if isinstance(said.message, Act):
                came[said.message.id] = max(came.get(said.message.id, 0), newest.get(said.line, 0))
        present = 0
        entries = {entry.revision: entry for entry in case.evidence.rooms[journal.room].logs[journal.player]}
        for each in case.evidence.rooms[journal.room].events:
            if isinstance(event := each.event, Presence) and event.player == journal.player and event.here:
                present = max(present, event.generation)
            if isinstance(event, Moved) and event.player == journal.player:
                entry = entries.get(event.revision)
                if entry is not None and came.get(entry.request, sys.maxsize) < present:
                    yield f"{journal.name}: action {event.revision} came over a connection that had been replaced"


def boards_agree(case: Case) -> Iterator[str]:
    """Every board that a player was sent is the log's at that revision."""
    for journal, story in case.racers():
        for told in journal.told:
            if not isinstance(state := told.message, BoardState):
                continue
            if state.revision >= len(story.plays):
                yield f"{journal.name}: was sent a board of revision {state.revision}, which there is not"
                continue
            play = story.plays[state.revision]
            board = play.board
            ours = (board.masked().piles, board.state_hash(), play.moves, play.undos, board.stuck)
            if ours != (state.piles, state.hash, state.moves, state.undos, state.stuck):
                yield f"{journal.name}: was sent another board of revision {state.revision} than the log's"


def answers_come_once(case: Case) -> Iterator[str]:
    """On each connection every request is answered once, in order: the answers are the requests', as far as they came."""
    for journal in case.evidence.journals:
        if not journal.by_lines:
            continue
        said: dict[int, list[int]] = defaultdict(list)
        answered: dict[int, list[int]] = defaultdict(list)
        for each in journal.said:
            said[each.line].append(each.message.id)
        for told in journal.told:
            if isinstance(told.message, _ANSWERS):
                answered[told.line].append(told.message.to)
        for line, answers in answered.items():
            if answers != said[line][: len(answers)]:
                yield f"{journal.name}: connection {line} was not answered once for each request, in order"


# ---------------------------------------------------------------- the race


def races_end(case: Case) -> Iterator[str]:
    """Every race was finished, once, soon after its end."""
    for code, room in case.evidence.rooms.items():
        race = room.race
        finished = [
            each.at for each in room.events if isinstance(each.event, Changed) and "finished" in each.event.what
        ]
        if race.phase not in ("finished", "closed") or not finished:
            yield f"{code}: the race is {race.phase}, not finished"
        elif len(finished) > 1:
            yield f"{code}: the race was finished {len(finished)} times"
        elif finished[0] > max(race.ends, case.evidence.calm) + GRACE:
            yield f"{code}: the race was finished {(finished[0] - race.ends) / 1000:.1f} s after its end"


def ends_are_told(case: Case) -> Iterator[str]:
    """Everybody was told of the end of their race soon, though whatever wakes a node was lost."""
    for journal in case.evidence.journals:
        room = case.evidence.rooms.get(journal.room)
        finished = [each.at for each in room.events if _is_finish(each.event)] if room is not None else []
        told = [
            each.at for each in journal.told if isinstance(each.message, RoomState) and each.message.phase == "finished"
        ]
        if finished and told and (late := told[0] - max(finished[0], case.evidence.calm)) > GRACE:
            yield f"{journal.name}: was told of the end {late / 1000:.1f} s after it"


def events_are_whole(case: Case) -> Iterator[str]:
    """A room's events have no gap, and tell each action once, as the log has it."""
    for code, room in case.evidence.rooms.items():
        numbers = [0, *(each.number for each in room.events)]
        if [each.after for each in room.events] != numbers[:-1] or sorted(set(numbers)) != numbers:
            yield f"{code}: the events don't follow each other, or not in the order of their numbers"
        moved: dict[str, list[tuple[object, ...]]] = defaultdict(list)
        for each in room.events:
            if isinstance(event := each.event, Moved):
                counts = (event.up, event.moves, event.undos)
                moved[event.player].append((event.revision, event.action, event.seen, *counts, each.at))
        for player, log in room.logs.items():
            kept = [(one.revision, one.action, one.seen, one.up, one.moves, one.undos, one.at) for one in log]
            if kept != moved[player]:
                yield f"{code}: {player}: the events tell other actions than the log"


def standings_follow(case: Case) -> Iterator[str]:
    """The standings follow from the logs, and everybody was told the same."""
    for code, room in case.evidence.rooms.items():
        if room.race.standings != (ours := _standings(case, room)):
            yield f"{code}: the standings are {room.race.standings}, by the logs they are {ours}"
    for journal, room, state in _states(case):
        race = room.race
        over = state.phase in ("finished", "closed")
        if state.standings != (race.standings if over else ()):
            yield f"{journal.name}: was told other standings than there are"
        if over and (state.starts, state.ends) != (race.starts, race.ends):
            yield f"{journal.name}: was told other times of the race than there are"


def _standings(case: Case, room: RoomEvidence) -> tuple[Standing, ...]:
    race = room.race

    def line(racer: Racer) -> tuple[tuple[int, int, int], Standing]:
        story = case.stories[race.room, racer.player]
        play, home, risen = story.plays[-1], 0, 0
        for entry, (before, after) in zip(story.entries, pairwise(story.plays), strict=False):
            risen = entry.at if after.board.cards_up != before.board.cards_up else risen
            home = entry.at if after.board.won else home
        up = play.board.cards_up
        rank = (0, home, 0) if home else (1, -up, risen)
        return rank, Standing(
            place=0,
            player=racer.player,
            name=racer.name,
            up=up,
            time=home - race.starts if home else 0,
            moves=play.moves,
            undos=play.undos,
            out=racer.out and not home,
        )

    lines = [line(racer) for racer in sorted(race.racers, key=lambda racer: racer.seat)]
    ranks = sorted(rank for rank, _ in lines)
    ordered = sorted(lines, key=lambda each: each[0])
    fields = Standing.__struct_fields__[1:]
    return tuple(
        Standing(place=ranks.index(rank) + 1, **{name: getattr(standing, name) for name in fields})
        for rank, standing in ordered
    )


def seeds_are_kept(case: Case) -> Iterator[str]:
    """The seed is the one that the server bound itself to; it is told when the race is over, and not before."""
    for code, room in case.evidence.rooms.items():
        if room.race.commitment != commitment(room.seed):
            yield f"{code}: the seed is not the one of the commitment"
        if room.race.seed != room.seed:
            yield f"{code}: the race does not reveal its seed"
    for journal, room, state in _states(case):
        if state.commitment != room.race.commitment:
            yield f"{journal.name}: was told another commitment than there is"
        if state.seed != (room.seed if state.phase in ("finished", "closed") else b""):
            yield f"{journal.name}: was told the seed {state.seed.hex() or '(none)'} of a race that was {state.phase}"
    for journal in case.evidence.journals:
        if (found := case.evidence.rooms.get(journal.room)) is None:
            continue
        for told in journal.told:
            if not isinstance(told.message, RoomState) and found.seed in encode(told.message):
                yield f"{journal.name}: was told the seed by a {type(told.message).__name__}"


def rooms_go_forward(case: Case) -> Iterator[str]:
    """On each connection a room's changes come in order, none of them twice with another content."""
    order = ("open", "countdown", "racing", "finished", "closed")
    newest: dict[tuple[str, int], RoomState] = {}
    for journal in case.evidence.journals:
        for told in journal.told:
            if not isinstance(state := told.message, RoomState) or not journal.by_lines:
                continue
            before = newest.get((journal.name, told.line))
            newest[journal.name, told.line] = state
            if before is not None and state.event < before.event:
                yield f"{journal.name}: was told event {state.event} after event {before.event}"
            if (
                before is not None
                and order.index(state.phase) < order.index(before.phase)
                and before.phase != "countdown"
            ):
                yield f"{journal.name}: was told that the race is {state.phase} after it was {before.phase}"


def who_resigns_is_out(case: Case) -> Iterator[str]:
    """Who was told that the resignation is done is out, and nothing of theirs counts after it."""
    for journal, story in case.racers():
        room = case.evidence.rooms[journal.room]
        asked = {said.message.id for said in journal.said if isinstance(said.message, Resign)}
        done = [told.at for told in journal.told if isinstance(told.message, Done) and told.message.to in asked]
        racer = room.race.racer(journal.player)
        in_time = any(at < room.race.ends for at in done) and not story.plays[-1].board.won
        if racer is not None and racer.out != in_time and (in_time or not asked):
            yield f"{journal.name}: is {'out' if racer.out else 'not out'}, and was told otherwise"
        out = False
        for each in room.events:
            if isinstance(event := each.event, Changed):
                out = out or any(racer.out for racer in event.race.racers if racer.player == journal.player)
            elif isinstance(event, Moved) and event.player == journal.player and out:
                yield f"{journal.name}: action {event.revision} counts, and came after the resignation"


def rematches_agree(case: Case) -> Iterator[str]:
    """All who asked for the room of the rematch were told the same."""
    rooms: dict[str, set[str]] = defaultdict(set)
    for journal in case.evidence.journals:
        rooms[journal.room] |= {told.message.room for told in journal.told if isinstance(told.message, Created)}
    for code, names in rooms.items():
        if code in case.evidence.rooms and names - {case.evidence.rooms[code].race.next}:
            yield f"{code}: the rematch is in {', '.join(sorted(names))}"


def _states(case: Case) -> Iterator[tuple[Journal, RoomEvidence, RoomState]]:
    for journal in case.evidence.journals:
        room = case.evidence.rooms.get(journal.room)
        for told in journal.told:
            if room is not None and isinstance(told.message, RoomState):
                yield journal, room, told.message


# ---------------------------------------------------------------- who sees what


def racers_see_counts(case: Case) -> Iterator[str]:
    """A racer was sent nothing of rivals but counts, and those are the log's."""
    for journal in case.evidence.journals:
        room = case.evidence.rooms.get(journal.room)
        raced_until = _raced_until(room, journal.player) if room is not None else sys.maxsize
        for told in journal.told:
            races = not journal.watches and told.at + _EARLY < raced_until
            if races and not isinstance(told.message, _FOR_RACERS):
                yield f"{journal.name}: races, and was sent a {type(told.message).__name__}"
            for tally in getattr(told.message, "tallies", ()):
                if (wrong := _wrong_counts(case, journal.room, tally)) is not None:
                    yield f"{journal.name}: was told of {tally.player} {wrong}"


def _raced_until(room: RoomEvidence, player: str) -> int:
    """When the race was over for a player; from then on they may see boards."""
    for each in room.events:
        match each.event:
            case Moved(player=who, home=home, over=over) if who == player and (home or over):
                return each.at
            case Changed(race=race) if race.phase in ("finished", "closed"):
                return each.at
            case Changed(race=race) if any(racer.out for racer in race.racers if racer.player == player):
                return each.at
    return sys.maxsize


def _wrong_counts(case: Case, room: str, tally: Tally) -> str | None:
    story = case.story(room, tally.player)
    if story is None:
        return "who has no seat"
    revision = tally.moves + tally.undos
    if revision >= len(story.plays):
        return f"{revision} actions, and there are {len(story.entries)}"
    play = story.plays[revision]
    entry = story.entries[revision - 1] if revision else None
    ours = (play.board.cards_up, play.moves, play.undos, entry.at if entry else 0)
    if ours != (tally.up, tally.moves, tally.undos, tally.active):
        return f"counts {tally} that were never so"
    return None


def spectators_are_late(case: Case) -> Iterator[str]:
    """A spectator saw every board as the log has it, in order, and none of it before the delay or the end."""
    for journal in case.evidence.journals:
        room = case.evidence.rooms.get(journal.room)
        if not journal.watches or room is None:
            continue
        delay = 1000 * room.race.options.delay
        over = min((each.at for each in room.events if _is_finish(each.event)), default=None)
        shown: dict[tuple[int, str], int] = {}
        for told in journal.told:
            if not isinstance(told.message, LateBoard | LateMove):
                continue
            story = case.story(journal.room, told.message.player)
            if story is None or told.message.revision >= len(story.plays):
                yield f"{journal.name}: saw what nobody did"
                continue
            at = story.entries[told.message.revision - 1].at if told.message.revision else room.race.starts
            if told.at + _EARLY < at + delay and not (over is not None and told.at + _EARLY >= over):
                yield f"{journal.name}: saw revision {told.message.revision} {at + delay - told.at} ms too early"
            before = shown.get((told.line, told.message.player))
            shown[told.line, told.message.player] = told.message.revision
            yield from _wrongly_shown(journal, story, told, before)


def _wrongly_shown(journal: Journal, story: Story, told: Told, before: int | None) -> Iterator[str]:
    shown = told.message
    if isinstance(shown, LateMove):
        entry = story.entries[shown.revision - 1]
        if (shown.action, shown.seen) != (entry.action, entry.seen):
            yield f"{journal.name}: saw {shown.action!r} as revision {shown.revision}, the log has {entry.action!r}"
        if before is None or shown.revision != before + 1:
            yield f"{journal.name}: saw revision {shown.revision} after {before}"
    elif isinstance(shown, LateBoard):
        play = story.plays[shown.revision]
        if (shown.piles, shown.moves, shown.undos) != (play.board.masked().piles, play.moves, play.undos):
            yield f"{journal.name}: saw another board of revision {shown.revision} than the log's"
        if before is not None and shown.revision < before:
            yield f"{journal.name}: saw revision {shown.revision} after {before}"


def _is_finish(event: object) -> bool:
    return isinstance(event, Changed) and "finished" in event.what


# ---------------------------------------------------------------- the clients, the nodes and the store


def clients_are_content(case: Case) -> Iterator[str]:
    """Every client came to the end of its race, and found nothing wrong itself."""
    for journal in case.evidence.journals:
        yield from (f"{journal.name}: {complaint}" for complaint in journal.complaints)
        if not journal.ended:
            yield f"{journal.name}: did not come to the end of the race"
        for told in journal.told:
            if isinstance(told.message, Refused) and told.message.code in ("fault", "error", "bad_frame"):
                yield f"{journal.name}: was refused as {told.message.code}: {told.message.message}"


def nodes_are_content(case: Case) -> Iterator[str]:
    """No node failed, ended by itself, logged a fault, or logged a seed or a token."""
    yield from case.evidence.mishaps
    seeds = [room.seed for room in case.evidence.rooms.values() if room.race.deal == "random"]
    secrets = [text for seed in seeds for text in (seed.hex(), repr(seed)[2:-1])]
    secrets += [token for journal in case.evidence.journals for token in journal.tokens]
    for line in case.evidence.node_logs:
        name, _, text = line.partition(": ")
        try:
            event = json.loads(text)
        except ValueError:
            yield f"{name} wrote what is no event: {text[:300]}"
            continue
        if event.get("event") == "fault" or "exception" in event:
            yield f"{name} logged a fault: {text[:8000]}"
        if any(secret in text for secret in secrets):
            yield f"{name} logged a secret: {event.get('event')}"


def keys_pass(case: Case) -> Iterator[str]:
    """Nothing stays in Redis for ever but the indexes."""
    for key in case.evidence.lasting_keys:
        yield f"{key} never goes from Redis"


Check = Callable[[Case], Iterator[str]]
CHECKS: Final[tuple[Check, ...]] = (
    *(logs_replay, logs_keep_time, acks_are_kept, logs_are_meant, refusals_hold, newest_alone_writes, boards_agree),
    *(answers_come_once, races_end, ends_are_told, events_are_whole, standings_follow, seeds_are_kept),
    *(rooms_go_forward, who_resigns_is_out, rematches_agree, racers_see_counts, spectators_are_late),
    *(clients_are_content, nodes_are_content, keys_pass),
)
