"""What a client's evidence learns from its own requests and from the messages of the server. Pure.

Both functions return the evidence with more facts. Times are local ones, in milliseconds since any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import sub
from typing import Any, Final, get_args

from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.errors import SamedealError
from samedeal.joint_deal import HIGHEST_SEAT, LossReason, opening_of
from samedeal.protocol import messages
from samedeal.protocol.messages import Phase, RoomState, Seat, Tally, ToClient, ToServer
from samedeal.protocol_codes import NoticeCode, RefusalCode
from samedeal.series import with_race
from samedeal.terms import RoomTerms
from samedeal_link.evidence import facts
from samedeal_link.evidence.board_from_piles import masked_board
from samedeal_link.evidence.evidence import Evidence, deal_hash
from samedeal_link.evidence.own_draws import agrees, is_draw

_ABSENT_AFTER: Final = 50_000
"""Time, in milliseconds, without a connection after which a race may have ended without the player."""

BY_RULES: Final = (RefusalCode.ILLEGAL, RefusalCode.CANNOT_UNDO, RefusalCode.MALFORMED)
"""The codes of the refusals of actions that the rules of the game forbid."""

_ORDER: Final = ("", *get_args(Phase))
"""The phases in their order. An open room may follow a countdown."""


def sent(evidence: Evidence, request: ToServer, now: int) -> Evidence:
    """Return the evidence before a request is sent at the local time ``now``."""
    if isinstance(request, messages.Hello):  # a new connection: what was asked on others is never answered
        known = replace(evidence, waiting={request.id: (request, now)}, was_there=False)
        is_noted = 0 in known.absent or known.results
        was_away = not is_noted and not 0 < now - known.heard_at < _ABSENT_AFTER
        return known.plus(facts.Gone(0, "away")) if was_away else known
    first = evidence.waiting.get(request.id, (request, now))  # an action that is sent again was first sent then
    known = replace(evidence, waiting={**evidence.waiting, request.id: first})
    match request:
        case messages.Act() if request.id not in known.sent_actions:
            low = now + known.clock.low if known.clock.is_known else 0
            return known.plus(facts.Sent(request.id, request.revision, request.action, low))
        case messages.Begin() if known.asked_at is None:
            return known.plus(facts.AskedToBegin(now + known.clock.low if known.clock.is_known else 0))
        case messages.Leave() if known.window and known.phase != "open":
            return known  # who leaves comes back
        case messages.Resign() | messages.Leave() | messages.DeclareStuck():
            return known.plus(facts.Own(type(request).__name__.lower(), _latest(known, now)))
        case _:
            return known


def received(evidence: Evidence, message: ToClient, now: int) -> Evidence:
    """Return the evidence after a message of the server that arrived at the local time ``now``."""
    evidence = replace(evidence, heard_at=now)
    if not hasattr(message, "to"):
        handler = _HANDLERS.get(type(message))
        return handler(evidence, message, now) if handler is not None else evidence
    if message.to not in evidence.waiting:
        return evidence
    request, at = evidence.waiting[message.to]
    if isinstance(request, messages.Act) and not _is_final(message):
        return evidence  # the board waits on for its answer
    waiting = {id_: each for id_, each in evidence.waiting.items() if id_ != message.to}
    return _answered(replace(evidence, waiting=waiting), request, at, message, now)


def _is_final(answer: ToClient) -> bool:
    """Return whether an answer to an action is its last one."""
    is_put_off = (
        isinstance(answer, messages.Refused) and answer.code == RefusalCode.RATE_LIMITED and answer.retry_after > 0
    )
    return isinstance(answer, messages.Acked | messages.Refused) and not is_put_off


def _answered(known: Evidence, request: ToServer, at: int, answer: ToClient, now: int) -> Evidence:
    """Return the evidence after the answer to a request that was sent at the local time ``at``."""
    match request, answer:
        case messages.Hello(), messages.Welcome():
            return _welcomed(known, answer)
        case messages.Ping(), messages.Pong():
            clock = replace(known.clock, is_fixed=known.clock.is_fixed and _is_timed(known, now))
            gap = 0 if "set" in known.mistimed else clock.set_by(at, now, answer.time)
            return replace(known.timed("set", gap), clock=clock.exchanged(at, now, answer.time))
        case messages.Join(), messages.Joined():
            back = _joined(known, answer)
            return replace(back, clock=replace(back.clock, entered_at=now), expected=None)
        case messages.Join(), messages.Refused() if answer.code == RefusalCode.KICKED:
            return _kicked(known, now)
        case messages.Watch(), messages.Watching():
            watching = replace(known, delay=answer.delay, expected=None) if known.role == "spectator" else known
            return watching.finding_if(answer.room != known.room, "other_room")
        case messages.Begin(), messages.Begun():
            return _with_beginning(known, answer.time, now)
        case messages.Act(), messages.Acked():
            acked = known.plus(facts.ActConfirmed(answer.to, answer.time, answer.hash, answer.may_undo))
            acked = acked.timed("misdated", known.clock.misdated(at, now, answer.time))
            acked = acked.timed("late", known.clock.late(at, now))
            return replace(acked, clock=acked.clock.acted(at, now, answer.time))
        case messages.Act(), messages.Refused():
            return known.plus(facts.Denied(request.id, answer.code, _latest(known, now)))
        case _:
            return known


def _latest(known: Evidence, now: int) -> int:
    """Return the latest that the server's clock can have, or 0 if it is not known."""
    return now + known.clock.high if known.clock.is_known else 0


