"""The rules of a race: what each command does in each phase, and the standings."""

from __future__ import annotations

from ast import literal_eval
from typing import Any, cast, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.errors import RequestRefused
from samedeal.options import Options
from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.messages import Phase
from samedeal.race import draws, due_times, endings, progress, seats
from samedeal.race.commands import (
    CommandResult,
    DeclareStuckCommand,
    JoinCommand,
    LinkRematchCommand,
    RaceCommand,
    TickCommand,
)
from samedeal.race.due_times import ROOM_LIFETIME, due_at, host_due_at
from samedeal.race.endings import standings
from samedeal.race.openings import successor_options
from samedeal.race.progress import Progress
from samedeal.race.transitions import apply
from samedeal.race.values import DealSecret, Race, RaceBefore, Racer, RaceResult
from samedeal_server.store.race_patches import RacePatch
from tests.golden.golden_files import assert_answers
from tests.shared.race_values import SEED, assert_table, changed, command_in, new_race

CREATED = 1_000_000
STARTS = CREATED + 5_000
ENDS = STARTS + 60_000
OPTIONS = Options(players=3, countdown=3, limit=60)
LONG_AFTER = CREATED + 100 * ROOM_LIFETIME
RACERS = (Racer("ana", "Ana", 1), Racer("bob", "Bob", 2))
PRESENT = {name: Progress(last_seen=LONG_AFTER) for name in ("ana", "bob", "cid", "dan", "eve")}


def opened(options: Options = OPTIONS, *racers: Racer) -> Race:
    return new_race(created=CREATED, options=options, racers=racers)


def race_in(phase: Phase, options: Options = OPTIONS) -> Race:
    """A race of ana (the host) and bob in a phase."""
    race = replace(opened(options, *RACERS), phase=phase)
    if phase == "open":
        return race
    race = replace(race, starts=STARTS, ends=ENDS)
    if phase in ("finished", "closed"):
        return replace(race, changed_at=ENDS, result=RaceResult(standings=standings(race, {}), seed=SEED))
    return race


def command(text: str) -> RaceCommand:
    """The command that a text such as ``ana leaves`` stands for."""
    return command_in(text, PRESENT, DealSecret(SEED))


def do(race: Race, text: str, now: int) -> CommandResult:
    return apply(race, command(text), now)


BEFORE, DURING, LATE, LATER = STARTS - 1, STARTS, ENDS, ENDS + ROOM_LIFETIME


def test_command_in_phase_has_its_outcome() -> None:
    times = zip(get_args(Phase), (BEFORE, BEFORE, DURING, LATE, LATER), strict=True)
    races = {phase: (race_in(phase), now) for phase, now in times}
    assert_table("race", races, lambda text, _: command(text))


AT, GONE = CREATED + 100_000, CREATED + 10_000
MODULES = (draws, due_times, endings, progress, seats)
MOMENTS = {name: value for module in MODULES for name, value in vars(module).items()} | {
    "CREATED": CREATED,
    "STARTS": STARTS,
    "ENDS": ENDS,
    "AT": AT,
    "GONE": GONE,
}
"""What the page of commands calls times, in milliseconds."""

BEGINNING = {"open": CREATED + 1, "countdown": BEFORE, "racing": DURING, "finished": LATE, "closed": LATER}


def moment(text: str) -> Any:
    """The value of an option, or of a time such as ``STARTS+5``."""
    return eval(text, MOMENTS) if text[0].isupper() or text.isdigit() else text


def race_of_heading(heading: str) -> Race:
    """The race at the start of each line under a heading of the page."""
    phase, *words = heading.rpartition(": ")[2].split()
    fields = {name: moment(value) for name, value in (word.split("=") for word in words)}
    seated = fields.pop("seats", "" if phase == "open" else "ana,bob")
    racers = tuple(
        Racer(
            player := name.strip("*-!"),
            player.capitalize(),
            seat,
            bot=name[0] == "*",
            resigned=name[-1] == "-",
            stuck_at=STARTS + 4 if name[-1] == "!" else 0,
        )
        for seat, name in enumerate(filter(None, seated.split(",")), 1)
    )
    options = Options(**{name: fields.pop(name) for name in Options.__struct_fields__ if name in fields})
    invited = tuple(filter(None, fields.pop("invited", "").split(",")))
    fields["before"] = RaceBefore(fields.pop("previous", ""), invited)
    return changed(race_in(cast("Phase", phase), options), racers=racers, **fields)


