"""What the page for browsers says about deals: of honest servers, and of servers that lie in what they show or prove."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from samedeal.deal_proof import DealProof, ShareLostElsewhere
from samedeal.deal_words import deal_words
from samedeal.difficulty import SEARCH_BUDGET, states_of
from samedeal.joint_deal import won_candidates
from samedeal.moves import Move
from samedeal.protocol.messages import DealRoom, RoomState, SeatLostElsewhere
from samedeal.solver.solve import SOLVER
from tests.golden.golden_files import asked_on, assert_answers, values_on
from tests.server import shown_rooms
from tests.server.shown_rooms import Story, ended, fixed, sealed, story
from tests.shared import drawn_deals
from tests.shared.drawn_deals import AGAIN, ANA, BOB, CID, GAME, HONEST, UNLAWFUL, proof_of
from tests.shared.javascript import evaluate_with_page, needs_node
from tests.shared.joint_deals import other_room, with_others

pytestmark = needs_node

VERDICTS = """await (async () => {
    const revive = value => {
        if (typeof value === "string" && value.startsWith("hex:")) return unhex(value.slice(4))
        if (Array.isArray(value)) return value.map(revive)
        if (value === null || typeof value !== "object") return value
        return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, revive(part)]))
    }
    const verdictOf = async states => {
        const race = new Race()
        for (const state of revive(states)) race.setRoom(state)
        const {steps, search} = await checkDeal(race.room, race.commitment, [], [], race)
        const all = steps.map(([ok, sentence]) => [ok, sentence])
        if (search && !all.some(([ok]) => ok === false)) {
            const {ok, reason} = await checkSearch(search, () => {})
            all.push([ok, reason])
        }
        const has = wanted => all.some(([ok]) => ok === wanted)
        return [has(false) ? "wrong" : has(null) ? "unsure" : "fair", all]
    }
    return Promise.all(given.map(verdictOf))
})()"""


def as_json(part: object) -> Any:
    """What JSON can say, with bytes as texts."""
    if isinstance(part, bytes):
        return f"hex:{part.hex()}"
    if isinstance(part, dict):
        return {name: as_json(each) for name, each in part.items()}
    return [as_json(each) for each in part] if isinstance(part, list | tuple) else part


def verdicts(folder: Path, stories: dict[str, Story]) -> dict[str, tuple[str, list[tuple[bool | None, str]]]]:
    found = evaluate_with_page(VERDICTS, as_json(to_builtins(list(stories.values()), builtin_types=(bytes,))), folder)
    return dict(zip(stories, found, strict=True))


def as_written(change: Callable[[str], str], proof: DealProof = HONEST) -> Story:
    text = change(str(proof))
    assert text != str(proof)
    return [*story(proof)[:-1], ended(proof, text)]


def written(was: str, now: str) -> Story:
    """The states of a server that replaces a text in the proof."""
    return as_written(lambda text: text.replace(was, now))


BROOK, SHOAL = other_room(HONEST.terms, "brook", 1), other_room(HONEST.terms, "shoal", 1, ("gil",))
TIDE = with_others(HONEST, BROOK, SHOAL)
REDRAWN = replace(
    with_others(AGAIN, other_room(AGAIN.terms, "brook", 2)),
    lost=(),
    elsewhere=(ShareLostElsewhere(1, "brook", 4, "left", "dan"),),
)


def in_other_order() -> DealProof:
    """The proof of a server that mixes the rooms of a tide in another order."""
    mixes = b"".join(f"{room.room}\n".encode() + room.mixed for room in sorted(TIDE.rooms, reverse=True))
    mixed = hashlib.sha256(b"samedeal tide v1\n" + mixes).digest()
    won = next(won_candidates(mixed, GAME, SEARCH_BUDGET, count()))
    return replace(TIDE, candidate=won.number, line=won.line)


DAN = (7, "dan", bytes(32))
RESHARED = proof_of(ANA, BOB, (5, "cid", bytes(32)))
MOVED_CID = (6, "cid", CID[2])
RENAMED = (5, "dan", CID[2])


def test_page_calls_deals_fair_as_the_answers_say(tmp_path: Path) -> None:
    found = verdicts(tmp_path, values_on("page_deals", vars(drawn_deals), vars(shown_rooms), globals()))
    assert_answers("page_deals", lambda _, question: found[question][0])
    said = {question.partition(": ")[0]: steps for question, (_, steps) in found.items()}
    assert [*said["another candidate"][-1]] == [False, "It can win an earlier one."]
    assert [ok for ok, _ in said["a line that stops early"]] == [True, True, False]
    assert [*said["a line that breaks the rules"][-1]] == [False, "The winning line breaks the rules of the game."]
    for name, beginning in (
        ("a small budget", "The server looked for one that is won with 1 to 2,000 positions."),
        ("another solver", "That needs version 2 of the solver, and this page has version 1."),
        ("a far candidate", f"The proof names candidate {proof_of(ANA, BOB, CID, first=1000).candidate:,},"),
        ("a newer proof", "The proof of this deal has version 5, which this page cannot check."),
    ):
        assert said[name][-1][1].startswith(beginning), name
    claims({name.partition(": ")[0]: found[name][1] for heading, name in asked_on("page_deals") if "prove" in heading})


def claims(steps: dict[str, list[tuple[bool | None, str]]]) -> None:
    """Check that the page claims only what it was shown."""
    committed = "The shares in the deal are exactly those to which this page saw the players commit."
    seen = "The shares in the deal are exactly those that this page was shown before the race ended."
    fit = "Each player's share is in the deal, and fits the hash that the proof has for it."
    assert [each[1][1] for each in steps.values()] == [committed, seen, fit, seen, fit, seen, fit]
    assert [name for name, each in steps.items() if "before any share was known" in each[0][1]] == ["all"]


def test_search_tells_its_candidates(tmp_path: Path) -> None:
    proof = proof_of(ANA, BOB, difficulty="medium")
    assert proof.candidate > 0
    program = """await (async () => {
        const told = []
        const search = {...given, mix: unhex(given.mix)}
        return [await checkSearch(search, message => told.push(message)), told]
    })()"""
    least, budget = states_of(GAME, "medium")
    search = {
        "game": str(GAME),
        "deal": "winnable medium",
        "solver": str(SOLVER),
        "limits": [least, budget],
        "mix": proof.mixed.hex(),
        "candidate": proof.candidate,
        "line": [str(move) for move in proof.line],
    }
    number = proof.candidate + 1
    told = [{"number": each, "count": number} for each in range(1, number + 1)]
    assert evaluate_with_page(program, search, tmp_path) == [{"ok": True, "reason": ""}, told]


def test_page_has_the_words_of_a_deal(tmp_path: Path) -> None:
    deals: list[tuple[bytes, Sequence[tuple[int, bytes]]]] = [
        (HONEST.commitment, [(each.seat, each.share) for each in HONEST.shares]),
        (HONEST.commitment, []),
        *((bytes([byte]) * 32, [(255, bytes(32))]) for byte in range(64)),
    ]
    given = [
        (commitment.hex(), [{"seat": seat, "share": share.hex()} for seat, share in shares])
        for commitment, shares in deals
    ]
    program = """await Promise.all(given.map(([commitment, shares]) =>
        dealWords(unhex(commitment), shares.map(({seat, share}) => ({seat, share: unhex(share)})))))"""
    found = evaluate_with_page(program, given, tmp_path)
    assert found == [deal_words(commitment, shares) for commitment, shares in deals]


def test_page_has_the_words_of_a_tide(tmp_path: Path) -> None:
    others = {room.room: room.digest for room in (SHOAL, BROOK)}
    given = [HONEST.commitment.hex(), [(room, digest.hex()) for room, digest in others.items()]]
    program = """await dealWords(unhex(given[0]), [{seat: 1, share: unhex(given[0])}], "friday",
        given[1].map(([room, digest]) => ({room, digest: unhex(digest)})))"""
    words = deal_words(HONEST.commitment, [(1, HONEST.commitment)], "friday", others)
    assert evaluate_with_page(program, given, tmp_path) == words


def test_unlawful_line_has_every_move_written_as_moves_are() -> None:
    assert ", ".join(str(Move.parse(move)) for move in UNLAWFUL.split(", ")) == UNLAWFUL


SEAT = """await Promise.all(given.map(async states => {
    const {Shares} = await import("./shares.js")
    const revive = value => typeof value === "string" && value.startsWith("hex:") ? unhex(value.slice(4))
        : Array.isArray(value) ? value.map(revive) : value === null || typeof value !== "object" ? value
        : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, revive(part)]))
    const own = {shares: {1: "01".repeat(32), 2: "01".repeat(32), 3: "01".repeat(32)}, revealed: [], stay: 0}
    const shares = new Shares({get: () => ({...own, commitment: states[0].commitment.slice(4)}), set: () => {}})
    const answers = []
    for (const state of revive(states)) answers.push((await shares.answer(state, "p1"))?.type ?? "")
    return [answers, shares.step[1]]
}))"""


def test_seat_of_the_page_reveals_once_for_the_rooms_that_it_was_shown(tmp_path: Path) -> None:
    rooms = fixed(TIDE).rooms

    def drawing(draw: int, *lost: tuple[int, str], others: tuple[DealRoom, ...] = rooms) -> RoomState:
        elsewhere = (
            SeatLostElsewhere(draw=each, seat=9, name="hal", reason="silent", room=room) for each, room in lost
        )
        return sealed(HONEST, draw, rooms=others, elsewhere=tuple(elsewhere))

    given = values_on("page_seats", globals(), {"drawing": drawing, "rooms": rooms})
    states = [as_json(to_builtins(states, builtin_types=(bytes,))) for states in given.values()]
    found = dict(zip(given, evaluate_with_page(SEAT, states, tmp_path), strict=True))

    def answer(_: str, question: str) -> str:
        answers, said = found[question]
        return f"{', '.join(answer or 'nothing' for answer in answers)}; {said}"

    assert_answers("page_seats", answer)
