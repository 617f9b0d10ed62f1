"""A room before its race: the invitation, the players and the options."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from samedeal.deal import Deal
from samedeal.games import GAMES
from samedeal.protocol.messages import RoomState
from samedeal_client.panels.window import decided_lines, doors_sentence
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import deal_text, games_text, title_of
from samedeal_client.text.player_names import names_text, player_name
from samedeal_client.text.rules_text import short_rules
from samedeal_client.text.spans import Row, Span, counted, wrap
from samedeal_client.text.time_text import duration_text
from samedeal_link.model.model import Model
from samedeal_link.solving.bot_levels import LEVELS

BOT_LEVELS: Final = tuple((str(number), level) for number, level in enumerate(LEVELS, 1))
"""The keys that add a bot, each with the bot's level."""
LEVEL_TEXTS: Final = (*LEVELS[:-1], f"{LEVELS[-1]} (strong)")
"""The levels of bots in words, the strongest one last."""
REMOVE_BOT_KEY: Final = "-"
KICK_KEY: Final = "k"
_LABEL: Final = 9
"""Number of columns for the name of an option."""
PLAYER_HEADINGS: Final = ("Ready", "Player", "")
"""The first is left out if nothing depends on who is ready."""


@dataclass(frozen=True)
class OwnBots:
    """The names of the bots that this player has added. ``joining`` bots do not have a seat yet."""

    seated: tuple[str, ...] = ()
    joining: tuple[str, ...] = ()

    @property
    def latest(self) -> str:
        """The name of the bot that was added last, or an empty string."""
        return (*self.seated, *self.joining)[-1] if self.seated or self.joining else ""


NO_BOTS: Final = OwnBots()


@dataclass(frozen=True)
class Invitation:
    """The command and the link with which others join.

    ``link`` opens the room in a browser, and is empty if the server has no page. ``loopback_host`` is the host in both if
    other machines can't reach this host, and otherwise empty. ``encrypted`` is false if the others connect without TLS.
    """

    command: str
    link: str = ""
    loopback_host: str = ""
    encrypted: bool = True

    @property
    def sent(self) -> str:
        """What the player sends to others: the link if there is one, otherwise the command."""
        return self.link or self.command


def can_add_bot(model: Model, bots: OwnBots) -> bool:
    """Return whether this player may add a bot.

    The player must have a seat, and the room must admit bots and have a free seat.
    """
    room = model.this_room
    if model.seat is None or not room.options.bots:
        return False
    return len(room.players) + len(bots.joining) < room.options.players


def may_kick(model: Model, player: str, bots: OwnBots = NO_BOTS) -> bool:
    """Return whether this player, as the host, may kick ``player``.

    Return False for the host's own bots, which can be removed instead.
    """
    seat = model.seat_of(player)
    return model.hosting and seat is not None and player != model.me and seat.name not in bots.seated


def start_condition(model: Model, now: int) -> str:
    """Return a sentence that says what the race waits for. ``now`` is the server's time in milliseconds."""
    room = model.this_room
    if room.window:
        return doors_sentence(model)
    players, seats = len(room.players), room.options.players
    ready = sum(seat.ready for seat in room.players)
    match room.options.start:
        case "host":
            host = model.seat_of(room.host)
            starter = player_name(host.name, Look(), bot=host.bot) if host else "the host"
            if model.hosting:
                return f"Start with Enter when you like. Ready: {ready} of {players}"
            return f"Waiting for {starter} to start the race. Ready: {ready} of {players}"
        case "all-ready":
            if players < min(2, seats):
                return "Waiting for one more player"
            return f"Waiting until all are ready: {ready} of {players}"
        case "full":
            return f"Waiting for {counted(seats - players, 'more player')}"
        case "at":
            until = room.options.start_at - now
            return f"The race starts in {duration_text(max(until, 0) // 1000)}"


def asks_ready(room: RoomState) -> bool:
    """Return whether something depends on who is ready."""
    return room.options.start != "at" and not room.window