class Told:
    """A race, and what the commands of a line do to it."""

    def __init__(self, heading: str) -> None:
        self.race = race_of_heading(heading)
        self.now = BEGINNING[self.race.phase]
        self.progress: dict[str, Progress] = dict(PRESENT)
        self.answer = ""

    def tell(self, text: str) -> None:
        """Apply a command, or note what a player has done."""
        text, _, at = text.partition(" at ")
        self.now = moment(at) if at else self.now
        who, what, *more = text.split() if " " in text else ("", text)
        done = {
            "seen": {"last_seen": self.now},
            "gone": {"last_seen": self.now, "connected": False},
            "acts": {"last_action_at": self.now, "connected": True, "last_seen": LONG_AFTER},
            "places": {"last_progress_at": self.now, "foundation_cards": int(more[0]) if what == "places" else 0},
            "finishes": {"finished_at": self.now},
            "blocked": {"no_moves_left_at": self.now},
        }
        if what in ("due", "host_due"):
            due = due_at(self.race) if what == "due" else host_due_at(self.race)
            self.answer = f"after {due - CREATED} ms" if due else "never"
        elif what == "connects":
            self.progress.clear()
        elif what in done:
            self.progress[who] = replace(self.progress.get(who, Progress()), **cast("Any", done[what]))
        else:
            self._apply(self._command(who, what, *more))

    def _command(self, who: str, what: str, *more: str) -> RaceCommand:
        match what:
            case "passes" | "ends":
                return TickCommand(self.progress, DealSecret(SEED), end_wait=what == "ends")
            case "is_stuck":
                return DeclareStuckCommand(who, self.progress)
            case "joins" | "joins_as" | "joins_from" | "joins_as_bot":
                name = more[0] if what == "joins_as" else who.capitalize()
                origin = more[0] if what == "joins_from" else ""
                return JoinCommand(who, name, self.progress, bot=what == "joins_as_bot", origin=origin)
            case _:
                return command(f"{who} {what}")

    def _apply(self, given: RaceCommand) -> None:
        try:
            self.race, events = apply(self.race, given, self.now)
        except RequestRefused as error:
            self.answer = error.code + (f", retry after {error.retry_after} s" if error.retry_after else "")
            return
        race = self.race
        shown = [f"{race.phase}: {' '.join(events) or 'nothing'}", *(self._seat(racer) for racer in race.racers)]
        if race.phase == "countdown":
            shown.append(f"starts in {race.starts - self.now} ms for {race.ends - race.starts} ms")
        if race.result.finished_at:
            shown.append(f"ended {self.now - race.result.finished_at} ms ago")
        self.answer = ", ".join(shown)

    def _seat(self, racer: Racer) -> str:
        marks = [mark for mark in ("ready", "away", "resigned") if getattr(racer, mark)]
        return " ".join([f"{racer.player}{racer.seat}{'*' * (racer.player == self.race.host)}", *marks])


def test_commands_have_the_outcomes_on_the_page() -> None:
    def answer(heading: str, question: str) -> str:
        told = Told(heading)
        for text in question.split(", "):
            told.tell(text)
        return told.answer

    assert_answers("race_commands", answer)


def play(race: Race, *texts: str, now: int = CREATED + 1) -> Race:
    for text in texts:
        race, _ = do(race, text, now)
    return race


def test_room_remembers_the_newest_kicked_players() -> None:
    race = opened(Options(players=1))
    for number in range(150):
        race, _ = do(race, f"p{number} joins", CREATED)
        race, _ = do(race, f"p{number} kicked", CREATED)
    assert race.kicked.players == tuple(f"p{number}" for number in range(50, 150))


@pytest.mark.parametrize(("players", "most"), [(2, 20_000), (4, 10_000), (64, 625)])
def test_players_of_large_races_have_fewer_actions(players: int, most: int) -> None:
    racers = tuple(Racer(f"p{seat}", f"P{seat}", seat) for seat in range(1, players + 1))
    race = opened(replace(OPTIONS, players=players), *racers)
    assert race.most_actions == most
    assert race.is_crowd is (players == 64)


def test_race_without_any_move_finishes_as_it_starts() -> None:
    for deal, undo, phase in [(1016, "off", "finished"), (1016, "free", "racing"), (1, "off", "racing")]:
        race = race_in("countdown", replace(OPTIONS, games=("willow",), undo=undo))
        seed = Deal("number", number=deal).public_seed()
        assert apply(race, TickCommand({}, DealSecret(seed)), STARTS)[0].phase == phase


def test_standings_rank_resigned_players_by_cards() -> None:
    racers = tuple(
        Racer(name.lower(), name, seat, resigned=seat < 3) for seat, name in enumerate(("Ana", "Bob", "Cid"), 1)
    )
    cards = {
        "ana": Progress(foundation_cards=9, last_progress_at=5),
        "bob": Progress(foundation_cards=52, finished_at=STARTS + 7),
        "cid": Progress(foundation_cards=8),
    }
    lines = standings(replace(race_in("racing"), racers=racers), cards)
    found = [(line.player, line.resigned, line.time) for line in lines]
    assert found == [("bob", False, 7), ("ana", True, 0), ("cid", False, 0)]


