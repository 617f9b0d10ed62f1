"""A room before its race."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final, cast

from samedeal_client import room_actions
from samedeal_client.net.address import is_loopback_url
from samedeal_client.screens.question import LeaveScreen
from samedeal_client.screens.text_screen import TextScreen
from samedeal_client.state.bot_levels import Level
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.screen_body import FooterKey, View
from samedeal_client.views.waiting import (
    BOT_LEVELS,
    KICK_KEY,
    REMOVE_BOT_KEY,
    Invitation,
    OwnBots,
    can_add_bot,
    players_to_kick,
    start_condition,
    waiting_keys,
    waiting_view,
)

_BOT_KEYS: Final = dict(BOT_LEVELS)


class WaitingScreen(TextScreen):
    """A room whose race has not started."""

    help_context = "waiting"

    def __init__(self) -> None:
        super().__init__()
        self._warned_of: tuple[str, ...] = ()
        self._explained = False
        self._kick_asked = ""
        self._kicking = False

    def on_mount(self) -> None:
        """Find out whether the player knows the game."""
        room = self.model.room
        self._explained = room is not None and not self.samedeal.read_history().has_played(room.game)

    def title_parts(self) -> Row:
        """The room and the server."""
        room = self.model.room
        return self.breadcrumbs(f"room {room.room}", self.client.link.address.typed) if room is not None else ()

    def status_row(self) -> Row:
        """The number of players."""
        room = self.model.room
        return (Span(f"  {len(room.players)}/{room.options.players} players", "label"),) if room is not None else ()

    def footer_keys(self) -> Iterable[FooterKey]:
        """The keys that can be pressed now."""
        return waiting_keys(self.model, self.bots, kicking=self.kicking)

    def prompt_row(self) -> Row:
        """The condition for the start of the race, or a question."""
        if self.kicking:
            return (Span(" Kick whom? They can't come back.", "notice"),)
        return (Span(f" {self.look.displayable(start_condition(self.model, self.client.now()))}", "title"),)

    def draw(self, width: int, height: int) -> View:
        """The invitation, the players and the options."""
        return waiting_view(
            *(self.model, self.invitation, self.look, width, height, self.scroll_rows),
            bots=self.bots,
            kicking=self.kicking,
            explained=self._explained,
        )

    @property
    def kicking(self) -> bool:
        """Whether the next key chooses a player to kick."""
        return self._kicking and bool(players_to_kick(self.model, self.bots))

    @property
    def bots(self) -> OwnBots:
        """The player's bots in this room."""
        room, bots = self.model.room, self.samedeal.bots
        if room is None:
            return OwnBots()
        players = {seat.name for seat in room.players}
        joining = tuple(name for name in bots.names_in(room.room) if name not in players)
        return OwnBots(tuple(name for name in bots.names if name in players), joining)

    @property
    def invitation(self) -> Invitation:
        """How others join and watch."""
        address, room = self.client.link.address, self.model.room
        if room is None:
            return Invitation("")
        loopback_host = address.host if is_loopback_url(address.url) else ""
        page = address.page(room.room) if self.client.link.has_page and room.options.spectators else ""
        return Invitation(f"samedeal join {address.typed} {room.room}", loopback_host, page)

    def apply_key(self, key: str) -> bool:
        """Handle a key."""
        if self.kicking and self._choose_whom_to_kick(key):
            return True
        leave = partial(room_actions.leave_with_bots, self.client, self.samedeal.bots)
        match key:
            case " ":
                self.perform("ready")
            case "enter":
                self._start()
            case "c":
                self.perform("copy")
            case "r":
                self.open_help(rules=True)
            case "f1" | "?":
                self.open_help()
            case "escape" if self.bots.latest:
                _ = self.app.push_screen(LeaveScreen(partial(self.request, leave)))
            case "escape":
                self.request(leave)
            case _ if key == KICK_KEY:
                self._ask_whom_to_kick()
            case _ if key == REMOVE_BOT_KEY:
                self.perform(f"remove {self.bots.latest}")
            case _ if key in _BOT_KEYS:
                self.perform(f"bot {_BOT_KEYS[key]}")
            case _:
                return self.scroll_by_key(key)
        return True

    def perform(self, action: str) -> None:
        """Run the action of the part of the text that was clicked."""
        word, _, argument = action.partition(" ")
        match word:
            case "ready":
                seat = self.model.seat
                if seat is not None:
                    self.request(partial(self.client.rooms.ready, ready=not seat.ready))
            case "copy":
                self.app.copy_to_clipboard(self.invitation.command)
                self.show_message("Copied. If pasting fails, select the line with Shift and the mouse instead.", "good")
            case "bot" if self.model.room is not None and not self.model.room.options.bots:
                self.show_message("This room admits no bots. Open another room to race against them.")
            case "bot" if not can_add_bot(self.model, self.bots):
                self.show_message("Every seat is taken.")
            case "bot":
                self.request(partial(self._add_bot, cast("Level", argument)))
            case "kick":
                self._kick(argument)
            case "remove" if argument:
                self.request(partial(self._remove_bot, argument))
            case "remove":
                self.show_message("You have no bot in this room.")
            case _:
                pass

    def _ask_whom_to_kick(self) -> None:
        self.show_message("")
        if not self.model.hosting:
            self.show_message("Only the host can kick players.")
        elif not players_to_kick(self.model, self.bots):
            self.show_message("There is nobody to kick.")
        else:
            self._kicking = True

    def _choose_whom_to_kick(self, key: str) -> bool:
        """Handle the key that answers whom to kick. Return False if the key has its usual meaning."""
        seat = players_to_kick(self.model, self.bots).get(key)
        if seat is not None or key == "escape":
            self._kicking = False
            self.show_message("")
            if seat is not None:
                self.request(partial(self.client.rooms.kick, seat.player))
        elif key in ("f1", "?"):
            return False
        elif not self.scroll_by_key(key):
            self.show_message("Type the key in front of a player, or Esc.")
        return True

    def _kick(self, player: str) -> None:
        """Remove a player from the room, who can't come back. Ask for a second click first."""
        seat = self.model.seat_of(player)
        if seat is None or player == self._kick_asked:
            self._kick_asked = ""
            self.request(partial(self.client.rooms.kick, player))
        else:
            self._kick_asked = player
            self.show_message(f"{seat.name} could not come back. Click kick again to remove {seat.name}.")

    def _start(self) -> None:
        """Start the race. While bots are joining, warn first, since the race would start without them."""
        joining = self.bots.joining
        if joining and joining != self._warned_of:
            self._warned_of = joining
            bots = f"{joining[0]} is" if len(joining) == 1 else f"{len(joining)} bots are"
            self.show_message(f"{bots} still joining. Wait, or press Enter again to start now.")
        else:
            self.request(partial(room_actions.start_without, self.client, self.samedeal.bots, joining))

    async def _remove_bot(self, bot: str) -> None:
        self.show_message(f"Removing {bot}", "label")
        await self.samedeal.bots.remove(bot)
        self.show_message("")

    async def _add_bot(self, level: Level) -> None:
        try:
            await room_actions.add_bot(self.client, self.samedeal.bots, level, self.samedeal.show_message)
        except OSError as error:
            self.show_message(f"The bot could not be started: {error.strerror}.")
        self.redraw()
