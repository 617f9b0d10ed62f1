"""What must hold of every race, honest or not, judged by what was on the screen and by the record alone.

Nothing here asks the evidence or the verdict what is true.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace as with_fields

from samedeal.board_history import Play
from samedeal.deal import commitment
from samedeal.errors import SamedealError
from samedeal.joint_deal import public_mix
from samedeal.protocol import messages
from samedeal.protocol.messages import RoomState, Tally
from samedeal.protocol_codes import RefusalCode
from samedeal.record import Record, RecordedPlayer
from samedeal.series import with_race
from samedeal_link.evidence.verdict import RaceReading, Verdict, verdict
from tests.lies.deals import answers
from tests.lies.seen import Seen
from tests.lies.worlds import LOCAL
from tests.lies.worlds import is_open as is_open_window

CLOCK_DRIFT: Final = 1000


@dataclass(frozen=True)
class Truth:
    """What a record says, replayed. ``wrong`` is what is wrong with it."""

    record: Record
    wrong: str
    plays: dict[int, list[Play]]
    counts: dict[int, set[tuple[int, ...]]]

    @classmethod
    def of(cls, record: Record) -> Truth:
        if id(record) not in _TRUTHS:
            if len(_TRUTHS) > 50:
                _TRUTHS.clear()
            _TRUTHS[id(record)] = cls._replayed(record)
        return _TRUTHS[id(record)]

    @classmethod
    def _replayed(cls, record: Record) -> Truth:
        try:
            if Record.parse(str(record)) != record or not record.is_whole:
                return cls(record, "it is not a record", {}, {})
            record.check()
            if (proof := record.proof) is not None:
                proof.check_kind(record.deal)
                proof.check_limits()
                for number, answer in enumerate(answers(proof)):
                    proof.check_candidate(number, answer)
            plays = {player.seat: record.plays(player) for player in record.players}
        except SamedealError as error:
            return cls(record, str(error), {}, {})
        counts = {player.seat: set(_counts(record, player, plays[player.seat])) for player in record.players}
        return cls(record, "", plays, counts)


_TRUTHS: Final[dict[int, Truth]] = {}


def _counts(record: Record, player: RecordedPlayer, plays: Sequence[Play]) -> Iterator[tuple[int, ...]]:
    gained_at = 0
    for (time, _), play, before in zip(((0, ""), *player.actions), plays, (plays[0], *plays), strict=False):
        at = _began(record, player) + time if play.revision else 0
        gained_at = at if play.board.foundation_cards != before.board.foundation_cards else gained_at
        finish = at if play.board.won else 0
        yield play.board.foundation_cards, play.moves, play.undos, at, gained_at, finish, player.began_at


def _began(record: Record, player: RecordedPlayer) -> int:
    return player.began_at or record.start


def judged(seen: Seen, reading: RaceReading) -> Verdict:
    return verdict(seen.evidence, reading)


def untruths(seen: Seen, reading: RaceReading) -> list[str]:
    """What was on the screen, but is not so in the record, and what a fair race would have shown but did not."""
    record = reading.record
    if record is None:
        return ["no record"]
    if reading.second != record.digest:
        return ["not read twice alike"]
    proof = record.proof
    if proof and (len(reading.answers or ()) <= proof.candidate or not record.terms.is_described):
        return ["search not repeated"]
    truth = Truth.of(record)
    if truth.wrong:
        return [f"record: {truth.wrong}"]
    shown = list(seen.shown())[::-1]
    return [*_untrue(seen, shown, truth)]


def _untrue(seen: Seen, shown: Sequence[tuple[str, Any]], truth: Truth) -> Iterator[str]:
    record = truth.record
    states: list[RoomState] = [value for what, value in shown if what == "state"]
    begun = [state.phase in ("racing", "finished") for state in states]
    raced = [state for at, state in enumerate(states) if begun[at] or (state.phase == "closed" and any(begun[:at]))]
    if not states or not raced:
        yield "nothing shown"
        return
    if any(each.shown for state in states for each in state.players if each.player != seen.player):
        yield "other name shown"
    yield from _terms(seen, states, truth)
    yield from _asked(seen, record)
    racers = [(each.seat, each.name, each.bot) for each in record.players]
    options, finishes = record.terms.options, [each.time for each in record.players if each.time]
    if len(racers) > options.players or (not options.bots and any(bot for _, _, bot in racers)):
        yield "more players than the terms allow, or bots"
    if record.start < options.start_at:
        yield "started before its time"
    if options.first_finish_ends and finishes and record.end - record.start > min(finishes) + CLOCK_DRIFT:
        yield "went on after the first finish"
    resigned = {each.seat for state in raced for each in state.players if each.resigned}
    if any(each.seat in resigned and not each.resigned for each in record.players):
        yield "said to have resigned"
    if any(state.draw != (record.proof.draw if record.proof else 0) for state in raced):
        yield "other number of the draw"
    kind = record.terms.deal.kind
    is_lone = kind == "daily" and sum(not bot for _, _, bot in racers) == 1
    if len({state.earlier for state in raced}) > 1 or (raced[0].earlier and not (is_lone or kind == "again")):
        yield "other earlier players"
    for state in states:
        ids = sorted(each.player for each in state.players)
        if sorted(each.player for each in state.tallies) != ids or len({*ids}) < len(ids):
            yield "not one player at each seat"
    for state in raced:
        if sorted((each.seat, each.name, each.bot) for each in state.players) != racers:
            yield "other racers"
        if state.starts != record.start:
            yield "other start"
        is_won = options.first_finish_ends and any(each.finished_at for each in state.tallies)
        if state.ends != record.start + record.limit and not is_won and not record.terms.window:
            yield "other end"
        if not set(racers).issuperset((each.seat, each.name, each.bot) for each in state.players):
            yield "other racers"
    if record.terms.window:
        yield from _window(seen, shown, states, record)
    seats = {each.player: each.seat for state in raced for each in state.players}
    yield from _results(states, seats, truth)
    tallies = [
        (seats.get(each.player, 0), each)
        for what, state in shown
        if what == "state" and state.phase in ("racing", "finished")
        for each in state.tallies
    ] + [value for what, value in shown if what == "tally"]
    for seat, tally in tallies:
        if any(_count(tally)) and _count(tally) not in truth.counts.get(seat, ()):
            yield "other counts"
    if _is_early(seen, shown, truth):
        yield "early end"
    yield from _draws(seen, shown, states, record)
    if seen.asked.role == "player":
        yield from _own(seen, shown, states, truth)
    else:
        yield from _watched(shown, seats, truth)


def _count(tally: Tally) -> tuple[int, ...]:
    times = tally.acted_at, tally.last_progress_at, tally.finished_at, tally.began_at
    return tally.foundation_cards, tally.moves, tally.undos, *times


def _window(seen: Seen, shown: Sequence[tuple[str, Any]], states: Sequence[RoomState], record: Record) -> Iterator[str]:
    ends, doors = states[0].ends, states[0].ends - 750 * record.terms.window
    reopened = {state.doors_close_at for state in states if state.lost}  # by the host, who may do so then
    if {state.ends for state in states} != {ends} or any(not doors <= at <= ends for at in reopened):
        yield "other end of the window"
    if {state.doors_close_at for state in states if not state.lost} - {doors}:
        yield "other end of the window"
    if record.end > ends:
        yield "ended after the window"
    line = seen.asked.wanted.line
    if line is not None and line.closes not in (ends, doors, *reopened):
        yield "other end of the window than in the list"
    is_open = False
    for what, value in shown:
        if what == "state":
            is_open = is_open_window(value)
            others = [each for each in value.players if each.player != seen.player]
            flags = [each.resigned or each.stuck or each.away for each in others]
            tallies = [each for each in value.tallies if each.player != seen.player]
            told = any(each != Tally(player=each.player, connected=False) for each in tallies)
            if is_open and (told or any(flags) or value.event):
                yield "told early"
        elif is_open and what in ("delayedboard", "delayedmove"):
            yield "told early"
        elif is_open and what == "tally":
            seat, tally = value
            own = {each.seat for state in states for each in state.players if each.player == seen.player}
            if seat not in own and tally != Tally(player=tally.player, connected=False):
                yield "told early"


def _terms(seen: Seen, states: Sequence[RoomState], truth: Truth) -> Iterator[str]:
    record = truth.record
    terms = record.terms
    # The options say what was asked for: a deal of no certain day, or one that can be won, before an earlier one came.
    asked = {"again": "winnable", "daily": "daily"}.get(terms.deal.kind, str(terms.deal))
    options = with_fields(terms.options, deal=asked)
    for state in states:
        shown = state.game, state.deal, state.options, state.private, state.tide, state.round, state.window
        if state.room != seen.asked.room or terms.room != seen.asked.room:
            yield "other room"
        if state.terms != str(terms) or shown != (
            *(terms.game.name, str(terms.deal), options, terms.private, terms.tide, terms.round, terms.window),
        ):
            yield "other terms"
        if state.commitment != record.commitment:
            yield "other commitment"
    if terms.deal.public:
        secret = terms.deal.public_seed() if terms.deal.kind == "number" else public_mix(str(terms.deal))
        if commitment(terms.digest, secret) != record.commitment:
            yield "not committed to the public deal"
    if terms.deal.kind == "again" and len(record.players) > 1:
        yield "not alone"


def _asked(seen: Seen, record: Record) -> Iterator[str]:
    wanted, terms = seen.asked.wanted, record.terms
    if wanted.options is not None:
        for name in terms.options.__struct_fields__:
            value = getattr(terms.options, name)
            asked = False if name == "bots" and wanted.window else getattr(wanted.options, name)
            if value != asked and not (name == "deal" and asked == "daily" and terms.deal.kind == "daily"):
                yield f"other {name} than asked for"
    if (line := wanted.line) is not None:
        given = terms.options
        found = terms.game.name, str(terms.deal), given.players, given.delay, given.bots, given.spectators
        watched = given.spectators if line.closes else line.spectators
        if found != (line.game, line.deal, line.seats, line.delay, line.bots, watched):
            yield "other race than the row of the list"
        if (line.closes > 0) != (terms.window > 0):
            yield "other window than in the list"
    if wanted.game and wanted.game != terms.game.name:
        yield "other game than asked for"
    if wanted.tide != terms.tide and (wanted.tide or wanted.options is not None):
        yield "other tide than asked for"
    if wanted.window != terms.window and (wanted.game or wanted.options is not None):
        yield "other window than asked for"
    if wanted.round >= 0 and wanted.round != terms.round:
        yield "other round than asked for"
    if wanted.private not in (None, terms.private):
        yield "other rule for who may enter than asked for"


def _results(states: Sequence[RoomState], seats: dict[str, int], truth: Truth) -> Iterator[str]:
    record = truth.record
    rows = sorted(
        (
            *(player.place, player.seat, player.name, player.foundation_cards, player.time),
            *(truth.plays[player.seat][-1].moves, truth.plays[player.seat][-1].undos, player.resigned, player.bot),
            player.began_at,
        )
        for player in record.players
    )
    ended = [state for state in states if state.phase == "finished" or state.standings or state.finished_at]
    if not ended:
        yield "no results"
    for state in states:
        if state not in ended and (state.seed or state.proof):
            ended.append(state)
    for state in ended:
        shown = [
            (
                *(each.place, seats.get(each.player, 0), each.name, each.foundation_cards, each.time),
                *(each.moves, each.undos, each.resigned, each.bot, each.began_at),
            )
            for each in state.standings
        ]
        if sorted(shown) != rows or [row[0] for row in shown] != sorted(row[0] for row in shown):
            yield "other results"
        if [each.place for each in state.standings] != sorted(each.place for each in state.standings):
            yield "results in another order"
        if state.finished_at != record.end:
            yield "other time of the end"
        if (state.seed, state.proof) != (record.seed, str(record.proof) if record.proof else ""):
            yield "other deal revealed"
    before = states[0].table
    raced = record.terms.round % record.terms.options.series
    if (before and not raced and not states[0].standings) or any(len(each.rooms_before) != raced for each in states):
        yield "other races of the series"
    for state in states:
        table = before
        if record.terms.options.series > 1 and state.standings:
            length = record.limit if record.terms.window else record.end - record.start
            table = with_race(before, state.standings, length)
        if state.table != table:
            yield "other table"


def _is_early(seen: Seen, shown: Sequence[tuple[str, Any]], truth: Truth) -> bool:
    record, options = truth.record, truth.record.terms.options
    length = record.end - record.start
    finishes = [player.time for player in record.players if player.time]
    states = [value for what, value in shown if what == "state"]
    window = record.terms.window > 0
    if window and record.end >= max(state.ends for state in states):
        return False
    is_decided = options.first_finish_ends and finishes and length >= min(finishes)
    if is_decided or (not window and length >= record.limit):
        return False
    declared = any(what == "sent" and isinstance(value[0], messages.DeclareStuck) for what, value in shown)
    stuck = {each.name for state in states for each in state.players if each.stuck}
    stuck -= set() if declared or seen.asked.role != "player" else {_own_name(seen, states)}
    gone = {seat for what, value in shown if what == "tally" for seat, tally in [value] if not tally.connected}
    names = {each.player: each.seat for state in states for each in state.players}
    gone |= {names.get(each.player, 0) for state in states for each in state.tallies if not each.connected}
    gone -= {names.get(seen.player, 0)}
    people = [player for player in record.players if not player.bot] or record.players
    for player in people if options.end_when_settled else record.players:
        last = truth.plays[player.seat][-1]
        newest = player.actions[-1][0] if player.actions else 0
        is_done = player.time or player.resigned or last.no_moves_left or player.seat in gone
        is_stuck = options.end_when_settled and player.name in stuck
        if window:
            is_up = player.began_at and record.end >= player.began_at + record.limit
            if not (player.time or player.resigned or last.no_moves_left or is_stuck or is_up):
                return True
        elif not (is_done or is_stuck or length - newest >= 240_000):
            return True
    return False


def _own_name(seen: Seen, states: Sequence[RoomState]) -> str:
    """The name under which the client was first shown from the countdown on. Until then, the operator may change it."""
    seats = (each for state in states if state.phase != "open" for each in state.players)
    return next((each.name for each in seats if each.player == seen.player), seen.name)


def _draws(seen: Seen, shown: Sequence[tuple[str, Any]], states: Sequence[RoomState], record: Record) -> Iterator[str]:
    proof = record.proof
    drawn = [value for what, value in shown if what == "drawn"]
    if proof is None or proof.public:
        if drawn or any(state.lost for state in states):
            yield "a draw of a deal without one"
        return
    for value in drawn:
        is_of_others = seen.asked.role == "spectator" and any(each.draw == value.draw for each in proof.lost)
        if value.room != seen.asked.room or (value.draw != proof.draw and not is_of_others):
            yield "other shares shown"
        shares = tuple((each.seat, each.name, each.commitment, each.share) for each in value.shares)
        if value.draw == proof.draw and shares != proof.shares:
            yield "other shares shown"
    lost = [(each.draw, each.seat, each.reason, each.name) for each in states[-1].lost]
    if lost != [tuple(each) for each in proof.lost]:
        yield "other lost seats"
    if seen.asked.role != "player":
        return
    reveals = [value for what, value in shown if what == "reveal"]
    if not reveals:
        yield "no share revealed"
        return
    last: RoomState = reveals[-1][1]
    sealed = sorted((each.seat, each.name, each.share_commitment) for each in _drawing(last))
    if sealed != [share[:3] for share in proof.shares] or reveals[-1][0].draw != proof.draw:
        yield "drawn from others"
    name = _own_name(seen, states)
    if reveals[-1][0].share not in [share.share for share in proof.shares if share.name == name]:
        yield "own share missing"
    draws: dict[int, Any] = {}
    for request, state, _ in reveals:
        places = frozenset((each.seat, each.name, each.share_commitment) for each in _drawing(state))
        if draws.setdefault(request.draw, places) != places:
            yield "revealed twice"
    for one, other in zip(draws, list(draws)[1:], strict=False):
        names = [{each[:2] for each in draws[draw]} for draw in (one, other)]
        named = {(each.seat, each.name) for each in states[-1].lost if each.draw >= one}
        is_needed = names[1] < names[0] and names[0] - names[1] <= named
        if record.terms.window:
            still = {
                (each.seat, each.name) for each in states[-1].lost if one <= each.draw > other - 1 - (other - 1) % 5
            }
            is_needed = bool(names[0] & named) and not names[1] & still  # doors that open again ask all anew
        if other < one or not is_needed:
            yield "revealed for another draw that nobody made necessary"
    silent = [each for each in states[-1].lost if each.name == name and each.reason == "silent"]
    if any(each.draw in draws for each in silent):
        yield "said silent"


def _drawing(state: RoomState) -> list[Any]:
    return [each for each in state.players if not state.window or each.seat in state.drawing]


def _own(seen: Seen, shown: Sequence[tuple[str, Any]], states: Sequence[RoomState], truth: Truth) -> Iterator[str]:
    record = truth.record
    seats = {each.seat for state in states for each in state.players if each.player == seen.player}
    name = _own_name(seen, states)
    own = next((each for each in record.players if each.name == name and {each.seat} == seats), None)
    for state in states:
        if state.phase == "open":
            continue
        mine = [each for each in state.players if each.player == seen.player]
        if len(mine) != 1 or mine[0].name != name or mine[0].bot != seen.asked.bot:
            yield "own seat missing or other"
            return
    if own is None:
        yield "not in the record"
        return
    plays = truth.plays[own.seat]
    boards = [value for what, value in shown if what == "board"]
    acts = {type(value[0]) for what, value in shown if what == "sent"}
    begins = messages.Begin in acts
    in_time = any(
        isinstance(value[0], messages.Begin) and value[1] + LOCAL < max(state.ends for state in states) - CLOCK_DRIFT
        for what, value in shown
        if what == "sent"
    )
    if not any(revision == 0 for revision, *_ in boards) and (in_time or own.began_at or not record.terms.window):
        yield "first board not shown"
    if own.began_at and not begins:
        yield "begun by another"
    if any(what == "begun" and value != own.began_at for what, value in shown):
        yield "began at another time"
    for revision, piles, moves, undos, may_undo in boards:
        play = plays[revision] if 0 <= revision < len(plays) else None
        if play is None or (piles, moves, undos) != (play.board.masked().piles, play.moves, play.undos):
            yield "other board"
        elif may_undo not in (None, play.why_no_undo is None):
            yield "wrong about undo"
    sent: dict[tuple[int, str], int] = {}
    ids = defaultdict(set)
    for what, value in shown:
        if what == "sent":
            request, now = value
            if isinstance(request, messages.Act):
                sent.setdefault((request.revision + 1, request.action), now)
                ids[request.revision + 1, request.action].add(request.id)
    start, acked = _began(record, own), set()
    end = min(record.end, start + record.limit)
    for what, value in shown:
        if what == "ack":
            revision, action, time = value
            acked.add(revision)
            if not 0 < revision <= len(own.actions) or own.actions[revision - 1] != (time - start, action):
                yield "other action"
    refused = Counter((value[0] + 1, value[1]) for what, value in shown if what == "refused")
    doubt = CLOCK_DRIFT + _fastest_ping(shown)
    for revision, (time, action) in enumerate(own.actions, 1):
        if revision not in acked and (revision, action) not in sent:
            yield "foreign action"
        elif revision not in acked and len(ids[revision, action]) == refused[revision, action]:
            yield "refused action"
        elif revision not in acked and start + time < sent[revision, action] + LOCAL - doubt:
            yield "action before it was made"
    kicks = [value for what, value in shown if what == "kicked"]
    may_resign = bool(kicks) or messages.Resign in acts or (messages.Leave in acts and not record.terms.window)
    races_on = True
    for what, value in shown:
        is_end = what == "sent" and isinstance(value[0], messages.Resign | messages.Leave)
        races_on = races_on and not is_end and what != "kicked"
        if what == "refused":
            revision, action, code, now = value
            over = min(
                [end, *(at + LOCAL for at in kicks if own.resigned)]
            )  # a node may refuse moves before it tells why
            if code in _OVER and races_on and now + LOCAL + 15 < over - 100:
                yield "refused as if the race were over"
            if code in _BY_RULES and revision < len(plays):
                try:
                    plays[revision].act(action)
                except SamedealError:
                    continue
                yield "legal move refused"
            elif races_on and revision == len(own.actions) and now + LOCAL < end - 10_000:
                yield "move not taken"
    answered = {*refused, *((revision, action) for revision, action in sent if revision in acked)}
    left = [at for act, at in sent.items() if act[0] > len(own.actions) and act not in answered]
    if not may_resign and not own.time and left and min(left) + LOCAL < end - 10_000:
        yield "move not answered"
    if own.resigned and not may_resign:
        yield "resigned"
    for state in states:
        for each in state.players:
            if each.player == seen.player and (
                (each.resigned and not may_resign) or (each.stuck and messages.DeclareStuck not in acts)
            ):
                yield "said to have resigned or to be stuck"


_OVER: Final = (RefusalCode.NOT_RACING, RefusalCode.TIME_UP, RefusalCode.ALREADY_FINISHED)
_BY_RULES: Final = (RefusalCode.ILLEGAL, RefusalCode.CANNOT_UNDO, RefusalCode.MALFORMED)


def _fastest_ping(shown: Sequence[tuple[str, Any]]) -> int:
    """By how much a client may be wrong about the server's clock, because all answers to its pings came late."""
    pings = dict(value for what, value in shown if what == "ping")
    pongs = [value for what, value in shown if what == "pong"]
    return min((at - pings[to] for to, at in pongs if to in pings), default=0)


