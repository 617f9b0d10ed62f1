"""The results of a race, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from samedeal.deal import Deal
from samedeal.errors import RequestRefused
from samedeal.record import Record
from samedeal_client import room_actions
from samedeal_client.history_file import best_before
from samedeal_client.net.client_session import ClientSession
from samedeal_client.screens.base import Task
from samedeal_client.screens.text_screen import TextScreen
from samedeal_client.state.progress_history import record_progress
from samedeal_client.state.record_files import save_record
from samedeal_client.text.spans import Row
from samedeal_client.views.results import ResultDetails, results_keys, results_view
from samedeal_client.views.screen_body import FooterKey, View

COUNT_INTERVAL: Final = 2.0
"""Time, in seconds, between two requests for the number of players in the room of the rematch."""


class ResultsScreen(TextScreen):
    """The results. ``details`` is what they show besides the model."""

    help_context = "results"

    def __init__(self) -> None:
        super().__init__()
        self.details = ResultDetails()
        self._counting = False

    def on_mount(self) -> None:
        """Save the record of the player's race, and start to count the players of the rematch."""
        self.samedeal.ring()
        record = self.client.record()
        progress = record_progress(record) if record is not None else ()
        best = best_before(self.model)
        self.details = ResultDetails(save_own_record(self.client, record), own_progress=progress, best=best)
        self.set_interval(COUNT_INTERVAL, self._count_again)

    def title_parts(self) -> Row:
        """The race."""
        room = self.model.room
        if room is None:
            return ()
        deal = ", random deal" if room.deal == "random" else f" {room.deal}"
        return self.breadcrumbs(f"{self.model.game.title}{deal}", f"room {room.room}", "results")

    def footer_keys(self) -> Iterable[FooterKey]:
        """The keys that can be pressed now."""
        return results_keys(self.model)

    def prompt_row(self) -> Row:
        """The task that the screen is busy with."""
        return self.busy_row()

    def draw(self, width: int, height: int) -> View:
        """The standings and the plot."""
        return results_view(self.model, self.details, self.look, width, height, self.scroll_rows)

    def apply_key(self, key: str) -> bool:
        """Handle a key."""
        client, bots = self.client, self.samedeal.bots
        match key:
            case "m":
                self.perform("rematch")
            case "n":
                self._run_if_idle("Opening a room", partial(room_actions.open_similar_room, client))
            case "a":
                self._open_same_deal()
            case "r":
                self.open_help(rules=True)
            case "f1" | "?":
                self.open_help()
            case "escape" | "l":  # the key of the lobby on other screens
                self._run_if_idle("Leaving", partial(room_actions.leave_with_bots, client, bots))
            case _:
                return self.scroll_by_key(key)
        return True

    def perform(self, action: str) -> None:
        """Enter the rematch, the only action that can be clicked."""
        if action == "rematch":
            task = partial(room_actions.enter_rematch, self.client, self.samedeal.bots)
            self._run_if_idle("Going to the rematch", task)

    def _run_if_idle(self, busy: str, task: Task) -> None:
        if not self._busy:
            self.run_busy(busy, task)

    def _open_same_deal(self) -> None:
        room = self.model.room
        if room is not None and Deal.parse(room.deal).public:
            self._run_if_idle("Opening a room", partial(room_actions.open_similar_room, self.client, room.deal))
        else:
            self.show_message("A random deal can't be dealt again. Press n for a room with a new one.")

    def _count_again(self) -> None:
        room = self.model.room
        if room is not None and room.next and self.on_top and not self._counting:
            self.run_task(partial(self._count_players, room.next))

    async def _count_players(self, rematch: str) -> None:
        self._counting = True
        try:
            rooms = await self.client.rooms.list()
        except RequestRefused:
            return  # counted again after the next interval
        finally:
            self._counting = False
        players = next((line.players for line in rooms if line.room == rematch), None)
        self.details = replace(self.details, rematch_players=players)
        self.redraw()


def save_own_record(client: ClientSession, record: Record | None) -> str:
    """Save the record of the player's race.

    Return a sentence that says where the record is, or why there is none. For a spectator, return an empty string.
    """
    room = client.model.room
    if room is None or client.model.own.play is None:
        return ""
    if record is None:
        return "Your race was not saved, because this client missed part of it."
    try:
        path = save_record(record, room.room, room.starts)
    except OSError as error:
        return f"Your race could not be saved: {error.strerror}."
    home = Path.home()
    return f"Record saved in ~/{path.relative_to(home)}" if path.is_relative_to(home) else f"Record saved in {path}"
