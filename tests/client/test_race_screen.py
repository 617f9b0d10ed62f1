"""The race screen by keys and by mouse, in several games and sizes, against a referee in the same process."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as struct_replace
from textual.events import MouseDown, MouseMove, MouseUp

from samedeal.cards import Card
from samedeal.moves import FOUNDATION, Move
from samedeal.options import Options
from samedeal.protocol.messages import Notice, Refused, Resign, Standing
from samedeal.race.commands import CloseCommand, DeclareStuckCommand, ResignCommand
from samedeal_client.board.layout import Size
from samedeal_client.full_screen.screens.question import QuitScreen
from samedeal_client.full_screen.screens.race import RaceScreen
from samedeal_client.full_screen.screens.spectate import SpectateScreen
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.input.bindings import DEFAULT
from samedeal_client.input.controller import RaceController
from samedeal_client.input.key_file import load_bindings
from samedeal_client.panels.outcome import why_over
from samedeal_client.panels.race import end_rows, hint_text
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from samedeal_link.connection.address import ServerAddress
from samedeal_link.connection.link_events import Connected, Ended, LinkEvent, Lost, SeatLost
from tests.client.boards import board, golden_position
from tests.client.referee import ME, START, Referee, RunningApp, running_app
from tests.golden.golden_files import asked_on, assert_answers, assert_golden, assert_sentences

WILLOW = "1: KS | 2: 9H QH | 3: 4C JC TD | 4: 7S | 6: 8D AS | 7: 2C | q: 5H 7H | w: 7D | r: 3S 2S"
ATHENA = "1: [9S] 4H [KD] QC | 2: [2D] KH | 3: [6S] JH | 4: 3C | 5: [TS] QS | stock: [8C] [7C] [6C] [5C] [4S] | w: AH"


def willow(text: str = WILLOW, *, rivals: tuple[str, ...] = ("mira", "k0ji"), **options: object) -> Referee:
    return Referee("willow", rivals=rivals, board=board("willow", text), options=_options("willow", **options))


def athena(text: str = ATHENA, **options: object) -> Referee:
    return Referee("athena", board=board("athena", text), options=_options("athena", **options))


def _options(game: str, **options: object) -> Options:
    return Options(**{"games": (game,), "deal": "#7", **options})  # type: ignore[arg-type]  # a test names real options


_FOUR_UP = "01: AH 2H 3H 4H"
"""Cards on a foundation: with one more, the news begins to tell of the lead."""
NEARLY_WON = "1: KS | 01: AH-KH | 02: AD-KD | 03: AC-KC | 04: AS-QS"
TO_AND_FRO = "1: KH JS TH | 2: KC JC | 3: KD 5C | 4: KS 5S | 5: QD 5D | 6: QH 5H"


def to_and_fro(**options: object) -> Referee:
    return Referee("phoenix", board=board("phoenix", TO_AND_FRO), options=_options("phoenix", **options))


def before_the_deal() -> Referee:
    referee = Referee("willow", phase="countdown")
    referee.time = START - 2_500
    return referee


def after_a_move() -> Referee:
    """The client gets the board, but does not know the move before it."""
    referee = athena(undo="no-reveal")
    referee.rival_acts(ME, "w 0")
    return referee


def watched(text: str = "1: AS | 2: AH 2S | 3: KC") -> Referee:
    return Referee("willow", board=board("willow", text))


def before_the_boards() -> Referee:
    """A spectator gets no boards before those of the start."""
    referee = before_the_deal()
    referee.delayed_boards = list  # type: ignore[method-assign]
    return referee


def refusing(referee: Referee | None = None) -> Referee:
    referee = referee or willow()
    referee.refuse_next_action = "10♦ stays where it is"
    referee.refusals[Resign] = Refused(to=0, code="of_a_later_version", message="Not before noon")
    return referee


def against_bots() -> Referee:
    return Referee("willow", board=board("willow", NEARLY_WON), options=_options("willow"), bots=True)


RACES: dict[str, Callable[[], Referee]] = {
    "Willow": lambda: willow(undo="free", hints=False),
    "Willow, narrow": lambda: willow(deal="#422366"),
    "Willow without colour": lambda: willow(undo="free"),
    "Willow with other keys": lambda: willow("1: AS | 2: 2S"),
    "Other screens": willow,
    "Quitting": willow,
    "Quitting, and back to the start screen": willow,
    "Quitting on this machine": willow,
    "Quitting alone on this machine": lambda: willow(rivals=()),
    "Quitting the deal of the day on this machine": lambda: willow(deal="daily 2026-11-22"),
    "Quitting a race on this machine that began in a replay": willow,
    "Refusals": refusing,
    "Athena": lambda: athena(undo="free", hints=True),
    "Athena after a move": after_a_move,
    "Athena, answered late": athena,
    "Athena, cancelled while a card is revealed": athena,
    "Aces under other cards": lambda: athena("1: [2H] AH | 2: [3H] KC | 3: AS | w: 2S | 5: [KD] 4H"),
    "A refused ace": lambda: refusing(athena("1: [2H] AH | 3: AS")),
    "A deep pile": lambda: Referee("ace-of-hearts", board=golden_position("ace-of-hearts", "deepest")),
    "Nothing for the foundations": lambda: willow("1: KS | 2: KH"),
    "A card that may still be needed": lambda: athena("01: AC 2C | 1: KH 4C 3C | 3: AH"),
    "Piles that take different numbers of cards": lambda: willow("1: KH 9S 8H | 2: TD 9C | 3: TH | 4: JC TH | 5: QD"),
    "Nearly won": lambda: willow(NEARLY_WON),
    "Nearly won, without spectators": lambda: willow(NEARLY_WON, spectators=False),
    "Resigned": willow,
    "Before the deal": before_the_deal,
    "Only moves back and forth, which can be undone": lambda: to_and_fro(undo="free", end_when_settled=False),
    "Only moves back and forth": lambda: to_and_fro(undo="off", hints=True),
    "Only moves back and forth, which cannot help": lambda: to_and_fro(undo="free", hints=True),
    "Nearly won against bots": against_bots,
    "A lost connection": willow,
    "A move without an answer": willow,
    "A connection that has ended": willow,
    "Notices": willow,
    "An idle player": willow,
    "Removed by an operator": willow,
    "A small window": lambda: Referee("steve"),
    "Watching": watched,
    "Watching and clicking": watched,
    "Watching, wide": lambda: watched("1: TS | 2: JH | 3: KC"),
    "Watching the lead": lambda: watched(f"1: AS | {_FOUR_UP}"),
    "Watching a countdown": before_the_boards,
    "Watching a room that closes": watched,
    "Watching a room that is gone": watched,
    "Watching, and back to the lobby": watched,
}
"""Races by the headings of the page."""

LOOKS: dict[str, dict[str, Any]] = {
    "narrow": {"size": (60, 20)},
    "without colour": {"look": Look(colour=False)},
    "with other keys": {"bindings": load_bindings('[commands]\nundo = "m"\n[piles]\n1 = "&"\n')},
    "wide": {"size": (120, 40)},
    "start screen": {"back_to": "the start screen"},
    "on this machine": {"back_to": "the start screen", "lasting": False},
    "in a replay": {"back_to": "the replay"},
    "Watching": {"watch": True},
}
"""How the screen is shown, by words in the headings."""

EVENTS: dict[str, LinkEvent] = {
    "lost": Lost("The connection was cut", 3.0),
    "retried": Lost("The connection was cut", 0.2),
    "gone": Lost("The server stops", 3.0, server_gone=True),
    "back": Connected(resumed=True),
    "ended": Ended("4002", "You are connected from somewhere else now."),
    "removed": SeatLost("kicked", "The operator has taken you out of this room"),
    "no room": SeatLost("no_room", "There is no such room"),
}
"""What happens to the connection and the seat, by words of the page."""


async def do(ui: RunningApp, gesture: str) -> None:
    """Do what a word of the page says: press a key, use the mouse, or let something happen at the server.

    A place is a pile, or a pile and one of its cards. A burst is a drag whose events arrive together.
    Words and actions have underscores in place of blanks.
    """
    match words := gesture.replace("_", " ").split(":"):
        case ["click", place]:
            await ui.click(*spot(place))
        case ["right", place]:
            await ui.click(*spot(place), button=3)
        case ["at", x, y]:
            await ui.pilot.click(offset=(int(x), int(y)))
        case ["drag", source, target]:
            await ui.drag(*spot(source), *spot(target))
        case ["burst", source, target]:
            ui.quick_drag(source, target)
        case ["up", "nowhere"]:
            await ui.pilot.mouse_up(offset=(70, 20))
        case ["down" | "move" | "up" as event, place]:
            await ui.mouse({"down": MouseDown, "move": MouseMove, "up": MouseUp}[event], *spot(place))
        case ["hint", word]:
            await ui.click_hint(word)
        case ["share", *address]:
            ui.app.client.shared_address = ServerAddress(f"ws://{':'.join(address)}")
        case ["size", size]:
            await ui.resize(*map(int, size.split("x")))
        case _ if not await happens(ui.referee, words):
            await ui.press(gesture)
        case _:
            pass
    await ui.settle()


async def happens(referee: Referee, words: list[str]) -> bool:
    """Let something happen at the server, or to the connection. Return False if the words name nothing of that kind."""
    match words:
        case ["hold"]:
            referee.answers_allowed.clear()
        case ["answer"]:
            referee.answers_allowed.set()
        case ["rival", player, action]:
            await referee.rival_moves(player, action)
        case ["watched", player, action]:
            referee.time += 1_000
            await referee.receive(referee.rival_acts(player, action))
        case ["wait", seconds]:
            referee.time += 1_000 * int(seconds)
        case ["begin" | "close" as change]:
            referee.time = START + 5_000
            referee.tell(CloseCommand()) if change == "close" else referee.begin()
            await referee.receive(referee.state())
        case ["deal"]:
            referee.time = START
            referee.begin()
            for message in (referee.state(), *referee.board_messages()):
                await referee.receive(message)
        case ["notice", code, message]:
            await referee.receive(Notice(code=code, message=message))
        case [event] if event in EVENTS:
            await referee.events.put(EVENTS[event])
        case _:
            return False
    return True


def shown(ui: RunningApp, place: str) -> str:
    """What is shown at a place: the cards of a pile, rows with some words, the name of the screen, or a line.

    It may also be the style of the message, or how many requests of a type were sent.
    """
    kind, _, what = place.partition(" ")
    match kind:
        case "pile":
            cards = ui.board.piles[ui.board.game.index[what]]
            return " ".join(str(Card(card)) if card < 0x40 else "?" for card in cards)
        case "rows":
            sides = (side for line in ui.text().splitlines() for side in line.split("▏"))  # the board and the panel
            return " / ".join(" ".join(side.split()) for side in sides if what in side)
        case "line":
            return ui.text().splitlines()[int(what)].strip()
        case "screen":
            return ui.screen
        case "style":
            return ui.message_style
        case "dialog":
            assert isinstance(ui.app.screen, QuitScreen)
            return " / ".join(" ".join(line.text.split()) for line in ui.app.screen.lines() if line.text in ui.text())
        case "asked":
            return str([type(request).__name__ for request in ui.referee.requests].count(what))
        case _:
            return ui.line(f"#{kind}") if ui.app.screen.query_one(f"#{kind}").display else ""


def spot(place: str) -> tuple[str, int | None]:
    key, _, card = place.partition(".")
    return key, int(card) if card else None


async def test_races_go_on_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line goes on from the one above it. The answer has the actions that are sent, and what the client then says.

    What it says at first, if nothing is to say, is left out.
    """
    monkeypatch.setattr("samedeal_client.input.pointer.DOUBLE_CLICK_TIME", -1.0)
    answers: list[str] = []
    for heading, asked in groupby(asked_on("races"), itemgetter(0)):
        look = {name: value for words in LOOKS if words in heading for name, value in LOOKS[words].items()}
        async with running_app(RACES[heading](), **look) as ui:
            prompt = ui.message * (ui.message_style == "label")
            for _, question in asked:
                gestures, _, place = question.partition("; ")
                acted = len(ui.acts)
                for gesture in gestures.split():
                    await do(ui, gesture)
                if place == "screen":
                    await ui.pilot.pause()
                    await ui.settle()
                said = shown(ui, place) if place else ui.message.removeprefix(prompt)
                answers.append(f"[{', '.join(ui.acts[acted:])}] {said}")
            await ui.pilot.pause()  # a screen that has just opened is complete before the app ends
    given = iter(answers)
    assert_answers("races", lambda heading, question: next(given))