def _is_timed(known: Evidence, now: int) -> bool:
    """Return whether the clock of the player may run. For days, the clocks of two machines do not agree."""
    if known.terms is None or not known.window:
        return True
    if known.began_at is None:
        return known.asked_at is not None
    return now + known.clock.low < known.began_at + 1000 * known.terms.options.limit


def _with_beginning(evidence: Evidence, time: int, now: int) -> Evidence:
    """Return the evidence after the server said when the player began in a window."""
    if evidence.began_at is not None:
        return evidence.finding_if(time != evidence.began_at, "other_start")
    return evidence.plus(facts.Began(time)).timed("misdated", evidence.clock.dated(evidence.asked_at or 0, now, time))


def _welcomed(evidence: Evidence, message: messages.Welcome) -> Evidence:
    is_same, has_seat = message.player == evidence.player, evidence.seat > 0 and not evidence.is_out
    if is_same and (has_seat or message.name == evidence.called):
        return replace(evidence, called=message.name)  # players may take another name, which their seats do not get
    known = evidence.plus(facts.Known(message.player, message.name))
    return known if is_same or not evidence.player else known.finding("new_session").plus(facts.Out())


def _joined(evidence: Evidence, message: messages.Joined) -> Evidence:
    if message.room != evidence.room:
        return evidence.finding("other_room")
    known = evidence
    if evidence.seat and not evidence.is_out:
        moved = message.seat != evidence.seat and evidence.begun is not None
        known = evidence.finding_if(moved, "other_identity")
        known = known.finding_if(message.generation <= evidence.generation, "lost_data")
    behind = -1 < message.revision < (evidence.acks[-1].revision if evidence.acks else 0)
    sent_actions = (each.revision + 1 for each in evidence.sent_actions.values())
    newest = max([len(evidence.acks), *sent_actions]) if evidence.seat else -1
    newest = -1 if evidence.window and evidence.asked_at is None else newest
    known = known.finding_if(behind, "lost_data").finding_if(message.revision > newest, "other_window")
    return replace(known.plus(facts.Sat(message.seat, message.generation)), came_from=evidence.seat)


