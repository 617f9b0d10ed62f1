"""The events of a race in sentences, found by comparing the model before and after a message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from samedeal.board import Board
from samedeal.deal import Deal
from samedeal.moves import Move
from samedeal.protocol.messages import RoomLine, RoomState, Seat, Tally
from samedeal_client.panels.earlier import earlier_rows
from samedeal_client.panels.final_standings import standing_lines
from samedeal_client.panels.live_ranking import current_ranking, delayed_ranking
from samedeal_client.panels.outcome import rematch_wish, why_over
from samedeal_client.panels.race import moved_cards_text
from samedeal_client.panels.series import series_rows
from samedeal_client.panels.verdict import verdict_lines
from samedeal_client.panels.window import (
    closes_text,
    closing_text,
    decided_lines,
    doors_sentence,
    drawing_sentence,
    drawn_sentence,
)
from samedeal_client.text.appearance import Look
from samedeal_client.text.draw_wording import losses_text, words_text
from samedeal_client.text.option_wording import deal_text, title_of
from samedeal_client.text.player_names import names_text, player_name
from samedeal_client.text.spans import counted, row_text, table_lines
from samedeal_client.text.time_text import duration_text, short_clock_text
from samedeal_link.model.model import Model


@dataclass(frozen=True)
class Narrator:
    """The writer of sentences about a race for one player, in the characters of ``look``."""

    look: Look

    def narrate(self, before: Model, after: Model) -> list[str]:
        """Return the sentences about a change of the model. Boards and the rivals' progress are not included."""
        lines = self._finishes(before, after)
        if after.room is not None and (before.room is None or before.room.room != after.room.room):
            lines = self.describe_room(after) + (lines if not after.room.standings else [])
        elif before.room is not None and after.room is not None:
            lines += [*self._changes(before.room, after.room, after), *self._presence(before, after)]
        if after.own.rollback is not None and after.own.rollback is not before.own.rollback:
            reason = self.look.with_card_symbols(after.own.rollback.sentence)
            lines.append(f"The server rejected {after.own.rollback.action}. {reason}")
        if after.deal_words and after.deal_words != before.deal_words:
            lines.append(f"{words_text(after.deal_words)} (the same for all who race on the same cards)")
        if after.verdict is not None and after.verdict != before.verdict:
            lines += verdict_lines(after)
        if after.own.is_stuck and not before.own.is_stuck and after.delay is None:
            lines.append("No useful move is left. Undo may help, if the room allows it.")
        return lines

    def describe_room(self, model: Model) -> list[str]:
        """Return the lines that describe a room to a player who has just entered it."""
        room = model.this_room
        private = " The room has a passphrase." if room.private else ""
        lines = [
            f"Room {room.room}: {title_of(room.game)}.{private}",
            f"  {'Deal':<10}{deal_text(Deal.parse(room.deal))}",
            *(f"  {label:<10}{value}" for label, value in decided_lines(room)),
            f"  {'Players':<10}{len(room.players)} of {room.options.players}: {self._names(room.players, model)}",
        ]
        return [*lines, *self._phase(room, model)]

    def _names(self, seats: Iterable[Seat], model: Model) -> str:
        names = [
            self.display_name(seat, model) + ", ready" * seat.ready + ", away" * model.is_away(seat.player)
            for seat in seats
        ]
        return "; ".join(names) or "none yet"

    def display_name(self, seat: Seat, model: Model) -> str:
        """Return a player's name, with a mark for a bot and for the player of this client."""
        name = player_name(seat.name, self.look, bot=seat.bot)
        return f"{name} (you)" if seat.player == model.me else name

    def subject(self, seat: Seat, model: Model) -> str:
        """Return the name of a player, or ``You``, as the subject of a sentence."""
        return "You" if seat.player == model.me else player_name(seat.name, self.look, bot=seat.bot)

    def _changes(self, before: RoomState, after: RoomState, model: Model) -> list[str]:
        lines = [*self._seats(before, after, model), *losses_text(before, after)]
        if after.phase != before.phase or after.drawing != before.drawing:
            lines += self._phase(after, model)
        if after.next and not before.next:
            lines.append(f"{rematch_wish(after, model.me, self.look)} Type 'again' to join it.")
        return lines

    def _seats(self, before: RoomState, after: RoomState, model: Model) -> list[str]:
        known = {seat.player: seat for seat in before.players}
        present = {seat.player for seat in after.players}
        lines = [f"{self.subject(seat, model)} left." for seat in before.players if seat.player not in present]
        for seat in after.players:
            previous = known.get(seat.player)
            if previous is None:
                lines.append(f"{self.subject(seat, model)} joined.")
            elif seat.resigned and not previous.resigned:
                lines.append(f"{self.subject(seat, model)} resigned.")
            elif seat.ready != previous.ready and after.phase == "open":
                verb = "are" if seat.player == model.me else "is"
                lines.append(f"{self.subject(seat, model)} {verb} {'ready' if seat.ready else 'not ready any more'}.")
        if after.host != before.host and after.host == model.me:
            lines.append("You are the host now.")
        return lines

    def _presence(self, before: Model, after: Model) -> list[str]:
        """Return the sentences about players who have gone away or have come back before the race."""
        if after.this_room.phase not in ("open", "countdown") or after.is_hidden:
            return []
        present = [seat for seat in after.this_room.players if before.seat_of(seat.player) and seat.player != after.me]
        changed = [seat for seat in present if before.is_away(seat.player) != after.is_away(seat.player)]
        states = ("away" if after.is_away(seat.player) else "back" for seat in changed)
        return [f"{self.subject(seat, after)} is {state}." for seat, state in zip(changed, states, strict=True)]

    def _phase(self, room: RoomState, model: Model) -> list[str]:
        if room.window and room.phase in ("open", "countdown", "racing"):
            return self._window(room, model)
        match room.phase:
            case "open":
                return [_start_sentence(room, model)] if model.delay is None else ["The race has not started."]
            case "countdown":
                count = room.options.countdown
                return [f"The race starts in {counted(count, 'second')}." if count else "The race starts now."]
            case "racing":
                how = " Type a move, such as 3 5 or 3 0, or help." if model.delay is None else ""
                return [f"Go! The time limit is {duration_text(room.options.limit)}.{how}"]
            case "finished":
                return self.final_standings(model)
            case "closed":
                return ["This room is closed."]

    def _window(self, room: RoomState, model: Model) -> list[str]:
        if room.phase == "open" and model.opens_by_itself:
            return [doors_sentence(model)]
        if room.phase == "open":
            how = " You are the host: type start to close the doors." if model.hosting else ""
            return [f"Race when you have time, until {closing_text(room)}.{how}"]
        if room.phase == "countdown":
            return [drawing_sentence(model, self.look, "start")]
        if model.may_begin:
            limit = short_clock_text(model.time_left(room.starts))
            ready = f"Your one try: {limit}, the clock does not stop. Type start to begin, until {closing_text(room)}."
            return [ready, drawn_sentence(model, self.look)]
        return []

    def _finishes(self, before: Model, after: Model) -> list[str]:
        known, times = _finish_times(before), _finish_times(after)
        return [
            f"{self.subject(seat, after)} finished in {short_clock_text(times[seat.player])}!"
            for seat in (after.room.players if after.room is not None else ())
            if seat.player in times.keys() - known.keys()
        ]

    def final_standings(self, model: Model) -> list[str]:
        """Return the final standings and the result of the deal check."""
        room = model.this_room
        lines = standing_lines(room.standings, model.game.cards, self.look, model.me)
        over = " ".join(filter(None, ("The race is over.", why_over(room))))
        tables = (*series_rows(room, model.me, self.look), *earlier_rows(model, self.look))
        table = [row_text(row).rstrip() for row in tables]
        return [over, *lines, *table, *verdict_lines(model)]

    def rivals_line(self, model: Model) -> str:
        """Return the progress of the other players in one line. The line is empty if there are none."""
        parts = []
        others = [seat for seat in model.room.players if seat.player != model.me] if model.room is not None else []
        if others and model.is_hidden:
            return f"{names_text(others, self.look)}: nobody sees how they do until all have raced."
        for seat in others:
            cards, moves, connected = progress_of(model, seat.player)
            away = "" if connected else " (away)"
            name = player_name(seat.name, self.look, bot=seat.bot)
            parts.append(f"{name} {cards}/{model.game.cards} in {counted(moves, 'move')}{away}")
        return ", ".join(parts)

    def hint(self, board: Board, move: Move | None, *, is_lost: bool = False, may_undo: bool = True) -> str:
        """Return a hint in words. ``move`` is the suggested move, or None if no useful move was found.

        If ``is_lost`` is true, the board is proven to be lost, and the hint says so.
        """
        lost = lost_text(may_undo=may_undo) if is_lost else ""
        if move is not None:
            cards = f": {moved_cards_text(board, move, self.look)}" if move.is_transfer else ""
            return f"{lost} Try {move}{cards}.".lstrip()
        return lost or "No useful move found. Undo may help, if the room allows it."