def test_wording_of_hints() -> None:
    now = board("willow", "1: KH QS JD | 2: QH JS")
    moves = (Move("1", FOUNDATION), Move("1", "3", 2), Move("1", "3", 3), Move("2", "1", 1))
    assert_sentences("hints", [f"{move}\t{hint_text(now, move, DEFAULT, Look())}" for move in moves])


async def test_key_typed_as_the_card_is_revealed_follows_the_queue() -> None:
    async with running_app(athena()) as ui:
        ui.referee.answers_allowed.clear()
        await ui.press("12", "3")
        screen, keys = ui.app.screen, ["2"]
        assert isinstance(screen, RaceScreen)

        def press_before_the_screen_is_updated() -> None:
            if keys:
                screen.press(keys.pop())

        ui.app.client.subscribe(press_before_the_screen_is_updated)
        ui.referee.answers_allowed.set()
        await ui.settle()
        assert ui.acts == ["1 2", "3 2"]


async def test_hint_is_marked_and_named() -> None:
    dealt = Referee("willow", options=_options("willow", hints=True))
    async with running_app(dealt, look=Look(colour=False)) as ui:
        await ui.press("question_mark")
        await ui.wait_until(lambda: "A♦ ?" in ui.text())
        assert hint_text(ui.board, Move("1", FOUNDATION), DEFAULT, Look()) in ui.message
        assert ui.acts == []


