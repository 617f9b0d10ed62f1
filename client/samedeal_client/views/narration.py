"""What happens in a race, told in sentences: pure, from the model before and after a message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from samedeal.board import Board
from samedeal.cards import DOWN, FACE, HIDDEN, Card
from samedeal.deal import Deal
from samedeal.games import Game, Kind
from samedeal.moves import Move
from samedeal.protocol.messages import RoomLine, RoomState, Seat, Tally
from samedeal_client.rooms.model import Model
from samedeal_client.rooms.proof import proof
from samedeal_client.text.look import Look
from samedeal_client.text.spans import row_text
from samedeal_client.text.words import deal_words, options_lines, title_of
from samedeal_client.views.panel import clock_text, standings_lines

WIDTH = 78


@dataclass(frozen=True)
class Narrator:
    """Tells of a race to one person, on a terminal of a certain look."""

    look: Look

    def tell(self, before: Model, after: Model) -> list[str]:
        """What there is to say about a change, a line each; not the board itself, nor rivals' counts."""
        lines: list[str] = []
        if after.room is not None and (before.room is None or before.room.room != after.room.room):
            lines += self.room(after)
        elif before.room is not None and after.room is not None:
            lines += self._changes(before.room, after.room, after)
        lines += self._home(before, after)
        if after.rollback is not None and after.rollback is not before.rollback:
            lines.append(f"{after.rollback.action} was taken back: {after.rollback.sentence}.")
        if after.stuck and not before.stuck and after.delay is None:
            lines.append("Nothing that helps is left on this board; undo may help where it is allowed.")
        return lines

    # ---------------------------------------------------------------- the room

    def room(self, model: Model) -> list[str]:
        """A room as one comes into it."""
        room = model.room
        if room is None:
            return []
        private = " It has a passphrase." if room.private else ""
        lines = [
            f"Room {room.room}: {title_of(room.game)}, {deal_words(Deal.parse(room.deal))}.{private}",
            *(f"  {name:<10}{words}" for name, words in options_lines(room.options)),
            f"  {'Players':<10}{len(room.players)} of {room.options.players}: {self._names(room.players, model)}",
        ]
        return [*lines, *self._phase(room, model)]

    def _names(self, seats: Iterable[Seat], model: Model) -> str:
        names = [self.name(seat, model) + (", ready" if seat.ready else "") for seat in seats]
        return "; ".join(names) or "nobody yet"

    def name(self, seat: Seat, model: Model) -> str:
        """How a player is called."""
        return f"{self.look.says(seat.name)} (you)" if seat.player == model.me else self.look.says(seat.name)

    def does(self, seat: Seat, model: Model, verb: str = "is", mine: str = "are") -> str:
        """A player as the subject of a sentence: ``bo is``, ``You are``."""
        return f"You {mine}" if seat.player == model.me else f"{self.look.says(seat.name)} {verb}"

    def _changes(self, before: RoomState, after: RoomState, model: Model) -> list[str]:
        lines = self._seats(before, after, model)
        if after.phase != before.phase:
            lines += self._phase(after, model)
        if after.next and not before.next:
            lines.append(f"The rematch is open in room {after.next}: type again to join it.")
        return lines

    def _seats(self, before: RoomState, after: RoomState, model: Model) -> list[str]:
        known = {seat.player: seat for seat in before.players}
        here = {seat.player for seat in after.players}
        lines = [f"{self.does(seat, model, 'has', 'have')} left." for seat in before.players if seat.player not in here]
        for seat in after.players:
            was = known.get(seat.player)
            if was is None:
                lines.append(f"{self.does(seat, model, 'has', 'have')} come in.")
            elif seat.out and not was.out:
                lines.append(f"{self.does(seat, model)} out of the race.")
            elif seat.ready != was.ready and after.phase == "open":
                lines.append(f"{self.does(seat, model)} {'ready' if seat.ready else 'not ready any more'}.")
        if after.host != before.host and after.host == model.me:
            lines.append("You are the host now.")
        return lines

    def _phase(self, room: RoomState, model: Model) -> list[str]:
        match room.phase:
            case "open":
                return [_how_it_starts(room, model)] if model.delay is None else ["The race has not begun."]
            case "countdown":
                return [_in_seconds(room.options.countdown)]
            case "racing":
                return [f"Go! The race ends {clock_text(room.options.limit * 1000)} after its start at the latest."]
            case "finished":
                return self.standings(model)
            case _:
                return ["This room is closed."]

    def _home(self, before: Model, after: Model) -> list[str]:
        room = after.room
        lines = []
        for seat in room.players if room is not None else ():
            at = home_at(after, seat.player)
            if room is not None and at and not home_at(before, seat.player):
                lines.append(f"{self.does(seat, after)} home, in {clock_text(at - room.starts)}!")
        return lines

    def standings(self, model: Model) -> list[str]:
        """The final order, and whether the deal was as promised."""
        room = model.room
        if room is None:
            return []
        rows = standings_lines(room.standings, model.game.cards, self.look, WIDTH, model.me)
        lines = ["The race is over.", *(row_text(row).rstrip() for row in rows)]
        checked = proof(model)
        return [*lines, checked.sentence + "."] if checked else lines

    # ---------------------------------------------------------------- rivals and boards

    def rivals(self, model: Model) -> str:
        """How far the others are, as far as one may see; empty when there are none."""
        words = []
        for seat in model.room.players if model.room is not None else ():
            if seat.player == model.me:
                continue
            up, moves, connected = counts(model, seat.player)
            away = "" if connected else " (away)"
            words.append(f"{self.look.says(seat.name)} {up}/{model.game.cards} in {moves} moves{away}")
        return ", ".join(words)

    def find(self, board: Board, card: Card) -> str:
        """Where a card lies, or that it has not been seen."""
        told = [
            _lies(board, at, depth)
            for at, pile in enumerate(board.piles)
            for depth, code in enumerate(reversed(pile))
            if code != HIDDEN and code & FACE == card
        ]
        unseen = board.game.decks - len(told)
        if unseen:
            told.append("has not been seen yet" if not told else "another one has not been seen yet")
        return f"{self.look.card(card)} {'; '.join(told)}."

    def hint(self, move: Move | None) -> str:
        """A move to try."""
        return f"Try {move}." if move is not None else "Nothing comes to mind; undo may help where it is allowed."