def _shown(evidence: Evidence, state: RoomState, now: int) -> Evidence:
    if state.room != evidence.room:
        return evidence.finding("other_room")
    known = _with_terms(evidence, state)
    if known.window and state.phase == "countdown" and state.starts:
        state = replace(state, phase="racing")  # the deal is found, so each may begin
    is_hidden = known.window > 0 and state.phase == "racing"
    is_open_again = state.phase == "open" and known.phase == "countdown" and not (known.window and known.drawn)
    went_back = _ORDER.index(state.phase) < _ORDER.index(known.phase) and not is_open_again
    known = known.finding_if(went_back or (state.event < known.event and not is_hidden), "lost_data")
    was_there = known.was_there or state.phase == "open"
    known = replace(known, event=max(state.event, known.event), phase=state.phase, was_there=was_there)
    if known.window:
        known = _with_window(known, state)
    is_replaced = any(each.shown and each.player != known.player for each in state.players)
    known = known.finding_if(is_replaced, "replaced_name")
    has_begun = state.phase in ("racing", "finished") or (state.phase == "closed" and known.begun is not None)
    if state.phase == "countdown" or has_begun:
        known = _from_countdown(known, state)
    elif state.phase == "open":
        known = replace(known, expected=None)
    known = _with_losses(known, state)
    if known.role == "player":
        known = _with_own_seat(known, state)
    if has_begun:
        known = _with_race(known, state)
    seats = {each.player: each.seat for each in state.players}
    counted = sorted(tally.player for tally in state.tallies)
    is_strange = counted != sorted(seats) or len(seats) < len(state.players)
    known = known.finding_if(is_strange, "other_players")
    for tally in state.tallies:
        if tally.player in seats:
            known = _with_tally(known, seats[tally.player], tally, now)
    return _with_result(_with_table(known, state), state)


def _with_terms(evidence: Evidence, state: RoomState) -> Evidence:
    if evidence.terms_text:
        changed = evidence.finding_if(state.terms != evidence.terms_text, "changed_terms")
        changed = changed.finding_if(state.commitment != evidence.commitment, "changed_commitment")
    else:
        table = None if state.standings else state.table
        before = state.phase in ("open", "countdown")
        ends = state.ends if state.window else 0
        changed = evidence.plus(facts.Shown(state.terms, state.commitment, table, before, ends))
    terms = changed.terms
    if terms is None or changed.terms_text != state.terms:
        return changed
    raced = terms.round % terms.options.series
    is_strange = len(state.rooms_before) != raced or bool(changed.table and not raced)
    changed = changed.finding_if(is_strange, "other_table")
    shown = state.room, state.round, state.game, state.deal, state.private, state.tide, state.window
    fixed = terms.room, terms.round, terms.game.name, str(terms.deal), terms.private, terms.tide, terms.window
    asked = Deal.parse(state.options.deal).on(terms.deal.date)  # a number may have no #
    is_same = asked == (Deal("winnable") if terms.deal.kind == "again" else terms.deal)
    options = RoomTerms.options_with(state.options, terms.deal) if is_same else state.options
    return changed.finding_if(shown != fixed or options != terms.options, "contradicting_terms")


def _with_window(evidence: Evidence, state: RoomState) -> Evidence:
    """Return the evidence after a state of a room with a window: when it closes, who draws, and what is told early."""
    draw, ends = state.draw, evidence.ends
    standing = bool(state.opens) and evidence.terms is not None and evidence.terms.options.series > 1
    given = state.doors_close_at, ends, evidence.window
    is_timed = facts.are_doors(*given, reopened=bool(state.lost), standing=standing)
    known = evidence.finding_if(state.ends != ends or not is_timed, "other_limit")
    others = [each for each in state.players if each.player != known.player]
    is_told = state.event or any(each.resigned or each.stuck or each.away for each in others)
    known = known.finding_if(known.is_hidden and bool(is_told), "told_early")
    before = next((each.seats for each in known.drawing if each.draw == draw), ())
    if before or not state.drawing or not is_draw(known, draw):
        return known.finding_if(before != state.drawing and bool(before and state.drawing), "other_drawn")
    lost = {(each.seat, each.name) for each in state.lost if opening_of(each.draw) == opening_of(draw)}
    without_me = known.was_there and known.seat not in state.drawing and (known.seat, known.name) not in lost
    return known.plus(facts.Drawing(draw, state.drawing, without_me))


