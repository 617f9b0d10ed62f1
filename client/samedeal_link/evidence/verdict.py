"""The verdict on a race: whether what a client was shown is what the proof and the record of the race say. Pure.

Nothing is fair by default. Each fact that a verdict needs must be present and agree (DEALS.md, *The verdict*): what is
missing makes the race *not fully checked*, and what contradicts makes it *not fair*. ``verdict`` looks for all rows of
the table of verdicts (``samedeal.verdict_rows``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Final, Literal

from msgspec.structs import replace as with_fields

from samedeal.board_history import UNDO, Play
from samedeal.deal_words import result_words
from samedeal.errors import DealNotCheckable, DealNotProven, SamedealError
from samedeal.protocol.messages import DrawnShare, LostSeat
from samedeal.protocol_codes import RefusalCode
from samedeal.record import Record, RecordedPlayer
from samedeal.series import record_standings
from samedeal.solver.solve import Answer
from samedeal.verdict_rows import VerdictKind, row_sentence
from samedeal_link.evidence.evidence import Evidence, deal_hash
from samedeal_link.evidence.facts import BoardWatched, MoveWatched, SharesShown
from samedeal_link.evidence.observation import BY_RULES
from samedeal_link.evidence.own_draws import has_missed

IDLE: Final = 240_000
"""Time, in milliseconds, without an action after which a race may end without a racer."""

_TITLES: Final[Mapping[VerdictKind | Literal["late"], str]] = {
    "fair": "Fair: nobody could choose the deal, it can be won, and all is as you saw it.",
    "checked": "Checked: the deal was set before the start, and all is as you saw it.",
    "late": "Checked: you came after the start, and all is as you saw it.",
    "unsure": "Not fully checked:",
    "wrong": "NOT fair:",
}


@dataclass(frozen=True)
class RaceReading:
    """What a client has read after a race.

    ``record`` is the server's record of the whole race, or None, and then ``fault`` is the row about that and its detail.
    ``second`` is the digest of the record as it was read once more, or empty. ``answers`` are the solver's for all
    candidates up to the dealt one, or None if they could not be computed. ``given_up`` is how many earlier races on this
    server did not begin with this client, although it had revealed a share: a server may give up rooms until it likes a
    deal.
    """

    record: Record | None = None
    fault: tuple[str, str] = ("no_record", "")
    second: bytes = b""
    answers: Sequence[Answer] | None = None
    given_up: int = 0

    @cached_property
    def faults(self) -> tuple[tuple[str, str], ...]:
        """The rows about the record alone."""
        record = self.record
        if record is None:
            return (self.fault,)
        return tuple(_record_faults(record, self.second)) or tuple(_search_faults(record, self.answers))

    @cached_property
    def plays(self) -> Mapping[int, Mapping[int, Play]]:
        """The plays of all players, by their seats and revisions, if the record has no faults."""
        record = self.record
        return {each.seat: dict(enumerate(record.plays(each))) for each in record.players} if record else {}

    @cached_property
    def counts(self) -> Mapping[int, frozenset[tuple[int, ...]]]:
        """All counts that the players had, by their seats, in the order of ``facts.Counts``."""
        players = self.record.players if self.record else ()
        return {player.seat: frozenset(self._counts(player)) for player in players}

    def _counts(self, player: RecordedPlayer) -> Iterator[tuple[int, ...]]:
        start = began_at(self.record, player) if self.record else 0
        times = [0, *(start + time for time, _ in player.actions)]
        before = gained_at = 0
        for time, play in zip(times, self.plays[player.seat].values(), strict=True):
            cards = play.board.foundation_cards
            gained_at = time if cards != before else gained_at
            yield cards, play.moves, play.undos, time, gained_at, time if play.board.won else 0, player.began_at
            before = cards


def began_at(record: Record, player: RecordedPlayer) -> int:
    """Return when a player's clock began, in milliseconds since 1970."""
    return player.began_at or record.start


NO_READING: Final = RaceReading()
"""What a client has read that has not asked for the record."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a race.

    ``rows`` are the names of the rows that were found, with their details, those that decide first. ``sentence`` is for
    the player, and so is ``clock``, which is neutral: networks delay too. ``words`` are those of the result.
    """

    kind: VerdictKind
    sentence: str
    rows: Mapping[str, str] = field(default_factory=dict)
    clock: str = ""
    words: str = ""