def counts(model: Model, player: str) -> tuple[int, int, bool]:
    """A player's cards up, moves, and whether they are there; of a board that is watched, as late as that is."""
    tally = model.tallies.get(player, Tally(player=player))
    watched = model.watched.get(player)
    if watched is not None:
        return watched.play.board.cards_up, watched.play.moves, tally.connected
    return tally.up, tally.moves, tally.connected


def home_at(model: Model, player: str) -> int:
    """When a player came home, 0 for not yet."""
    watched = model.watched.get(player)
    if watched is not None:
        return watched.at if watched.play.board.won else 0
    tally = model.tallies.get(player)
    return tally.home if tally is not None else 0


def _lies(board: Board, at: int, depth: int) -> str:
    game: Game = board.game
    group, key = game.piles[at], game.keys[at]
    down = " face down" if board.piles[at][-1 - depth] & DOWN and group.kind is Kind.COLUMN else ""
    where = group.kind.value if group.kind in (Kind.STOCK, Kind.WASTE) else f"{group.kind.value} {key}"
    above = "on top" if depth == 0 else f"under {depth} card{'s' if depth > 1 else ''}"
    return f"lies{down} in {where}, {above}"


def _in_seconds(count: int) -> str:
    return f"The race starts in {count} second{'s' if count != 1 else ''}." if count else "The race starts now."


def _how_it_starts(room: RoomState, model: Model) -> str:
    match room.options.start:
        case "host" if model.hosting:
            return "You are the host: type start when everybody is here."
        case "host":
            return "The host starts the race."
        case "all-ready":
            return "Type ready when you are: the race starts when all are."
        case "full":
            return "The race starts when every seat is taken."
        case _:
            return "The race starts at its time."


def room_lines(rooms: Iterable[RoomLine], look: Look) -> list[str]:
    """The rooms of a server, a line each under a heading."""
    lines = [f"{'room':<24} {'game':<14} {'deal':<17} {'phase':<10} {'players':<8} "]
    for room in rooms:
        marks = ["passphrase"] if room.private else []
        if not room.spectators:
            marks.append("nobody may watch")
        elif not room.delay:
            marks.append("boards are shown at once")
        seats = f"{room.players}/{room.seats}"
        line = (
            f"{room.room:<24} {title_of(room.game):<14} {room.deal:<17} {room.phase:<10} {seats:<8} {', '.join(marks)}"
        )
        lines.append(look.says(line).rstrip())
    return [lines[0].rstrip(), *lines[1:]]