def lost_text(*, may_undo: bool) -> str:
    """Return the sentence of a hint about a board that is proven to be lost."""
    return "This can no longer be won: undo first." if may_undo else "This can no longer be won."


def progress_of(model: Model, player: str) -> tuple[int, int, bool]:
    """Return a player's foundation cards and moves as numbers, and whether the player is connected.

    For a spectated player, the numbers are those of the delayed board.
    """
    tally = model.tallies.get(player, Tally(player=player))
    watched = model.watched.get(player)
    if watched is not None:
        return watched.play.board.foundation_cards, watched.play.moves, tally.connected
    return tally.foundation_cards, tally.moves, tally.connected


def _finish_times(model: Model) -> dict[str, int]:
    """Return the times, in milliseconds, in which players have finished, by their ids.

    Once the race is over, they come from the standings. A spectator gets them before the last delayed boards.
    """
    room = model.room
    if room is None:
        return {}
    rows = room.standings or (
        current_ranking(model, 0) if model.delay is None else delayed_ranking(model, model.watched, 0)
    )
    return {row.player: row.time for row in rows if row.time}


def _start_sentence(room: RoomState, model: Model) -> str:
    match room.options.start:
        case "host":
            own = "You are the host. Type start when everyone is here."
            return own if model.hosting else "The host starts the race."
        case "all-ready":
            return "Type ready. The race starts when all players are ready."
        case "full":
            return "The race starts when every seat is taken."
        case "at":
            return "The race starts at its set time."


def room_lines(rooms: Iterable[RoomLine], look: Look) -> list[str]:
    """Return a heading, and then one line for each room of a server."""
    lines = []
    for room in rooms:
        marks = [closes] if (closes := closes_text(room)) else []
        if not room.spectators:
            marks.append("no spectators")
        elif not room.delay:
            marks.append("live boards")
        if not (room.bots or closes):
            marks.append("no bots")
        seats = f"{room.players}/{room.seats}"
        cells = (room.room, title_of(room.game), room.deal, room.phase, seats, ", ".join(marks))
        lines.append([look.displayable(cell) for cell in cells])
    return table_lines(("room", "game", "deal", "phase", "players", ""), lines)
