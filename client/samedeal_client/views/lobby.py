"""The lobby: the rooms of a server and the ways to start a race."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from samedeal.protocol.messages import RoomLine
from samedeal.terminal_text import columns_of
from samedeal_client.state.lobby import NUMBERED_ROOMS, Lobby, Prompt
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.spans import Span, fit
from samedeal_client.text.text_input import tail
from samedeal_client.text.time_text import clock_text
from samedeal_client.views.screen_body import ClickableText, FooterKey, Page, RowPart, View

_FIXED: Final = 9
"""Rows besides the list of rooms."""

_DEAL: Final = len("daily 11-21 ")
_WITH_DEAL: Final = 78
_PASSPHRASE: Final = 26
"""Minimum width, in columns, for the column of deals."""

KEYS: Final = (
    FooterKey("enter", "join"),
    FooterKey("w", "watch"),
    FooterKey("q", "quick"),
    FooterKey("n", "new"),
    FooterKey("d", "daily"),
    FooterKey("p", "practice"),
    FooterKey("f1", "help"),
    FooterKey("ctrl+q", "quit"),
)

PROMPT_KEYS: Final = (FooterKey("enter", "join"), FooterKey("escape", "cancel"))


def lobby_view(lobby: Lobby, look: Look, width: int, height: int, now: int) -> View:
    """The lobby at a server time in milliseconds."""
    page = Page(look, width)
    page.add_rule()
    rooms = lobby.rooms or ()
    count = f"{_count_states(rooms)} "
    page.add_row(Span(fit(" Rooms", width - len(count)), "title"), Span(count if rooms else "", "label"))
    _rooms(page, lobby, max(height - _FIXED - (lobby.prompt is not None), 1), now)
    page.add_blank()
    _quick_start(page, lobby)
    if lobby.prompt is not None:
        _passphrase_prompt(page, lobby.prompt)
    return page.view(height, 0)


def _count_states(rooms: Sequence[RoomLine]) -> str:
    """The numbers of rooms that have not finished, by state, as in ``2 open, 1 full, 1 racing``."""
    counts = Counter("full" if line.phase == "open" and line.players == line.seats else line.phase for line in rooms)
    states = {"open": "open", "full": "full", "countdown": "starting", "racing": "racing"}
    return ", ".join(f"{counts[state]} {name}" for state, name in states.items() if counts[state])


def _rooms(page: Page, lobby: Lobby, height: int, now: int) -> None:
    """The heading and exactly ``height`` rows. They list the rooms, or say why there are none."""
    rooms = lobby.rooms
    look = page.look
    deal = _DEAL if page.width >= _WITH_DEAL else 0
    wide = max(11, min(page.width - 53 - deal, 26))
    page.add_row(Span(f"   # {fit('room', wide)}{fit('game', 15)}{fit('deal', deal)}{fit('seats', 7)}state", "label"))
    if not rooms:
        text = "Loading rooms …" if rooms is None else "No rooms yet. Press n to open one, or p to practise."
        page.add_row(Span(f"      {text.replace('…', look.glyphs.ellipsis)}", "label"))
    codes = [line.room for line in rooms or ()]
    selected = codes.index(lobby.chosen) if lobby.chosen in codes else 0
    first = max(0, min(selected - height // 2, len(codes) - height))
    shown = (rooms or ())[first : first + height]
    for number, line in enumerate(shown, first + 1):
        if number == first + height < len(codes) and number - 1 != selected:
            page.add_row(
                Span(f"      {look.glyphs.ellipsis} {len(codes) - number + 1} more rooms below", "label"), action="down"
            )
        elif number == first + 1 > 1 and number - 1 != selected:
            page.add_row(Span(f"      {look.glyphs.ellipsis} {number} more rooms above", "label"), action="up")
        else:
            _room_row(page, number, line, wide, lobby, now)
    for _ in range(height - (len(shown) or 1)):
        page.add_blank()


def _room_row(page: Page, number: int, line: RoomLine, wide: int, lobby: Lobby, now: int) -> None:
    chosen, own = line.room == lobby.chosen, lobby.is_own_race(line)
    deal = _DEAL if page.width >= _WITH_DEAL else 0
    look = page.look
    pointer = look.glyphs.pointer if chosen else " "
    digit = str(number) if number <= NUMBERED_ROOMS else " "
    state, state_style = _state_text(line, now)
    parts: list[RowPart] = [
        Span(f" {pointer} {digit} ", "key"),
        Span(fit(line.room, wide - 1, look.glyphs.ellipsis) + " ", "you" if own else "name"),
        Span(fit(title_of(line.game), 15, look.glyphs.ellipsis)),
        Span(fit(_short_deal(line.deal), deal, look.glyphs.ellipsis), "label"),
        Span(fit(f"{line.players}/{line.seats}", 7), "count"),
        Span(fit(state, 14), "you" if own else state_style),
    ]
    if chosen:
        enter = "Enter" if look.ascii else "⏎"
        if line.phase == "open" and line.players < line.seats:
            parts.append(ClickableText(f"{enter} join", "key", "enter"))
        elif line.phase == "finished":
            parts.append(ClickableText(f"{enter} results", "key", "enter"))
        elif own:
            parts.append(ClickableText(f"{enter} return", "key", "enter"))
        elif line.spectators:
            parts.append(ClickableText("w watch", "key", "watch"))
    page.add_row(*parts, action=f"choose {line.room}", selected=chosen)


def _short_deal(deal: str) -> str:
    """A deal without the year of its date."""
    return re.sub(r" \d{4}-", " ", deal)


def _state_text(line: RoomLine, now: int) -> tuple[str, str]:
    """The state of a room with its style."""
    match line.phase:
        case "open":
            states = ["full"] if line.players == line.seats else ["open"]
            states += ["private"] if line.private else []
            states += ["live"] if line.spectators and not line.delay else []  # spectators see boards without delay
            states += ["no bots"] if not line.bots and len(states) == 1 else []
            return ", ".join(states[-2:]), "label" if line.players == line.seats else "good"
        case "countdown":
            return f"starts in {max(line.starts - now, 0) // 1000 + 1} s", "notice"
        case "racing":
            return f"racing {clock_text(now - line.starts)}", "count"
        case _:
            return line.phase, "label"


def _quick_start(page: Page, lobby: Lobby) -> None:
    look = page.look
    game = title_of(lobby.game) if lobby.game else "any game"
    page.add_row(
        Span(" Quick start", "title"),
        Span("      "),
        ClickableText(" g ", "key", "game"),
        ClickableText("< " if look.ascii else "‹ ", "key", "game -"),
        ClickableText(f"{game}", "field", "game"),
        ClickableText(" >" if look.ascii else " ›", "key", "game"),
    )
    matches = lobby.matches()
    quick = "open a room that starts when all are ready"
    if matches:
        first = matches[0]
        quick = f"join {first.room}: {title_of(first.game)}, {first.players}/{first.seats}"
    daily = f"{title_of(lobby.daily_game)}, {lobby.today.isoformat()}: the same cards for everybody today"
    for key, name, words, does in (
        ("q", "quick match", quick, "quick"),
        ("d", "daily deal", daily, "daily"),
        ("p", "practice", f"{title_of(lobby.game or lobby.daily_game)} against bots on this machine", "practise"),
        ("n", "new room", "choose the game, deal, seats, time and undo", "new"),
    ):
        page.add_row(
            ClickableText(f"   {key}  ", "key", does),
            ClickableText(f"{name:<14}", "name", does),
            Span(words, "label"),
            action=does,
        )


def _passphrase_prompt(page: Page, prompt: Prompt) -> None:
    stars = ("*" if page.look.ascii else "•") * len(prompt.text)
    question = f" Passphrase for room {prompt.room}: "
    width = min(_PASSPHRASE, page.width - columns_of(question))
    page.add_footer(Span(question, "notice"), Span(fit(tail(stars, width - 2) + "_", width), "field"))