def test_rematches_are_as_the_page_says() -> None:
    def answer(_: str, question: str) -> str:
        """The deal of a rematch, and which of its options differ from those of the race before."""
        deal, _, words = question.partition("; ")
        options = Options(**{name: literal_eval(value) for name, value in (word.split("=") for word in words.split())})
        then = successor_options(replace(race_in("finished"), options=options, deal=deal))
        differ = [name for name in options.__struct_fields__ if getattr(then, name) != getattr(options, name)]
        return " ".join([then.deal, *(f"{name}={getattr(then, name)!r}" for name in differ if name != "deal")])

    assert_answers("rematches", answer)


@pytest.mark.parametrize(("player", "named"), [("bob", "bob"), ("a spectator", "")])
def test_rematch_names_only_a_racer_who_asked(player: str, named: str) -> None:
    race, _ = apply(race_in("finished"), LinkRematchCommand("friday-2", player), LATE)
    again, _ = apply(race, LinkRematchCommand("other", "ana"), LATER)
    assert (again.next, again.next_by) == ("friday-2", named)


PLAYERS = ("ana", "bob", "cid", "dan")
ORDER: tuple[Phase, ...] = ("open", "countdown", "racing", "finished", "closed")

steps = st.tuples(
    st.sampled_from(PLAYERS),
    st.sampled_from(
        (
            *("joins", "joins", "leaves", "readies", "goes_away", "starts", "resigns", "is_stuck"),
            *("follows", "kicked", "closes", "moves", "finishes", "passes"),
        )
    ),
    st.sampled_from((0, 1, 40, 900, 3_000, 20_000, 61_000)),
)
all_options = st.builds(
    Options,
    players=st.integers(1, 4),
    start=st.sampled_from(("host", "all-ready", "full")),
    countdown=st.sampled_from((0, 3)),
    limit=st.just(60),
)


def in_one_step(before: Race, changed: Race, events: tuple[str, ...]) -> bool:
    """Whether a race may go from one phase to the other at once."""
    if changed.phase == before.phase:
        return True
    if (before.phase, changed.phase) == ("countdown", "open"):
        return not changed.racers and "countdown_stopped" in events
    if (before.phase, changed.phase) == ("open", "closed") or "closed_by_operator" in events:
        return changed.result == before.result
    skipped = ORDER[ORDER.index(before.phase) + 1 : ORDER.index(changed.phase)]
    return ORDER.index(changed.phase) > ORDER.index(before.phase) and all(phase in events for phase in skipped)


def assert_invariants(before: Race, changed: Race, events: tuple[str, ...], now: int) -> None:
    assert in_one_step(before, changed, events)
    numbers = [racer.seat for racer in changed.racers]
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) <= set(range(1, changed.options.players + 1))
    assert len({racer.player for racer in changed.racers}) == len(changed.racers)
    if changed.phase in ("racing", "finished"):
        assert changed.racers
        assert now >= changed.starts
    if before.phase in ("racing", "finished", "closed"):
        assert [(racer.player, racer.seat) for racer in changed.racers] == [
            (racer.player, racer.seat) for racer in before.racers
        ]
        assert all(now_.resigned or not was.resigned for was, now_ in zip(before.racers, changed.racers, strict=True))
        assert (changed.starts, changed.ends) == (before.starts, before.ends)
    assert bool(changed.result.seed) == bool(changed.result.standings)
    assert not changed.result.seed or changed.phase in ("finished", "closed")
    if before.result.standings:
        assert changed.result.standings == before.result.standings
    elif changed.result.standings:
        assert {line.player for line in changed.result.standings} == {racer.player for racer in changed.racers}
        assert changed.result.standings[0].place == 1
    assert not before.next or changed.next == before.next
    for constant in ("room", "options", "round", "deal", "commitment", "created", "terms"):
        assert getattr(changed, constant) == getattr(before, constant)
    assert unpack(pack(RacePatch.between(before, changed)), RacePatch).apply(before) == changed


@settings(max_examples=300)
@given(all_options, st.lists(steps, max_size=40))
def test_no_sequence_of_commands_breaks_invariants(options: Options, sequence: list[tuple[str, str, int]]) -> None:
    race, now = opened(options), CREATED
    runs: dict[str, Progress] = {}
    for who, what, wait in sequence:
        now += wait
        if what in ("moves", "finishes"):
            # As in the commit script, only racers make moves, in time, and not after they have finished.
            run = runs.get(who, Progress())
            racer = race.racer(who)
            if racer and not racer.resigned and not run.finished_at and race.phase == "racing" and now < race.ends:
                runs[who] = replace(
                    run,
                    foundation_cards=run.foundation_cards + 1,
                    last_progress_at=now,
                    finished_at=now if what == "finishes" else 0,
                )
            continue
        given_ = TickCommand(runs, DealSecret(SEED)) if what == "passes" else command(f"{who} {what}")
        try:
            changed, events = apply(race, given_, now)
        except RequestRefused:
            continue
        assert_invariants(race, changed, events, now)
        assert apply(race, given_, now) == (changed, events)
        race = changed
    for _ in range(6):  # without further commands, time closes every room
        now = max(now, due_at(race))
        race, _ = apply(race, TickCommand(runs, DealSecret(SEED)), now)
    assert race.phase == "closed"
