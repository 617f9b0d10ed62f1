"""The lobby in words: the rooms of a server, the ways to start a race, and the daily deal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from samedeal.games import GAMES
from samedeal.protocol.messages import RoomLine
from samedeal_client.menus.lobby import Lobby
from samedeal_client.menus.start_menu import MenuChoice
from samedeal_client.panels.history import outcome_text, place_text
from samedeal_client.panels.window import closes_text
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.rules_text import short_rules
from samedeal_client.text.spans import Row, Span, counted, fit
from samedeal_client.text.time_text import clock_text, short_clock_text
from samedeal_link.records.past_races import History, best_time, daily_streak

ROOM_HEADINGS: Final = ("#", "Room", "Game", "Players", "State")
_WITH_DEAL: Final = 76
"""Minimum width, in columns, of a window in which the list of rooms includes their deals."""
_TO_OWN_RACE: Final = "back to your seat"
NUMBERED_ROOMS: Final = 9
"""Number of rooms that can be entered with a digit."""


def _game_width() -> int:
    return max(len(game.title) for game in GAMES.values()) + 1


def game_heading(width: int) -> str:
    """Return the heading of the column for games. In a wide window the column also has the deals."""
    return f"{'Game':<{_game_width()}} Deal" if width >= _WITH_DEAL else "Game"


def count_states(rooms: Sequence[RoomLine]) -> str:
    """Return how many rooms are in each state, as in ``2 open, 1 full``. Rooms whose race is over are left out."""
    counts = Counter("full" if line.phase == "open" and line.players == line.seats else line.phase for line in rooms)
    states = {"open": "open", "full": "full", "countdown": "starting", "racing": "racing"}
    return ", ".join(f"{counts[state]} {name}" for state, name in states.items() if counts[state])


def room_cells(lobby: Lobby, number: int, line: RoomLine, look: Look, now: int, width: int) -> tuple[Row, ...]:
    """Return a room as a row of a table, in the order of ``ROOM_HEADINGS``.

    ``number`` is the room's number in the table. ``now`` is the server's time in milliseconds. ``width`` is the width
    of the window in columns.
    """
    own = lobby.is_own_race(line)
    state, style = _state_text(line, now)
    game: Row = (Span(look.displayable(title_of(line.game))),)
    if width >= _WITH_DEAL:
        deal = "daily" if line.deal == lobby.daily_deal else line.deal
        game = (Span(fit(game[0].text, _game_width())), Span(f" {look.displayable(deal)}", "label"))
    return (
        (Span(str(number) if number <= NUMBERED_ROOMS else "", "key"),),
        (Span(look.displayable(line.room), "you" if own else "name"),),
        game,
        (Span(f"{line.players}/{line.seats}", "count"),),
        (Span(f"yours, {state.removeprefix('racing, ')}" if own else state, "you" if own else style),),
    )


def _state_text(line: RoomLine, now: int) -> tuple[str, str]:
    """Return the state of a room with its style."""
    match line.phase:
        case "open" | "countdown" | "racing" if line.closes:
            is_full = line.phase == "open" and line.players == line.seats
            return "full, " * is_full + closes_text(line), "label" if is_full else "good"
        case "open":
            states = ["full"] if line.players == line.seats else ["open"]
            states += ["live boards"] if line.spectators and not line.delay else []
            states += [f"starts in {clock_text(line.starts - now)}"] if line.starts > now else []
            states += ["no bots"] if not line.bots and len(states) == 1 else []
            return ", ".join(states[-2:]), "label" if line.players == line.seats else "good"
        case "countdown":
            return f"starts in {max(line.starts - now, 0) // 1000 + 1} s", "notice"
        case "racing":
            return f"racing, {clock_text(now - line.starts)} so far", "count"
        case "finished" | "closed":
            return line.phase, "label"


def enter_does(lobby: Lobby, line: RoomLine) -> str:
    """Return the effect of Enter on a room."""
    if lobby.is_own_race(line):
        return _TO_OWN_RACE
    return {"open": "join", "finished": "results"}.get(line.phase, "join" if line.closes else "watch")


def own_race_row(line: RoomLine, look: Look, now: int) -> Row:
    """Return a row about the player's race that is under way, with the key that leads back to the race."""
    return (
        Span(f"{title_of(line.game)} in room {look.displayable(line.room)}", "you"),
        Span(f"  {closes_text(line) or f'{clock_text(now - line.starts)} so far'}  ", "count"),
        Span("Enter ", "key"),
        Span(_TO_OWN_RACE, "notice"),
    )


def choices(lobby: Lobby, tide: str = "", *, bots: bool = True) -> tuple[MenuChoice, ...]:
    """Return the ways to start a race. ``tide`` describes the next tide of the server, or is empty if there is none.

    Without ``bots`` the client can't start any.
    """
    now = f"{title_of(lobby.game)}, within 23 s" if lobby.game else "within 23 s"
    practice = MenuChoice("practise", "p", "Practice", f"{title_of(lobby.game_or_default)} against bots")
    return (
        MenuChoice("now", "m", "Race now", now),
        *([MenuChoice("tide", "t", "All at once", tide)] if tide else []),
        MenuChoice("daily", "d", "Today", title_of(lobby.daily_game)),
        *([practice] if bots else ()),
        MenuChoice("new", "n", "New room", "with options of your own"),
    )


def choice_row(choice: MenuChoice, look: Look) -> Row:
    """Return a row for a way to start a race, with its key."""
    return (
        Span(f"{choice.key}  ", "key"),
        Span(f"{choice.name:<13}", "title"),
        Span(look.displayable(choice.description)),
    )


def game_rows(game: str) -> tuple[Row, ...]:
    """Return the rules of a game in a few rows."""
    return tuple((Span(line),) for line in short_rules(game))


def games_rows() -> tuple[Row, ...]:
    """Return all games, each with a few words below its title."""
    return tuple(
        row
        for game in GAMES.values()
        for row in ((Span(game.title, "title"),), (Span(f"  {game.file.blurb}", "label"),))
    )


def today_rows(lobby: Lobby, history: History) -> tuple[Row, ...]:
    """Return rows about the daily deal: the player's result, best time in the game, and daily streak."""
    game = lobby.daily_game
    race = history.daily_race(lobby.today, game)
    best = best_time(history.races, game)
    streak = daily_streak(history.races, lobby.today)
    if race is None:
        rows: list[Row] = [(Span("Not raced yet. Press ", "notice"), Span("d", "key"), Span(".", "notice"))]
    else:
        place = place_text(race)
        rows = [(Span(f"{place}, {outcome_text(race)}" if place else outcome_text(race), "good"),)]
    rows.append((Span("Best time    ", "label"), Span(short_clock_text(best) if best else "none yet")))
    rows.append((Span("Daily streak ", "label"), Span(counted(streak.current, "day"))))
    return tuple(rows)
