"""The lobby: the rooms of a server, and the ways into a race."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Final

from textual import events
from textual.app import SuspendNotSupported

from samedeal.errors import Refused
from samedeal.options import Options
from samedeal_client.rooms.lobby import (
    DailyDeal,
    EnterRoom,
    Lobby,
    NewRoom,
    Practise,
    QuickMatch,
    Quit,
    ShowHelp,
    WatchRoom,
    Wish,
)
from samedeal_client.screens.sheet import SheetScreen, Work
from samedeal_client.text.spans import Row, Span
from samedeal_client.text.words import title_of
from samedeal_client.views.lobby import KEYS, PROMPT_KEYS, lobby_view
from samedeal_client.views.page import KeyWord, View

LIST_EVERY: Final = 2.0
"""Seconds between two lists of the rooms."""

QUICK_SEATS: Final = 4

_NEXT_ROOM: Final = frozenset(("room_full", "race_started", "room_closed", "no_room", "bad_passphrase", "name_taken"))
"""Refusals after which a quick match tries the next room: the list was a little old."""


class LobbyScreen(SheetScreen):
    """The lobby; ``lobby`` is what it knows."""

    where = "lobby"

    def __init__(self) -> None:
        super().__init__()
        self.lobby = Lobby(date.min)
        self._busy = ""
        self._unlisted = ""
        self._asking = False

    def on_mount(self) -> None:
        """List the rooms, now and again and again."""
        self.lobby = Lobby(self._today(), chosen=self.samedeal.room, game=self.samedeal.game)
        self.work(self._ask_rooms)
        self.set_interval(LIST_EVERY, self._list)

    def _today(self) -> date:
        return datetime.fromtimestamp(self.client.now() / 1000, UTC).date()

    # ---------------------------------------------------------------- showing

    def title_row(self) -> Row:
        """The server, and the name one has there."""
        return self.heading(self.client.link.address.typed, f"as {self.model.name or self.client.link.name}")

    def words(self) -> Iterable[KeyWord]:
        """The keys that do something now."""
        return KEYS if self.lobby.prompt is None else PROMPT_KEYS

    def idle_row(self) -> Row:
        """What is under way, or was said last."""
        if self._busy:
            return (Span(f" {self._busy} {self.look.glyphs.ellipsis}", "label"),)
        said = self.lobby.said or self._unlisted
        return (Span(f" {self.look.says(said)}", "notice"),) if said else ()

    def draw(self, width: int, height: int) -> View:
        """The rooms, and the ways into a race."""
        return lobby_view(self.lobby, self.look, width, height, self.client.now())

    # ---------------------------------------------------------------- keys and clicks

    def take(self, key: str) -> bool:
        """Do what a key stands for."""
        if not self.lobby.takes(key):
            return False
        self.say("")
        self._take(*self.lobby.press(key))
        return True

    def do(self, what: str) -> None:
        """Do what a click stands for."""
        self.say("")
        self._take(*self.lobby.do(what))

    def scroll_by(self, rows: int) -> None:
        """The wheel goes through the rooms."""
        self.do("down" if rows > 0 else "up")
        self.show()

    def on_paste(self, event: events.Paste) -> None:
        """A passphrase may be pasted."""
        event.stop()
        self.lobby = self.lobby.paste(event.text)
        self.show()

    def _take(self, lobby: Lobby, wish: Wish | None) -> None:
        self.lobby = lobby
        self.samedeal.game, self.samedeal.room = lobby.game, lobby.chosen
        match wish:
            case EnterRoom(room, passphrase):
                self._grant(f"Joining {room}", partial(self._enter, room, passphrase))
            case WatchRoom(room, passphrase):
                self._grant(f"Going to watch {room}", partial(self._watch, room, passphrase))
            case QuickMatch(rooms, game):
                options = Options(games=(game,), players=QUICK_SEATS, start="all-ready")
                self._grant("Looking for company", partial(self._match, rooms, options))
            case DailyDeal(rooms, game):
                options = Options(games=(game,), deal="daily")
                self._grant("Going to the daily deal", partial(self._match, rooms, options))
            case Practise(game):
                self._grant(f"Practice in {game}", partial(self._practise, game))
            case NewRoom(game):
                from samedeal_client.screens.new_room import NewRoomScreen

                _ = self.app.push_screen(NewRoomScreen(self.samedeal.room_form.for_game(game)))
            case ShowHelp():
                self.help()
            case Quit():
                self.app.call_later(self.samedeal.action_quit)
            case None:
                pass

    # ---------------------------------------------------------------- asking the server

    def _list(self) -> None:
        if self.on_top and not self._asking:
            self.work(self._ask_rooms)

    async def _ask_rooms(self) -> None:
        """List the rooms; while the connection is cut the answer comes when it is back."""
        self._asking = True
        try:
            rooms = await self.client.rooms()
        except Refused as refused:
            self._unlisted = str(refused)
        else:
            self._unlisted = ""
            self.lobby = replace(self.lobby.listed(rooms), today=self._today())
        finally:
            self._asking = False
        self.show()

    def _grant(self, busy: str, work: Work) -> None:
        """Do one thing that takes a while; a newer wish takes its place."""
        self._busy = busy
        self.work(partial(self._until_done, work), group="wish", exclusive=True)

    async def _until_done(self, work: Work) -> None:
        try:
            await work()
        except Refused as refused:
            self.lobby = replace(self.lobby, said=str(refused))
        finally:
            self._busy = ""
            self.show()

    async def _enter(self, room: str, passphrase: str) -> None:
        await self._with_passphrase(room, passphrase, self._join_or_watch, watch=False)

    async def _watch(self, room: str, passphrase: str) -> None:
        await self._with_passphrase(room, passphrase, self.client.watch, watch=True)

    async def _with_passphrase(
        self, room: str, passphrase: str, enter: Callable[[str, str], Awaitable[None]], *, watch: bool
    ) -> None:
        try:
            await enter(room, passphrase)
        except Refused as refused:
            if refused.code != "bad_passphrase":
                raise
            self.lobby = self.lobby.asking(room, watch=watch, wrong=bool(passphrase))

    async def _join_or_watch(self, room: str, passphrase: str) -> None:
        """A seat that one has, or can have; else, where the race has started, a place to watch from."""
        line = next((line for line in self.lobby.rooms or () if line.room == room), None)
        try:
            await self.client.join(room, passphrase)
        except Refused as refused:
            if refused.code != "race_started" or line is None or not line.spectators:
                raise
            await self.client.watch(room, passphrase)

    async def _match(self, rooms: tuple[str, ...], options: Options) -> None:
        for room in rooms:
            try:
                await self.client.join(room)
            except Refused as refused:
                if refused.code not in _NEXT_ROOM:
                    raise
            else:
                return
        await self.client.join(await self.client.create(options))

    # ---------------------------------------------------------------- this machine

    async def _practise(self, game: str) -> None:
        """Give the terminal to a race against bots, and go on here when it is over."""
        look = ["--ascii"] * self.look.ascii + ["--four-color"] * self.look.four_colour
        here = self.client.link.address.typed
        command = [sys.executable, "-m", "samedeal_client", "play", game, "--name", self.client.link.name, *look]
        starting = f"Starting a server and three bots on this machine, for {title_of(game)} {self.look.glyphs.ellipsis}"
        try:
            with self.app.batch_update(), self.app.suspend():
                print(starting, end="", flush=True)
                process = await asyncio.create_subprocess_exec(*command, "--back-to", here)
                code = await process.wait()
                print("\r\x1b[K", end="", flush=True)
        except SuspendNotSupported:
            self.lobby = replace(self.lobby, said=f"Here that can't be done: leave, and type samedeal play {game}")
        else:
            if code:
                said = f"Practice ended with code {code}: samedeal play {game} says why"
                self.lobby = replace(self.lobby, said=said)
