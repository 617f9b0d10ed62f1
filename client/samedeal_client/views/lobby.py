"""How the lobby looks."""

from __future__ import annotations

import re
from typing import Final

from samedeal.protocol.messages import RoomLine
from samedeal_client.rooms.lobby import DIRECT, Lobby, Prompt
from samedeal_client.text.entry import end_of
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Span, fit
from samedeal_client.text.words import title_of
from samedeal_client.views.page import KeyWord, Link, Page, Piece, View
from samedeal_client.views.panel import clock_text

_FIXED: Final = 9
"""Rows that are not rooms."""

_DEAL: Final = len("daily 11-21 ")
_WITH_DEAL: Final = 78
"""The least width at which there is room for the deals."""

KEYS: Final = (
    KeyWord("enter", "join"),
    KeyWord("w", "watch"),
    KeyWord("q", "quick"),
    KeyWord("n", "new"),
    KeyWord("d", "daily"),
    KeyWord("p", "practice"),
    KeyWord("f1", "help"),
    KeyWord("ctrl+q", "quit"),
)

PROMPT_KEYS: Final = (KeyWord("enter", "go in"), KeyWord("escape", "cancel"))


def lobby_view(lobby: Lobby, look: Look, width: int, height: int, now: int) -> View:
    """The lobby at a time of the server, in milliseconds."""
    page = Page(look, width)
    page.rule()
    rooms = lobby.rooms or ()
    phases = [line.phase for line in rooms]
    count = f"{phases.count('open')} open, {phases.count('racing') + phases.count('countdown')} racing "
    page.add(Span(fit(" Rooms", width - len(count)), "title"), Span(count if rooms else "", "label"))
    _rooms(page, lobby, max(height - _FIXED - (lobby.prompt is not None), 1), now)
    page.blank()
    _quick_start(page, lobby)
    if lobby.prompt is not None:
        _ask(page, lobby.prompt)
    return page.view(height, 0)


def _rooms(page: Page, lobby: Lobby, room: int, now: int) -> None:
    """The heading and the rooms, or why there are none, in exactly ``room`` rows under the heading."""
    rooms = lobby.rooms
    look = page.look
    deal = _DEAL if page.width >= _WITH_DEAL else 0
    wide = max(11, min(page.width - 53 - deal, 26))
    page.add(Span(f"   # {fit('room', wide)}{fit('game', 15)}{fit('deal', deal)}{fit('seats', 7)}state", "label"))
    if not rooms:
        text = "Looking for rooms …" if rooms is None else "No rooms yet. n opens one, q finds company, p is practice."
        page.add(Span(f"      {text.replace('…', look.glyphs.ellipsis)}", "label"))
    codes = [line.room for line in rooms or ()]
    at = codes.index(lobby.chosen) if lobby.chosen in codes else 0
    first = max(0, min(at - room // 2, len(codes) - room))
    shown = (rooms or ())[first : first + room]
    for number, line in enumerate(shown, first + 1):
        if number == first + room < len(codes) and number - 1 != at:
            page.add(Span(f"      {look.glyphs.ellipsis} {len(codes) - number + 1} more below", "label"), does="down")
        elif number == first + 1 > 1 and number - 1 != at:
            page.add(Span(f"      {look.glyphs.ellipsis} {number} more above", "label"), does="up")
        else:
            _room(page, number, line, wide, chosen=line.room == lobby.chosen, now=now)
    for _ in range(room - (len(shown) or 1)):
        page.blank()


def _room(page: Page, number: int, line: RoomLine, wide: int, *, chosen: bool, now: int) -> None:
    deal = _DEAL if page.width >= _WITH_DEAL else 0
    look = page.look
    pointer = look.glyphs.pointer if chosen else " "
    digit = str(number) if number <= DIRECT else " "
    state, state_style = _state(line, now)
    pieces: list[Piece] = [
        Span(f" {pointer} {digit} ", "key"),
        Span(fit(line.room, wide - 1, look.glyphs.ellipsis) + " ", "name"),
        Span(fit(title_of(line.game), 15, look.glyphs.ellipsis)),
        Span(fit(_short(line.deal), deal, look.glyphs.ellipsis), "label"),
        Span(fit(f"{line.players}/{line.seats}", 7), "count"),
        Span(fit(state, 14), state_style),
    ]
    if chosen:
        enter = "Enter" if look.ascii else "⏎"
        if line.phase == "open" and line.players < line.seats:
            pieces.append(Link(f"{enter} join", "key", "enter"))
        elif line.phase == "finished":
            pieces.append(Link(f"{enter} results", "key", "enter"))
        elif line.spectators:
            pieces.append(Link("w watch", "key", "watch"))
    page.add(*pieces, does=f"choose {line.room}", chosen=chosen)


def _short(deal: str) -> str:
    """A deal without the year of its day."""
    return re.sub(r" \d{4}-", " ", deal)


def _state(line: RoomLine, now: int) -> tuple[str, str]:
    """What is going on in a room, and its style."""
    match line.phase:
        case "open":
            words = ["full"] if line.players == line.seats else ["open"]
            words += ["private"] if line.private else []
            words += ["live"] if line.spectators and not line.delay else []  # boards are seen at once
            return ", ".join(words[-2:]), "label" if line.players == line.seats else "good"
        case "countdown":
            return f"starts in {max(line.starts - now, 0) // 1000 + 1} s", "notice"
        case "racing":
            return f"racing {clock_text(now - line.starts)}", "count"
        case _:
            return line.phase, "label"


def _quick_start(page: Page, lobby: Lobby) -> None:
    look = page.look
    game = title_of(lobby.game) if lobby.game else "any game"
    page.add(
        Span(" Quick start", "title"),
        Span("      "),
        Link(" g ", "key", "game"),
        Link("< " if look.ascii else "‹ ", "key", "game -"),
        Link(f"{game}", "field", "game"),
        Link(" >" if look.ascii else " ›", "key", "game"),
    )
    matches = lobby.matches()
    quick = "nobody waits: open a room that starts when all are ready"
    if matches:
        first = matches[0]
        quick = f"join {first.room}: {title_of(first.game)}, {first.players}/{first.seats}"
    daily = f"{title_of(lobby.daily_game)}, {lobby.today.isoformat()}: the same cards for everybody today"
    for key, name, words, does in (
        ("q", "quick match", quick, "quick"),
        ("d", "daily deal", daily, "daily"),
        ("p", "practice", f"{title_of(lobby.game or lobby.daily_game)} against bots on this machine", "practise"),
        ("n", "new room", "choose everything: game, deal, seats, time, undo", "new"),
    ):
        page.add(Link(f"   {key}  ", "key", does), Link(f"{name:<14}", "name", does), Span(words, "label"), does=does)


def _ask(page: Page, prompt: Prompt) -> None:
    stars = ("*" if page.look.ascii else "•") * len(prompt.text)
    page.foot(
        Span(f" Passphrase of {prompt.room}: ", "notice"),
        Span(fit(end_of(stars, 24) + "_", 26), "field"),
        Link("  Enter", "key", "enter"),
        Link(" go in ", "label", "enter"),
        Link(" Esc", "key", "cancel"),
        Link(" cancel", "label", "cancel"),
    )