def away_question(model: Model, look: Look, again: str) -> str:
    """Return what the host is asked before a start without those who are away, or an empty string if all are there.

    ``again`` says what the host does to start anyway, as in ``Press Enter again``. In a race with a window, nobody is left
    out.
    """
    away = [] if model.this_room.window else model.others_away
    names = names_text(away, look)
    is_one = len(away) == 1
    are, them = ("is", names) if is_one else ("are", "them")
    return f"{names} {are} away. {again} to start without {them}." if away else ""


def invitation_rows(room: RoomState, invitation: Invitation) -> tuple[Row, ...]:
    """Return rows that tell how others join. The first row has what the player sends to them."""
    invite = (Span("Invite  ", "title"), Span(invitation.sent, "field"))
    rows: list[Row] = [invite]
    notes = []
    if invitation.link:
        rows = [(*invite, Span("   in any browser", "label"))]
        rows.append((Span("        "), Span(invitation.command, "field"), Span("   in a terminal", "label")))
    if host := invitation.loopback_host:
        notes.append(f"on other machines, write this machine's address instead of {host}")
    elif not invitation.encrypted:
        notes.append("not encrypted: your network could read along")
    if room.private:
        notes.append("samedeal will ask for the passphrase")
    return (*rows, *((Span(f"        {note}", "label"),) for note in notes))


def bot_rows() -> dict[str, Row]:
    """Return a row for each level of bots, with the key that adds a bot of this level."""
    return {
        level: (Span(key, "key"), Span(f" {text}", "name"))
        for (key, level), text in zip(BOT_LEVELS, LEVEL_TEXTS, strict=True)
    }


def player_cells(model: Model, bots: OwnBots, look: Look) -> dict[str, tuple[Row, ...]]:
    """Return the players as rows of a table, in the order of ``PLAYER_HEADINGS``.

    Each row has a key: the id of a player, or the name of a bot that is still joining.
    """
    room = model.this_room
    rows: dict[str, tuple[Row, ...]] = {}
    for seat in room.players:
        notes = ["host"] if seat.player == room.host else []
        notes += ["you"] if seat.player == model.me else []
        notes += ["your bot"] if seat.name in bots.seated else []
        notes += ["away"] if model.is_away(seat.player) else []
        rows[seat.player] = (
            (Span("[x]" if seat.ready else "[ ]", "good" if seat.ready else "label"),) if asks_ready(room) else (),
            (Span(player_name(seat.name, look, bot=seat.bot), "you" if seat.player == model.me else "name"),),
            (Span(", ".join(notes), "label"),),
        )
    for name in bots.joining:
        rows[name] = ((Span("[ ]", "label"),), (Span(player_name(name, look, bot=True), "label"),), (Span("joining"),))
    return rows


def room_rows(room: RoomState, width: int, zone: tzinfo | None = None, *, explained: bool = False) -> tuple[Row, ...]:
    """Return the game and the options of a room as rows. ``zone`` is the time zone for times, by default the local one.

    If ``explained`` is true, the first rows say how the game is played.
    """
    rows: list[Row] = []
    if explained:
        rows += [(Span(f"How to play {title_of(room.game)}", "title"),)]
        rows += [*((Span(f"  {part}"),) for line in short_rules(room.game) for part in wrap(line, width - 2)), ()]
    lines = [("Game", f"{title_of(room.game)}: {GAMES[room.game].file.blurb}" if room.game in GAMES else room.game)]
    if len(room.options.games) > 1:
        lines.append(("In turn", games_text(room.options)))
    lines += [("Deal", deal_text(Deal.parse(room.deal))), *decided_lines(room, zone)]
    for label, text in lines:
        parts = wrap(text, width - _LABEL)
        rows += [
            (Span(f"{'' if number else label:<{_LABEL}}", "title"), Span(part)) for number, part in enumerate(parts)
        ]
    return tuple(rows)
