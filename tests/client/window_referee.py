"""A referee of a race with a window, and the sentences of its room."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samedeal.options import Options
from samedeal.protocol.messages import Begin, Begun, Created, Done, RaceNow, RoomState, Start, ToClient, ToServer
from samedeal.race.held_race import HeldRace
from samedeal.race.progress import Progress
from samedeal.race.values import DrawProgress
from tests.client.referee import ME, START, Referee

HOUR = 3_600_000
ENDS = START + 40 * HOUR


class WindowReferee(Referee):
    """The referee of a race with a window, in which ana is the host. All but the players in ``here`` are not connected.

    ``race`` has fields of the race that differ from a window that has opened at ``START``, in which ana has not begun and
    whose deal mira and k0ji have drawn.
    """

    def __init__(self, phase: str = "racing", here: tuple[str, ...] = (ME,), **race: Any) -> None:
        super().__init__(phase="open", options=Options(deal="#7", bots=False, end_when_settled=False))
        usual = {"window": 48 * HOUR // 1000, "ends": ENDS, "starts": START if phase == "racing" else 0}
        draw = DrawProgress(number=1, found=phase == "racing", seats=(2, 3)) if phase != "open" else DrawProgress()
        fields = {**usual, "draw": draw, **race}
        away = {racer.player: Progress() for racer in self.held.race.racers if racer.player not in here}
        self.held = HeldRace(replace(self.held.race, phase=phase, **fields), self.held.secret, away)

    def state(self) -> RoomState:
        return self.held.state(self.time, ME)

    def begin_own(self) -> None:
        """Let ana begin."""
        self.held = self.held.begun(ME, self.time)

    def answers_to(self, message: ToServer) -> list[ToClient]:
        match message:
            case Begin():
                self.begin_own()
                begun = Begun(to=message.id, time=self.time, receipt=b"")
                return [begun, self.state(), *self.board_messages()]
            case RaceNow(series=str(series)) if series:
                return [Created(to=message.id, room=self.room)]
            case Start():
                return [Done(to=message.id)]
            case _:
                return super().answers_to(message)

    def board_messages(self) -> list[ToClient]:
        return super().board_messages() if self.held.progress_of(ME).began_at else []
