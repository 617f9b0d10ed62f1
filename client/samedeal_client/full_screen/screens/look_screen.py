"""The base of all screens: the look of the app, and names of keys that change."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen, ScreenResultType

from samedeal_client.full_screen.widgets.footer import ScreenKeys
from samedeal_client.full_screen.widgets.look_app import LookApp
from samedeal_client.text.appearance import Look

if TYPE_CHECKING:
    from textual.binding import ActiveBinding
    from textual.widget import Widget


def day_and_zone() -> tuple[date, int]:
    """Return the day in UTC, on which the deal of the day depends, and the offset of the time zone of this machine."""
    time.tzset()  # it may have changed
    return datetime.now(UTC).date(), time.localtime().tm_gmtoff


class LookScreen(Screen[ScreenResultType]):
    """A screen of a ``LookApp``."""

    ALLOW_SELECT: ClassVar[bool] = False
    LABELS: ClassVar[Mapping[str, str]] = {}
    """What the footer calls some actions. A key of such an action is shown, even if Textual hides it."""

    def on_mount(self) -> None:
        """Follow the day and the time zone."""
        self._day = day_and_zone()
        self.set_interval(1, self._follow_day)

    def _follow_day(self) -> None:
        before, self._day = self._day, day_and_zone()
        if self._day != before:
            self.redraw()

    def redraw(self) -> None:
        """Draw again what depends on the day, the time zone or the size of the window."""

    def key_labels(self) -> Mapping[str, str]:
        """Return what the footer calls some actions now, as in ``LABELS``."""
        return self.LABELS

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that can be pressed now, with the labels of ``key_labels``."""
        labels = {**self.look_app.key_labels(), **self.key_labels()}
        return {
            key: found._replace(binding=replace(found.binding, description=labels[action], show=True))
            if (action := found.binding.action) in labels
            else found
            for key, found in super().active_bindings.items()
        }

    @property
    def look_app(self) -> LookApp[Any]:
        """The app to which this screen belongs."""
        return cast("LookApp[Any]", self.app)

    @property
    def look(self) -> Look:
        """The characters and colours for this terminal."""
        return self.look_app.look


class DialogScreen(ModalScreen[ScreenResultType], LookScreen[ScreenResultType]):
    """A screen that lies over another one."""

    def in_box(self, title: str, *widgets: Widget) -> ComposeResult:
        """Yield widgets in a box, and a footer."""
        box = Vertical(*widgets, classes="panel dialog")
        box.border_title = title
        yield box
        yield ScreenKeys(self.look)
