"""The outcome of a race for a player, in sentences: the place, the margin, and the time against the player's best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from samedeal.protocol.messages import RoomState, Standing
from samedeal_client.panels.race_feed import RankedPlayer
from samedeal_client.panels.series import goes_on, rematch_name
from samedeal_client.panels.window import later_text
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import names_text, player_name
from samedeal_client.text.spans import counted
from samedeal_client.text.time_text import ordinal, short_clock_text

_Line: TypeAlias = Standing | RankedPlayer
"""A line of the final standings, or of the ranking of a race under way."""


def headline(standings: Sequence[Standing], me: str, total: int, look: Look) -> str:
    """Return the result in a sentence or two, as in ``ada won in 5:29. You finished 2nd of 3, 0:23 behind ada.``

    First comes who won, then the player's place, and how far the player was from the next one. ``total`` is the number
    of cards of the game. A spectator reads about the winner.
    """
    own = next((line for line in standings if line.player == me), None)
    standings = [line for line in standings if line.place]
    if own is not None and not own.place:
        return f"You did not race. {_winner(standings, look)}".rstrip()
    if own is None:
        return _winner(standings, look, _margin(standings[0], standings, look) if standings else "")
    if len(standings) == 1:
        return "You finished!" if own.time else f"You placed {own.foundation_cards} of {total} cards."
    if own.place > 1:
        return f"{_winner(standings, look)} {_own_part(own, standings, look)}"
    if own.foundation_cards and not own.resigned and any(line.place == 1 for line in standings if line is not own):
        return f"A tie! {_own_part(own, standings, look)}"
    if not own.time and own.foundation_cards and not own.resigned:
        return f"Nobody finished. You were closest: {_own_part(own, standings, look)}"
    won = "You won! " if own.time else ""
    return won + _own_part(own, standings, look)


def rematch_wish(room: RoomState, me: str, look: Look) -> str:
    """Return a sentence about the rematch that is open: the rival who wants it, or otherwise its room."""
    if room.opens[1:]:
        return f"The {later_text(room)}."
    asker = [seat for seat in room.players if seat.player == room.next_by != me]
    wish = "is ready for the next race" if goes_on(room) else "wants a rematch"
    return f"{names_text(asker, look)} {wish}." if asker else f"The {rematch_name(room)} is in room {room.next}."


def finish_headline(own: RankedPlayer, ranking: Sequence[RankedPlayer], look: Look) -> tuple[str, str]:
    """Return the sentences for a player who has just finished: a greeting, and the place with the margin."""
    if len(ranking) == 1:
        return "You finished", ""
    place = f"{ordinal(own.place)} of {len(ranking)}{_margin(own, ranking, look)}."
    return "You won" if own.place == 1 else "You finished", place


def _winner(standings: Sequence[Standing], look: Look, margin: str = "") -> str:
    first = [line for line in standings if line.place == 1]
    if not first:
        return ""
    if len(first) > 1:
        return f"A tie! {names_text(first, look)} share 1st place."
    [winner] = first
    if not winner.time:
        return f"Nobody finished. {names_text(first, look)} was closest{margin}."
    return f"{names_text(first, look)} won in {short_clock_text(winner.time)}{margin}."


def _own_part(own: Standing, standings: Sequence[Standing], look: Look) -> str:
    """Return the sentence about the player's own place."""
    if own.resigned and not own.foundation_cards:
        return "You resigned."
    tied = [line for line in standings if line.place == own.place and line is not own]
    if tied:
        shared = f"share {ordinal(own.place)} place with {names_text(tied, look)}"
        return f"You resigned and {shared}." if own.resigned else f"You {shared}."
    place = f"{ordinal(own.place)} of {len(standings)}{_margin(own, standings, look)}."
    if own.resigned:
        return f"You resigned: {place}"
    return place if own.place == 1 else f"You {'finished' if own.time else 'are'} {place}"


def _margin(own: _Line, standings: Sequence[_Line], look: Look) -> str:
    """Return how far the player with the standing ``own`` is ahead or behind, as in ``, 0:23 ahead of ada``.

    A winner is compared with the next player, and any other player with the player just ahead. Return an empty string
    if there is no such player.
    """
    if own.place == 1:
        other = next((line for line in standings if line.place > own.place), None)
        word = "ahead of"
    else:
        other = next((line for line in reversed(standings) if line.place < own.place), None)
        word = "behind"
    if other is None:
        return ""
    name = player_name(other.name, look, bot=False)
    if own.time and other.time:
        return f", {short_clock_text(abs(own.time - other.time))} {word} {name}"
    cards = abs(own.foundation_cards - other.foundation_cards)
    if not cards:
        return f", level with {name} but {'earlier' if own.place < other.place else 'later'}"
    return f", {counted(cards, 'card')} {word} {name}"


def why_over(room: RoomState) -> str:
    """Return a sentence that says why the race ended, or an empty string if the end needs no explanation."""
    resigned = {seat.player for seat in room.players if seat.resigned}
    stuck = {seat.player for seat in room.players if seat.stuck}
    if room.window:
        return ""
    playing = [line for line in room.standings if not line.time and line.player not in resigned]
    if room.finished_at >= room.starts + 1000 * room.options.limit:
        return "Time's up!"
    if not playing:
        return ""
    if room.options.first_finish_ends and any(line.time for line in room.standings):
        return "The first player to finish ended it."
    if room.options.end_when_settled:
        if all(line.bot for line in playing):
            return "Only bots were still playing."
        if all(line.bot or line.player in stuck for line in playing):
            return "All people still playing were stuck."
    if room.options.undo == "off":  # the server does not say which players have no moves left
        return "Ended early: those racing had no moves, or were away."
    return "Ended early: those still racing were away or idle."


def personal_best(time: int, best: int | None, game: str) -> str:
    """Return sentences that compare the ``time`` of a finish with the player's earlier ``best`` time in a game.

    Times are in milliseconds. ``best`` is None if no earlier finish is known.
    """
    if best is None:
        return f"Your time: {short_clock_text(time)}."
    if time < best:
        return f"Your time: {short_clock_text(time)}. A new best in {game}, {short_clock_text(best - time)} faster!"
    return f"Your time: {short_clock_text(time)}. Your best in {game} is {short_clock_text(best)}."
