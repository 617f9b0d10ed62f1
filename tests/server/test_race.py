"""The rules of a race: what each command does in each phase, and the standings."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.errors import RequestRefused
from samedeal.options import Options
from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.messages import Phase
from samedeal.protocol_codes import RefusalCode
from samedeal_server.races import race as race_module
from samedeal_server.races.race import (
    ABSENT_AFTER,
    EMPTY_LIFETIME,
    HOST_TIMEOUT,
    IDLE_AFTER,
    ROOM_LIFETIME,
    SCHEDULED_ABSENT_AFTER,
    SEATS_KEPT,
    CloseCommand,
    CommandResult,
    CommitShareCommand,
    DealSecret,
    DeclareStuckCommand,
    FixDealCommand,
    FoundDeal,
    JoinCommand,
    KickCommand,
    LeaveCommand,
    LinkRematchCommand,
    Progress,
    Race,
    RaceAloneCommand,
    RaceCommand,
    Racer,
    ReadyCommand,
    ResignCommand,
    RevealShareCommand,
    StartCommand,
    TickCommand,
    apply,
    standings,
)
from samedeal_server.store.race_patches import RacePatch
from tests.server.expected_errors import refused
from tests.server.race_values import SEED, new_race

CREATED = 1_000_000
STARTS = CREATED + 5_000
ENDS = STARTS + 60_000
OPTIONS = Options(players=3, countdown=3, limit=60)
LONG_AFTER = CREATED + 100 * ROOM_LIFETIME
RACERS = (Racer("ana", "Ana", 1), Racer("bob", "Bob", 2))
PRESENT = {name: Progress(last_seen=LONG_AFTER) for name in ("ana", "bob")}


def opened(options: Options = OPTIONS, *racers: Racer) -> Race:
    return new_race(created=CREATED, options=options, racers=racers)


def race_in(phase: Phase, options: Options = OPTIONS) -> Race:
    """A race of ana (the host) and bob in a phase."""
    race = replace(opened(options, *RACERS), phase=phase)
    if phase == "open":
        return race
    race = replace(race, starts=STARTS, ends=ENDS)
    if phase in ("finished", "closed"):
        return replace(race, seed=SEED, changed_at=ENDS, standings=standings(race, {}))
    return race


def command(text: str) -> RaceCommand:
    """The command that a text such as ``ana leaves`` stands for."""
    who, what = text.split()
    commands: dict[str, RaceCommand] = {
        "joins": JoinCommand(who, who.capitalize(), PRESENT),
        "joins_as_bot": JoinCommand(who, who.capitalize(), PRESENT, bot=True),
        "leaves": LeaveCommand(who),
        "readies": ReadyCommand(who, True),
        "unreadies": ReadyCommand(who, False),
        "starts": StartCommand(who),
        "resigns": ResignCommand(who),
        "is_stuck": DeclareStuckCommand(who, {}),
        "follows": LinkRematchCommand(who),
        "kicked": KickCommand(who),
        "kicked_by_ana": KickCommand(who, by="ana"),
        "kicked_by_bob": KickCommand(who, by="bob"),
        "close": CloseCommand(),
        "passes": TickCommand(PRESENT, DealSecret(SEED)),
    }
    return commands[what]


def rows_of_docstring() -> dict[str, list[str]]:
    """The table in the docstring of the module: the outcomes of each command, by phase."""
    table = (race_module.__doc__ or "").split("::\n\n", 1)[1].split("\n\n", 1)[0].splitlines()
    heading, *rows = (re.split(r" {2,}", line.strip()) for line in table)
    assert heading == list(get_args(Phase))
    return {name: outcomes for name, *outcomes in rows}


def test_docstring_has_the_refusals_of_each_command() -> None:
    texts = ("cid joins", "ana leaves", "ana readies", "ana starts", "ana resigns", "ana is_stuck", "friday-2 follows")
    commands: dict[str, RaceCommand] = {
        **{type(each).__name__: each for each in map(command, (*texts, "bob kicked", "the close", "time passes"))},
        "CommitShareCommand": CommitShareCommand("ana", 1, bytes(32)),
        "RevealShareCommand": RevealShareCommand("ana", 1, bytes(32)),
        "FixDealCommand": FixDealCommand(FoundDeal(1, (), 0, "")),
        "RaceAloneCommand": RaceAloneCommand("", ()),
        "Kick by hostCommand": command("bob kicked_by_ana"),
    }
    rows = rows_of_docstring()
    assert {f"{name}Command" for name in rows} == set(commands)
    assert set(commands) - {"Kick by hostCommand"} == {each.__name__ for each in get_args(RaceCommand)}
    for name, outcomes in rows.items():
        for phase, outcome in zip(get_args(Phase), outcomes, strict=True):
            told = "race_started" if outcome in ("started", "rejoins") else outcome  # cid has no seat to return to
            is_refusal = told in set(RefusalCode)
            if is_refusal or not name.endswith("Share"):
                now = STARTS - 1 if phase == "countdown" else DURING
                found = outcome_of(race_in(phase), commands[f"{name}Command"], now)
                assert (found if is_refusal else found.partition(":")[1]) == (told if is_refusal else ":"), (
                    name,
                    phase,
                )


def do(race: Race, text: str, now: int) -> CommandResult:
    return apply(race, command(text), now)


def outcome_of(race: Race, text: str | RaceCommand, now: int) -> str:
    """The outcome of a command as text: the phase with the changes, or the code of the refusal."""
    before = replace(race)
    try:
        changed, events = apply(race, command(text) if isinstance(text, str) else text, now)
    except RequestRefused as refused:
        return refused.code
    finally:
        assert race == before
    assert (changed is race) == (not events)
    assert not events or changed.changed_at == now
    return f"{changed.phase}: {' '.join(events) or 'nothing'}"


BEFORE, DURING, LATE, LATER = STARTS - 1, STARTS, ENDS, ENDS + ROOM_LIFETIME


TABLE = """
    command           open                countdown           racing              finished            closed
    cid-joins         joined              race_started        race_started        race_started        room_closed
    ana-joins         nothing             nothing             nothing             nothing             room_closed
    ana-leaves        left                left                resigned            nothing             nothing
    cid-leaves        nothing             nothing             nothing             nothing             nothing
    ana-readies       ready               race_started        race_started        race_started        room_closed
    ana-unreadies     nothing             race_started        race_started        race_started        room_closed
    cid-readies       no_seat             race_started        race_started        race_started        room_closed
    ana-starts        countdown:countdown race_started        race_started        race_started        room_closed
    bob-starts        not_host            race_started        race_started        race_started        room_closed
    cid-starts        no_seat             race_started        race_started        race_started        room_closed
    bob-resigns       not_racing          not_racing          resigned            not_racing          room_closed
    cid-resigns       not_racing          not_racing          nothing             not_racing          room_closed
    bob-is_stuck      not_racing          not_racing          stuck               not_racing          room_closed
    cid-is_stuck      not_racing          not_racing          nothing             not_racing          room_closed
    next-follows      not_over            not_over            not_over            rematch             room_closed
    ana-kicked        left,kicked         left,kicked         resigned,kicked     kicked              room_closed
    cid-kicked        no_seat             no_seat             no_seat             no_seat             room_closed
    bob-kicked_by_ana left,kicked         left,kicked         race_started        race_started        room_closed
    ana-kicked_by_bob not_host            not_host            race_started        race_started        room_closed
    ana-kicked_by_ana no_seat             no_seat             race_started        race_started        room_closed
    the-close         closed:CLOSED       closed:CLOSED       closed:CLOSED       closed:CLOSED       nothing
    time-passes       nothing             nothing             nothing             nothing             nothing
