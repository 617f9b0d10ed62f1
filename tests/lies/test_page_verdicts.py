"""What the page answers in draws, compared with the other clients. ``test_lies`` compares all that comes after."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import count

import pytest
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.deal_proof import LostShare, RevealedShare
from samedeal.joint_deal import share_commitment
from samedeal.options import Options
from samedeal.protocol import messages
from samedeal.protocol.messages import RoomState
from samedeal.race import room_state
from samedeal.race.openings import first_race
from samedeal.race.values import DrawProgress, Race, Racer
from samedeal_link.evidence.facts import AskedToEnter
from samedeal_link.evidence.verdict import NO_READING, verdict
from tests.golden.golden_files import assert_answers
from tests.lies.enumeration import outcome
from tests.lies.page import Page, difference, page_files
from tests.lies.seen import Event, Seen
from tests.lies.worlds import PLANS, WINDOW, Plan, hold, options, script
from tests.shared.javascript import needs_node

pytestmark = needs_node


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with page_files() as folder:
        program = Page(folder)
        yield program
        program.close()


SEATS = {"ana": 1, "bob": 2, "cid": 3, "dan": 4}
RACE = first_race("friday", Options(deal="winnable"), Deal.parse("winnable"), bytes(32), 0)
RACE = replace(RACE, ends=1000 * RACE.options.limit)
IN_WINDOW = first_race("friday", Options(deal="winnable"), Deal.parse("winnable"), bytes(32), 0, window=3600)


class Draws:
    """Ana's client in a history of draws, which ``draws.txt`` explains, and what it does."""

    def __init__(self, race: Race) -> None:
        self.race = race
        self.seen = Seen.of(AskedToEnter("player", "friday"), "ana", "ana", "1")
        self.now = 0
        self._numbers = count(1)
        self.see("joins")

    def see(self, text: str) -> str:
        """Let the client see a state, and return what it does in a word."""
        number = next(self._numbers)
        if text == "restarts":
            self._happens("restarted")
        if text in ("joins", "restarts"):
            self._happens("sent", messages.Join(id=number, room="friday"))
            self._happens("received", messages.Joined(to=number, room="friday", seat=1, generation=number))
            return ""
        for message in self._messages(text, number):
            self._happens("received", message)
        does = {"": "nothing", "commitshare": "commits", "revealshare": "reveals"}[self.newest]
        if does != "nothing":
            self._happens("received", messages.Done(to=self.seen.fresh_id))
        return does

    @property
    def newest(self) -> str:
        return type(self.seen.ready).__name__.lower() if self.seen.ready is not None else ""

    def _happens(self, kind: str, message: object = None) -> None:
        self.now += 1
        self.seen = self.seen.after(Event(kind, self.now, message))  # type: ignore[arg-type]  # one of the kinds

    def _messages(self, text: str, event: int) -> Iterator[RoomState | messages.Drawn]:
        number, _, rest = text.partition(": ")
        seated, *more = rest.split("; ")
        draw, names = int(number), seated.split()
        lost = [each.split()[1:] for each in more if each.startswith("lost")]
        racers = tuple(self._racer(name, draw) for name in names)
        there = tuple(each for each, name in zip(racers, names, strict=True) if not name.endswith("~"))
        drawn = sorted(RevealedShare(each.seat, each.name, each.commitment, each.share) for each in there)
        race = replace(
            self.race,
            phase=next((phase for phase in ("racing", "open") if phase in more), "countdown"),
            racers=racers,
            draw=DrawProgress(
                draw,
                lost=tuple(LostShare(int(number), SEATS[name], "silent", name) for number, name in lost),
                shares=tuple(drawn) if "drawn" in more else (),
                seats=tuple(each.seat for each in there) if self.race.window else (),
            ),
        )
        if (shown := room_state.drawn(race)) is not None:
            yield shown
        yield room_state.room_state(race, {}, event, 0, 0)

    def _share(self, name: str, draw: int) -> bytes:
        return self.seen.share(draw) if name == "ana" else hashlib.sha256(f"{name} {draw}".encode()).digest()

    def _racer(self, text: str, draw: int) -> Racer:
        """A racer. The name may be followed by ``-`` for no commitment, or by ``!`` for another one than expected.

        Who is away when the deal of a window is drawn has a ``~``.
        """
        name = text.rstrip("-!~")
        share = self._share(name, draw)
        promise = share_commitment(self.race.terms.digest, self.race.commitment, SEATS[name], name, draw, share)
        promise = hashlib.sha256(promise).digest() if text.endswith("!") else promise
        return Racer(name, name, SEATS[name], commitment=b"" if text.endswith(("-", "~")) else promise, share=share)


def test_draws_are_answered_alike(page: Page) -> None:
    """Also if the program is started again before the last state. It forgets nothing, and what it has found stays."""

    def answer(heading: str, question: str) -> str:
        history = " | ".join(filter(None, (heading.partition("fter ")[2], question))).split(" | ")
        race = IN_WINDOW if "window" in heading else RACE
        answers = {of(page, race, history), of(page, race, [*history[:-1], "restarts", history[-1]])}
        assert len(answers) == 1, (history, answers)
        return answers.pop()

    assert_answers("draws", answer)


def of(page: Page, race: Race, history: list[str]) -> str:
    """What the client does after the last state of a history, and the rows that it has found. The page must agree."""
    client = Draws(race)
    does = [client.see(text) for text in history][-1]
    (told,) = page.judge([(client.seen, NO_READING)])
    assert difference(verdict(client.seen.evidence, NO_READING), client.seen, NO_READING, told) == ""
    return ", ".join((does, *client.seen.evidence.found))


def test_page_orders_equal_lines_of_a_table_as_the_server_does(page: Page) -> None:
    """Both names are as people write them in Japan. JavaScript compares parts of characters."""
    one, other = "\U00020bb7田", "\ufa11本"
    words = f"{one}:join {other}:join {one}:start race {one}:stuck {other}:stuck"
    held = hold(Plan("equal", script(words), options(series=3, players=4)), "1")
    found = outcome(held, held.clients[one])
    assert found.verdict.kind == "fair"
    (told,) = page.judge([(found.seen, found.reading)])
    assert told["kind"] == "fair"


def test_who_comes_after_the_race_does_not_say_that_the_deal_was_set_before(page: Page) -> None:
    held = hold(PLANS["random"], "1")
    for name, said in (
        ("ana", "Checked: the deal was set before the start, and all is as you saw it."),
        ("sue", "Checked: you came after the start, and all is as you saw it."),
    ):
        found = outcome(held, held.clients[name])
        assert found.verdict.sentence == said
        assert [told["sentence"] for told in page.judge([(found.seen, found.reading)])] == [said]


def test_page_counts_no_race_of_who_never_began(page: Page) -> None:
    words = "ana:join bob:join ana:start race ana:begin ana:move limit"
    held = hold(Plan("never began", script(words), options(series=3, players=4), window=WINDOW), "1")
    found = outcome(held, held.clients["ana"])
    assert ([line.name for line in held.race.table], found.verdict.kind) == (["ana"], "fair")
    (told,) = page.judge([(found.seen, found.reading)])
    assert told["kind"] == "fair"