def verdict(evidence: Evidence, reading: RaceReading) -> Verdict:
    """Return the verdict on a race that is over."""
    found = {row: detail for row, (detail, _) in evidence.found.items()}
    for row, detail in _rows(evidence, reading):
        found.setdefault(row, detail)
    known = with_fields(evidence, found={row: (detail, 1) for row, detail in found.items()})
    rows = dict(sorted(found.items(), key=lambda each: known.verdict_of(each[0]) != "wrong"))
    kind: VerdictKind = "fair" if _nobody_could_choose(evidence) else "checked"
    if rows:
        kind = known.verdict_of(next(iter(rows)))
    words = result_words(reading.record.digest) if reading.record else ""
    return Verdict(kind, _sentence(evidence, reading, kind, rows), rows, clock_sentence(evidence), words)


def _nobody_could_choose(evidence: Evidence) -> bool:
    """Return whether nobody could choose the deal: all players drew it, or it is that of the day, anywhere on earth."""
    if evidence.role != "player" or evidence.terms is None:
        return False
    deal = evidence.terms.deal
    return deal.kind == "winnable" or (deal.kind == "daily" and _days_between(deal.date, evidence.today) <= 1)


def _days_between(one: str, other: str) -> int:
    return abs((date.fromisoformat(one) - date.fromisoformat(other)).days)


def _sentence(evidence: Evidence, reading: RaceReading, kind: VerdictKind, rows: Mapping[str, str]) -> str:
    if not rows:
        lost = [each.name for each in evidence.lost]
        drawn = len({*(each.draw for each in evidence.lost), evidence.drawn.draw}) if evidence.drawn else 0
        what = "did not answer" if evidence.window else "lost the seat" if len(lost) == 1 else "lost their seats"
        draws = f" The deal was drawn {drawn} times; {_and(lost)} {what}." if drawn > 1 else ""
        races = "1 race" if reading.given_up == 1 else f"{reading.given_up} races"
        earlier = (
            f" Before it, you took part in the draw of {races} that did not begin with you." if reading.given_up else ""
        )
        return _TITLES["late" if kind == "checked" and evidence.came_late else kind] + draws + earlier
    row, detail = next(iter(rows.items()))
    return f"{_TITLES[kind]} {row_sentence(row, detail)}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _rows(evidence: Evidence, reading: RaceReading) -> Iterator[tuple[str, str]]:
    """Yield the rows that follow from the record of a race, and those about what is missing."""
    if evidence.is_out or (evidence.begun is None and (evidence.is_kicked or "leave" in evidence.own)):
        yield "out_of_draw", ""
        return
    if not evidence.terms_text:
        yield "unfinished", "the room never showed its terms"
    if evidence.terms is None:
        return
    yield from _missing(evidence)
    yield from reading.faults
    record = reading.record
    if record is None or any(row in _UNREADABLE for row, _ in reading.faults):
        return
    if not reading.second:
        yield "no_record", "The server gave it only once."
    if record.terms.digest != evidence.digest:
        yield "other_record_terms", ""
    if record.commitment != evidence.commitment:
        yield "other_record_commitment", ""
    yield from _deal(evidence, record)
    yield from _race(evidence, record, reading.plays)
    yield from _results(evidence, reading, record)
    if evidence.role == "player":
        yield from _own(evidence, record, reading.plays)
    yield from _watched(evidence, record, reading.plays)


_UNREADABLE: Final = ("bad_record", "not_checkable")


def _record_faults(record: Record, second: bytes) -> Iterator[tuple[str, str]]:
    """Yield rows about a record and the record that was read once more."""
    if second and second != record.digest:
        yield "changed_record", ""
    try:
        if not record.is_whole:
            raise DealNotProven("It lacks players.")
        record.check()
        if record.proof is not None:
            record.proof.check_kind(record.deal)
    except DealNotCheckable as error:
        yield "not_checkable", str(error)
    except SamedealError as error:
        yield "bad_record", str(error)


def _search_faults(record: Record, answers: Sequence[Answer] | None) -> Iterator[tuple[str, str]]:
    """Yield rows about the search for the deal of a record."""
    proof = record.proof
    if proof is None or not record.terms.is_described:
        return  # if another release describes the game, the search cannot be repeated, which another row says
    if answers is None or len(answers) != proof.candidate + 1:
        yield "not_repeated", ""
        return
    try:
        proof.check_limits()
        for number, answer in enumerate(answers):
            proof.check_candidate(number, answer)
    except DealNotCheckable as error:
        yield "not_checkable", str(error)
    except DealNotProven as error:
        yield "not_first", str(error)