def _from_countdown(evidence: Evidence, state: RoomState) -> Evidence:
    """Return the evidence after a state of the countdown or of the race, which nobody joins any more."""
    is_fixed = evidence.clock.is_fixed or evidence.clock.is_known
    known = replace(evidence, clock=replace(evidence.clock, is_fixed=is_fixed))
    places = frozenset((each.seat, each.name, each.bot) for each in state.players)
    if known.begun is None:
        is_new = state.phase != "countdown" and known.expected is not None and not places <= known.expected
        known = replace(known.finding_if(is_new, "other_players"), expected=places)
    if (terms := known.terms) is None:
        return known
    if terms.deal.kind == "again":
        known = known.finding_if(len(state.players) != 1, "not_alone")
    options = terms.options
    is_full = terms.deal.kind != "again" and len(state.players) > options.players
    admits_house = not options.hosted or terms.round > 0  # a race that the server has opened, or a rematch of one
    has_bots = not options.bots and any(each.bot and not (each.house and admits_house) for each in state.players)
    is_early = state.phase != "countdown" and state.starts < options.start_at
    is_delayed = known.delay not in (None, options.delay)
    return known.finding_if(is_full or has_bots or is_early or is_delayed, "contradicting_terms")


def _with_losses(evidence: Evidence, state: RoomState) -> Evidence:
    known = evidence
    if state.lost != evidence.lost:
        known = evidence.finding_if(not set(evidence.lost).issubset(state.lost), "lost_data")
        known = known.plus(facts.Losses(state.lost))
    if known.role != "player":
        return known
    own = [each for each in state.lost if (each.seat, each.name) in known.places]
    unheard = any(each.reason == "silent" and known.draw(each.draw) is not None for each in own)
    known = known.finding_if(unheard, "unheard")
    return _back(known, state, [each.reason for each in own if each not in evidence.lost])


def _back(evidence: Evidence, state: RoomState, reasons: Sequence[LossReason]) -> Evidence:
    """Return the evidence after the first state since the player came back to the room.

    ``reasons`` are those for which the player lost seats while away. Only another program of the player can have left,
    or was kicked. A seat that was freed before any draw is no loss.
    """
    before, seat = evidence.came_from, evidence.seat
    known = replace(evidence, came_from=0)
    if not before or evidence.is_out or all(each.player != evidence.player for each in state.players):
        return known
    if reasons:
        known = known.finding_if(any(reason != "silent" for reason in reasons), "other_window")
        return known.plus(facts.Out()).plus(facts.Sat(seat, evidence.generation))
    return known.finding_if(before != seat and bool(known.draws), "lost_data")


def _with_own_seat(evidence: Evidence, state: RoomState) -> Evidence:
    own = [seat for seat in state.players if seat.player == evidence.player]
    if not own:
        return _without_seat(evidence, state)
    seat = own[0]
    known = _with_own_name(evidence, seat.name, is_open=state.phase == "open")
    wrong = (seat.seat, seat.name) != (known.seat, known.name) or seat.bot is not evidence.bot
    known = known.finding_if(wrong or len(own) > 1, "other_identity")
    known = known.finding_if(seat.resigned and not evidence.has_given_up, "resigned_for_you")
    return known.finding_if(seat.stuck and "declarestuck" not in evidence.own, "stuck_for_you")


def _with_own_name(evidence: Evidence, name: str, *, is_open: bool) -> Evidence:
    """Return the evidence after the own seat was shown with a name, which the operator may have changed.

    That ends with the countdown, or with the first share of the player. A player who comes back gets another seat.
    """
    if is_open and not evidence.shares:
        known = evidence.plus(facts.Named("")) if evidence.is_named else evidence
        return known.at_seat(name)
    return evidence if evidence.is_named else evidence.plus(facts.Named(name))


def _without_seat(evidence: Evidence, state: RoomState) -> Evidence:
    """Return the evidence after a state without the player's seat."""
    if evidence.is_out or "leave" in evidence.own or evidence.is_kicked:
        return evidence
    if evidence.begun is not None or state.phase in ("racing", "finished"):
        return evidence  # other racers than those of the record
    place = evidence.seat, evidence.name
    reasons = [each.reason for each in state.lost if (each.seat, each.name) == place]
    reason = reasons[-1] if reasons else ""
    is_gone = state.phase == "countdown" and (
        not reason or evidence.window > 0
    )  # in a window, everybody keeps the seat
    known = evidence.finding_if(is_gone, "seat_vanished")
    return known.finding_if(reason == "left", "said_left").plus(facts.Out())


