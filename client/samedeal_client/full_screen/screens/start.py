"""The start screen, which ``samedeal`` shows when it is started without a command."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final, TypeVar

from msgspec.structs import replace
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label, OptionList, Select, Static
from textual.widgets.option_list import Option

from samedeal.board import Board
from samedeal.deal import Deal
from samedeal.errors import MalformedText
from samedeal.game import Game
from samedeal.games import DEFAULT_GAME, GAMES
from samedeal.joint_deal import public_board
from samedeal.names import clean_name, clean_place
from samedeal_client.board.mini_board import draw_mini, smallest_mini
from samedeal_client.full_screen.screens.history import HistoryScreen
from samedeal_client.full_screen.screens.look_screen import DialogScreen, LookScreen, day_and_zone
from samedeal_client.full_screen.screens.page import PageScreen
from samedeal_client.full_screen.widgets.footer import ScreenKeys
from samedeal_client.full_screen.widgets.form_fields import CHOICE_LABELS, ChoiceField, TextField
from samedeal_client.full_screen.widgets.list_table import ListTable
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.full_screen.widgets.themes import DARK, LIGHT, lines_of, text_of
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.menus.lobby import Lobby
from samedeal_client.menus.start_menu import (
    LONE_CODE,
    MENU,
    RESTART,
    FailedChoice,
    MenuChoice,
    address_words,
    enter_arguments,
    is_room_code,
    menu,
)
from samedeal_client.panels import history as history_panels
from samedeal_client.panels import lobby as panels
from samedeal_client.panels.help import help_rows
from samedeal_client.panels.tide import tide_text
from samedeal_client.panels.waiting import LEVEL_TEXTS
from samedeal_client.saved_settings import load_settings, save_settings
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.spans import Row, Span
from samedeal_link.connection.address import ServerAddress, is_loopback_url, parse_address
from samedeal_link.connection.kept_seat import KeptSeat
from samedeal_link.connection.saved_sessions import FileSessions
from samedeal_link.machine.terminal import terminal
from samedeal_link.records.past_races import History
from samedeal_link.solving.bot_levels import LEVELS

_LATEST: Final = 20

_LIMITS: Final = (5, 10, 15, 20, 30, 60)
"""The time limits that the player can choose from in the settings, in minutes."""

_Value = TypeVar("_Value", bool, int, str)

_WIDE: Final = 110
"""Minimum width, in columns, of a window in which the list of the latest races includes places."""


class AddressScreen(DialogScreen[str | None]):
    """A dialog that asks for a link, a server or a room code."""

    LABELS: ClassVar = {"submit": "go on"}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "cancel")]

    def __init__(
        self, title: str, hint: str, server: str, failed: FailedChoice | None = None, *, may_be_empty: bool = False
    ) -> None:
        super().__init__()
        self._failed = failed
        self._title = title
        self._hint = hint
        self._server = server
        self._may_be_empty = may_be_empty

    def compose(self) -> ComposeResult:
        """Yield the input with its explanation."""
        typed, text = (self._failed.typed, self._failed.reason) if self._failed is not None else ("", self._hint)
        meaning = Static(Text(text), id="meaning")
        yield from self.in_box(self._title, Input(typed, id="address", select_on_focus=False), meaning)

    @on(Input.Changed)
    def _explain(self, event: Input.Changed) -> None:
        """Show how the typed text will be understood. If it is the text that has failed, show why it failed."""
        self.query_one("#meaning", Static).update(Text(self._meaning(event.value)))

    def _meaning(self, typed: str) -> str:
        if self._failed is not None and typed == self._failed.typed:
            return self._failed.reason
        words = address_words(typed)
        if not words:
            return self._hint
        if len(words) == 1 and is_room_code(words[0]):
            if not self._server:
                return f"Server {words[0]}? {LONE_CODE}"
            return f"Room {words[0]} on {_machine(parse_address(self._server))}"
        try:
            address = parse_address(enter_arguments("join", typed, self._server)[1])
        except MalformedText as error:
            return str(error)
        room = words[-1] if len(words) > 1 else address.room
        host = _machine(address)
        return f"Room {room} on {host}" if room else f"The rooms of {host}"

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        typed, problem = event.value.strip(), ""
        if not self._may_be_empty and not address_words(typed):
            problem = f"This is incomplete. {self._hint}"
        elif typed:
            try:
                if self._may_be_empty:
                    parse_address(typed)
                else:
                    _, address, *room = enter_arguments("join", typed, self._server)
                    parse_address(address)
                    _ = [clean_place(code) for code in room]
            except MalformedText as error:
                problem = str(error)
        if problem:
            self.query_one("#meaning", Static).update(Text(problem))
        else:
            _ = self.dismiss(typed)


def _machine(address: ServerAddress) -> str:
    """Return the host of an address, or "this machine" for an address of this machine."""
    return "this machine" if is_loopback_url(address.url) else address.host


def _seat_text(seat: KeptSeat) -> str:
    """Return the room and the server of a seat.

    If the player has another name in this seat than in the settings, the text begins with this other name.
    """
    name = "" if load_settings().name in ("", seat.name) else f"as {seat.name} "
    return f"{name}in {seat.room}, {_machine(parse_address(seat.url))}"


def _choice(name: str, value: _Value, texts: Mapping[_Value, str]) -> ChoiceField[_Value]:
    """Return the field of a setting, with a text for each value."""
    choices = [(text, each) for each, text in texts.items()]
    return ChoiceField(
        choices, value=value if value in texts else choices[0][1], allow_blank=False, compact=True, id=name
    )


_HINTS: Final = {"against bots": "Play: on, Host: off", "always": "on", "never": "off"}


class SettingsScreen(DialogScreen[None]):
    """The settings. They are saved when the player presses Enter in a text field, and when the screen is closed.

    If a setting is invalid, nothing is saved and the error is shown. If the player closes the screen while it shows the
    error, the changes that were not saved are dropped.
    """

    _HINT: Final = "Play and Host use Time limit and Hints. Play also uses Bots."

    LABELS: ClassVar = {"submit": "save", **CHOICE_LABELS}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "save and go back")]

    def compose(self) -> ComposeResult:
        """Yield a widget for each setting."""
        settings = load_settings()
        fields = {
            "Name": TextField(settings.name, placeholder="your login name", max_length=20, compact=True, id="name"),
            "Last server": TextField(settings.server, placeholder="none", compact=True, id="server"),
            "Characters": _choice("ascii", settings.ascii, {False: "Unicode", True: "ASCII only"}),
            "Suit colours": _choice("four_color", settings.four_color, {False: "two", True: "four"}),
            "Theme": _choice(
                "theme", settings.theme, {"": "as in the terminal", DARK.name: "dark", LIGHT.name: "light"}
            ),
            "Flying cards": _choice("motion", settings.motion, {True: "on", False: "off"}),
            "Bell": _choice("bell", settings.bell, {True: "at key moments", False: "off"}),
            "Time limit": _choice("limit", settings.limit, {time: f"{time} min" for time in _LIMITS}),
            "Hints": _choice("hints", settings.hints, _HINTS),
            "Bots": _choice("level", settings.level, {"mixed": "mixed", **dict(zip(LEVELS, LEVEL_TEXTS, strict=True))}),
        }
        rows = (Horizontal(Label(label), field, classes="field") for label, field in fields.items())
        yield from self.in_box("Settings", *rows, Static(self._HINT, id="meaning"))

    def on_mount(self) -> None:
        """Begin without an error."""
        self._warned = False

    @on(Input.Changed)
    def _edit(self) -> None:
        """Clear the error."""
        self._warned = False
        self.query_one("#meaning", Static).update(self._HINT)

    @on(Input.Submitted)
    def _confirm(self) -> None:
        """Save the settings and say so."""
        if self._save():
            self.query_one("#meaning", Static).update("Saved.")

    def action_close(self) -> None:
        """Save the settings and go back.

        If saving fails, show the error and stay. If an error was already shown, go back even if saving fails.
        """
        warned = self._warned
        if self._save() or warned:
            _ = self.dismiss()

    def _save(self) -> bool:
        """Save the settings and return True. If that fails, show the error and return False."""
        name, server = (self.query_one(selector, Input).value.strip() for selector in ("#name", "#server"))
        try:
            name = clean_name(name) if name else ""
            server = parse_address(server).typed if server else ""
            settings = replace(
                load_settings(),
                name=name,
                server=server,
                **{str(field.id): field.value for field in self.query(ChoiceField)},
            )
            save_settings(settings)
        except (MalformedText, OSError) as error:
            without = "They last until you quit." if isinstance(error, OSError) else "Esc goes back without saving."
            self.query_one("#meaning", Static).update(Text(f"Not saved. {error} {without}"))
            self._warned = True
            return False
        return True


class _Menu(OptionList):
    """The lines of the menu. The choice of a game is above them."""

    def action_cursor_up(self) -> None:
        """Go up. From the first line, go to the choice of a game."""
        if self.highlighted:
            super().action_cursor_up()
        else:
            self.screen.focus_previous()


class _GameChoice(ChoiceField[str], inherit_bindings=False):
    """The choice of a game. The key Down goes to the menu."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "show_overlay", "choose a game"),
        Binding("down", "app.focus_next", show=False),
    ]