def _missing(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield rows about what the client should have seen."""
    if not evidence.results:
        yield "unfinished", "no results were shown"
    never_began = evidence.window > 0 and (evidence.asked_at is None or evidence.asked_at > evidence.ends - _DRIFT)
    if evidence.role == "player" and not evidence.dealt and not never_began:
        yield "no_first_board", ""


def _deal(evidence: Evidence, record: Record) -> Iterator[tuple[str, str]]:
    """Yield rows about the draw of the deal."""
    proof = record.proof
    shown = deal_hash(record.seed, str(proof) if proof else "")
    if any(result.deal != shown for result in evidence.results):
        yield "other_deal", ""
    draw, shares, lost = (proof.draw, proof.shares, proof.lost) if proof else (0, (), ())
    drawn = SharesShown(draw, tuple(DrawnShare(**share._asdict()) for share in shares))
    if evidence.drawn not in (None, drawn):
        yield "other_drawn", ""
    if evidence.begun is not None and evidence.lost != tuple(LostSeat(**each._asdict()) for each in lost):
        yield "other_lost", ""
    if evidence.draws and draw < evidence.draws[-1].draw:
        yield "went_back", ""
    seats = tuple(each.seat for each in shares)
    drawing = {each.draw: each for each in evidence.drawing}.get(draw)
    if drawing is not None and drawing.seats != seats:
        yield "other_drawn", ""
    if evidence.role == "player" and record.deal.kind == "winnable" and has_missed(evidence, draw):
        yield (
            "missed_draw"
            if not evidence.window or evidence.seat in seats
            else "left_out"
            if drawing is not None and drawing.without_me
            else "without_you",
            _and([each.name for each in shares]),
        )


def _race(evidence: Evidence, record: Record, plays: Mapping[int, Mapping[int, Play]]) -> Iterator[tuple[str, str]]:
    """Yield rows about the racers, the start and the end."""
    begun = evidence.begun
    if begun is None:
        yield "unfinished", "the race never began"
        return
    if begun.start != record.start:
        yield "other_start", ""
    if evidence.window and record.end > evidence.ends:
        yield "other_limit", ""
    shown = sorted((each.seat, each.name, each.bot) for each in begun.racers)
    if shown != [(each.seat, each.name, each.bot) for each in record.players]:
        yield "other_players", ""
    if any(each.seat in evidence.resigned and not each.resigned for each in record.players):
        yield "other_results", ""
    finishes = [player.time for player in record.players if player.time]
    if record.terms.options.first_finish_ends and finishes and record.end - record.start > min(finishes) + _DRIFT:
        yield "unfinished", "the race went on after the first finish"
    if evidence.results and _ended_early(evidence, record, plays):
        if 0 in evidence.absent and not evidence.window:  # who was away has not seen for how long, nor who else was
            yield "unfinished", "the race ended early while you were away"
        else:
            yield "ended_early", ""


def _ended_early(evidence: Evidence, record: Record, plays: Mapping[int, Mapping[int, Play]]) -> bool:
    """Return whether a race ended before its time for no reason that the client can see."""
    options = record.terms.options
    is_decided = options.first_finish_ends and any(player.time for player in record.players)
    is_late = record.end >= evidence.ends if evidence.window else record.end - record.start >= record.limit
    if is_late or is_decided:
        return False
    people = [player for player in record.players if not player.bot] or record.players
    counted = people if options.end_when_settled else record.players
    return any(not _is_done(evidence, record, player, plays[player.seat][len(player.actions)]) for player in counted)


def _is_done(evidence: Evidence, record: Record, player: RecordedPlayer, last: Play) -> bool:
    """Return whether a race needs not wait for a player at its end, as far as the client can see."""
    done = bool(player.time) or player.resigned or last.no_moves_left
    stuck = record.terms.options.end_when_settled and player.seat in evidence.stuck
    if evidence.window:  # nobody is waited for but those whose time is not up
        return done or stuck or 0 < player.began_at <= record.end - record.limit
    newest = player.actions[-1][0] if player.actions else 0
    idle = record.end - record.start - newest >= IDLE
    return done or stuck or idle or player.seat in evidence.absent


def _results(evidence: Evidence, reading: RaceReading, record: Record) -> Iterator[tuple[str, str]]:
    """Yield rows about results and counts that were shown."""
    ids = {racer.seat: racer.player for racer in evidence.begun.racers} if evidence.begun else {}
    known = {player.name: ids.get(player.seat, "") for player in record.players}
    lines = {with_fields(line, player=known[line.name]) for line in record_standings(record)}
    for result in evidence.results:
        order = [line.place for line in result.lines]
        is_whole = set(result.lines) == lines and len(order) == len(lines) and order == sorted(order)
        if not is_whole or result.end != record.end:
            yield "other_results", ""
    names = {player.seat: player.name for player in record.players}
    for seat, shown_counts in evidence.counts.items():
        if not reading.counts.get(seat, frozenset()).issuperset(shown_counts):
            yield "other_counts", names.get(seat, "nobody")


def _seats(evidence: Evidence) -> dict[str, int]:
    return {racer.player: racer.seat for racer in evidence.begun.racers} if evidence.begun else {}


def _own(evidence: Evidence, record: Record, plays: Mapping[int, Mapping[int, Play]]) -> Iterator[tuple[str, str]]:
    """Yield rows about the player's own cards and actions."""
    player = next((each for each in record.players if (each.seat, each.name) == (evidence.seat, evidence.name)), None)
    if player is None:
        yield "other_players", ""
        return
    if player.began_at and evidence.asked_at is None:
        yield "foreign_action", "You began."
    own = plays[player.seat]
    for board in evidence.dealt:
        play = own.get(board.revision)
        if play is None:
            yield "other_board", f"The board after action {board.revision} is not in the record."
            continue
        cards = play.board.masked().state_hash()
        if board.cards != cards:
            yield ("other_board" if board.revision else "other_cards"), f"That was after action {board.revision}."
        if (board.moves, board.undos) != (play.moves, play.undos):
            yield "other_board", f"It counted your moves in another way after action {board.revision}."
        if board.may_undo != (play.why_no_undo is None):
            yield "other_board", f"It was wrong about undo after action {board.revision}."
    yield from _actions(evidence, began_at(record, player), _made(record, player), own)
    yield from _not_taken(evidence, record, player, own)
    if player.resigned and not evidence.has_given_up:
        yield "resigned_for_you", ""


def _made(record: Record, player: RecordedPlayer) -> dict[int, tuple[int, str]]:
    """Return the times and texts of a player's actions, by the revisions that they led to."""
    start = began_at(record, player)
    return {revision: (start + time, action) for revision, (time, action) in enumerate(player.actions, 1)}


def _clock_error(evidence: Evidence) -> int:
    """Return by how many milliseconds the server's clock was wrong in sum, so that what was when is not sure."""
    return sum(total for kind, (_, total) in evidence.mistimed.items() if kind in ("misdated", "set"))


def _actions(
    evidence: Evidence, start: int, made: Mapping[int, tuple[int, str]], own: Mapping[int, Play]
) -> Iterator[tuple[str, str]]:
    for ack in evidence.acks:
        recorded = made.get(ack.revision)
        if recorded is None:
            yield "other_action", f"It lacks action {ack.revision}, {ack.action}."
            break
        if recorded != (ack.time, ack.action):
            yield "other_action", f"Action {ack.revision} was {ack.action}."
            break
        if own[ack.revision].board.masked().state_hash() != ack.cards:
            yield "other_board", f"That was after action {ack.revision}."
            break
        if ack.action == UNDO and ack.may_undo != (own[ack.revision].why_no_undo is None):
            yield "other_board", f"It was wrong about undo after action {ack.revision}."
            break
    acked = {ack.revision for ack in evidence.acks}
    refused = {sent.id for sent, _ in evidence.denied}
    open_actions = {
        (each.revision + 1, each.action): 0 if each.id in refused else each.time
        for each in evidence.sent_actions.values()
    }
    for revision, (time, action) in made.items():
        if revision in acked:
            continue
        sent = open_actions.get((revision, action))
        if sent is None:
            yield "foreign_action", f"Action {revision} is {action}."
            break
        if not start - _PATIENCE < sent <= time + _DRIFT or _clock_error(evidence):
            yield "unfinished", f"your action {revision} was never confirmed"
            break


def _not_taken(
    evidence: Evidence, record: Record, player: RecordedPlayer, own: Mapping[int, Play]
) -> Iterator[tuple[str, str]]:
    """Yield rows about an action that was refused for a false reason, and about the next one if it was never taken."""
    refused = {sent.id: denied for sent, denied in evidence.denied}
    for sent in evidence.sent_actions.values():
        denied, play = refused.get(sent.id), own.get(sent.revision)
        if denied is not None and denied.code in BY_RULES:
            if play is not None and _is_allowed(play, sent.action):
                yield "refused_move", f"It was {sent.action}."
                break
            continue
        is_over = denied is not None and denied.code in _OVER
        until = denied.ended if denied is not None else sent.time + _PATIENCE
        gave_up_at = evidence.gave_up_at if player.resigned else 0  # what the record does not say ended nothing
        end = min(record.end, gave_up_at or record.end, began_at(record, player) + record.limit)
        if until - _clock_error(evidence) < end - _TOLERANCE and (is_over or sent.revision == len(player.actions)):
            yield "unfinished", f"the server did not take your action {sent.revision + 1}"
            break


def _is_allowed(play: Play, action: str) -> bool:
    try:
        play.act(action)
    except SamedealError:
        return False
    return True


_OVER: Final = (RefusalCode.NOT_RACING, RefusalCode.TIME_UP, RefusalCode.ALREADY_FINISHED)

_PATIENCE: Final = 10_000
"""Time, in milliseconds, for which an action may stay without an answer."""

_DRIFT: Final = 1000
"""Time, in milliseconds, by which the client's idea of the server's clock may be wrong."""

_TOLERANCE: Final = 100
"""Time, in milliseconds, by which clocks may drift during a race."""


def _watched(evidence: Evidence, record: Record, plays: Mapping[int, Mapping[int, Play]]) -> Iterator[tuple[str, str]]:
    """Yield rows about the boards that a spectator, or a racer who watched others, was shown."""
    seats = _seats(evidence)
    players = {player.seat: (player.name, _made(record, player)) for player in record.players}
    starts = {player.seat: began_at(record, player) for player in record.players}
    every: tuple[BoardWatched | MoveWatched, ...] = (*evidence.boards, *evidence.moves)
    for shown in every:
        seat = seats.get(shown.player, 0)
        name, made = players.get(seat, ("nobody", {}))
        play = plays.get(seat, {}).get(shown.revision)
        if play is None:
            yield "other_watched", name
            continue
        time, action = made.get(shown.revision, (shown.time, None))
        if isinstance(shown, MoveWatched):
            is_so = (shown.action, shown.seen) == (action, play.seen)
        else:
            cards = play.board.masked().state_hash()
            is_so = (shown.cards, shown.moves, shown.undos) == (cards, play.moves, play.undos)
            is_so = is_so and shown.reached in ((), _reached(starts[seat], plays[seat], made, shown.revision))
        if not is_so or shown.time != time:
            yield "other_watched", name


def _reached(
    start: int, plays: Mapping[int, Play], made: Mapping[int, tuple[int, str]], revision: int
) -> tuple[int, ...]:
    """Return when, since their start, a player's foundation cards last rose to 1, 2 and more, as of a revision."""
    reached: list[int] = []
    for number in range(1, revision + 1):
        count = plays[number].board.foundation_cards
        reached = reached[:count] + [made[number][0] - start] * (count - len(reached))
    return tuple(reached)


def clock_sentence(evidence: Evidence) -> str:
    """Return what is strange about the times of the race, in a sentence, or an empty text."""
    parts = []
    for kind, what in (("misdated", "dated wrongly"), ("late", "answered late")):
        times, total = evidence.mistimed.get(kind, (0, 0))
        if times:
            actions = f"{times} action was" if times == 1 else f"{times} actions were"
            parts.append(f"{actions} {what}, by {_seconds(total)} in all")
    if "set" in evidence.mistimed:
        parts.append(f"the server's clock was set by {_seconds(evidence.mistimed['set'][1])}")
    if "dealt" in evidence.mistimed:
        parts.append(f"your cards came {_seconds(evidence.mistimed['dealt'][1])} after the start")
    return f"The clock: {'; '.join(parts)}." if parts else ""


def _seconds(time: int) -> str:
    """Return milliseconds as seconds. Half a tenth is rounded up, as the page does."""
    return f"{(time + 50) // 100 / 10:.1f} s"