def _with_race(evidence: Evidence, state: RoomState) -> Evidence:
    """Return the evidence after a state of a race that has begun."""
    fixed = (Seat(player=each.player, name=each.name, seat=each.seat, bot=each.bot) for each in state.players)
    racers = tuple(sorted(fixed, key=lambda each: each.player))
    shown = facts.RaceBegun(state.starts, racers, state.earlier)
    known = evidence if evidence.begun is not None else evidence.plus(shown)
    begun = known.begun
    if begun is not None:
        known = known.finding_if(state.starts != begun.start, "lost_data")  # a race has one start; the record has it
        known = known.finding_if(racers != begun.racers, "other_players")
        known = known.finding_if(state.earlier != begun.earlier, "other_results")
    terms = known.terms
    if terms is not None:
        end = known.ends or state.starts + 1000 * terms.options.limit
        is_won = terms.options.first_finish_ends and any(tally.finished_at for tally in state.tallies)
        drawn = known.drawn.draw if known.drawn else 0
        known = known.finding_if(state.draw != drawn, "other_drawn")
        is_lone = terms.deal.kind == "daily" and sum(not each.bot for each in racers) == 1
        known = known.finding_if(bool(state.earlier) and not (is_lone or terms.deal.kind == "again"), "other_results")
        known = known.finding_if(state.ends != end and not (is_won and state.starts <= state.ends < end), "other_limit")
    was_resigned = any(each.seat in known.resigned and not each.resigned for each in state.players)
    known = known.finding_if(was_resigned, "lost_data")  # a player who has resigned cannot come back
    for each in state.players:
        if each.stuck and each.seat not in known.stuck:
            known = known.plus(facts.Gone(each.seat, "stuck"))
        if each.resigned and each.seat not in known.resigned:
            known = known.plus(facts.Gone(each.seat, "resigned"))
    return _with_connection(known, 0, is_connected=True)


def _with_result(evidence: Evidence, state: RoomState) -> Evidence:
    if not (state.phase == "finished" or state.standings or state.seed or state.proof or state.finished_at):
        return evidence
    result = facts.EndShown(state.finished_at, state.standings, deal_hash(state.seed, state.proof))
    if result in evidence.results:
        return evidence
    ended_again = bool(evidence.results) and evidence.results[0].end != result.end
    return evidence.finding_if(ended_again, "lost_data").plus(result)


def _with_table(evidence: Evidence, state: RoomState) -> Evidence:
    table, terms = evidence.table, evidence.terms
    if table is not None and terms is not None and terms.options.series > 1 and state.standings:
        length = 1000 * terms.options.limit if terms.window else state.finished_at - state.starts
        table = with_race(table, state.standings, length)
    return evidence.finding_if(evidence.table is not None and state.table != table, "other_table")


def _drawn(evidence: Evidence, message: messages.Drawn, _: int) -> Evidence:
    if message.room != evidence.room:
        return evidence.finding("other_room")
    drawn = facts.SharesShown(message.draw, message.shares)
    if evidence.drawn is not None and not _is_drawn_again(evidence, drawn):
        return evidence.finding_if(drawn != evidence.drawn, "other_drawn")
    if not all(0 < each.seat <= HIGHEST_SEAT for each in drawn.shares):
        return evidence.finding("other_shares")
    known = evidence.plus(drawn)
    return known.finding_if(known.role == "player" and not known.is_out and not agrees(known, drawn), "other_shares")


def _is_drawn_again(evidence: Evidence, drawn: facts.SharesShown) -> bool:
    """Return whether shares are those of others, who came after all had left. A player was among those who left."""
    before = evidence.drawn.draw if evidence.drawn else 0
    is_lost = any(each.draw == before for each in evidence.lost)
    return evidence.role == "spectator" and evidence.begun is None and drawn.draw > before and is_lost


def _dealt(evidence: Evidence, message: messages.BoardState, now: int) -> Evidence:
    if message.room != evidence.room:
        return evidence.finding("other_room")
    if evidence.role != "player" or not evidence.terms_text:
        return evidence.finding("other_board")
    if evidence.terms is None:
        return evidence
    if message.game != evidence.terms.game.name:
        return evidence.finding("contradicting_terms")
    cards = _cards(evidence, message.piles)
    known = evidence.finding_if(cards != message.hash, "other_board")
    known = known.plus(facts.Dealt(message.revision, cards, message.moves, message.undos, message.may_undo))
    start = (known.began_at or 0) if known.window else known.start
    return known.timed("dealt", known.clock.dealt(now, start)) if start and not evidence.dealt else known


