"""The lobby: the player's own race, the rooms of a server, and ways to start another race."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Click
from textual.widgets import DataTable, OptionList, Select, Static
from textual.widgets.option_list import Option

from samedeal.errors import RequestRefused
from samedeal.games import GAMES
from samedeal.options import Options
from samedeal_client import room_actions
from samedeal_client.full_screen.screens.widget_screen import WidgetScreen
from samedeal_client.full_screen.widgets.list_table import ListTable
from samedeal_client.full_screen.widgets.themes import lines_of, text_of
from samedeal_client.menus.lobby import Lobby
from samedeal_client.menus.start_menu import MenuChoice
from samedeal_client.panels import history as history_panels
from samedeal_client.panels import lobby as panels
from samedeal_client.panels.frame import breadcrumbs
from samedeal_client.panels.tide import tide_text
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.spans import Row, Span
from samedeal_link.machine.terminal import terminal
from samedeal_link.records.past_races import History

LIST_INTERVAL: Final = 2.0
"""Time, in seconds, between two requests for the list of rooms."""

_LATEST: Final = 50
"""Number of past races listed."""


class LobbyScreen(WidgetScreen):
    """The lobby. ``lobby`` is its state."""

    help_context = "lobby"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "watch", "watch"),
        Binding("m", "choose('now')", "race now", show=False),
        Binding("t", "choose('tide')", "tide", show=False),
        Binding("n", "choose('new')", "new", show=False),
        Binding("d", "choose('daily')", "daily", show=False),
        Binding("p", "choose('practise')", "practice", show=False),
        Binding("h", "history", "history"),
        Binding("g", "next_game", "game", show=False),
        Binding("escape,q", "app.quit", show=False),
        *(Binding(str(number), f"enter_number({number})", show=False) for number in range(1, 10)),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.lobby = Lobby(date.min)
        self._history = History()
        self._shown_ways: tuple[MenuChoice, ...] = ()

    def compose_body(self) -> ComposeResult:
        """Yield the rooms above the ways to start a race. If there is space, the latest races are beside them."""
        games = [("any game", ""), *((game.title, name) for name, game in GAMES.items())]
        self._own_race = Static(id="own-race", classes="panel")
        self._rooms = ListTable(panels.ROOM_HEADINGS, id="rooms", classes="panel")
        self._no_rooms = Static(id="no-rooms", classes="panel")
        self._choices = OptionList(id="choices", compact=True)
        self._game = Select(games, allow_blank=False, compact=True, id="game", value=self.samedeal.game)
        game_label = Static(text_of((Span("g  ", "key"), Span("Game", "title")), self.look), id="game-label")
        used_by = Static(text_of((Span("for m, p and n", "label"),), self.look))
        self._play = Vertical(self._choices, Horizontal(game_label, self._game, used_by), id="play", classes="panel")
        self._today_panels = [Static(classes="panel today") for _ in range(2)]
        self._latest = ListTable(history_panels.SHORT_HEADINGS, id="latest", classes="panel")
        self._rules = Static(id="rules", classes="panel")
        yield Horizontal(
            Vertical(
                self._own_race,
                self._rooms,
                self._no_rooms,
                self._rules,
                Horizontal(self._play, self._today_panels[0], id="start"),
                id="left",
            ),
            Vertical(self._today_panels[1], self._latest, id="right"),
            id="lobby",
        )

    def on_mount(self) -> None:
        """Start to list the rooms."""
        self.lobby = Lobby(
            self._today(), own_room=self.client.link.saved_room, last_room=self.samedeal.room, game=self.samedeal.game
        )
        self._history = self.samedeal.read_history()
        for panel in (self._rooms, self._no_rooms):
            panel.border_title = "Rooms"
        self._play.border_title = "Play"
        self._latest.border_title = "Your latest races"
        self._own_race.border_title = "Your race is running"
        self.run_task(self._list_rooms)

    def _today(self) -> date:
        return datetime.fromtimestamp(self.client.now() / 1000, UTC).date()

    def title_parts(self) -> Row:
        """Return the server, and the player's name on it."""
        return breadcrumbs(self.client.link.address.typed, f"as {self.model.name or self.client.link.name}")

    def on_tick(self) -> None:
        """Update the times of the races."""
        self._show_rooms()
        self._show_choices()

    def show_model(self) -> None:
        """Draw the lobby again."""
        lobby, look = self.lobby, self.look
        self._show_rooms()
        self._show_choices()
        today = panels.today_rows(lobby, self._history)
        for panel in self._today_panels:
            panel.border_title = f"Today: {title_of(lobby.daily_game)}"
            panel.update(lines_of(today, look))
        races = self._history.latest[:_LATEST]
        self._latest.show_rows(
            {
                f"{len(self._history.races) - at}": (*cells, outcome.partition(" ")[0])
                for at, (*cells, outcome) in enumerate(history_panels.short_cells(race, look) for race in races)
            }
        )

    @property
    def _ways(self) -> tuple[MenuChoice, ...]:
        return panels.choices(
            self.lobby,
            tide_text(self.client.link.tides, self.client.now()),
            bots=terminal().owns_process or self.client.link.has_house,
        )

    def _show_choices(self) -> None:
        ways = self._ways
        if ways == self._shown_ways:
            return
        self._shown_ways = ways
        if self._choices.option_count != len(ways):
            self._choices.clear_options()
            self._choices.add_options(Option("") for _ in ways)
        for index, choice in enumerate(ways):
            self._choices.replace_option_prompt_at_index(
                index, text_of(panels.choice_row(choice, self.look), self.look)
            )

    def _show_rooms(self) -> None:
        lobby, look, now = self.lobby, self.look, self.client.now()
        own, rooms = lobby.own_race, lobby.rooms or ()
        self._own_race.display = own is not None
        if own is not None:
            self._own_race.update(text_of(panels.own_race_row(own, look, now), look))
        first = not self._rooms.row_count
        width = self.size.width
        self._rooms.display, self._no_rooms.display = bool(rooms), not rooms
        self._rooms.ordered_columns[2].label = Text(panels.game_heading(width))
        self._rooms.show_rows(
            {
                line.room: panels.room_cells(lobby, number, line, look, now, width)
                for number, line in enumerate(rooms, 1)
            },
            selected=lobby.last_room if first and own is None else "",
        )
        self._rooms.border_subtitle = panels.count_states(rooms)
        if not rooms:
            nobody = "Nobody is here yet. Press n to open a room" + (
                ", or p to practise." if terminal().owns_process else "."
            )
            self._no_rooms.update(nobody if lobby.rooms is not None else "Loading rooms")
        elif self.focused is None:
            self.set_focus(self._rooms)
        self._show_selected()

    @on(DataTable.RowSelected, "#rooms")
    def _enter_selected(self) -> None:
        self._enter(self._rooms.selected_key)

    @on(DataTable.RowSelected, "#latest")
    def _show_history(self) -> None:
        self.action_history()

    @on(DataTable.RowHighlighted, "#rooms")
    def _show_selected(self) -> None:
        """Show the rules of the selected room's game, and show in the footer the effect of Enter on the room."""
        line = self.lobby.line(self._rooms.selected_key)
        self.refresh_bindings()
        game = line.game if line is not None else self.lobby.game_or_default
        self._rules.border_title = f"How to play {title_of(game)}"
        self._rules.update(lines_of(panels.game_rows(game), self.look))

    @on(OptionList.OptionSelected, "#choices")
    def _choose_option(self, event: OptionList.OptionSelected) -> None:
        self.action_choose(self._ways[event.option_index].action)

    @on(Select.Changed, "#game")
    def _choose_game(self, event: Select.Changed) -> None:
        self._set_game(str(event.value))

    @on(Click, "#own-race")
    def _return_to_own_race(self) -> None:
        if self.lobby.own_race is not None:
            self._enter(self.lobby.own_race.room)

    def key_labels(self) -> Mapping[str, str]:
        """Return the label of Esc if it leads back, and that of Enter on the selected room."""
        line = self.lobby.line(self._rooms.selected_key) if self.focused is self._rooms else None
        return {
            **({"app.quit": "start screen"} if self.samedeal.back_to else {}),
            **({"select_cursor": panels.enter_does(self.lobby, line)} if line is not None else {}),
        }

    def action_next_game(self) -> None:
        """Select the next entry in the menu of games. The last entry is followed by the first, "any game"."""
        games = ["", *GAMES]
        self._set_game(games[(games.index(self.lobby.game) + 1) % len(games)])

    def _set_game(self, game: str) -> None:
        if game != self.lobby.game:
            self.samedeal.game = self._game.value = game
            self.lobby = replace(self.lobby, game=game)
            self.show_model()

    def action_enter_number(self, number: int) -> None:
        """Enter a room by its number in the list."""
        rooms = self.lobby.rooms or ()
        if number <= len(rooms):
            self._enter(rooms[number - 1].room)
        else:
            self.show_message(f"There is no room with number {number}.")

    def action_history(self) -> None:
        """Show the player's past races."""
        from samedeal_client.full_screen.screens.history import HistoryScreen

        _ = self.app.push_screen(HistoryScreen())

    def action_watch(self) -> None:
        """Watch the selected room."""
        line = self.lobby.line(self._rooms.selected_key)
        if line is None:
            self.show_message("There are no public rooms yet. Open one with n, or press m to race now.")
        elif not line.spectators:
            self.show_message(f"The host of room {line.room!r} allows no spectators. Choose another room.")
        else:
            self.run_busy(f"Opening {line.room} to watch", partial(self.client.watch, line.room))

    def action_choose(self, choice: str) -> None:
        """Start a race in one of the ways that ``panels.choices`` lists."""
        lobby, game = self.lobby, self.lobby.game_or_default
        match choice:
            case "now":
                self.run_busy("Looking for a race", partial(room_actions.race_now, self.client, lobby.game))
            case "tide":
                self.run_busy("Entering the next race", partial(room_actions.enter_next_tide, self.client))
            case "daily":
                rooms = [line.room for line in lobby.daily_rooms()]
                options = Options(games=(lobby.daily_game,), deal="daily")
                self.run_busy("Joining the daily deal", partial(room_actions.join_match, self.client, rooms, options))
            case "practise":
                practise = (
                    self._practise if terminal().owns_process else partial(room_actions.race_with_bots, self.client)
                )
                self.run_busy(f"Practising {title_of(game)}", partial(practise, game))
            case _:
                from samedeal_client.full_screen.screens.new_room import NewRoomScreen

                _ = self.app.push_screen(NewRoomScreen(self.samedeal.room_form.for_game(lobby.game)))

    async def _list_rooms(self) -> None:
        """Request and show the list of rooms, again and again.

        If the connection is lost, the answer arrives after the client has reconnected.
        """
        while True:
            if self.on_top:
                try:
                    rooms = await self.client.rooms.list()
                except RequestRefused as refused:
                    self.show_message(str(refused))
                else:
                    before = self.lobby
                    self.lobby = replace(before.listed(rooms), today=self._today())
                    if self.lobby != before and self._ready:
                        self.show_model()
            await asyncio.sleep(LIST_INTERVAL)

    def _enter(self, room: str) -> None:
        line = self.lobby.line(room)
        enter = partial(room_actions.join_or_watch, self.client, room, line=line)
        self.run_busy(f"Joining {room}", enter)

    async def _practise(self, game: str) -> None:
        """Suspend the app and run a race against bots on this machine in place of the app."""
        link = self.client.link
        command = ["play", game, "--name", link.name, "--back-to", link.address.typed]
        code = await self.samedeal.run_command(command, f"Starting a race in {title_of(game)}")
        self._history = self.samedeal.read_history()
        self.show_model()
        if code:
            self.show_message(f"Practice failed with exit code {code}. To see why, quit and type: samedeal play {game}")
