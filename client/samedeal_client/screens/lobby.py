"""The lobby: the rooms of a server, and other ways to start a race."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Final

from textual import events
from textual.app import SuspendNotSupported

from samedeal.errors import RequestRefused
from samedeal_client import room_actions
from samedeal_client.screens.text_screen import TextScreen
from samedeal_client.state.lobby import (
    DailyDeal,
    EnterRoom,
    Lobby,
    LobbyRequest,
    OpenRoomForm,
    Practise,
    QuickMatch,
    Quit,
    ShowHelp,
    WatchRoom,
)
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.lobby import KEYS, PROMPT_KEYS, lobby_view
from samedeal_client.views.screen_body import FooterKey, View

LIST_INTERVAL: Final = 2.0
"""Time, in seconds, between two requests for the list of rooms."""


class LobbyScreen(TextScreen):
    """The lobby. ``lobby`` is its state."""

    help_context = "lobby"

    def __init__(self) -> None:
        super().__init__()
        self.lobby = Lobby(date.min)
        self._list_refusal = ""
        self._listing = False

    def on_mount(self) -> None:
        """Start to list the rooms."""
        own_room = self.client.link.saved_room
        self.lobby = Lobby(self._today(), chosen=self.samedeal.room, own_room=own_room, game=self.samedeal.game)
        self.run_task(self._list_rooms)
        self.set_interval(LIST_INTERVAL, self._list_rooms_again)

    def _today(self) -> date:
        return datetime.fromtimestamp(self.client.now() / 1000, UTC).date()

    def title_parts(self) -> Row:
        """The server, and the player's name on it."""
        return self.breadcrumbs(self.client.link.address.typed, f"as {self.model.name or self.client.link.name}")

    def footer_keys(self) -> Iterable[FooterKey]:
        """The keys that can be pressed now."""
        return KEYS if self.lobby.prompt is None else PROMPT_KEYS

    def prompt_row(self) -> Row:
        """The task that the lobby is busy with, or its last message."""
        message = self.lobby.message or self._list_refusal
        if not message and self.lobby.own_race:
            message = f"Your race in room {self.lobby.own_race} is under way. Press 1 to return to it."
        return self.busy_row() or ((Span(f" {self.look.displayable(message)}", "notice"),) if message else ())

    def draw(self, width: int, height: int) -> View:
        """The rooms, and other ways to start a race."""
        return lobby_view(self.lobby, self.look, width, height, self.client.now())

    def apply_key(self, key: str) -> bool:
        """Handle a key."""
        if not self.lobby.handles(key):
            return False
        self.show_message("")
        self._apply(*self.lobby.press(key))
        return True

    def perform(self, action: str) -> None:
        """Run the action of the part of the text that was clicked."""
        self.show_message("")
        self._apply(*self.lobby.do(action))

    def scroll_by(self, rows: int) -> None:
        """Choose the next or previous room."""
        self.perform("down" if rows > 0 else "up")
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        """Paste a passphrase."""
        event.stop()
        self.lobby = self.lobby.paste(event.text)
        self.redraw()

    def _apply(self, lobby: Lobby, request: LobbyRequest | None) -> None:
        self.lobby = lobby
        self.samedeal.game, self.samedeal.room = lobby.game, lobby.chosen
        match request:
            case EnterRoom(room, passphrase):
                self.run_busy(f"Joining {room}", partial(self._enter, room, passphrase))
            case WatchRoom(room, passphrase):
                self.run_busy(f"Opening {room} to watch", partial(self._watch, room, passphrase))
            case QuickMatch(rooms, game):
                options = room_actions.quick_match_options(game)
                self.run_busy("Looking for a match", partial(room_actions.join_match, self.client, rooms, options))
            case DailyDeal(rooms, game):
                options = room_actions.daily_deal_options(game)
                self.run_busy("Joining the daily deal", partial(room_actions.join_match, self.client, rooms, options))
            case Practise(game):
                self.run_busy(f"Practising {title_of(game)}", partial(self._practise, game))
            case OpenRoomForm(game):
                from samedeal_client.screens.new_room import NewRoomScreen

                _ = self.app.push_screen(NewRoomScreen(self.samedeal.room_form.for_game(game)))
            case ShowHelp():
                self.open_help()
            case Quit():
                self.app.call_later(self.samedeal.action_quit)
            case None:
                pass

    def show_refusal(self, sentence: str) -> None:
        """Show a refusal until the next action."""
        self.lobby = replace(self.lobby, message=sentence)

    def _list_rooms_again(self) -> None:
        if self.on_top and not self._listing:
            self.run_task(self._list_rooms)

    async def _list_rooms(self) -> None:
        """List the rooms. If the connection is lost, the answer arrives after the client has reconnected."""
        self._listing = True
        try:
            rooms = await self.client.rooms.list()
        except RequestRefused as refused:
            self._list_refusal = str(refused)
        else:
            self._list_refusal = ""
            self.lobby = replace(self.lobby.listed(rooms), today=self._today())
        finally:
            self._listing = False
        self.redraw()

    async def _enter(self, room: str, passphrase: str) -> None:
        line = next((line for line in self.lobby.rooms or () if line.room == room), None)
        spectators = line is not None and line.spectators
        enter = partial(room_actions.join_or_watch, self.client, room, spectators=spectators)
        await self._with_passphrase(room, passphrase, enter, watch=False)

    async def _watch(self, room: str, passphrase: str) -> None:
        await self._with_passphrase(room, passphrase, partial(self.client.watch, room), watch=True)

    async def _with_passphrase(
        self, room: str, passphrase: str, enter: Callable[[str], Awaitable[None]], *, watch: bool
    ) -> None:
        async def open_prompt(_: RequestRefused, refused: str) -> None:
            """Open the prompt. Its answer is a new request."""
            self.lobby = self.lobby.with_prompt(room, watch=watch, wrong=bool(refused))

        await room_actions.enter_room(enter, passphrase, open_prompt)

    async def _practise(self, game: str) -> None:
        """Suspend the app and run a race against bots on this machine in its place."""
        starting = f"Starting a server and three bots on this machine for {title_of(game)} {self.look.glyphs.ellipsis}"
        try:
            with self.app.batch_update(), self.app.suspend():
                print(starting, end="", flush=True)
                process = await asyncio.create_subprocess_exec(
                    *room_actions.practice_command(self.client, game, self.look)
                )
                code = await process.wait()
                print("\r\x1b[K", end="", flush=True)
        except SuspendNotSupported:
            self.show_refusal(f"Practice can't start from here. Quit and type: samedeal play {game}")
        else:
            if code:
                self.show_refusal(
                    f"Practice failed with exit code {code}. To see why, quit and type: samedeal play {game}"
                )
