"""A room before its race."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Final, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from samedeal.series import place_of
from samedeal_client import room_actions
from samedeal_client.full_screen.screens.moving import show_moving_link
from samedeal_client.full_screen.screens.question import LeaveScreen
from samedeal_client.full_screen.screens.widget_screen import WidgetScreen
from samedeal_client.full_screen.widgets.list_table import ListTable
from samedeal_client.full_screen.widgets.themes import lines_of, text_of
from samedeal_client.panels.frame import breadcrumbs
from samedeal_client.panels.series import series_rows
from samedeal_client.panels.waiting import (
    BOT_LEVELS,
    KICK_KEY,
    NO_BOTS,
    PLAYER_HEADINGS,
    REMOVE_BOT_KEY,
    Invitation,
    OwnBots,
    asks_ready,
    away_question,
    bot_rows,
    can_add_bot,
    invitation_rows,
    may_kick,
    player_cells,
    room_rows,
    start_condition,
)
from samedeal_client.text.qr_code import qr_lines
from samedeal_client.text.spans import Row, Span
from samedeal_link.connection.address import is_loopback_url
from samedeal_link.machine.terminal import terminal
from samedeal_link.solving.bot_levels import Level

_PANEL_EDGES: Final = 8
"""Number of columns for the border, the padding and the scroll bar of the panel with the options."""

_OTHER_ROWS: Final = 4
"""Number of rows around a QR code: the title, the link, the prompt and the keys."""


class _PlayerTable(ListTable, inherit_bindings=False):
    """The players. The screen handles Enter, which starts the race, and the key that kicks a player."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor_up", show=False),
        Binding("down", "cursor_down", show=False),
    ]


