"""The laws of a race: what each command does in each phase, who stands where, and what no sequence of commands can do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from samedeal.deal import commitment
from samedeal.errors import Refused
from samedeal.options import Options
from samedeal.protocol.messages import Phase
from samedeal_server.race import (
    ABSENT_AFTER,
    KEPT,
    Begin,
    Command,
    Expel,
    Leave,
    Link,
    Outcome,
    Race,
    Racer,
    Resign,
    Run,
    SetReady,
    Shut,
    Sit,
    Tick,
    after,
    standings,
)

SEED = bytes(range(32))
CREATED = 1_000_000
STARTS = CREATED + 5_000
ENDS = STARTS + 60_000
OPTIONS = Options(players=3, countdown=3, limit=60)
LONG_AFTER = CREATED + 100 * KEPT
RACERS = (Racer("ana", "Ana", 1), Racer("bob", "Bob", 2))
HERE = {name: Run(here=LONG_AFTER) for name in ("ana", "bob")}


def opened(options: Options = OPTIONS, *racers: Racer) -> Race:
    return Race(
        room="friday",
        options=options,
        round=0,
        deal="random",
        commitment=commitment(SEED),
        private=False,
        created=CREATED,
        idle=CREATED,
        racers=racers,
    )


def race_in(phase: Phase, options: Options = OPTIONS) -> Race:
    """A race of ana (the host) and bob in a phase."""
    race = replace(opened(options, *RACERS), phase=phase)
    if phase == "open":
        return race
    race = replace(race, starts=STARTS, ends=ENDS)
    if phase in ("finished", "closed"):
        return replace(race, seed=SEED, idle=ENDS, standings=standings(race, {}))
    return race


def command(text: str) -> Command:
    """The command that a sentence such as ``ana leaves`` stands for."""
    who, what = text.split()
    commands: dict[str, Command] = {
        "sits": Sit(who, who.capitalize(), HERE),
        "leaves": Leave(who),
        "readies": SetReady(who, True),
        "waits": SetReady(who, False),
        "begins": Begin(who),
        "resigns": Resign(who),
        "follows": Link(who),
        "expelled": Expel(who),
        "shut": Shut(),
        "passes": Tick(HERE, SEED),
    }
    return commands[what]


def do(race: Race, text: str, now: int) -> Outcome:
    return after(race, command(text), now)


def told(race: Race, text: str, now: int) -> str:
    """What becomes of a command, as text: the phase and what happened, or the code of the refusal."""
    before = replace(race)
    try:
        changed, events = do(race, text, now)
    except Refused as refused:
        return refused.code
    finally:
        assert race == before
    assert (changed is race) == (not events)
    assert not events or changed.idle == now
    return f"{changed.phase}: {' '.join(events) or 'nothing'}"


# ---------------------------------------------------------------- the table

BEFORE, DURING, LATE, LATER = STARTS - 1, STARTS, ENDS, ENDS + KEPT


@pytest.mark.parametrize(
    ("text", "open_", "countdown", "racing", "finished", "closed"),
    [
        ("cid sits", "open: joined", "race_started", "race_started", "race_started", "room_closed"),
        ("ana sits", "open: nothing", "countdown: nothing", "racing: nothing", "finished: nothing", "room_closed"),
        ("ana leaves", "open: left", "countdown: left", "racing: resigned", "finished: nothing", "closed: nothing"),
        (
            "cid leaves",
            "open: nothing",
            "countdown: nothing",
            "racing: nothing",
            "finished: nothing",
            "closed: nothing",
        ),
        ("ana readies", "open: ready", "race_started", "race_started", "race_started", "room_closed"),
        ("ana waits", "open: nothing", "race_started", "race_started", "race_started", "room_closed"),
        ("cid readies", "no_seat", "race_started", "race_started", "race_started", "room_closed"),
        ("ana begins", "countdown: countdown", "race_started", "race_started", "race_started", "room_closed"),
        ("bob begins", "not_host", "race_started", "race_started", "race_started", "room_closed"),
        ("cid begins", "no_seat", "race_started", "race_started", "race_started", "room_closed"),
        ("bob resigns", "not_racing", "not_racing", "racing: resigned", "not_racing", "room_closed"),
        ("cid resigns", "not_racing", "not_racing", "racing: nothing", "not_racing", "room_closed"),
        ("next follows", "not_over", "not_over", "not_over", "finished: rematch", "room_closed"),
        (
            "ana expelled",
            "open: left kicked",
            "countdown: left kicked",
            "racing: resigned kicked",
            "finished: kicked",
            "room_closed",
        ),
        ("cid expelled", "no_seat", "no_seat", "no_seat", "no_seat", "room_closed"),
        (
            "it shut",
            "closed: shut closed",
            "closed: shut closed",
            "closed: shut closed",
            "closed: shut closed",
            "closed: nothing",
        ),
        (
            "time passes",
            "open: nothing",
            "countdown: nothing",
            "racing: nothing",
            "finished: nothing",
            "closed: nothing",
        ),
    ],
)
def test_every_command_in_every_phase(
    text: str, open_: str, countdown: str, racing: str, finished: str, closed: str
) -> None:
    assert told(race_in("open"), text, BEFORE) == open_
    assert told(race_in("countdown"), text, BEFORE) == countdown
    assert told(race_in("racing"), text, DURING) == racing
    assert told(race_in("finished"), text, LATE) == finished
    assert told(race_in("closed"), text, LATER) == closed


@pytest.mark.parametrize(
    ("phase", "now", "outcome"),
    [
        ("open", CREATED + KEPT - 1, "open: nothing"),
        ("open", CREATED + KEPT, "open: kept_open"),
        ("countdown", STARTS - 1, "countdown: nothing"),
        ("countdown", STARTS, "racing: racing"),
        ("racing", ENDS - 1, "racing: nothing"),
        ("racing", ENDS, "finished: finished"),
        ("countdown", ENDS, "finished: racing finished"),
        ("finished", ENDS + KEPT - 1, "finished: nothing"),
        ("finished", ENDS + KEPT, "closed: closed"),
        ("closed", ENDS + 2 * KEPT, "closed: nothing"),
    ],
)
def test_time_moves_a_race_on_at_its_due_time_and_no_earlier(phase: Phase, now: int, outcome: str) -> None:
    race = race_in(phase)
    assert told(race, "time passes", now) == outcome
    assert (now >= race.due() and phase != "closed") == ("nothing" not in outcome)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("ana leaves", "racing: racing resigned"),
        ("ana resigns", "racing: racing resigned"),
        ("ana sits", "racing: racing"),
        ("cid sits", "race_started"),
        ("ana begins", "race_started"),
    ],
)
def test_a_countdown_that_has_run_out_is_a_race_under_way(text: str, outcome: str) -> None:
    assert told(race_in("countdown"), text, STARTS) == outcome


def test_nobody_goes_out_of_a_race_when_its_time_is_up() -> None:
    assert told(race_in("racing"), "ana resigns", ENDS - 1) == "racing: resigned"
    assert told(race_in("racing"), "ana resigns", ENDS) == "racing: nothing"
    assert told(race_in("racing"), "ana leaves", ENDS) == "racing: nothing"


# ---------------------------------------------------------------- seats


def seats(race: Race) -> str:
    return " ".join(f"{racer.player}{racer.seat}" for racer in race.racers)


def play(race: Race, *texts: str, now: int = CREATED + 1) -> Race:
    for text in texts:
        race, _ = do(race, text, now)
    return race


def test_seats_are_filled_from_the_first_that_is_free() -> None:
    race = play(opened(), "ana sits", "bob sits", "cid sits")
    assert seats(race) == "ana1 bob2 cid3"
    race = play(race, "ana leaves", "dan sits")
    assert seats(race) == "bob2 cid3 dan1"


def test_the_host_is_who_has_had_a_seat_for_longest() -> None:
    race = play(opened(), "ana sits", "bob sits", "cid sits")
    assert race.host == "ana"
    race = play(race, "ana leaves", "ana sits")
    assert race.host == "bob"
    assert told(race, "ana begins", BEFORE) == "not_host"
    assert opened().host == ""


def test_a_full_room_takes_nobody_but_those_who_are_in() -> None:
    race = play(opened(), "ana sits", "bob sits", "cid sits")
    assert told(race, "dan sits", BEFORE) == "room_full"
    assert told(race, "cid sits", BEFORE) == "open: nothing"


def test_two_in_a_room_have_different_names() -> None:
    race = play(opened(), "ana sits")
    with pytest.raises(Refused, match="come back with another name") as refused:
        after(race, Sit("other", "ANA", HERE), BEFORE)
    assert refused.value.code == "name_taken"


def test_a_countdown_that_everybody_leaves_stops() -> None:
    race, events = do(play(race_in("countdown"), "ana leaves"), "bob leaves", BEFORE)
    assert (race.phase, race.starts, race.ends, events) == ("open", 0, 0, ("left", "countdown_stopped"))


# ---------------------------------------------------------------- when it starts


@pytest.mark.parametrize(
    ("options", "texts", "phase"),
    [
        (Options(players=3), ["ana sits", "bob sits", "cid sits", "ana readies", "bob readies", "cid readies"], "open"),
        (Options(players=3, start="all-ready"), ["ana sits", "ana readies"], "open"),
        (Options(players=3, start="all-ready"), ["ana sits", "bob sits", "ana readies"], "open"),
        (Options(players=3, start="all-ready"), ["ana sits", "bob sits", "ana readies", "bob readies"], "countdown"),
        (Options(players=3, start="all-ready"), ["ana sits", "ana readies", "bob sits", "bob readies"], "countdown"),
        (Options(players=1, start="all-ready"), ["ana sits", "ana readies"], "countdown"),
        (
            Options(players=3, start="all-ready"),
            ["ana sits", "bob sits", "cid sits", "ana readies", "bob readies", "cid leaves"],
            "countdown",
        ),
        (
            Options(players=3, start="all-ready"),
            ["ana sits", "bob sits", "ana readies", "bob leaves"],
            "open",
        ),
        (Options(players=2, start="full"), ["ana sits"], "open"),
        (Options(players=2, start="full"), ["ana sits", "bob sits"], "countdown"),
        (Options(players=2, start="full"), ["ana sits", "ana begins"], "countdown"),
        (Options(players=1, start="full"), ["ana sits"], "countdown"),
    ],
)
def test_a_countdown_begins_as_the_options_say(options: Options, texts: list[str], phase: Phase) -> None:
    race = play(opened(options), *texts)
    assert race.phase == phase
    if phase == "countdown":
        assert race.starts == CREATED + 1 + 1000 * options.countdown
        assert race.ends == race.starts + 1000 * options.limit


def test_a_countdown_of_nothing_starts_at_once() -> None:
    race = play(opened(Options(countdown=0)), "ana sits", "ana begins")
    assert (race.phase, race.starts) == ("countdown", CREATED + 1)
    assert told(race, "time passes", CREATED + 1) == "racing: racing"


AT = CREATED + 100_000
AT_OPTIONS = Options(start="at", start_at=AT, countdown=3)


def test_a_race_at_a_time_counts_down_to_that_time() -> None:
    race = play(opened(AT_OPTIONS), "ana sits")
    assert race.due() == AT - 3000
    assert told(race, "time passes", AT - 3001) == "open: nothing"
    begun, _ = do(race, "time passes", AT - 2000)
    assert (begun.phase, begun.starts) == ("countdown", AT)
    late, _ = do(race, "time passes", AT + 500)
    assert late.starts == AT + 500


def test_a_race_at_a_time_waits_for_somebody_until_then_and_closes_without() -> None:
    race = opened(AT_OPTIONS)
    assert race.due() == AT
    assert told(race, "time passes", AT - 1) == "open: nothing"
    assert told(race, "time passes", AT) == "closed: closed"


@pytest.mark.parametrize(
    ("here", "outcome"),
    [
        (0, "closed: closed"),
        (CREATED + KEPT - ABSENT_AFTER, "closed: closed"),
        (CREATED + KEPT - ABSENT_AFTER + 1, "open: kept_open"),
    ],
)
def test_an_open_room_is_kept_for_those_who_were_heard_of(here: int, outcome: str) -> None:
    now = CREATED + KEPT
    race, events = after(opened(OPTIONS, RACERS[0]), Tick({"ana": Run(here=here)}, SEED), now)
    assert f"{race.phase}: {' '.join(events)}" == outcome
    assert race.phase == "closed" or race.due() == now + KEPT


# ---------------------------------------------------------------- who is gone

GONE = CREATED + 10_000


def runs(**here: int) -> dict[str, Run]:
    return {player: Run(here=at) for player, at in here.items()}


@pytest.mark.parametrize(
    ("now", "here", "outcome"),
    [
        (GONE, runs(ana=GONE, bob=GONE), "ana bob"),
        (GONE + ABSENT_AFTER - 1, runs(ana=-GONE, bob=-GONE), "ana bob"),
        (GONE + ABSENT_AFTER, runs(ana=-GONE, bob=GONE + 1), "bob"),
        (GONE + ABSENT_AFTER, runs(ana=GONE, bob=GONE + 1), "bob"),
        (GONE + ABSENT_AFTER, runs(ana=-GONE, bob=-GONE - 1), "bob"),
        (GONE + ABSENT_AFTER, runs(ana=-GONE, bob=-GONE), ""),
        (CREATED + ABSENT_AFTER, {}, "ana bob"),
        (CREATED + ABSENT_AFTER + 1, {}, ""),
    ],
)
def test_who_is_gone_from_an_open_room_for_a_while_has_given_up_the_seat(
    now: int, here: dict[str, Run], outcome: str
) -> None:
    race = play(opened(), "ana sits", "bob sits")
    left, events = after(race, Tick(here, SEED), now)
    assert " ".join(racer.player for racer in left.racers) == outcome
    assert events == (() if left is race else ("left",))


def test_a_seat_that_was_given_up_is_free_for_who_comes_and_the_next_is_host() -> None:
    full = opened(Options(players=2, start="full", countdown=3))
    race = play(full, "ana sits")
    late = CREATED + ABSENT_AFTER + 1
    came, events = after(race, Sit("bob", "Ana", runs(ana=-CREATED)), late)
    assert events == ("left", "joined")
    assert (came.phase, came.host) == ("open", "bob")
    again, events = after(came, Sit("ana", "Anna", runs(ana=-CREATED, bob=late)), late)
    assert events == ("joined", "countdown")
    assert [racer.player for racer in again.racers] == ["bob", "ana"]


def test_nobody_waits_for_who_is_gone_to_be_ready() -> None:
    race = play(
        opened(Options(players=3, start="all-ready")), "ana sits", "bob sits", "eve sits", "bob readies", "eve readies"
    )
    late = CREATED + ABSENT_AFTER + 1
    begun, events = after(race, Tick(runs(bob=late, eve=late), SEED), late)
    assert events == ("left", "countdown")
    assert begun.host == "bob"


@pytest.mark.parametrize("phase", ["countdown", "racing", "finished"])
def test_a_seat_is_for_good_once_the_countdown_has_begun(phase: Phase) -> None:
    race = race_in(phase)
    now = STARTS - 1 if phase == "countdown" else DURING
    assert race.here({}, now + KEPT) == race.racers
    assert after(race, Tick({}, SEED), now)[0].racers == race.racers


def test_a_seat_in_a_race_that_starts_at_a_time_is_kept() -> None:
    race = play(opened(AT_OPTIONS), "ana sits")
    begun, events = after(race, Tick({}, SEED), AT - 3000)
    assert events == ("countdown",)
    assert begun.racers == race.racers


# ---------------------------------------------------------------- the operator


@pytest.mark.parametrize(
    ("phase", "now"), [("open", BEFORE), ("countdown", BEFORE), ("racing", DURING), ("finished", LATE)]
)
def test_who_was_expelled_is_not_let_in_again_and_others_are(phase: Phase, now: int) -> None:
    race, _ = do(race_in(phase), "bob expelled", now)
    assert told(race, "bob sits", now) == "kicked"
    assert told(race, "ana sits", now) == f"{phase}: nothing"
    with pytest.raises(Refused):
        race.check_welcome("bob")
    race.check_welcome("ana")
    if phase in ("racing", "finished"):
        assert told(race, "bob expelled", now) == f"{phase}: nothing"


def test_so_many_who_were_expelled_are_remembered() -> None:
    race = opened(Options(players=1))
    for number in range(150):
        race, _ = do(race, f"p{number} sits", CREATED)
        race, _ = do(race, f"p{number} expelled", CREATED)
    assert race.expelled == tuple(f"p{number}" for number in range(50, 150))


def test_a_race_that_is_shut_under_way_has_no_order_and_keeps_its_seed() -> None:
    race, _ = do(race_in("racing"), "it shut", DURING)
    assert (race.phase, race.seed, race.standings, race.due()) == ("closed", b"", (), 0)
    assert do(race_in("finished"), "it shut", LATE)[0].seed == SEED


# ---------------------------------------------------------------- when it ends


def finish(now: int, *racers: Racer, **runs: Run) -> Race:
    race = replace(race_in("racing"), racers=racers or RACERS)
    return after(race, Tick(runs, SEED), now)[0]


@pytest.mark.parametrize(
    ("runs", "ends"),
    [
        ({}, False),
        ({"ana": Run(home=STARTS + 5)}, False),
        ({"ana": Run(home=STARTS + 5), "bob": Run(home=STARTS + 9)}, True),
        ({"ana": Run(home=STARTS + 5), "bob": Run(over=STARTS + 9)}, True),
        ({"ana": Run(over=STARTS + 5), "bob": Run(over=STARTS + 9)}, True),
    ],
)
def test_a_race_is_finished_when_all_are_home_or_over(runs: dict[str, Run], ends: bool) -> None:
    race = finish(STARTS + 10, **runs)
    assert (race.phase == "finished") == ends
    assert race.seed == (SEED if ends else b"")


def test_a_race_is_finished_when_the_rest_is_out() -> None:
    out = Racer("bob", "Bob", 2, out=True)
    assert finish(STARTS + 10, RACERS[0], out).phase == "racing"
    assert finish(STARTS + 10, RACERS[0], out, ana=Run(home=STARTS + 5)).phase == "finished"
    assert finish(STARTS + 10, out).phase == "finished"


def test_an_end_that_the_first_home_brought_forward_ends_the_race() -> None:
    race = replace(race_in("racing"), ends=STARTS + 5)
    assert told(race, "time passes", STARTS + 4) == "racing: nothing"
    assert told(race, "time passes", STARTS + 5) == "finished: finished"


@pytest.mark.parametrize(
    ("runs", "order"),
    [
        # home before not home, however many cards the other has up
        ({"a": Run(up=51, risen=STARTS + 1), "b": Run(up=52, home=STARTS + 9)}, "1b 2a 3c"),
        # those home by time
        ({"a": Run(up=52, home=STARTS + 9), "b": Run(up=52, home=STARTS + 8), "c": Run(up=52, home=STARTS + 7)}, "1c 2b 3a"),
        # the others by cards up
        ({"a": Run(up=3, risen=1), "b": Run(up=5, risen=9), "c": Run(up=4, risen=1)}, "1b 2c 3a"),
        # then by who got there first
        ({"a": Run(up=5, risen=9), "b": Run(up=5, risen=8), "c": Run(up=5, risen=7)}, "1c 2b 3a"),
        # level in all of it: the same place, and the next is left out
        ({"a": Run(up=5, risen=9), "b": Run(up=5, risen=9), "c": Run(up=4, risen=1)}, "1a 1b 3c"),
        ({"a": Run(up=52, home=STARTS + 9), "b": Run(up=52, home=STARTS + 9), "c": Run()}, "1a 1b 3c"),
        ({}, "1a 1b 1c"),
    ],
)  # fmt: skip
def test_standings(runs: dict[str, Run], order: str) -> None:
    race = replace(race_in("racing"), racers=tuple(Racer(name, name, seat) for seat, name in enumerate("abc", 1)))
    lines = standings(race, runs)
    assert " ".join(f"{line.place}{line.player}" for line in lines) == order
    for line in lines:
        run = runs.get(line.player, Run())
        assert line.time == (run.home - STARTS if run.home else 0)


def test_who_resigned_counts_by_cards_up_and_who_was_home_is_not_out() -> None:
    racers = (Racer("ana", "Ana", 1, out=True), Racer("bob", "Bob", 2, out=True), Racer("cid", "Cid", 3))
    race = replace(race_in("racing"), racers=racers)
    lines = standings(race, {"ana": Run(up=9, risen=5), "bob": Run(up=52, home=STARTS + 7), "cid": Run(up=8)})
    assert [(line.player, line.out) for line in lines] == [("bob", False), ("ana", True), ("cid", False)]


# ---------------------------------------------------------------- afterwards


def test_a_race_has_one_successor() -> None:
    race, _ = do(race_in("finished"), "next follows", LATE)
    assert race.next == "next"
    assert told(race, "other follows", LATE) == "finished: nothing"


@pytest.mark.parametrize(
    ("deal", "then"), [("#4821", "#4822"), ("random", "random"), ("daily 2026-11-21", "random"), ("#0", "#1")]
)
def test_the_deal_of_the_rematch(deal: str, then: str) -> None:
    assert replace(race_in("finished"), deal=deal).successor_deal() == then


def test_games_go_round_from_race_to_race() -> None:
    race = opened(Options(games=("athena", "steve")))
    assert [replace(race, round=number).game.name for number in range(3)] == ["athena", "steve", "athena"]


# ---------------------------------------------------------------- whatever happens

PLAYERS = ("ana", "bob", "cid", "dan")
ORDER: tuple[Phase, ...] = ("open", "countdown", "racing", "finished", "closed")

deeds = st.tuples(
    st.sampled_from(PLAYERS),
    st.sampled_from(
        (
            "sits",
            "sits",
            "leaves",
            "readies",
            "begins",
            "resigns",
            "follows",
            "expelled",
            "moves",
            "goes-home",
            "passes",
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


def keeps_the_laws(before: Race, changed: Race, events: tuple[str, ...], now: int) -> None:
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
        assert all(now_.out or not was.out for was, now_ in zip(before.racers, changed.racers, strict=True))
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


@settings(max_examples=300)
@given(all_options, st.lists(deeds, max_size=40))
def test_no_sequence_of_commands_breaks_the_laws(options: Options, sequence: list[tuple[str, str, int]]) -> None:
    race, now = opened(options), CREATED
    runs: dict[str, Run] = {}
    for who, what, wait in sequence:
        now += wait
        if what in ("moves", "goes-home"):
            # as the commit script has it: only who races, in time, and once home no more
            run = runs.get(who, Run())
            racer = race.racer(who)
            if racer and not racer.out and not run.home and race.phase == "racing" and now < race.ends:
                runs[who] = replace(run, up=run.up + 1, risen=now, home=now if what == "goes-home" else 0)
            continue
        given_ = Tick(runs, SEED) if what == "passes" else command(f"{who} {what}")
        try:
            changed, events = after(race, given_, now)
        except Refused:
            continue
        keeps_the_laws(race, changed, events, now)
        assert after(race, given_, now) == (changed, events)
        race = changed
    for _ in range(6):  # and time alone brings every race to its end
        now = max(now, race.due())
        race, _ = after(race, Tick(runs, SEED), now)
    assert race.phase == "closed"
