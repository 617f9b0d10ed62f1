"""The app that replays a recorded race."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from samedeal_client.full_screen.screens.replay import PracticeRequest, ReplayScreen
from samedeal_client.full_screen.widgets.look_app import LookApp
from samedeal_client.input.key_names import QUIT_KEY
from samedeal_client.text.appearance import Look
from samedeal_link.records.replay import RecordedRace, Replay


class ReplayApp(LookApp[PracticeRequest]):
    """The app of a replay.

    Its result is the practice that the player asked for, or None if the player closes the replay. ``back_to`` is the
    place that the player came from, or empty.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(QUIT_KEY, "quit", "quit", priority=True, show=False),
    ]

    def __init__(self, race: RecordedRace, replay: Replay, look: Look, back_to: str = "") -> None:
        super().__init__(look)
        self._back_to = back_to
        self._race = race
        self._replay = replay

    def is_followed(self, result: PracticeRequest | None) -> bool:
        """Return whether another app follows: the practice, or the app that the player came from."""
        return bool(self._back_to) or result is not None

    async def on_mount(self) -> None:
        """Show the replay."""
        _ = self.push_screen(ReplayScreen(self._race, self._replay, leads_back=bool(self._back_to)))