async def test_double_click_moves_to_the_best_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_client.input.pointer.DOUBLE_CLICK_TIME", 3600.0)  # a busy machine handles clicks late
    async with running_app(willow()) as ui:
        await ui.pilot.click(offset=ui.position_of("6", 1), times=2)
        await ui.settle()
        assert ui.acts == ["6 0"]


@pytest.mark.parametrize(("left", "text"), [(30_000, "30 SECONDS LEFT"), (0, "TIME'S UP")])
async def test_last_seconds_alarm_header_and_panel(left: int, text: str) -> None:
    async with running_app(willow(limit=120), (100, 30)) as ui:
        ui.referee.time = START + 120_000 - left
        await ui.wait_until(lambda: text in ui.text())
        assert {span.style.split()[-1] for span in ui.app.screen.query_one("#header", Rows).rows[0]} == {"alarm"}


async def test_crash_is_reported_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def crash(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(RaceController, "press", crash)

    async def race() -> None:
        async with running_app(willow()) as ui:
            ui.app.simulate_key("3")
            await ui.wait_until(lambda: ui.has_quit)

    with pytest.raises(ZeroDivisionError):
        await race()
    report, details = capsys.readouterr().err, tmp_path / "samedeal" / "crash.txt"
    assert str(details) in "".join(report.split())
    assert ("rejoin" in report, "Traceback" in report) == (True, False)
    assert "ZeroDivisionError: of all things" in details.read_text()


CHOSEN = "123456789"


@pytest.mark.parametrize("game", ["athena", "spider", "willow"])
async def test_screens_match_golden_files(game: str) -> None:
    """The largest screen is reached by resizing the window. ``test_draw_board`` has the boards of all games."""
    looks = {"": Look()} if game != "athena" else {"": Look(), " in ASCII": Look(ascii=True)}
    text = larger = ""
    for name, look in looks.items():
        async with running_app(Referee(game, board=golden_position(game, "middle")), look=look) as ui:
            moves = ui.board.legal_moves()
            await ui.referee.rival_moves("p2", moves[0])
            ui.referee.time += 3_000
            await ui.press(*([move.source for move in moves if move.source in CHOSEN] or ["1"])[-1:])
            text += f"== 80x24{name}\n{ui.text()}"
            if not name:
                await ui.resize(120, 40)
                larger = f"== 120x40\n{ui.text()}"
    assert_golden(f"screens/race/{game}.txt", text + larger)


END_STANDINGS = (
    Standing(place=1, player="p2", name="mira", foundation_cards=9, time=0, moves=30, undos=0, resigned=True),
    Standing(place=2, player=ME, name="ana", foundation_cards=7, time=0, moves=25, undos=0, resigned=False),
)


async def end_race(ui: RunningApp) -> None:
    """End the race while the player is still playing, because nobody can improve."""
    referee = ui.referee
    referee.tell(ResignCommand(END_STANDINGS[0].player))
    referee.tell(DeclareStuckCommand(ME, referee.held.progress_of_all))
    await referee.finish(
        standings=END_STANDINGS, options=struct_replace(referee.state().options, end_when_settled=True)
    )
    await ui.settle()


async def test_board_stays_with_the_reason_for_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_client.full_screen.screens.race.END_PAUSE", 1000.0)
    async with running_app(willow()) as ui:
        await ui.press("3")
        await end_race(ui)
        room = ui.app.client.model.room
        assert room is not None
        assert ui.screen == "RaceScreen"
        assert why_over(room)
        assert all(row_text(row).strip() in ui.text() for row in end_rows(ui.app.client.model, Look(), 80))
        assert "9♥" in ui.text()
        assert ui.line("#keys") == "Enter results  Ctrl+Q quit"
        await ui.press("2", "enter")  # so soon, they were meant for a move
        assert (ui.screen, ui.acts) == ("RaceScreen", [])
        monkeypatch.setattr("samedeal_client.full_screen.screens.race.END_PAUSE", 0.0)
        await ui.press("enter")
        await ui.wait_until(lambda: ui.screen == "ResultsScreen")
        await ui.wait_until(lambda: why_over(room) in ui.text())
        await ui.pilot.pause()
        await ui.press("question_mark")  # a late request for a hint
        assert ui.screen == "ResultsScreen"


async def test_results_that_open_by_themselves_ignore_keys_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal_client.full_screen.screens.race.END_TIME", 0.01)
    monkeypatch.setattr("samedeal_client.full_screen.screens.race.END_PAUSE", 1000.0)
    async with running_app(willow()) as ui:
        await end_race(ui)
        await ui.wait_until(lambda: ui.screen == "ResultsScreen")
        await ui.press("r")
        assert ui.screen == "ResultsScreen"


@pytest.mark.parametrize("watch", [False, True], ids=["racer", "spectator"])
async def test_screen_lives_on_until_a_left_room_is_replaced(watch: bool) -> None:
    """Timers and resizes may come between the moment at which a room is left and the next screen."""
    async with running_app(willow(), watch=watch) as ui:
        screen = ui.app.screen
        assert isinstance(screen, RaceScreen | SpectateScreen)
        ui.app.update_pending = True  # the app will show no other screen
        await ui.app.client.leave()
        assert ui.app.client.model.room is None
        screen.on_tick()
        screen.fit_to(Size(100, 30))
        assert screen.minimum_size().width > 0