def _watched(shown: Sequence[tuple[str, Any]], seats: dict[str, int], truth: Truth) -> Iterator[str]:
    record = truth.record
    players = {player.seat: player for player in record.players}
    for what, value in shown:
        if what not in ("delayedboard", "delayedmove"):
            continue
        player = players.get(seats.get(value.player, 0))
        plays = truth.plays[player.seat] if player else []
        if player is None or not (what == "delayedmove") <= value.revision < len(plays):
            yield "other watched board"
            continue
        play = plays[value.revision]
        at = _began(record, player) + (player.actions[value.revision - 1][0] if value.revision else 0)
        if value.revision and value.time != at:
            yield "other watched time"
        if what == "delayedboard":
            if (value.piles, value.moves, value.undos) != (play.board.masked().piles, play.moves, play.undos):
                yield "other watched board"
            reached: tuple[int, ...] = ()
            for (time, _), after in zip(player.actions[: value.revision], plays[1:], strict=False):
                count = after.board.foundation_cards
                reached = reached[:count] + (time,) * (count - len(reached))
            if value.reached not in ((), reached):
                yield "other curve"
        elif (value.action, value.seen) != (player.actions[value.revision - 1][1], play.seen):
            yield "other watched move"


def reveal_problems(seen: Seen) -> Iterator[str]:
    """Reveals of which none must ever happen, whatever the verdict."""
    draws: dict[int, Any] = {}
    for request, state, was_contradicted in [value for what, value in seen.shown() if what == "reveal"][::-1]:
        places = frozenset((each.seat, each.name, each.share_commitment) for each in _drawing(state))
        if was_contradicted:
            yield "revealed after a contradiction"
        if draws.setdefault(request.draw, places) != places:
            yield "revealed twice in one draw"


