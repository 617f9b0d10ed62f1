"""A room before its race."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final, cast

from samedeal.errors import Refused
from samedeal_client.bots.strategy import Level
from samedeal_client.net.address import is_loopback_url
from samedeal_client.screens.question import LeaveScreen
from samedeal_client.screens.sheet import SheetScreen, Work
from samedeal_client.text.spans import Row, Span
from samedeal_client.views.page import KeyWord, View
from samedeal_client.views.waiting import (
    BOT_LEVELS,
    OUT_KEY,
    Invitation,
    OwnBots,
    has_seats,
    waiting_keys,
    waiting_view,
    waits_for,
)

_BOT_KEYS: Final = dict(BOT_LEVELS)


class WaitingScreen(SheetScreen):
    """The room."""

    where = "waiting"

    def __init__(self) -> None:
        super().__init__()
        self._warned_of: tuple[str, ...] = ()

    # ---------------------------------------------------------------- showing

    def title_row(self) -> Row:
        """The server and the room."""
        room = self.model.room
        return self.heading(f"room {room.room}", self.client.link.address.typed) if room is not None else ()

    def status_row(self) -> Row:
        """How many are here."""
        room = self.model.room
        return (Span(f"  {len(room.players)}/{room.options.players} players", "label"),) if room is not None else ()

    def words(self) -> Iterable[KeyWord]:
        """The keys that do something now."""
        return waiting_keys(self.model, self.bots)

    def idle_row(self) -> Row:
        """What the race waits for."""
        return (Span(f" {self.look.says(waits_for(self.model, self.client.now()))}", "title"),)

    def draw(self, width: int, height: int) -> View:
        """The invitation, the players and the options."""
        return waiting_view(self.model, self.invitation, self.look, width, height, self.scroll_rows, bots=self.bots)

    @property
    def bots(self) -> OwnBots:
        """The bots that were added here and have not been taken out."""
        room, crew = self.model.room, self.samedeal.crew
        if room is None:
            return OwnBots()
        seated = {seat.name for seat in room.players}
        coming = tuple(name for name in crew.sent_to(room.room) if name not in seated)
        return OwnBots(tuple(name for name in crew.names if name in seated), coming)

    @property
    def invitation(self) -> Invitation:
        """How others come in."""
        address = self.client.link.address
        room = self.model.room
        here = address.host if is_loopback_url(address.url) else ""
        return Invitation(f"samedeal join {address.typed} {room.room if room else ''}", here)

    # ---------------------------------------------------------------- keys and clicks

    def take(self, key: str) -> bool:
        """Do what a key stands for."""
        match key:
            case " ":
                self.do("ready")
            case "enter":
                self._start()
            case "c":
                self.do("copy")
            case "r":
                self.help(rules=True)
            case "f1" | "?":
                self.help()
            case "escape" if self.bots.last:
                _ = self.app.push_screen(LeaveScreen(partial(self._ask, self._leave)))
            case "escape":
                self._ask(self._leave)
            case _ if key == OUT_KEY:
                self.do(f"out {self.bots.last}")
            case _ if key in _BOT_KEYS:
                self.do(f"bot {_BOT_KEYS[key]}")
            case _:
                return self.scrolled(key)
        return True

    def do(self, what: str) -> None:
        """Do what a click stands for."""
        word, _, rest = what.partition(" ")
        match word:
            case "ready":
                seat = self.model.seat
                if seat is not None:
                    ready = not seat.ready
                    self._ask(lambda: self.client.ready(ready=ready))
            case "copy":
                self.app.copy_to_clipboard(self.invitation.command)
                self.say("Copied, if the terminal lets programs copy; else mark it, Shift and mouse", "good")
            case "bot" if not has_seats(self.model, self.bots):
                self.say("Every seat is taken")
            case "bot":
                self._ask(lambda: self._send_bot(cast("Level", rest)))
            case "out" if rest:
                self._ask(lambda: self._take_out(rest))
            case "out":
                self.say("No bot here is yours to take out")

    def _start(self) -> None:
        """Start the race; with bots on their way only when asked again, as it would not wait for them."""
        coming = self.bots.coming
        if coming and coming != self._warned_of:
            self._warned_of = coming
            who = f"{coming[0]} is" if len(coming) == 1 else f"{len(coming)} bots are"
            self.say(f"{who} still on the way: wait, or Enter again starts without")
        else:
            self._ask(partial(self._start_without, coming))

    async def _start_without(self, coming: Iterable[str]) -> None:
        await self.client.start()
        for name in coming:
            await self.samedeal.crew.take_out(name)

    def _ask(self, what: Work) -> None:
        self.work(partial(self._asked, what))

    async def _asked(self, what: Work) -> None:
        try:
            await what()
        except Refused as refused:
            self.say(str(refused))

    async def _leave(self) -> None:
        """Go, and take one's bots along."""
        await self.samedeal.crew.dismiss()
        await self.client.leave()

    async def _take_out(self, bot: str) -> None:
        self.say(f"{bot} is going", "label")
        await self.samedeal.crew.take_out(bot)
        self.say("")

    async def _send_bot(self, level: Level) -> None:
        room = self.model.room
        if room is None:
            return
        taken = {seat.name for seat in room.players}
        crew = self.samedeal.crew
        try:
            await crew.send(room.room, level, self.client.passphrase, taken=taken, warn=self.samedeal.say)
        except OSError as error:
            self.say(f"No bot could be started here: {error.strerror}")
        self.show()