"""
"""What each command does in each phase: the changes, after a new phase if there is one, or the code of the refusal."""


def test_command_in_phase_has_its_outcome() -> None:
    (_, *phases), *rows = [line.split() for line in TABLE.strip().splitlines()]
    assert phases == list(get_args(Phase))
    for text, *expected in rows:
        for phase, now, outcome in zip(get_args(Phase), (BEFORE, BEFORE, DURING, LATE, LATER), expected, strict=True):
            found = outcome_of(race_in(phase), text.replace("-", " "), now).removeprefix(f"{phase}: ")
            wanted = outcome.replace("CLOSED", "closed_by_operator,closed")
            assert found.replace(": ", ":").replace(" ", ",") == wanted, (text, phase)


@pytest.mark.parametrize(
    ("phase", "now", "outcome"),
    [
        ("open", CREATED + EMPTY_LIFETIME - 1, "open: nothing"),
        ("open", CREATED + EMPTY_LIFETIME, "open: kept_open"),
        ("countdown", STARTS - 1, "countdown: nothing"),
        ("countdown", STARTS, "racing: racing"),
        ("racing", ENDS - 1, "racing: nothing"),
        ("racing", ENDS, "finished: finished"),
        ("countdown", ENDS, "finished: racing finished"),
        ("finished", ENDS + ROOM_LIFETIME - 1, "finished: nothing"),
        ("finished", ENDS + ROOM_LIFETIME, "closed: closed"),
        ("closed", ENDS + 2 * ROOM_LIFETIME, "closed: nothing"),
    ],
)
def test_tick_before_due_time_changes_nothing(phase: Phase, now: int, outcome: str) -> None:
    race = race_in(phase)
    assert outcome_of(race, "time passes", now) == outcome
    assert (now >= race.due_at() and phase != "closed") == ("nothing" not in outcome)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("ana leaves", "racing: racing resigned"),
        ("ana resigns", "racing: racing resigned"),
        ("ana joins", "racing: racing"),
        ("cid joins", "race_started"),
        ("ana starts", "race_started"),
    ],
)
def test_ended_countdown_is_a_race_under_way(text: str, outcome: str) -> None:
    assert outcome_of(race_in("countdown"), text, STARTS) == outcome


def test_resign_after_time_is_up_changes_nothing() -> None:
    assert outcome_of(race_in("racing"), "ana resigns", ENDS - 1) == "racing: resigned"
    assert outcome_of(race_in("racing"), "ana resigns", ENDS) == "racing: nothing"
    assert outcome_of(race_in("racing"), "ana leaves", ENDS) == "racing: nothing"


def seats(race: Race) -> str:
    return " ".join(f"{racer.player}{racer.seat}" for racer in race.racers)


def play(race: Race, *texts: str, now: int = CREATED + 1) -> Race:
    for text in texts:
        race, _ = do(race, text, now)
    return race


def test_join_takes_the_first_free_seat() -> None:
    race = play(opened(), "ana joins", "bob joins", "cid joins")
    assert seats(race) == "ana1 bob2 cid3"
    race = play(race, "ana leaves", "dan joins")
    assert seats(race) == "bob2 cid3 dan1"


def test_host_is_the_player_seated_longest() -> None:
    race = play(opened(), "ana joins", "bob joins", "cid joins")
    assert race.host == "ana"
    race = play(race, "ana leaves", "ana joins")
    assert race.host == "bob"
    assert outcome_of(race, "ana starts", BEFORE) == "not_host"
    assert opened().host == ""


def test_bot_is_host_only_without_a_person() -> None:
    race = play(opened(), "ott joins_as_bot", "una joins_as_bot")
    assert race.host == "ott"
    race = play(race, "ana joins")
    assert race.host == "ana"
    assert outcome_of(race, "ott starts", BEFORE) == "not_host"
    assert play(race, "ana leaves").host == "ott"


def test_room_without_bots_admits_only_persons() -> None:
    race = opened(Options(bots=False))
    assert outcome_of(race, "ott joins_as_bot", BEFORE) == "no_bots"
    assert outcome_of(race, "ott joins", BEFORE) == "open: joined"


def test_standings_mark_bots() -> None:
    race = play(opened(), "ott joins_as_bot", "ana joins")
    assert {line.player: line.bot for line in standings(race, {})} == {"ott": True, "ana": False}


def test_rematch_excludes_bots_too() -> None:
    assert not opened(Options(bots=False)).successor_options().bots


def test_full_room_admits_only_its_players() -> None:
    race = play(opened(), "ana joins", "bob joins", "cid joins")
    assert outcome_of(race, "dan joins", BEFORE) == "room_full"
    assert outcome_of(race, "cid joins", BEFORE) == "open: nothing"


def test_name_of_another_player_is_refused() -> None:
    race = play(opened(), "ana joins")
    with refused("name_taken"):
        apply(race, JoinCommand("other", "ANA", PRESENT), BEFORE)


def test_countdown_stops_when_all_players_leave() -> None:
    race, events = do(play(race_in("countdown"), "ana leaves"), "bob leaves", BEFORE)
    assert (race.phase, race.starts, race.ends, events) == ("open", 0, 0, ("left", "countdown_stopped"))


@pytest.mark.parametrize(
    ("start", "players", "story", "phase"),
    [
        ("host", 3, "ana joins, bob joins, cid joins, ana readies, bob readies, cid readies", "open"),
        ("all-ready", 3, "ana joins, ana readies", "open"),
        ("all-ready", 3, "ana joins, bob joins, ana readies", "open"),
        ("all-ready", 3, "ana joins, bob joins, ana readies, bob readies", "countdown"),
        ("all-ready", 3, "ana joins, ana readies, bob joins, bob readies", "countdown"),
        ("all-ready", 1, "ana joins, ana readies", "countdown"),
        ("all-ready", 3, "ana joins, bob joins, cid joins, ana readies, bob readies, cid leaves", "countdown"),
        ("all-ready", 3, "ana joins, bob joins, ana readies, bob leaves", "open"),
        ("full", 2, "ana joins", "open"),
        ("full", 2, "ana joins, bob joins", "countdown"),
        ("full", 2, "ana joins, ana starts", "countdown"),
        ("full", 1, "ana joins", "countdown"),
    ],
)
def test_countdown_starts_by_the_start_option(start: Any, players: int, story: str, phase: Phase) -> None:
    options = Options(players=players, start=start)
    race = play(opened(options), *story.split(", "))
    assert race.phase == phase
    if phase == "countdown":
        assert race.starts == CREATED + 1 + 1000 * options.countdown
        assert race.ends == race.starts + 1000 * options.limit


def test_countdown_of_zero_starts_at_once() -> None:
    race = play(opened(Options(countdown=0)), "ana joins", "ana starts")
    assert (race.phase, race.starts) == ("countdown", CREATED + 1)
    assert outcome_of(race, "time passes", CREATED + 1) == "racing: racing"


AT = CREATED + 100_000
AT_OPTIONS = Options(start="at", start_at=AT, countdown=3)


def test_scheduled_race_counts_down_to_its_time() -> None:
    race = play(opened(AT_OPTIONS), "ana joins")
    assert race.due_at() == AT - 3000
    assert outcome_of(race, "time passes", AT - 3001) == "open: nothing"
    begun, _ = do(race, "time passes", AT - 2000)
    assert (begun.phase, begun.starts) == ("countdown", AT)
    late, _ = do(race, "time passes", AT + 500)
    assert late.starts == AT + 500


def test_scheduled_race_without_players_closes() -> None:
    race = opened(AT_OPTIONS)
    assert race.due_at() == AT
    assert outcome_of(race, "time passes", AT - 1) == "open: nothing"
    assert outcome_of(race, "time passes", AT) == "closed: closed"


@pytest.mark.parametrize(
    ("here", "outcome"),
    [
        (0, "closed: closed"),
        (CREATED + EMPTY_LIFETIME - ABSENT_AFTER, "closed: closed"),
        (CREATED + EMPTY_LIFETIME - ABSENT_AFTER + 1, "open: kept_open"),
    ],
)
def test_open_room_with_present_players_is_kept_open(here: int, outcome: str) -> None:
    now = CREATED + EMPTY_LIFETIME
    race, events = apply(
        opened(OPTIONS, RACERS[0]), TickCommand({"ana": Progress(last_seen=here)}, DealSecret(SEED)), now
    )
    assert f"{race.phase}: {' '.join(events)}" == outcome
    assert race.phase == "closed" or race.due_at() == now + EMPTY_LIFETIME


def test_empty_room_of_a_rematch_stays_open_longer() -> None:
    race = replace(opened(OPTIONS), previous="friday")
    assert race.due_at() == CREATED + ROOM_LIFETIME
    assert opened(OPTIONS).due_at() == CREATED + EMPTY_LIFETIME
    assert outcome_of(opened(OPTIONS), "time passes", CREATED + EMPTY_LIFETIME) == "closed: closed"


GONE = CREATED + 10_000


def runs(**here: int) -> dict[str, Progress]:
    return {player: Progress(last_seen=at) for player, at in here.items()}


@pytest.mark.parametrize(
    ("now", "here", "outcome"),
    [
        (GONE, runs(ana=GONE, bob=GONE), "ana bob"),
        (GONE + ABSENT_AFTER - 1, runs(ana=GONE, bob=GONE), "ana bob"),
        (GONE + ABSENT_AFTER, runs(ana=GONE, bob=GONE + 1), "bob"),
        (GONE + ABSENT_AFTER, runs(ana=GONE, bob=GONE), ""),
        (CREATED + ABSENT_AFTER, {}, "ana bob"),
        (CREATED + ABSENT_AFTER + 1, {}, ""),
    ],
)
def test_absent_player_loses_the_seat_in_an_open_room(now: int, here: dict[str, Progress], outcome: str) -> None:
    race = play(opened(), "ana joins", "bob joins")
    left, events = apply(race, TickCommand(here, DealSecret(SEED)), now)
    assert " ".join(racer.player for racer in left.racers) == outcome
    assert events == (() if left is race else ("left",))


def test_freed_seat_is_taken_and_the_host_changes() -> None:
    full = opened(Options(players=2, start="full", countdown=3))
    race = play(full, "ana joins")
    late = CREATED + ABSENT_AFTER + 1
    came, events = apply(race, JoinCommand("bob", "Ana", runs(ana=CREATED)), late)
    assert events == ("left", "joined")
    assert (came.phase, came.host) == ("open", "bob")
    again, events = apply(came, JoinCommand("ana", "Anna", runs(ana=CREATED, bob=late)), late)
    assert events == ("joined", "countdown")
    assert [racer.player for racer in again.racers] == ["bob", "ana"]


def test_absent_player_need_not_be_ready() -> None:
    race = play(
        opened(Options(players=3, start="all-ready")),
        "ana joins",
        "bob joins",
        "eve joins",
        "bob readies",
        "eve readies",
    )
    late = CREATED + ABSENT_AFTER + 1
    begun, events = apply(race, TickCommand(runs(bob=late, eve=late), DealSecret(SEED)), late)
    assert events == ("left", "countdown")
    assert begun.host == "bob"


@pytest.mark.parametrize(
    ("players", "gone", "here"),
    [
        (2, SCHEDULED_ABSENT_AFTER, ["bob", "cid"]),
        (2, SCHEDULED_ABSENT_AFTER - 1, None),
        (3, SCHEDULED_ABSENT_AFTER, ["ana", "bob", "cid"]),
    ],
)
def test_full_scheduled_room_frees_seats_of_absent_players(players: int, gone: int, here: list[str] | None) -> None:
    race = opened(replace(AT_OPTIONS, players=players, start_at=AT + 10 * gone), RACERS[0], RACERS[1])
    now = AT + gone
    join = JoinCommand("cid", "cid", runs(ana=AT, bob=now))
    if here is None:
        with pytest.raises(RequestRefused):
            apply(race, join, now)
    else:
        assert [racer.player for racer in apply(race, join, now)[0].racers] == here
    assert apply(race, TickCommand(runs(ana=AT, bob=now), DealSecret(SEED)), now)[0].racers == race.racers


@pytest.mark.parametrize("phase", ["countdown", "racing", "finished"])
def test_absent_player_keeps_the_seat_after_the_countdown(phase: Phase) -> None:
    race = race_in(phase)
    now = STARTS - 1 if phase == "countdown" else DURING
    assert race.present_racers({}, now + ROOM_LIFETIME) == race.racers
    assert apply(race, TickCommand({}, DealSecret(SEED)), now)[0].racers == race.racers


def test_absent_player_keeps_the_seat_in_a_scheduled_race() -> None:
    race = play(opened(AT_OPTIONS), "ana joins")
    begun, events = apply(race, TickCommand({}, DealSecret(SEED)), AT - 3000)
    assert events == ("countdown",)
    assert begun.racers == race.racers


@pytest.mark.parametrize(
    ("phase", "now"), [("open", BEFORE), ("countdown", BEFORE), ("racing", DURING), ("finished", LATE)]
)
def test_kicked_player_is_not_readmitted(phase: Phase, now: int) -> None:
    race, _ = do(race_in(phase), "bob kicked", now)
    assert outcome_of(race, "bob joins", now) == "kicked"
    assert outcome_of(race, "ana joins", now) == f"{phase}: nothing"
    with pytest.raises(RequestRefused):
        race.check_not_kicked("bob")
    race.check_not_kicked("ana")
    if phase in ("racing", "finished"):
        assert outcome_of(race, "bob kicked", now) == f"{phase}: nothing"


def test_room_remembers_the_newest_kicked_players() -> None:
    race = opened(Options(players=1))
    for number in range(150):
        race, _ = do(race, f"p{number} joins", CREATED)
        race, _ = do(race, f"p{number} kicked", CREATED)
    assert race.kicked == tuple(f"p{number}" for number in range(50, 150))


def test_race_closed_under_way_has_no_standings() -> None:
    race, _ = do(race_in("racing"), "it close", DURING)
    assert (race.phase, race.seed, race.standings, race.due_at()) == ("closed", b"", (), 0)
    assert do(race_in("finished"), "it close", LATE)[0].seed == SEED


def finish(now: int, *racers: Racer, **runs: Progress) -> Race:
    race = replace(race_in("racing"), racers=racers or RACERS)
    return apply(race, TickCommand(runs, DealSecret(SEED)), now)[0]


@pytest.mark.parametrize(
    ("runs", "ends"),
    [
        ({}, False),
        ({"ana": Progress(finished_at=STARTS + 5)}, False),
        ({"ana": Progress(finished_at=STARTS + 5), "bob": Progress(finished_at=STARTS + 9)}, True),
        ({"ana": Progress(finished_at=STARTS + 5), "bob": Progress(no_moves_left_at=STARTS + 9)}, True),
        ({"ana": Progress(no_moves_left_at=STARTS + 5), "bob": Progress(no_moves_left_at=STARTS + 9)}, True),
    ],
)
def test_race_finishes_when_no_player_can_go_on(runs: dict[str, Progress], ends: bool) -> None:
    race = finish(STARTS + 10, **runs)
    assert (race.phase == "finished") == ends
    assert race.seed == (SEED if ends else b"")


@pytest.mark.parametrize(
    ("deal", "undo", "phase"), [(1016, "off", "finished"), (1016, "free", "racing"), (1, "off", "racing")]
)
def test_race_without_any_move_finishes_as_it_starts(deal: int, undo: str, phase: str) -> None:
    race = race_in("countdown", replace(OPTIONS, games=("willow",), undo=undo))
    seed = Deal("number", number=deal).public_seed()
    assert apply(race, TickCommand({}, DealSecret(seed)), STARTS)[0].phase == phase


AWAY = Progress(last_seen=STARTS + 5)
IDLE = Progress(connected=True, last_seen=STARTS + IDLE_AFTER, last_action_at=STARTS)
HERE = Progress(connected=True, last_seen=STARTS + IDLE_AFTER, last_action_at=STARTS + 1)
OUT = Progress(no_moves_left_at=STARTS + 5)


@pytest.mark.parametrize(
    ("ana", "bob", "end_wait", "phase"),
    [
        (OUT, AWAY, True, "finished"),
        (OUT, AWAY, False, "racing"),
        (OUT, IDLE, True, "finished"),
        (OUT, HERE, True, "racing"),
        (IDLE, AWAY, True, "racing"),
        (HERE, AWAY, True, "racing"),
        (AWAY, AWAY, True, "racing"),
    ],
)
def test_absent_and_idle_players_do_not_delay_the_finish(
    ana: Progress, bob: Progress, end_wait: bool, phase: str
) -> None:
    race = replace(race_in("racing"), ends=STARTS + 2 * IDLE_AFTER)
    command = TickCommand({"ana": ana, "bob": bob}, DealSecret(SEED), end_wait)
    assert apply(race, command, STARTS + IDLE_AFTER)[0].phase == phase


def test_race_finishes_when_the_last_player_resigns() -> None:
    out = Racer("bob", "Bob", 2, resigned=True)
    assert finish(STARTS + 10, RACERS[0], out).phase == "racing"
    assert finish(STARTS + 10, RACERS[0], out, ana=Progress(finished_at=STARTS + 5)).phase == "finished"
    assert finish(STARTS + 10, out).phase == "finished"


PERSON, BOT, OTHER_BOT = Racer("ana", "Ana", 1), Racer("bob", "Bob", 2, bot=True), Racer("cid", "Cid", 3, bot=True)
MOVED, DONE = Progress(foundation_cards=3, last_progress_at=STARTS + 4), Progress(finished_at=STARTS + 4)


def stuck(racer: Racer) -> Racer:
    return replace(racer, stuck_at=STARTS + 4)


@pytest.mark.parametrize(
    ("racers", "progress", "settled"),
    [
        ((PERSON, BOT), {}, False),
        ((PERSON, BOT), {"ana": DONE}, True),
        ((replace(PERSON, resigned=True), BOT), {}, True),
        ((BOT, OTHER_BOT), {"bob": DONE}, False),
        ((BOT, OTHER_BOT), {"bob": DONE, "cid": DONE}, True),
        ((stuck(PERSON), BOT), {"ana": MOVED}, True),
        ((stuck(PERSON), BOT), {"ana": replace(MOVED, last_progress_at=STARTS + 5)}, False),
        ((stuck(PERSON),), {}, True),
        ((stuck(RACERS[0]), RACERS[1]), {"ana": MOVED}, False),
        ((stuck(RACERS[0]), stuck(RACERS[1])), {}, True),
        ((stuck(RACERS[0]), RACERS[1]), {"bob": DONE}, True),
        ((stuck(BOT), stuck(OTHER_BOT)), {}, True),
    ],
)
def test_settled_race_ends_if_the_options_say_so(
    racers: tuple[Racer, ...], progress: dict[str, Progress], settled: bool
) -> None:
    for ends_settled in (True, False):
        race = replace(race_in("racing", replace(OPTIONS, end_when_settled=ends_settled)), racers=racers)
        done = replace(race, options=replace(OPTIONS, end_when_settled=False)).is_over(progress)
        finished = apply(race, TickCommand(progress, DealSecret(SEED)), STARTS + 10)[0]
        assert finished.phase == ("finished" if done or (settled and ends_settled) else "racing")
        assert finished.finished_at == (STARTS + 10 if finished.phase == "finished" else 0)


@pytest.mark.parametrize(
    ("racers", "progress", "settled", "phase"),
    [
        ((RACERS[0], BOT, Racer("cid", "Cid", 3)), {"ana": DONE, "bob": HERE, "cid": AWAY}, True, "finished"),
        ((RACERS[0], BOT, Racer("cid", "Cid", 3)), {"ana": DONE, "bob": HERE, "cid": AWAY}, False, "racing"),
        ((stuck(PERSON), RACERS[1]), {"ana": HERE, "bob": AWAY}, True, "finished"),
        ((stuck(PERSON), RACERS[1]), {"ana": HERE, "bob": AWAY}, False, "racing"),
        ((stuck(PERSON), RACERS[1]), {"ana": HERE, "bob": HERE}, True, "racing"),
        ((PERSON, BOT), {"ana": AWAY, "bob": HERE}, True, "racing"),
        ((BOT, OTHER_BOT), {"bob": DONE, "cid": AWAY}, True, "finished"),
        ((BOT, OTHER_BOT), {"bob": DONE, "cid": HERE}, True, "racing"),
    ],
)
def test_absent_player_is_not_awaited_with_bots_or_stuck(
    racers: tuple[Racer, ...], progress: dict[str, Progress], settled: bool, phase: str
) -> None:
    race = replace(race_in("racing", replace(OPTIONS, end_when_settled=settled)), racers=racers)
    race = replace(race, ends=STARTS + 2 * IDLE_AFTER)
    assert apply(race, TickCommand(progress, DealSecret(SEED), end_wait=True), STARTS + IDLE_AFTER)[0].phase == phase


def test_stuck_player_is_stuck_again_only_after_progress() -> None:
    race = replace(race_in("racing"), racers=(stuck(PERSON), RACERS[1]))
    again = [Progress(), MOVED, Progress(last_progress_at=STARTS + 5), Progress(finished_at=STARTS + 5)]
    outcomes = [apply(race, DeclareStuckCommand("ana", {"ana": own}), STARTS + 9)[1] for own in again]
    assert outcomes == [(), (), ("stuck",), ()]


def test_late_tick_ends_the_race_when_its_time_was_up() -> None:
    assert apply(race_in("racing"), TickCommand(PRESENT, DealSecret(SEED)), ENDS + 7)[0].finished_at == ENDS


@pytest.mark.parametrize(
    ("now", "ends", "last", "end"),
    [
        (STARTS + 50, ENDS, STARTS + 40, STARTS + 50),
        (STARTS + 30, ENDS, STARTS + 40, STARTS + 40),  # the clock was set back, or read before the progress
        (STARTS + 50, STARTS + 35, STARTS + 40, STARTS + 40),  # a recovered finish ended the race before an action
        (STARTS - 5, ENDS, 0, STARTS),
    ],
)
def test_race_ends_after_its_start_and_all_actions(now: int, ends: int, last: int, end: int) -> None:
    race = replace(race_in("racing"), ends=ends)
    done = {racer.player: Progress(finished_at=STARTS + 1, last_action_at=STARTS + 1) for racer in race.racers}
    for racer in race.racers:
        progress = {**done, racer.player: Progress(finished_at=last or STARTS, last_action_at=last)} if last else {}
        resigned = race if last else replace(race, racers=tuple(replace(each, resigned=True) for each in race.racers))
        finished, _ = apply(resigned, TickCommand(progress, DealSecret(SEED)), now)
        assert (finished.phase, finished.finished_at) == ("finished", end)


def test_first_finish_ends_the_race_early() -> None:
    race = replace(race_in("racing"), ends=STARTS + 5)
    assert outcome_of(race, "time passes", STARTS + 4) == "racing: nothing"
    assert outcome_of(race, "time passes", STARTS + 5) == "finished: finished"


def reached(cards: int = 0, at: int = 0, finished: int = 0) -> Progress:
    return Progress(foundation_cards=cards, last_progress_at=at, finished_at=finished)


@pytest.mark.parametrize(
    ("runs", "order"),
    [
        # finished players come first, however many foundation cards the others have
        ({"a": reached(51, at=STARTS + 1), "b": reached(52, finished=STARTS + 9)}, "1b 2a 3c"),
        # finished players by their times
        (
            {name: reached(52, finished=STARTS + late) for name, late in (("a", 9), ("b", 8), ("c", 7))},
            "1c 2b 3a",
        ),
        # the others by their foundation cards
        ({"a": reached(3, at=1), "b": reached(5, at=9), "c": reached(4, at=1)}, "1b 2c 3a"),
        # then by the time of their last progress
        ({"a": reached(5, at=9), "b": reached(5, at=8), "c": reached(5, at=7)}, "1c 2b 3a"),
        # players who are equal in all this share a place, and the next place is left out
        ({"a": reached(5, at=9), "b": reached(5, at=9), "c": reached(4, at=1)}, "1a 1b 3c"),
        ({"a": reached(52, finished=STARTS + 9), "b": reached(52, finished=STARTS + 9), "c": reached()}, "1a 1b 3c"),
        ({}, "1a 1b 1c"),
    ],
)  # fmt: skip
def test_standings(runs: dict[str, Progress], order: str) -> None:
    race = replace(race_in("racing"), racers=tuple(Racer(name, name, seat) for seat, name in enumerate("abc", 1)))
    lines = standings(race, runs)
    assert " ".join(f"{line.place}{line.player}" for line in lines) == order
    for line in lines:
        run = runs.get(line.player, Progress())
        assert line.time == (run.finished_at - STARTS if run.finished_at else 0)


def test_standings_rank_resigned_players_by_cards() -> None:
    racers = (Racer("ana", "Ana", 1, resigned=True), Racer("bob", "Bob", 2, resigned=True), Racer("cid", "Cid", 3))
    race = replace(race_in("racing"), racers=racers)
    lines = standings(
        race,
        {
            "ana": Progress(foundation_cards=9, last_progress_at=5),
            "bob": Progress(foundation_cards=52, finished_at=STARTS + 7),
            "cid": Progress(foundation_cards=8),
        },
    )
    assert [(line.player, line.resigned) for line in lines] == [("bob", False), ("ana", True), ("cid", False)]


def ready_race(**ready: bool) -> Race:
    racers = (Racer(name, name.title(), seat, ready=ready[name]) for seat, name in enumerate(ready, 1))
    race = replace(race_in("open"), racers=tuple(racers))
    return replace(race, ready_since=CREATED if race.guests else 0)


@pytest.mark.parametrize(
    ("race", "host"),
    [
        (ready_race(ana=False, bob=True, cid=True), "bob"),
        (ready_race(ana=True, bob=True), "bob"),
        (ready_race(ana=False, bob=True, cid=False), "ana"),
        (ready_race(ana=True), "ana"),
    ],
)
def test_idle_host_is_replaced_if_all_others_are_ready(race: Race, host: str) -> None:
    due = CREATED + HOST_TIMEOUT
    here = {racer.player: Progress(last_seen=due) for racer in race.racers}
    assert apply(race, TickCommand(here, DealSecret(SEED)), due - 1)[0] is race
    assert apply(race, TickCommand(here, DealSecret(SEED)), due)[0].host == host
    assert (race.due_at() == due) == (host != "ana")


@pytest.mark.parametrize(
    ("commands", "restarts"),
    [
        ((), False),
        ((JoinCommand("bob", "Bob", PRESENT),), False),
        ((JoinCommand("robot", "Robot", PRESENT, bot=True),), False),
        ((JoinCommand("robot", "Robot", PRESENT, bot=True), LeaveCommand("robot")), False),
        ((ReadyCommand("bob", True),), False),
        ((ReadyCommand("ana", True), ReadyCommand("ana", False)), False),
        ((LeaveCommand("cid"),), False),
        ((ReadyCommand("bob", False), ReadyCommand("bob", True)), True),
        ((JoinCommand("dan", "Dan", PRESENT), ReadyCommand("dan", True)), True),
        ((JoinCommand("dan", "Dan", PRESENT), LeaveCommand("dan")), True),
        ((LeaveCommand("ana"), ReadyCommand("cid", False), ReadyCommand("cid", True)), True),
    ],
)
def test_only_players_who_are_not_ready_give_the_host_more_time(
    commands: tuple[RaceCommand, ...], restarts: bool
) -> None:
    race = ready_race(ana=False, bob=True, cid=True)
    for number, command in enumerate(commands, 1):
        race = apply(race, command, CREATED + number)[0]
    assert race.host_due_at() == HOST_TIMEOUT + CREATED + (len(commands) if restarts else 0)


@pytest.mark.parametrize(("origin", "private", "seats"), [("far", False, 2), ("far", True, 3), ("near", False, 3)])
def test_one_address_takes_half_of_a_public_room(origin: str, private: bool, seats: int) -> None:
    race = replace(opened(replace(OPTIONS, players=4), Racer("ana", "Ana", 1, origin="near")), private=private)
    taken = 0
    for name in ("bob", "cid", "dan"):
        with suppress(RequestRefused):
            race = apply(race, JoinCommand(name, name.title(), PRESENT, origin=origin), CREATED)[0]
            taken += 1
    assert taken == seats


REMATCH = replace(opened(replace(OPTIONS, players=2)), invited=("ana", "bob"))


@pytest.mark.parametrize(
    ("seated", "player", "at", "code"),
    [
        ((), "eve", CREATED + SEATS_KEPT - 1, "room_full"),
        ((), "eve", CREATED + SEATS_KEPT, ""),
        ((), "bob", CREATED, ""),
        (("ana",), "eve", CREATED, "room_full"),
        (("ana",), "bob", CREATED, ""),
    ],
)
def test_rematch_keeps_seats_for_its_players(seated: tuple[str, ...], player: str, at: int, code: str) -> None:
    racers = tuple(Racer(name, name.title(), number) for number, name in enumerate(seated, 1))
    join = JoinCommand(player, player.title(), {name: Progress(last_seen=at) for name in seated})
    race = replace(REMATCH, racers=racers)
    if code:
        with pytest.raises(RequestRefused) as refused:
            apply(race, join, at)
        assert (refused.value.code, refused.value.retry_after) == (code, -(-(CREATED + SEATS_KEPT - at) // 1000))
    else:
        assert apply(race, join, at)[0].racer(player)


def test_player_of_the_last_race_hosts_the_rematch() -> None:
    race = replace(REMATCH, options=replace(OPTIONS, players=3))
    race = apply(race, JoinCommand("eve", "Eve", {}), CREATED)[0]
    assert race.host == "eve"
    race = apply(race, JoinCommand("bob", "Bob", {}), CREATED + 1)[0]
    assert (race.host, [racer.seat for racer in race.racers]) == ("bob", [2, 1])


def test_race_has_one_rematch() -> None:
    race, _ = do(race_in("finished"), "next follows", LATE)
    assert race.next == "next"
    assert outcome_of(race, "other follows", LATE) == "finished: nothing"


@pytest.mark.parametrize(
    ("deal", "then"),
    [
        ("#4821", "#4822"),
        ("random", "random"),
        ("daily 2026-11-21", "winnable"),
        ("winnable", "winnable"),
        ("winnable hard", "winnable hard"),
        ("#0", "#1"),
        ("#999999999", "#0"),
    ],
)
def test_rematch_has_the_next_deal(deal: str, then: str) -> None:
    assert replace(race_in("finished"), deal=deal).successor_deal() == then


def test_rematch_has_the_options_of_the_race() -> None:
    timed = Options(games=("athena", "steve"), players=3, deal="daily", undo="off", start="at", start_at=5)
    then = replace(race_in("finished"), options=timed, deal="daily 2026-11-21").successor_options()
    assert then == replace(timed, deal="winnable", start="host", start_at=0)
    numbered = replace(race_in("finished"), options=Options(deal="#7", start="full"), deal="#7")
    assert numbered.successor_options() == Options(deal="#8", start="full")


def test_rematches_rotate_the_games() -> None:
    race = opened(Options(games=("athena", "steve")))
    assert [replace(race, round=number).game.name for number in range(3)] == ["athena", "steve", "athena"]


PLAYERS = ("ana", "bob", "cid", "dan")
ORDER: tuple[Phase, ...] = ("open", "countdown", "racing", "finished", "closed")

steps = st.tuples(
    st.sampled_from(PLAYERS),
    st.sampled_from(
        (
            *("joins", "joins", "leaves", "readies", "starts", "resigns", "is_stuck"),
            *("follows", "kicked", "moves", "finishes", "passes"),
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
    if (before.phase, changed.phase) == ("open", "closed"):
        return True
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
    assert bool(changed.seed) == bool(changed.standings)
    assert not changed.seed or changed.phase in ("finished", "closed")
    if before.standings:
        assert changed.standings == before.standings
    elif changed.standings:
        assert {line.player for line in changed.standings} == {racer.player for racer in changed.racers}
        assert changed.standings[0].place == 1
    assert not before.next or changed.next == before.next
    for constant in ("room", "options", "round", "deal", "commitment", "created"):
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
        now = max(now, race.due_at())
        race, _ = apply(race, TickCommand(runs, DealSecret(SEED)), now)
    assert race.phase == "closed"
