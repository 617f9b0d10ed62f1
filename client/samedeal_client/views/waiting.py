"""A room before its race: the invitation, the players and the options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from samedeal.deal import Deal
from samedeal.games import GAMES
from samedeal.protocol.messages import RoomState, Seat
from samedeal.terminal_text import columns_of
from samedeal_client.state.bot_levels import LEVELS
from samedeal_client.state.model import Model
from samedeal_client.state.spectating import PLAYER_KEYS
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import deal_text, games_text, options_lines, title_of
from samedeal_client.text.player_names import fit_player_name, player_name
from samedeal_client.text.rules_text import short_rules
from samedeal_client.text.spans import Span, wrap
from samedeal_client.text.time_text import duration_text
from samedeal_client.views.screen_body import ClickableText, FooterKey, Page, RowPart, View

_MARK: Final = len("  [x] ")
_NAME: Final = 22
_SEAT: Final = 38
"""Columns for a player in a list with two players to a row."""
_JOINING_NAME: Final = _SEAT - _MARK - len(" (joining) [-] remove")
"""Columns for the name of a joining bot in such a list."""

BOT_LEVELS: Final = tuple((str(number), level) for number, level in enumerate(LEVELS, 1))
"""The keys that add a bot, each with the bot's level."""
REMOVE_BOT_KEY: Final = "-"
KICK_KEY: Final = "k"


@dataclass(frozen=True)
class OwnBots:
    """The names of the bots that this player has added: those seated, and those still joining."""

    seated: tuple[str, ...] = ()
    joining: tuple[str, ...] = ()

    @property
    def latest(self) -> str:
        """The name of the bot that was added last, or an empty string."""
        return (*self.seated, *self.joining)[-1] if self.seated or self.joining else ""


NO_BOTS: Final = OwnBots()


@dataclass(frozen=True)
class Invitation:
    """The command with which others join. ``loopback_host`` is its host if that only works on this machine.

    ``page`` is the address at which browsers show the race, if there is one.
    """

    command: str
    loopback_host: str = ""
    page: str = ""


def can_add_bot(model: Model, bots: OwnBots) -> bool:
    """Whether this player may add a bot: the room admits bots, and a seat is free."""
    room = model.room
    if room is None or model.seat is None or not room.options.bots:
        return False
    return len(room.players) + len(bots.joining) < room.options.players


def players_to_kick(model: Model, bots: OwnBots = NO_BOTS) -> dict[str, Seat]:
    """The players whom this player, as the host, can kick, by the key that chooses each: the number of the seat.

    The player's own bots can be removed instead.
    """
    room = model.room
    if room is None or not model.hosting:
        return {}
    seats = [seat for seat in room.players if seat.player != model.me and seat.name not in bots.seated]
    return {PLAYER_KEYS[seat.seat - 1]: seat for seat in seats}


def waiting_keys(model: Model, bots: OwnBots = NO_BOTS, *, kicking: bool = False) -> tuple[FooterKey, ...]:
    """The keys in force. If ``kicking``, the next key chooses a player to kick."""
    seat = model.seat
    to_kick = players_to_kick(model, bots)
    if kicking:
        first, *others = sorted(to_kick, key=PLAYER_KEYS.index)
        range_ = f"{first}-{others[-1]}" if others else first
        return (FooterKey(first, "kick", range_), FooterKey("f1", "help"), FooterKey("escape", "cancel"))
    keys = []
    if model.hosting:
        keys.append(FooterKey("enter", "start"))
    if seat is not None:
        keys.append(FooterKey("space", "not ready" if seat.ready else "ready"))
    if can_add_bot(model, bots):
        key, _ = BOT_LEVELS[-1]
        keys.append(FooterKey(key, "add a bot", f"{BOT_LEVELS[0][0]}-{key}"))
    if bots.latest:
        keys.append(FooterKey(REMOVE_BOT_KEY, "remove bot"))
    if to_kick:
        keys.append(FooterKey(KICK_KEY, "kick"))
    keys += [FooterKey("r", "rules"), FooterKey("c", "copy")]  # the invitation offers copying too
    return (*keys, FooterKey("f1", "help"), FooterKey("escape", "leave"))


def start_condition(model: Model, now: int) -> str:
    """Say what the race waits for. ``now`` is the server's time in milliseconds."""
    room = model.room
    if room is None:
        return ""
    players, seats = len(room.players), room.options.players
    ready = sum(seat.ready for seat in room.players)
    match room.options.start:
        case "host":
            host = model.seat_of(room.host)
            starter = "you" if model.hosting else player_name(host.name, Look(), bot=host.bot) if host else "the host"
            return f"Waiting for {starter} to start the race. Ready: {ready} of {players}"
        case "all-ready":
            if players < min(2, seats):
                return "Waiting for one more player"
            return f"Waiting until all are ready: {ready} of {players}"
        case "full":
            return f"Waiting for {_count(seats - players, 'more player')}"
        case "at":
            until = room.options.start_at - now
            return f"The race starts in {duration_text(max(until, 0) // 1000)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def waiting_view(
    model: Model,
    invitation: Invitation,
    look: Look,
    width: int,
    height: int,
    scroll: int = 0,
    zone: tzinfo | None = None,
    bots: OwnBots = NO_BOTS,
    *,
    kicking: bool = False,
    explained: bool = False,
) -> View:
    """The room, or an empty page outside one. ``zone`` is the time zone for times, by default the local one.

    If ``kicking``, the players who can be kicked are shown with the keys that choose them. If ``explained``, a few lines say
    how the game is played.
    """
    page = Page(look, width)
    page.add_rule()
    room = model.room
    if room is None:
        return page.view(height)
    page.add_row(
        Span(" Invite   ", "title"),
        ClickableText(invitation.command, "field", "copy"),
        ClickableText("   c", "key", "copy"),
        ClickableText(" copy", "label", "copy"),
        action="copy",
    )
    if host := invitation.loopback_host:
        page.add_row(Span(f"          on other machines, write this machine's address instead of {host}", "label"))
    if invitation.page:
        page.add_row(Span(" Watch    ", "title"), Span(invitation.page, "field"), Span("   in a browser", "label"))
    if room.private:
        page.add_row(Span("          samedeal will ask for the passphrase", "label"))
    page.add_blank()
    _players(page, model, room, bots, players_to_kick(model, bots) if kicking else {})
    page.add_blank()
    if explained:
        page.add_row(Span(f" How to play {title_of(room.game)}", "title"))
        page.add_rows((Span(f"   {line}"),) for line in short_rules(room.game))
        page.add_blank()
    _options(page, room, zone)
    return page.view(height, scroll)


