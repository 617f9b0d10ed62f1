"""A replay of a recorded race: one board in full size, two side by side, or all of them."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from samedeal_client.board.layout import Size, layout, smallest
from samedeal_client.board.marks import Marks, arrived_cards
from samedeal_client.full_screen.screens.look_screen import LookScreen
from samedeal_client.full_screen.screens.page import PageScreen
from samedeal_client.full_screen.widgets.board import BoardView
from samedeal_client.full_screen.widgets.footer import ScreenKeys
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.full_screen.widgets.slider import Slider
from samedeal_client.panels.records import record_heading
from samedeal_client.panels.replay import (
    board_at,
    grid_rows,
    heading_at,
    key_of,
    last_action,
    replay_key_rows,
    slider_row,
    slider_time,
)
from samedeal_client.panels.spectator_grid import cell_head
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Span, fit_row
from samedeal_link.records.replay import RecordedRace, Replay
from samedeal_link.records.spectating import PLAYER_KEYS
from samedeal_link.solving.solver_process import review

_OTHER_BOARDS: Final = frozenset(("up", "down", "0", "t", *PLAYER_KEYS))
"""Keys that show other boards."""

_FRAME_TIME: Final = 0.05
"""Time, in seconds, between two updates of the screen while the replay plays."""


class PracticeRequest(NamedTuple):
    """A request to practise from the moment of ``replay``, or from the deal if ``from_deal`` is true.

    After the practice, the player returns to ``replay``.
    """

    replay: Replay
    from_deal: bool


class _Pane(Vertical):
    """A board with a heading."""

    def __init__(self, look: Look, race: RecordedRace) -> None:
        super().__init__(classes="replay-pane")
        self.head = Rows(look, classes="row")
        self.board = BoardView(look, race.record.game)

    def compose(self) -> ComposeResult:
        """Yield the heading above the board."""
        yield from (self.head, self.board)


class ReplayScreen(LookScreen[None]):
    """The screen of a replay: one or more boards, and a slider that chooses the moment.

    ``leads_back`` is true if the player goes back to another app when the replay is closed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "press('space')", "play/pause"),
        Binding("left", "press('left')", "step", key_display="←/→"),
        Binding("up", "press('up')", "player", key_display="↑/↓"),
        Binding("w", "review", "find losing move"),
        Binding("p", "practise(False)", "play from here"),
        Binding("r", "practise(True)", "race this deal"),
        Binding("0", "press('0')", "all boards"),
        Binding("t", "press('t')", "second board"),
        Binding("f1,question_mark", "help", "keys"),
        Binding("q,escape", "app.quit", "quit"),
        Binding("plus", "press('+')", show=False),
        Binding("minus", "press('-')", show=False),
        *(
            Binding(key, f"press('{key}')", show=False)
            for key in ("right", "pageup", "pagedown", "home", "end", "down", *PLAYER_KEYS)
        ),
    ]

    def __init__(self, race: RecordedRace, replay: Replay, *, leads_back: bool = False) -> None:
        super().__init__()
        self._leads_back = leads_back
        self.race = race
        self.replay = replay
        self._shown_at = time.monotonic()
        self._note = ""

    def key_labels(self) -> Mapping[str, str]:
        """Return the label of the key that closes the replay."""
        return {"app.quit": "back"} if self._leads_back else {}

    def compose(self) -> ComposeResult:
        """Yield the boards above the slider."""
        look = self.look
        self._title = Rows(look, classes="row")
        self._panes = (_Pane(look, self.race), _Pane(look, self.race))
        self._grid = Rows(look.on_table(), id="board-grid")
        self._slider = Slider(look, classes="row")
        self._sentence = Rows(look, classes="row")
        yield self._title
        yield Horizontal(*self._panes, self._grid, id="replay")
        yield from (self._slider, self._sentence)
        yield ScreenKeys(self.look)

    def on_mount(self) -> None:
        """Start the timer that advances the replay."""
        self.set_interval(_FRAME_TIME, self._pass_time)

    def on_resize(self) -> None:
        """Show everything in the new size."""
        self.call_after_refresh(self.redraw)

    def _pass_time(self) -> None:
        now = time.monotonic()
        passed, self._shown_at = now - self._shown_at, now
        if self.replay.playing:
            self.replay = self.replay.passed(1000 * passed, self.race)
            self.redraw()

    def action_press(self, key: str) -> None:
        """Handle a key."""
        self._note = ""
        replay = self.replay.press(key, self.race)
        if replay is not None:
            self.replay = replay
            self.redraw()

    def action_help(self) -> None:
        """Show all keys."""
        _ = self.app.push_screen(PageScreen("Keys of a replay", replay_key_rows))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether the action of a key is available.

        If there is only one board, the keys for other boards have no action.
        """
        return len(self.race.tracks) > 1 or action != "press" or parameters[0] not in _OTHER_BOARDS

    def on_key(self, event: events.Key) -> None:
        """Say that the record has only one board, if that is so and the key is for other boards."""
        if len(self.race.tracks) == 1 and (event.character in _OTHER_BOARDS or event.key in _OTHER_BOARDS):
            self._show_note(f"This record has only the board of {self.race.tracks[0].player.name}.")

    def action_review(self) -> None:
        """Search in the background for the action after which the player could no longer win the deal.

        The player is the first one in ``replay.chosen``. If the solver finds moves that would have won, show them on a
        second board.
        """
        number = self.replay.chosen[0]
        if number >= len(self.race.tracks):
            return
        self.replay = dataclasses.replace(self.replay, playing=False)
        self.run_worker(self._review(number), exclusive=True)

    async def _review(self, number: int) -> None:
        track = self.race.tracks[number]
        if track.plays[-1].board.won:
            self._show_note(f"{track.player.name} won, so no move lost the game.")
            return
        actions = [action for _, action in track.player.actions]
        found = await review(
            track.plays,
            actions,
            lambda number: self._show_note(f"Looking where {track.player.name} lost: board {number} ..."),
        )
        self._note = found.sentence(actions)
        if found.line:
            revision = found.revisions[found.last_won]
            self.race.add_line(track, revision, found.line)
            self.replay = self.replay.beside_line(number, revision, self.race)
        self.redraw()

    def _show_note(self, sentence: str) -> None:
        self._note = sentence
        self.redraw()

    def action_practise(self, from_deal: bool) -> None:  # noqa: FBT001  # Textual passes it so
        """Leave the replay to practise from this moment, or from the deal."""
        replay = dataclasses.replace(self.replay, playing=False)
        self.app.exit(PracticeRequest(replay, from_deal))

    def on_slider_moved(self, event: Slider.Moved) -> None:
        """Go to the moment that the slider was moved to."""
        self.replay = self.replay.at(slider_time(event.x, self.race, self.size.width), self.race)
        self.redraw()

    def redraw(self) -> None:
        """Show the boards, the slider and the last action for the chosen moment."""
        replay, race, look, width = self.replay, self.race, self.look, self.size.width
        shown = replay.shown(race)
        full = self._fits(shown)
        for at, pane in enumerate(self._panes):
            pane.display = full and at < len(shown)
        self._grid.display = not full
        if full:
            for pane, number in zip(self._panes, shown, strict=False):
                self._show_board(pane, number)
        else:
            self._grid.show(grid_rows(race, replay, self._grid.look, Size(*self.query_one("#replay").size)))
        heading = look.displayable(record_heading(race.record))
        self._title.show([fit_row((Span(" REPLAY  ", "title"), Span(heading, "label")), width, look.glyphs.ellipsis)])
        self._slider.show([slider_row(replay, race, look, width)])
        sentence = self._note or last_action(race, replay, look)
        self._sentence.show([fit_row((Span(f" {sentence}", "label"),), width, look.glyphs.ellipsis)])

    def _fits(self, shown: Sequence[int]) -> bool:
        """Return whether the boards fit in full size, next to each other."""
        if len(shown) > len(self._panes):
            return False
        size, minimum = self.query_one("#replay").size, smallest(self.race.record.game)
        return size.width // len(shown) >= minimum.width and size.height > minimum.height

    def _show_board(self, pane: _Pane, number: int) -> None:
        track = self.race.shown_tracks[number]
        watched = board_at(track, self.replay.moment)
        player = heading_at(self.race, number, self.replay.moment)
        panes = len(self.replay.shown(self.race))
        area = self.query_one("#replay").size
        width = area.width // panes
        pane.head.show([cell_head(player, key_of(self.race, number), watched, self.look, width)])
        board = watched.play.board.masked()
        places = layout(self.race.record.game, width, area.height - 1)
        cards_fly = self.look.motion and self.replay.playing and self.replay.speed <= 1
        pane.board.show(board, places, Marks(last=arrived_cards(board, watched.play.last)), motion=cards_fly)
