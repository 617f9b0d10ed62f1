"""How a room looks before its race: how to invite, who is here, what is played, and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from samedeal.deal import Deal
from samedeal.names import columns_of
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
"""The keys that add a bot, and how it plays."""
OUT_KEY: Final = "-"


@dataclass(frozen=True)
class OwnBots:
    """The bots that one has added, by name: those ``here``, and those ``coming`` who have no seat yet."""

    here: tuple[str, ...] = ()
    coming: tuple[str, ...] = ()

    @property
    def last(self) -> str:
        """The one that was added last, empty for none."""
        return (*self.here, *self.coming)[-1] if self.here or self.coming else ""


NO_BOTS: Final = OwnBots()


@dataclass(frozen=True)
class Invitation:
    """How others come in: the command that they type, and its host where that is a name for this machine alone."""

    command: str
    only_here: str = ""


def has_seats(model: Model, bots: OwnBots) -> bool:
    """Whether there is a seat for one more bot, and one may add it."""
    room = model.room
    return room is not None and model.seat is not None and len(room.players) + len(bots.coming) < room.options.players


def waiting_keys(model: Model, bots: OwnBots = NO_BOTS) -> tuple[KeyWord, ...]:
    """The keys that do something now."""
    seat = model.seat
    keys = []
    if model.hosting:
        keys.append(KeyWord("enter", "start"))
    if seat is not None:
        keys.append(KeyWord("space", "not ready" if seat.ready else "ready"))
    if has_seats(model, bots):
        key, _ = BOT_LEVELS[-1]
        keys.append(KeyWord(key, "add a bot", f"{BOT_LEVELS[0][0]}-{key}"))
    if bots.last:
        keys.append(KeyWord(OUT_KEY, "a bot out"))
    keys += [KeyWord("r", "rules"), KeyWord("c", "copy")]  # copying is offered beside the invitation too
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
    bots: OwnBots = NO_BOTS,
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
    _players(page, model, room, bots)
    page.blank()
    _options(page, room, zone)
    return page.view(height, scroll)


def _players(page: Page, model: Model, room: RoomState, bots: OwnBots) -> None:
    """Who is here; what adds bots stands above, so that it stays where it is while they come."""
    seats = room.options.players
    watching = f", {room.watching} watching" if room.watching else ""
    page.add(Span(" Players", "title"), Span(f"  {len(room.players)} of {seats}{watching}", "label"))
    if has_seats(model, bots):
        pieces: list[Piece] = [Span("   +  ", "label"), Span("add a bot at once: ", "label")]
        for key, level in BOT_LEVELS:
            pieces += [Link(f" {key} ", "key", f"bot {level}"), Link(f"{level}  ", "name", f"bot {level}")]
        page.add(*pieces)
    count = len(room.players) + len(bots.coming)
    abreast = 2 if count > page.width // 10 and page.width >= 2 * _SEAT else 1
    own, coming = ("bot", "soon") if abreast > 1 else ("your bot  ", "on the way")
    lines = [_player(page.look, model, room, seat, _out(own, seat.name, bots)) for seat in room.players]
    lines += [_line(page.look, " ", "label", name, "label", _out(coming, name, bots)) for name in bots.coming]
    rows = -(-count // abreast)
    for row in range(rows):
        page.add(*(piece for line in (lines[row::rows] if abreast > 1 else [lines[row]]) for piece in line))


def _player(look: Look, model: Model, room: RoomState, seat: Seat, out: list[Piece]) -> list[Piece]:
    you = seat.player == model.me
    tally = model.tallies.get(seat.player)
    words = ["host"] if seat.player == room.host else []
    words += ["you"] if you else []
    words += ["away"] if tally is not None and not tally.connected else []
    style = "good" if seat.ready else "label"
    told = out or [Span(", ".join(words), "label")]
    line = _line(look, "x" if seat.ready else " ", style, seat.name, "you" if you else "name", told)
    return [Link(line[0].text, style, "ready"), *line[1:]] if you else line


def _out(words: str, name: str, bots: OwnBots) -> list[Piece]:
    """What is said of a bot of one's own, and what takes it out: nothing of anybody else."""
    if name not in (*bots.here, *bots.coming):
        return []
    key = OUT_KEY if name == bots.last else " " * len(OUT_KEY)
    return [Span(f"{words} ", "label"), Link(key, "key", f"out {name}"), Link(" out", "name", f"out {name}")]


def _line(look: Look, mark: str, style: str, name: str, name_style: str, told: list[Piece]) -> list[Piece]:
    """A line of the list, as wide as a seat."""
    shown = fit(look.says(name), _NAME, look.glyphs.ellipsis)
    left = _SEAT - _MARK - _NAME - sum(columns_of(piece.text) for piece in told)
    return [Span(f"  [{mark}] ", style), Span(shown, name_style), *told, Span(" " * max(left, 0))]


def _options(page: Page, room: RoomState, zone: tzinfo | None) -> None:
    lines = [("Game", f"{title_of(room.game)}: {GAME_WORDS.get(room.game, '')}".removesuffix(": "))]
    if len(room.options.games) > 1:
        lines.append(("In turn", games_text(room.options, page.look)))
    lines += [("Deal", deal_words(Deal.parse(room.deal))), *options_lines(room.options, zone)]
    for name, words in lines:
        for number, line in enumerate(wrap(words, page.width - 12)):
            page.add(Span(f" {'' if number else name:<10}", "title"), Span(line))