class _Preview(Rows):
    """The first cards of a game, as small or large as there is space. If there is too little, it is hidden."""

    _board: Board | None = None

    def show_game(self, game: Game) -> None:
        """Show the cards of a deal that can be won."""
        self._board = public_board(game, Deal("number", number=game.file.demo)).masked()
        self._draw()

    def on_resize(self) -> None:
        """Draw the cards again in the new size."""
        self._draw()

    def _draw(self) -> None:
        width, height = self.size
        if self._board is None:
            return
        least = smallest_mini(self._board.game)
        fits = width >= least.width and height >= least.height
        self.show(draw_mini(self._board, self.look, width, height) if fits else ())


def _rules(game: str, look: Look, width: int) -> list[Row]:
    """Return the rules of a game, and the keys."""
    return [row for page in (game, "keys") for row in (*help_rows(page, DEFAULT, look, width, "race"), ())]


_USUAL_LENGTHS: Final = {1: "5 to 10 minutes", 2: "10 to 20 minutes"}
"""How long a race usually takes people, by the number of decks."""


class StartScreen(LookScreen[list[str]]):
    """The menu.

    When the player has chosen a command, the app ends. The app's result is the arguments of ``samedeal`` for this
    command.
    """

    LABELS = CHOICE_LABELS
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(choice.key, f"choose('{choice.action}')", choice.name, show=False) for choice in MENU),
        Binding("b", "return_to_seat", "back to your seat", show=False),
        Binding("g", "next_game", "game"),
        Binding("f1,question_mark", "help", "help"),
    ]

    def __init__(self, failed: FailedChoice | None = None) -> None:
        super().__init__()
        self._failed = failed
        self._history = History()
        self._seat = FileSessions().kept_seat()
        seat = _seat_text(self._seat) if self._seat is not None else ""
        self._choices = menu(seat, title_of(self._lobby.daily_game), self._tide)
        self.set_class(self._seat is not None, "-with-seat")

    def compose(self) -> ComposeResult:
        """Yield the menu beside the daily deal and the latest races."""
        look = self.look
        suits = [Span(f"{look.suit(suit)} ", look.suit_style(suit)) for suit in (3, 2, 1, 0)]
        title = text_of((*suits, Span("  S A M E D E A L   ", "title"), *reversed(suits)), look)
        games = [(game.title, name) for name, game in GAMES.items()]
        self._menu = _Menu(*(Option(self._line(choice)) for choice in self._choices), id="menu", compact=True)
        chosen = load_settings().game
        self._game = _GameChoice(
            games, allow_blank=False, compact=True, id="game", value=chosen if chosen in GAMES else DEFAULT_GAME
        )
        label = Static(text_of((Span("g  ", "key"), Span("Game", "title")), look), id="game-label")
        self._play = Vertical(
            Horizontal(label, self._game, id="game-row"), self._menu, classes="panel", id="start-menu"
        )
        self._rules = Static(id="rules", classes="panel")
        self._previews = [_Preview(look, id="preview"), _Preview(look, id="small-preview")]
        self._today = Static(classes="panel today")
        self._latest = Static(id="latest", classes="panel")
        yield Static(title, id="title")
        self._tagline = Static(id="tagline")
        yield self._tagline
        self._summary = ListTable(history_panels.SUMMARY_HEADINGS, id="games", classes="panel", show_cursor=False)
        yield Horizontal(
            Vertical(self._play, self._summary, self._previews[0], id="left"),
            Vertical(self._today, self._latest, self._previews[1], id="right"),
        )
        yield self._rules
        yield ScreenKeys(self.look)

    def _line(self, choice: MenuChoice) -> Text:
        return text_of(panels.choice_row(choice, self.look), self.look)

    @property
    def _tide(self) -> str:
        """The next tide of the server that was joined last, or an empty text if it has none."""
        return tide_text(load_settings().tides, int(1000 * time.time()))

    def _count_down(self) -> None:
        texts = {"tide": self._tide, "daily": title_of(self._lobby.daily_game)}
        for at, choice in enumerate(self._choices):
            if choice.action in texts:
                line = self._line(choice._replace(description=texts[choice.action]))
                self._menu.replace_option_prompt_at_index(at, line)

    @property
    def _game_name(self) -> str:
        return str(self._game.value)

    def on_mount(self) -> None:
        """Select the first line. If the player's last choice has failed, open its dialog again or show the reason."""
        self._menu.highlighted = 0
        self.set_interval(1, self._count_down)
        self.set_focus(self._menu)
        self._play.border_title = "Samedeal"
        self._summary.border_title = "Your games"
        if self._failed is not None:
            if self._failed.dialog:
                self.action_choose(self._failed.dialog)
            else:
                self.notify(self._failed.reason, timeout=20, markup=False)
            self._failed = None
        for sentence in terminal().unsaved.take_sentences():
            self.notify(sentence, timeout=20, markup=False)

    def on_screen_resume(self) -> None:
        """Show the history with the newest races."""
        self._history = self.look_app.read_history()
        self.redraw()

    def on_resize(self) -> None:
        """Show as much as the window has space for."""
        self.redraw()

    @property
    def _lobby(self) -> Lobby:
        return Lobby(day_and_zone()[0])

    def redraw(self) -> None:
        """Show everything except the menu."""
        look, lobby, history = self.look, self._lobby, self._history
        cut_off = history_panels.cut_off_text(history)
        tagline = Span(cut_off, "notice") if cut_off else Span("Everyone plays the same deal. The fastest player wins.")
        self._tagline.update(text_of((tagline,), look))
        self._today.border_title = f"Today: {title_of(lobby.daily_game)}"
        self._today.update(lines_of(panels.today_rows(lobby, history), look))
        wide = self.app.size.width >= _WIDE
        rows = [
            (
                Span(f"{day} {game:<13} "),
                Span(f"{outcome.partition(' ')[0]:<7}", "title"),
                Span(place if wide else "", "label"),
            )
            for day, game, place, outcome in (
                history_panels.short_cells(race, look) for race in history.latest[:_LATEST]
            )
        ]
        self._latest.border_title = "Your latest races" if rows else "The games"
        self._latest.update(lines_of(rows or panels.games_rows(), look))
        self._summary.show_rows({line[0]: line for line in history_panels.summary_cells(history, look)})
        game = GAMES[self._game_name]
        for preview in self._previews:
            preview.show_game(game)
        self.set_class(not history.races, "-newcomer")
        self._rules.border_title = f"{game.title}: {game.file.blurb}"
        self._rules.border_subtitle = f"{_USUAL_LENGTHS[game.decks]}, F1 has all rules"
        self._rules.update(lines_of(panels.game_rows(self._game_name), look))

    @on(Select.Changed, "#game")
    def _choose_game(self) -> None:
        settings = load_settings()
        if settings.game != self._game_name:
            self.look_app.save_settings(replace(settings, game=self._game_name))
        self.redraw()

    @on(OptionList.OptionSelected, "#menu")
    def _choose_option(self, event: OptionList.OptionSelected) -> None:
        action = self._choices[event.option_index].action
        if action == "back":
            self.action_return_to_seat()
        else:
            self.action_choose(action)

    def action_help(self) -> None:
        """Show the rules of the chosen game, and the keys."""
        title = f"How to play {title_of(self._game_name)}"
        _ = self.app.push_screen(PageScreen(title, partial(_rules, self._game_name)))

    def action_next_game(self) -> None:
        """Choose the next game."""
        games = list(GAMES)
        self._game.value = games[(games.index(self._game_name) + 1) % len(games)]

    def action_return_to_seat(self) -> None:
        """Return to the player's kept seat, if there is one."""
        if self._seat is not None:
            self._run(self._seat.arguments)

    def action_choose(self, choice: str) -> None:
        """Perform the action of a line of the menu."""
        settings = load_settings()
        server = settings.server
        match choice:
            case "race" | "tide":
                self._race_now(server, tide=choice == "tide")
            case "play" | "join" | "host" | "daily" if not terminal().owns_process:
                self._choose_here(choice, server, settings.room_arguments)
            case "play":
                self._run(["play", self._game_name, *settings.play_arguments])
            case "daily":
                self._run(["play", self._lobby.daily_game, "--deal", "daily"])
            case "join" | "watch":
                last = f" A code alone is a room on {_machine(parse_address(server))}." if server else ""
                hint = f"Type a link, or a server and a room code.{last}"
                self._ask(choice, hint, server, lambda typed: enter_arguments(choice, typed, server))
            case "host":
                hint = "Type a server, or leave this empty to host on this machine."

                def host(typed: str) -> Sequence[str]:
                    command = ["new", typed, "--game", self._game_name] if typed else ["host", self._game_name]
                    return [*command, *settings.room_arguments]

                self._ask(choice, hint, "", host, may_be_empty=True)
            case "history":
                _ = self.app.push_screen(HistoryScreen())
            case "settings":
                self._change_settings()
            case _:
                self._run([])

    def _change_settings(self) -> None:
        before = load_settings()

        def restart(_: None) -> None:
            after = load_settings()
            renamed = self._seat is not None and after.name != before.name
            looks = [(each.ascii, each.four_color, each.theme) for each in (before, after)]
            if renamed or looks[0] != looks[1]:
                self._run(RESTART)

        _ = self.app.push_screen(SettingsScreen(), restart)

    def _choose_here(self, choice: str, server: str, room_arguments: Sequence[str]) -> None:
        """Race against bots, join, host or race today's deal on ``server``, the only one that there is."""
        if choice == "play":
            self._run(["race", self._game_name, server, "--bots"])
        elif choice == "daily":
            self._run(["new", server, "--game", self._lobby.daily_game, "--deal", "daily"])
        elif choice == "host":
            self._run(["new", server, "--game", self._game_name, *room_arguments])
        else:
            hint = "Type a room code, or leave this empty to see all rooms."
            self._ask(
                "join", hint, server, lambda typed: enter_arguments("join", typed or server, server), may_be_empty=True
            )

    def _race_now(self, server: str, *, tide: bool) -> None:
        """Race on ``server``, in its next tide if asked. If it is empty, or if that has failed, ask for a server."""
        if tide and self._tide:
            self._run(["race", server, "--tide"])
        elif server and self._failed is None:
            self._run(["race", self._game_name, server])
        else:
            hint = "Type a server. The race starts within 23 s, with those who come."
            self._ask("race now", hint, server, lambda typed: ["race", self._game_name, typed])

    def _ask(
        self, title: str, hint: str, server: str, then: Callable[[str], Sequence[str]], *, may_be_empty: bool = False
    ) -> None:
        """Ask for an address, and run the command that ``then`` returns for it. The last choice fills the dialog."""

        def run(typed: str | None) -> None:
            if typed is not None:
                self._run(then(typed))

        dialog = AddressScreen(title.capitalize(), hint, server, self._failed, may_be_empty=may_be_empty)
        _ = self.app.push_screen(dialog, run)

    def _run(self, arguments: Sequence[str]) -> None:
        self.app.exit(list(arguments))
