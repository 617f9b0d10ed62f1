"""The app of a client as its screens know it: what they share, without the choice among them."""

from __future__ import annotations

import time
from collections.abc import Mapping

from textual import events
from textual.events import Callback

from samedeal_client.full_screen.widgets.look_app import LookApp
from samedeal_client.input.bindings import Bindings
from samedeal_client.input.key_names import QUIT_KEY
from samedeal_client.local.local_bots import LocalBots
from samedeal_client.menus.room_form import RoomForm
from samedeal_client.panels.race import AFTER_ROOM
from samedeal_client.text.appearance import Look
from samedeal_link.records.ghost_link import GhostLink
from samedeal_link.session.client_session import ClientSession


class ClientApp(LookApp[int]):
    """The app of a ``ClientSession``, and what all its screens share.

    ``back_to`` is the place that the player came from, such as the start screen or, during practice, a server. ``lasting``
    is true if the server keeps running after this program, so that a player who quits can return. If ``with_bell`` is
    true, the terminal's bell rings at important events, for example when a rival finishes. ``bots`` are the player's own,
    such as those of ``samedeal play``. ``game``, ``room`` and ``room_form`` are the player's last choices in the lobby and
    in the form for a new room. ``announcement`` is the text in the banner.
    """

    def __init__(
        self,
        client: ClientSession,
        look: Look,
        bindings: Bindings,
        back_to: str = "",
        *,
        lasting: bool = True,
        with_bell: bool = False,
        bots: LocalBots | None = None,
    ) -> None:
        super().__init__(look)
        self.client = client
        self.bindings = bindings
        self.bots = bots or LocalBots(client.link.address)
        self.back_to = back_to
        self.lasting = lasting
        self._with_bell = with_bell
        self.game = self.room = ""
        self.room_form = RoomForm()
        self.announcement = ""
        self.update_pending = False
        self._ignores_until = 0.0

    async def show_model(self) -> None:
        """Show the screen for the model of the ``ClientSession``, and what has changed on it."""
        raise NotImplementedError

    def show_message(self, sentence: str, style: str = "notice") -> None:
        """Show a message on the current screen."""
        raise NotImplementedError

    async def action_help(self, *, rules: bool = False) -> None:
        """Open the help over the current screen. In a race, or if ``rules`` is true, open it at the rules."""
        raise NotImplementedError

    def request_update(self) -> None:
        """Schedule an update of the screen, unless one is already scheduled."""
        if not self.update_pending:
            self.update_pending = True
            self.post_message(Callback(self.show_model))  # as call_later does, but without a partial

    def key_labels(self) -> Mapping[str, str]:
        """Return the label of the key to quit if the player came from another place."""
        return {"quit": "back"} if self.back_to else {}

    def ignore_input(self, seconds: float) -> None:
        """Ignore keys and clicks for ``seconds`` seconds, except the key to quit.

        The player may have meant these keys and clicks for an earlier screen.
        """
        self._ignores_until = time.monotonic() + seconds

    async def on_event(self, event: events.Event) -> None:
        """Handle an event, unless it is a key or a click that the app ignores."""
        meant_for_earlier = (
            isinstance(event, (events.Key, events.MouseEvent)) and time.monotonic() < self._ignores_until
        )
        if not meant_for_earlier or (isinstance(event, events.Key) and event.key == QUIT_KEY):
            await super().on_event(event)

    def ring(self) -> None:
        """Ring the terminal's bell, if the player wants that."""
        if self._with_bell:
            self.bell()

    @property
    def may_animate(self) -> bool:
        """Whether cards may visibly move on the screen.

        False if the player does not want motion, or if the terminal is slow.
        """
        return self.look.motion and not getattr(self._driver, "is_slow", False)

    @property
    def practising(self) -> bool:
        """Whether the player practises from a moment of a replay.

        Such practice has no server, and shows no time limit.
        """
        return isinstance(self.client.link, GhostLink)

    @property
    def has_lobby(self) -> bool:
        """Whether a player who leaves a room goes to the lobby of the server, not to ``back_to``.

        False if three conditions hold: ``back_to`` is set, the server ends with this program, and only this machine can
        reach the server.
        """
        return self.lasting or not self.back_to or self.client.shared_address != self.client.link.address

    @property
    def after_room(self) -> str:
        """The place to which a player who leaves a room goes, one of ``AFTER_ROOM``."""
        place = "lobby" if self.has_lobby else self.back_to.removeprefix("the ")
        return place if place in AFTER_ROOM else "lobby"

    @property
    def has_racing_bots(self) -> bool:
        """Whether the player has bots whose race may be under way or about to start, and goes on without them."""
        room = self.client.model.room
        return self.lasting and bool(self.bots.names) and (room is None or room.phase in ("countdown", "racing"))

    async def bring_bots(self, before: str, room: str) -> None:
        """Move the player's bots from the room ``before`` to ``room``."""
        try:
            await self.bots.move(before, room, self.client.rooms.passphrase, self.show_message)
        except OSError as error:
            self.show_message(f"The bots could not be started: {error.strerror}.")

    def is_followed(self, result: int | None) -> bool:
        """Return whether the player goes back to ``back_to`` when this app ends with the exit code ``result``."""
        return bool(self.back_to) and not result