def _cards(evidence: Evidence, piles: tuple[bytes, ...]) -> bytes:
    """Return the hash of piles, or an empty value if they cannot be a board of the game."""
    try:
        return masked_board(evidence.terms.game, piles).state_hash() if evidence.terms else b""
    except SamedealError:
        return b""


def _counted(evidence: Evidence, update: messages.ProgressUpdate, now: int) -> Evidence:
    before = evidence.tallies.get(update.seat)
    if before is None:
        return evidence
    tally = before.updated(update)
    known = _with_tally(evidence, update.seat, tally, now)
    is_new = tally.acted_at != before.acted_at
    return known.timed("misdated", known.clock.ahead(now, tally.acted_at)) if is_new else known


def _with_tally(evidence: Evidence, seat: int, tally: Tally, now: int) -> Evidence:
    known = replace(evidence, tallies={**evidence.tallies, seat: tally})
    if known.window:
        known = _with_attempt(known, seat, tally, now)
    elif seat != known.seat:  # a client knows when its own line was cut
        known = _with_connection(known, seat, is_connected=tally.connected)
    before = known.counts.get(seat, (facts.NO_COUNTS,))[-1]
    counts = facts.Counts(*(getattr(tally, name) for name in facts.Counts._fields))
    known = known.finding_if(counts.moves + counts.undos < before.moves + before.undos, "lost_data")
    if counts in (before, facts.NO_COUNTS):
        return known
    return known.plus(facts.Counted(seat, facts.Counts(*map(sub, counts, before))))


def _with_attempt(evidence: Evidence, seat: int, tally: Tally, now: int) -> Evidence:
    """Return the evidence after the counts of a player in a race with a window. Until it closes, others have none."""
    if seat != evidence.seat:
        is_blank = tally == Tally(player=tally.player, connected=False)
        return evidence.finding_if(evidence.is_hidden and not is_blank, "told_early")
    if tally.began_at:
        return _with_beginning(evidence, tally.began_at, now)
    return evidence.finding_if(bool(evidence.began_at), "lost_data")


def _with_connection(evidence: Evidence, seat: int, *, is_connected: bool) -> Evidence:
    """Return the evidence after a racer was seen to be connected or not. Who is back after the end was gone at the end."""
    if is_connected == (seat not in evidence.absent) or (is_connected and evidence.phase != "racing"):
        return evidence
    return evidence.plus(facts.Back(seat) if is_connected else facts.Gone(seat, "away"))


def _watched(evidence: Evidence, message: messages.DelayedBoard, _: int) -> Evidence:
    cards = _cards(evidence, message.piles)
    known = evidence.finding_if(evidence.is_hidden, "told_early")
    return known.plus(
        facts.BoardWatched(
            *(message.player, message.revision, cards, message.moves, message.undos, message.time, message.reached)
        )
    )


def _moved(evidence: Evidence, message: messages.DelayedMove, _: int) -> Evidence:
    known = evidence.finding_if(evidence.is_hidden, "told_early")
    return known.plus(facts.MoveWatched(message.player, message.revision, message.action, message.seen, message.time))


def _noticed(evidence: Evidence, message: messages.Notice, now: int) -> Evidence:
    return _kicked(evidence, now) if message.code == NoticeCode.KICKED else evidence


def _kicked(evidence: Evidence, now: int) -> Evidence:
    return evidence if evidence.is_kicked else evidence.plus(facts.Kicked(_latest(evidence, now)))


_HANDLERS: Final[Mapping[type, Callable[[Evidence, Any, int], Evidence]]] = {
    RoomState: _shown,
    messages.Drawn: _drawn,
    messages.BoardState: _dealt,
    messages.ProgressUpdate: _counted,
    messages.DelayedBoard: _watched,
    messages.DelayedMove: _moved,
    messages.Notice: _noticed,
}
"""What is learnt from each kind of message that is not an answer."""
