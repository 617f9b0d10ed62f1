"""The results of a race, and the ways on from there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace as with_options

from samedeal.deal import Deal
from samedeal.errors import Refused
from samedeal.options import Options
from samedeal.protocol.messages import RoomState
from samedeal.record import Record
from samedeal_client.net.client import Client
from samedeal_client.rooms.records import save_record
from samedeal_client.rooms.series import climb
from samedeal_client.screens.sheet import SheetScreen, Work
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.page import KeyWord, View
from samedeal_client.views.results import Aftermath, results_keys, results_view

COUNT_EVERY: Final = 2.0
"""Seconds between two looks at how many are in the room of the rematch."""


class ResultsScreen(SheetScreen):
    """The results; ``after`` is what is known beside the model."""

    where = "results"

    def __init__(self) -> None:
        super().__init__()
        self.after = Aftermath()
        self._busy = ""
        self._asking = False

    def on_mount(self) -> None:
        """Keep the record of one's own race, and count those who go on to the rematch."""
        record = self.client.record()
        self.after = Aftermath(saved(self.client, record), climb=climb(record) if record is not None else ())
        self.set_interval(COUNT_EVERY, self._count)

    # ---------------------------------------------------------------- showing

    def title_row(self) -> Row:
        """The race."""
        room = self.model.room
        if room is None:
            return ()
        deal = ", random deal" if room.deal == "random" else f" {room.deal}"
        return self.heading(f"{self.model.game.title}{deal}", f"room {room.room}", "results")

    def words(self) -> Iterable[KeyWord]:
        """The keys that do something now."""
        return results_keys(self.model)

    def idle_row(self) -> Row:
        """What is under way."""
        return (Span(f" {self._busy} {self.look.glyphs.ellipsis}", "label"),) if self._busy else ()

    def draw(self, width: int, height: int) -> View:
        """The standings and the rest."""
        return results_view(self.model, self.after, self.look, width, height, self.scroll_rows)

    # ---------------------------------------------------------------- keys and clicks

    def take(self, key: str) -> bool:
        """Do what a key stands for."""
        match key:
            case "m":
                self.do("rematch")
            case "n":
                self._grant("Opening a room", self._anew)
            case "a":
                self._again()
            case "r":
                self.help(rules=True)
            case "f1" | "?":
                self.help()
            case "escape":
                self._grant("Leaving", self._leave)
            case _:
                return self.scrolled(key)
        return True

    def do(self, what: str) -> None:
        """Go to the rematch, the only thing to be clicked."""
        if what == "rematch":
            self._grant("Going to the rematch", self._rematch)

    def _grant(self, busy: str, work: Work) -> None:
        if not self._busy:
            self._busy = busy
            self.work(partial(self._until_done, work))

    async def _until_done(self, work: Work) -> None:
        try:
            await work()
        except Refused as refused:
            self.say(str(refused))
        finally:
            self._busy = ""
            self.show()

    # ---------------------------------------------------------------- going on

    async def _leave(self) -> None:
        await self.samedeal.crew.dismiss()
        await self.client.leave()

    async def _rematch(self) -> None:
        watches = self.model.seat is None
        passphrase = self.client.passphrase
        before = self.model.room
        room = await self.client.rematch()
        if before is not None:
            self.samedeal.crew.follow(before.room, room)
        await (self.client.watch(room, passphrase) if watches else self.client.join(room, passphrase))

    def _again(self) -> None:
        room = self.model.room
        if room is not None and Deal.parse(room.deal).public:
            self._grant("Opening a room", partial(self._anew, room.deal))
        else:
            self.say("A random deal can't be dealt again: n opens a room on another one")

    async def _anew(self, deal: str = "random") -> None:
        room = self.model.room
        if room is None:
            return
        passphrase = self.client.passphrase if room.private else ""
        code = await self.client.create(same_again(room, deal), passphrase=passphrase)
        await self.client.join(code, passphrase)

    def _count(self) -> None:
        room = self.model.room
        if room is not None and room.next and self.on_top and not self._asking:
            self.work(partial(self._ask_rooms, room.next))

    async def _ask_rooms(self, following: str) -> None:
        self._asking = True
        try:
            rooms = await self.client.rooms()
        except Refused:
            return  # how many are there is said again at the next look
        finally:
            self._asking = False
        there = next((line.players for line in rooms if line.room == following), None)
        self.after = replace(self.after, there=there)
        self.show()


def same_again(room: RoomState, deal: str = "random") -> Options:
    """The options for another race as this one was, on a deal; a cycle of games goes on from the present one."""
    options = room.options
    at = options.games.index(room.game) if room.game in options.games else 0
    start = "host" if options.start == "at" else options.start
    return with_options(options, games=(*options.games[at:], *options.games[:at]), deal=deal, start=start, start_at=0)


def saved(client: Client, record: Record | None) -> str:
    """Keep the record of one's own play, and say where it is or why there is none; empty for who has watched."""
    room = client.model.room
    if room is None or client.model.play is None:
        return ""
    if record is None:
        return "There is no record of your race: not all of it is known here."
    try:
        path = save_record(record, room.room, room.starts)
    except OSError as error:
        return f"The record of your race could not be kept ({error.strerror})."
    home = Path.home()
    return f"Your race: ~/{path.relative_to(home)}" if path.is_relative_to(home) else f"Your race: {path}"
