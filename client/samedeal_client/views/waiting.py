"""How a room looks before its race: how to invite, who is here, what is played, and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from samedeal.deal import Deal
from samedeal.protocol.messages import RoomState, Seat
from samedeal_client.rooms.model import Model
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Span, fit, wrap
from samedeal_client.text.words import GAME_WORDS, deal_words, games_text, options_lines, title_of
from samedeal_client.views.page import KeyWord, Link, Page, Piece, View
from samedeal_client.views.panel import clock_text

_MARK: Final = len("  [x] ")
_NAME: Final = 22
_SEAT: Final = 38
"""Columns for a player where two stand side by side."""

BOT_LEVELS: Final = (("1", "random"), ("2", "greedy"), ("3", "careful"))


@dataclass(frozen=True)
class Invitation:
    """How others come in: the command that they type, and its host where that is a name for this machine alone."""

    command: str
    only_here: str = ""


def waiting_keys(model: Model) -> tuple[KeyWord, ...]:
    """The keys that do something now."""
    seat = model.seat
    keys = []
    if model.hosting:
        keys.append(KeyWord("enter", "start"))
    if seat is not None:
        keys.append(KeyWord("space", "not ready" if seat.ready else "ready"))
    keys += [KeyWord("c", "copy"), KeyWord("b", "add a bot"), KeyWord("r", "rules")]
    return (*keys, KeyWord("f1", "help"), KeyWord("escape", "leave"))


def waits_for(model: Model, now: int) -> str:
    """What the race waits for, at a time of the server in milliseconds."""
    room = model.room
    if room is None:
        return ""
    here, seats = len(room.players), room.options.players
    ready = sum(seat.ready for seat in room.players)
    match room.options.start:
        case "host":
            host = model.seat_of(room.host)
            who = "You are the host: you start" if model.hosting else f"{host.name if host else 'The host'} starts"
            return f"{who} the race; {ready} of {here} {_is(ready)} ready"
        case "all-ready":
            least = min(2, seats)
            if here < least:
                return "It starts when all are ready, two at the least: one more player is needed"
            return f"It starts when all are ready: {ready} of {here} {_is(ready)}"
        case "full":
            return f"It starts when every seat is taken: {here} of {seats} {_is(here)}"
        case "at":
            return f"It starts in {clock_text(room.options.start_at - 1000 * room.options.countdown - now)}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def waiting_view(
    model: Model,
    invitation: Invitation,
    look: Look,
    width: int,
    height: int,
    scroll: int = 0,
    zone: tzinfo | None = None,
) -> View:
    """The room; empty outside one. ``zone`` is a time zone, one's own if it is left out."""
    page = Page(look, width)
    page.rule()
    room = model.room
    if room is None:
        return page.view(height)
    page.add(
        Span(" Invite   ", "title"),
        Link(invitation.command, "field", "copy"),
        Link("   c", "key", "copy"),
        Link(" copy it", "label", "copy"),
        does="copy",
    )
    if host := invitation.only_here:
        page.add(Span(f"          on this machine; on others its name or address instead of {host}", "label"))
    if room.private:
        page.add(Span("          and the passphrase, which they are asked for", "label"))
    page.blank()
    _players(page, model, room)
    page.blank()
    _options(page, room, zone)
    return page.view(height, scroll)


def _players(page: Page, model: Model, room: RoomState) -> None:
    seats = room.options.players
    watching = f", {room.watching} watching" if room.watching else ""
    page.add(Span(" Players", "title"), Span(f"  {len(room.players)} of {seats}{watching}", "label"))
    abreast = 2 if len(room.players) > page.width // 10 and page.width >= 2 * _SEAT else 1
    rows = -(-len(room.players) // abreast)
    for row in range(rows):
        pieces: list[Piece] = []
        for seat in room.players[row::rows] if abreast > 1 else room.players[row : row + 1]:
            pieces += _player(page.look, model, room, seat)
        page.add(*pieces)
    if len(room.players) < seats and model.seat is not None:
        pieces = [Span("   +  ", "label"), Span("a bot, playing  ", "label")]
        for key, level in BOT_LEVELS:
            pieces += [Link(f" {key} ", "key", f"bot {level}"), Link(f"{level}  ", "name", f"bot {level}")]
        page.add(*pieces)


def _player(look: Look, model: Model, room: RoomState, seat: Seat) -> list[Piece]:
    you = seat.player == model.me
    tally = model.tallies.get(seat.player)
    mark = "x" if seat.ready else " "
    name = look.says(seat.name)
    words = ["host"] if seat.player == room.host else []
    words += ["you"] if you else []
    words += ["away"] if tally is not None and not tally.connected else []
    box, name_style = f"  [{mark}] ", "you" if you else "name"
    return [
        Link(box, "good" if seat.ready else "label", "ready") if you else Span(box, "good" if seat.ready else "label"),
        Span(fit(name, _NAME, look.glyphs.ellipsis), name_style),
        Span(fit(", ".join(words), _SEAT - _MARK - _NAME), "label"),
    ]


def _options(page: Page, room: RoomState, zone: tzinfo | None) -> None:
    lines = [("Game", f"{title_of(room.game)}: {GAME_WORDS.get(room.game, '')}".removesuffix(": "))]
    if len(room.options.games) > 1:
        lines.append(("In turn", games_text(room.options, page.look)))
    lines += [("Deal", deal_words(Deal.parse(room.deal))), *options_lines(room.options, zone)]
    for name, words in lines:
        for number, line in enumerate(wrap(words, page.width - 12)):
            page.add(Span(f" {'' if number else name:<10}", "title"), Span(line))