def _players(page: Page, model: Model, room: RoomState, bots: OwnBots, to_kick: Mapping[str, Seat]) -> None:
    """The players. The keys for bots are above them, so that they do not move when a bot joins."""
    kick_keys = {seat.player: key for key, seat in to_kick.items()}
    seats = room.options.players
    watching = f", {room.watching} watching" if room.watching else ""
    page.add_row(Span(" Players", "title"), Span(f"  {len(room.players)} of {seats}{watching}   [x]: ready", "label"))
    if can_add_bot(model, bots):
        parts: list[RowPart] = [Span("  add a bot: ", "label")]
        for key, level in BOT_LEVELS:
            parts += [
                ClickableText(f" {key} ", "key", f"bot {level}"),
                ClickableText(f"{level}  ", "name", f"bot {level}"),
            ]
        page.add_row(*parts)
    count = len(room.players) + len(bots.joining)
    abreast = 2 if count > page.width // 10 and page.width >= 2 * _SEAT else 1
    own, joining = ("", " (joining)") if abreast > 1 else ("your bot  ", "joining   ")
    joining_width = _JOINING_NAME if abreast > 1 else _NAME
    lines = [
        _player(page.look, model, room, seat, _bot_parts(own, seat.name, bots), kick_keys.get(seat.player, ""))
        for seat in room.players
    ]
    lines += [
        _line(page.look, " ", "label", name, "label", _bot_parts(joining, name, bots), joining_width, bot=True)
        for name in bots.joining
    ]
    rows = -(-count // abreast)
    for row in range(rows):
        page.add_row(*(part for line in (lines[row::rows] if abreast > 1 else [lines[row]]) for part in line))
    if room.options.start == "host" and sum(not seat.bot for seat in room.players) > 1:
        page.add_row(Span("  An idle host is replaced once all others are ready.", "label"))


def _player(
    look: Look, model: Model, room: RoomState, seat: Seat, bot_parts: list[RowPart], kick_key: str
) -> list[RowPart]:
    you = seat.player == model.me
    tally = model.tallies.get(seat.player)
    notes = ["host"] if seat.player == room.host else []
    notes += ["you"] if you else []
    notes += ["away"] if tally is not None and not tally.connected else []
    style = "good" if seat.ready else "label"
    parts = bot_parts or [Span(", ".join(notes), "label")]
    if model.hosting and not you and not bot_parts:
        parts += [Span(" " if notes else "", "label"), ClickableText("kick", "name", f"kick {seat.player}")]
    mark, style = (kick_key, "key") if kick_key else ("x" if seat.ready else " ", style)
    line = _line(look, mark, style, seat.name, "you" if you else "name", parts, bot=seat.bot)
    return [ClickableText(line[0].text, style, "ready"), *line[1:]] if you else line


def _bot_parts(label: str, name: str, bots: OwnBots) -> list[RowPart]:
    """The label of a bot of this player and the part that removes it. Empty for everybody else."""
    if name not in (*bots.seated, *bots.joining):
        return []
    key = f"[{REMOVE_BOT_KEY}]"
    key = key if name == bots.latest else " " * len(key)
    return [
        Span(f"{label} " if label else "", "label"),
        ClickableText(key, "key", f"remove {name}"),
        ClickableText(" remove", "name", f"remove {name}"),
    ]


def _line(
    look: Look,
    mark: str,
    style: str,
    name: str,
    name_style: str,
    parts: list[RowPart],
    name_width: int = _NAME,
    *,
    bot: bool,
) -> list[RowPart]:
    """A player's entry in the list, padded to its column."""
    shown = fit_player_name(name, look, name_width, bot=bot)
    left = _SEAT - _MARK - name_width - sum(columns_of(part.text) for part in parts)
    return [Span(f"  [{mark}] ", style), Span(shown, name_style), *parts, Span(" " * max(left, 0))]


def _options(page: Page, room: RoomState, zone: tzinfo | None) -> None:
    lines = [("Game", f"{title_of(room.game)}: {GAMES[room.game].blurb}" if room.game in GAMES else room.game)]
    if len(room.options.games) > 1:
        lines.append(("In turn", games_text(room.options)))
    lines += [("Deal", deal_text(Deal.parse(room.deal))), *options_lines(room.options, zone)]
    for label, text in lines:
        for number, line in enumerate(wrap(text, page.width - 12)):
            page.add_row(Span(f" {'' if number else label:<10}", "title"), Span(line))