class WaitingScreen(WidgetScreen):
    """A room whose race has not started."""

    help_context = "waiting"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "start"),
        Binding("space", "ready"),
        *(Binding(key, f"add_bot('{level}')", f"add a {level} bot", show=False) for key, level in BOT_LEVELS),
        Binding("minus", "remove_bot", "remove bot", key_display=REMOVE_BOT_KEY),
        Binding(KICK_KEY, "kick", "kick"),
        Binding("l", "qr_code", "QR code"),
        Binding("c", "copy", "copy"),
        Binding("d", "move", "other device"),
        Binding("r", "rules", "rules"),
        Binding("escape", "leave", "leave"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._starts_when_joined = False
        self._explained = False
        self._kick_asked = ""
        self._start_asked = ""
        self._shown_bots = NO_BOTS

    def compose_body(self) -> ComposeResult:
        """Yield the invitation, the players and the options."""
        self._explained = not self.samedeal.read_history().has_played(self.model.this_room.game)
        self._invite = Static(id="invite")
        self._add_bots = Static(id="add-bots")
        first = PLAYER_HEADINGS[0] if asks_ready(self.model.this_room) else ""
        self._players = _PlayerTable((first, *PLAYER_HEADINGS[1:]), id="players", classes="panel")
        self._details = Static()
        details = VerticalScroll(self._details, id="details", classes="panel")
        details.border_title = "The race"
        yield self._invite
        self._qr_code = Static(id="qr-code")
        yield self._qr_code
        yield Container(Vertical(self._players, self._add_bots), details, id="room")

    def on_mount(self) -> None:
        """Let keys select a player."""
        self._players.focus()

    def title_parts(self) -> Row:
        """Return the room and the server."""
        return breadcrumbs(f"room {self.model.this_room.room}", self.client.link.address.typed)

    def status_row(self) -> Row:
        """Return the number of players."""
        room = self.model.this_room
        return (Span(f"  {len(room.players)}/{room.options.players} players", "label"),)

    def prompt_row(self) -> Row:
        """Return a row that says what the race waits for."""
        return (Span(f" {self.look.displayable(start_condition(self.model, self.client.now()))}", "title"),)

    def on_tick(self) -> None:
        """Show the bots that are joining. They are not in the model yet, so no change of the model shows them."""
        if self.bots != self._shown_bots:
            self.show_model()

    def show_model(self) -> None:
        """Show the room."""
        room, bots, look = self.model.this_room, self.bots, self.look
        self._shown_bots = bots
        if not self.model.others_away:
            self._start_asked = ""
        if self._starts_when_joined and not bots.joining:
            self.action_start()
        first, *others = invitation_rows(room, self.invitation)
        if self.has_class("-qr-code"):
            others.clear()
            self._qr_code.update(self._qr_code_text())
        self._invite.update(
            Text("\n").join([text_of(first, look, "screen.copy"), *(text_of(row, look) for row in others)])
        )
        watching = f", {room.spectator_count} watching" if room.spectator_count else ""
        self._players.border_title = "Players"
        self._players.border_subtitle = f"{len(room.players)} of {room.options.players}{watching}"
        self._players.show_rows(player_cells(self.model, bots, look))
        self._add_bots.display = terminal().owns_process and can_add_bot(self.model, bots)
        bots_texts = (text_of(row, look, f"screen.add_bot('{level}')") for level, row in bot_rows().items())
        self._add_bots.update(Text("  ").join([text_of((Span("Add bot", "label"),), look), *bots_texts]))
        width = (self.size.width // 2 if self.has_class("-wide") else self.size.width) - _PANEL_EDGES
        self._details.update(
            lines_of(
                (*series_rows(room, self.model.me, look), *room_rows(room, width, explained=self._explained)), look
            )
        )
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 (Textual's signature)
        """Return whether the action of a key is available to this player now."""
        match action:
            case "start":
                return self.model.hosting and not self.model.opens_by_itself
            case "ready":
                return self.model.seat is not None and asks_ready(self.model.this_room)
            case "add_bot":
                return terminal().owns_process
            case "remove_bot":
                return bool(self.bots.latest)
            case "qr_code":
                return bool(self.invitation.link)
            case "move":
                return bool(self.invitation.link and self.model.this_room.window and self.model.seat)
            case "kick":
                return any(may_kick(self.model, seat.player, self.bots) for seat in self.model.this_room.players)
            case _:
                return True

    def key_labels(self) -> Mapping[str, str]:
        """Return the label of the key that says whether the player is ready."""
        start = {"start": "close doors"} if self.model.this_room.window else {}
        return {"ready": "not ready" if self._ready_now else "ready", **start}

    @property
    def _ready_now(self) -> bool:
        return self.model.seat is not None and self.model.seat.ready

    @property
    def bots(self) -> OwnBots:
        """The player's bots in this room."""
        room, bots = self.model.this_room, self.samedeal.bots
        players = {seat.name for seat in room.players}
        joining = tuple(name for name in bots.names_in(room.room) if name not in players)
        return OwnBots(tuple(name for name in bots.names if name in players), joining)

    @property
    def invitation(self) -> Invitation:
        """The command and the link with which others join."""
        address, place = self.client.shared_address, place_of(self.model.this_room)
        loopback_host = address.host if is_loopback_url(address.url) else ""
        link = address.page(place) if self.client.link.has_page else ""
        return Invitation(f"samedeal join {address.typed} {place}", link, loopback_host, address.encrypted)

    def _qr_code_text(self) -> Text:
        """Return the link as a QR code, or a sentence that says why it can't be shown."""
        lines = qr_lines(self.invitation.link)
        if self.look.ascii:
            return Text("A QR code needs Unicode characters. Send the link instead.")
        if len(lines) > self.size.height - _OTHER_ROWS:
            return Text(f"A QR code needs {len(lines) + _OTHER_ROWS} rows. Make the window larger, or send the link.")
        return lines_of([(Span(line, "paper"),) for line in lines], self.look)

    def action_start(self) -> None:
        """Start the race. A second key press starts it without players who are away, and without bots that are joining."""
        asked, self._start_asked = self._start_asked, away_question(self.model, self.look, "Press Enter again")
        if self._start_asked not in ("", asked):
            self.show_message(self._start_asked)
            return
        joining = self.bots.joining
        if joining and not self._starts_when_joined:
            bots = f"{joining[0]} has" if len(joining) == 1 else f"{len(joining)} bots have"
            self.show_message(f"Starting when {bots} joined. Press Enter again to start now.")
        else:
            self.request(partial(room_actions.start_without, self.client, self.samedeal.bots, joining))
        self._starts_when_joined = bool(joining) and not self._starts_when_joined

    def action_ready(self) -> None:
        """Declare that the player is ready, or no longer ready."""
        self.request(partial(self.client.rooms.ready, ready=not self._ready_now))

    def action_add_bot(self, level: str) -> None:
        """Add a bot of a level, or show a message that says why this is not possible."""
        if not self.model.this_room.options.bots:
            self.show_message("This room admits no bots. Open another room to race against them.")
        elif not can_add_bot(self.model, self.bots):
            self.show_message("Every seat is taken.")
        else:
            self.request(partial(self._add_bot, cast("Level", level)))

    def action_remove_bot(self) -> None:
        """Remove the player's bot that is selected. If none is selected, remove the bot that was added last."""
        selected, bots = self._players.selected_key, self.bots
        seat = self.model.seat_of(selected)
        name = seat.name if seat is not None else selected
        self.request(partial(self._remove_bot, name if name in (*bots.seated, *bots.joining) else bots.latest))

    def action_kick(self) -> None:
        """Remove the selected player, who can't come back. The host has to press the key twice."""
        seat = self.model.seat_of(self._players.selected_key)
        if seat is None or not may_kick(self.model, seat.player, self.bots):
            self.show_message("Select the player to kick with the arrow keys or the mouse.")
        elif seat.player == self._kick_asked:
            self._kick_asked = ""
            self.request(partial(self.client.rooms.kick, seat.player))
        else:
            self._kick_asked = seat.player
            self.show_message(f"Press {KICK_KEY} again to kick {seat.name}, who then can't come back.")

    def action_qr_code(self) -> None:
        """Show the link as a QR code instead of the players, or the players again."""
        self.toggle_class("-qr-code")
        self._players.focus()
        self.show_model()

    def action_move(self) -> None:
        """Show a link with which the player goes on with another device."""
        self.request(partial(show_moving_link, self))

    def action_copy(self) -> None:
        """Copy the link or the command with which others join."""
        self.app.copy_to_clipboard(self.invitation.sent)
        self.show_message("Copied. If pasting fails, select with Shift and the mouse.", "good")

    def action_leave(self) -> None:
        """Leave the room. If the player has bots in the room, ask for confirmation first."""
        if self.bots.latest:
            _ = self.app.push_screen(LeaveScreen())
        else:
            self.request(partial(room_actions.leave_with_bots, self.client, self.samedeal.bots))

    async def _remove_bot(self, bot: str) -> None:
        self.show_message(f"Removing {bot}", "label")
        await self.samedeal.bots.remove(bot)
        self.show_message("")

    async def _add_bot(self, level: Level) -> None:
        try:
            await room_actions.add_bot(self.client, self.samedeal.bots, level, self.samedeal.show_message)
        except OSError as error:
            self.show_message(f"The bot could not be started: {error.strerror}.")
        self.show_model()  # the bots that are joining are not in the model
        self.show_frame()