@dataclass(frozen=True)
class Outcome:
    """A client after a race: what two clients can compare."""

    seen: Seen
    reading: RaceReading
    verdict: Verdict

    @property
    def cards(self) -> tuple[bytes, ...]:
        return next((value[1] for what, value in list(self.seen.shown())[::-1] if what == "board" and not value[0]), ())

    @property
    def names(self) -> Any:
        return next(
            (
                sorted((each.seat, each.name, each.bot) for each in value.players)
                for what, value in self.seen.shown()
                if what == "state" and value.phase in ("racing", "finished")
            ),
            (),
        )

    @property
    def results(self) -> Any:
        return next(
            (
                (value.starts, sorted((each.place, each.name, each) for each in value.standings))
                for what, value in self.seen.shown()
                if what == "state" and value.standings
            ),
            (),
        )


def disagreements(one: Outcome, other: Outcome) -> Iterator[str]:
    """What two players who both got a good verdict and compare words would believe wrongly to be the same."""
    good = ("fair", "checked")
    if one.verdict.kind not in good or other.verdict.kind not in good:
        return
    if one.seen.words & other.seen.words:
        if one.seen.evidence.terms_text != other.seen.evidence.terms_text or one.names != other.names:
            yield "same words, other terms or names"
        if one.cards and other.cards and one.cards != other.cards:
            yield "same words, other cards"
    if one.verdict.words == other.verdict.words:
        if one.results != other.results:
            yield "same result words, other results"
        records = [each.reading.record for each in (one, other)]
        if records[0] != records[1]:
            yield "same result words, other records"
