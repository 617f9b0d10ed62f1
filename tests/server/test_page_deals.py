"""What the page for browsers says about deals: of honest servers, and of servers that lie in what they show or prove."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace as replace_in

from samedeal.deal import DIFFICULTIES
from samedeal.deal_proof import DealProof, ShareLostElsewhere
from samedeal.deal_words import deal_words
from samedeal.difficulty import SEARCH_BUDGET, states_of
from samedeal.joint_deal import won_candidates
from samedeal.moves import Move
from samedeal.protocol.messages import DealRoom, RoomState, SeatLostElsewhere
from samedeal.solver.solve import SOLVER
from tests.server.shown_rooms import Story, ended, fixed, lost_before, lying, sealed, state, story
from tests.shared.drawn_deals import (
    AGAIN,
    ANA,
    BOB,
    CID,
    DAILY,
    GAME,
    HONEST,
    LOST,
    SECRET,
    UNLAWFUL,
    daily_proof,
    proof_of,
    too_easy,
)
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


def only(found: dict[str, tuple[str, list[tuple[bool | None, str]]]]) -> dict[str, str]:
    return {name: verdict for name, (verdict, _) in found.items()}


def test_honest_deals_are_fair(tmp_path: Path) -> None:
    left = [state(AGAIN, "open", 1, lost=lost_before(AGAIN, 2), players=())]
    of_others = story(proof_of(BOB, CID, draw=2, lost=LOST))
    later = story(proof_of((3, "dan", bytes(32)), difficulty="easy"), deal="winnable easy")
    stories = {
        "one draw": story(HONEST),
        "two draws": story(AGAIN),
        "all left after a draw": [*story(proof_of(ANA))[:4], *left, *of_others[3:]],
        "another room with the same code": [*story(HONEST)[:-1], *later],
        "players who left after the draw": [
            *story(HONEST)[:-1],
            ended(HONEST, players=story(HONEST)[0].players[1:]),
        ],
        "daily": story(daily_proof(), deal=DAILY),
        "three rooms": story(TIDE),
        "a seat lost in another room": story(REDRAWN),
        "only the end": story(HONEST)[-1:],
        "from the race on": story(HONEST)[-2:],
        "closed": [*story(HONEST), replace_in(ended(HONEST), phase="closed")],
    }
    for name in DIFFICULTIES:
        stories[name] = story(proof_of(ANA, BOB, difficulty=name), deal=f"winnable {name}")
    found = verdicts(tmp_path, stories)
    assert only(found) == dict.fromkeys(stories, "fair"), found


def test_page_claims_only_what_it_was_shown(tmp_path: Path) -> None:
    """Commitments that are shown too late, or only with the shares, prove nothing."""
    shares = fixed(HONEST).shares
    committed = "The shares in the deal are exactly those to which this page saw the players commit."
    seen = "The shares in the deal are exactly those that this page was shown before the race ended."
    fit = "Each player's share is in the deal, and fits the hash that the proof has for it."
    stories = {
        "all": story(HONEST),
        "from the race on": story(HONEST)[-2:],
        "only the end": story(HONEST)[-1:],
        "sealed in the race": [sealed(HONEST, 1, shares=shares, phase="racing"), story(HONEST)[-1]],
        "sealed in the race without shares": [sealed(HONEST, 1, phase="racing"), story(HONEST)[-1]],
        "sealed with the shares": [sealed(HONEST, 1, shares=shares), *story(HONEST)[-2:]],
        "without shares": [*story(HONEST)[:2], ended(HONEST)],
    }
    found = verdicts(tmp_path, stories)
    assert only(found) == dict.fromkeys(stories, "fair")
    assert [steps[1][1] for _, steps in found.values()] == [committed, seen, fit, seen, fit, seen, fit]
    secrets = {name: "before any share was known" in steps[0][1] for name, (_, steps) in found.items()}
    assert [name for name, is_early in secrets.items() if is_early] == ["all"]


def as_written(change: Callable[[str], str], proof: DealProof = HONEST) -> Story:
    text = change(str(proof))
    assert text != str(proof)
    return [*story(proof)[:-1], ended(proof, text)]


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
OTHER_CID = (5, "cid", bytes(32))
MOVED_CID = (6, "cid", CID[2])
RENAMED = (5, "dan", CID[2])


def lies() -> dict[str, Story]:
    """Stories of servers that lie about a joint deal, where the page can know it."""
    other = proof_of(ANA, BOB, OTHER_CID)
    late = proof_of(ANA, BOB, CID, first=HONEST.candidate + 1)
    resealed = story(other)
    left = story(HONEST)[0].players[:2]
    redrawn = replace(HONEST, draw=2, lost=LOST)
    return {
        "a share more": lying(proof_of(ANA, BOB, CID, DAN)),
        "a share more in what was shown too": [*story(HONEST)[:3], *story(proof_of(ANA, BOB, CID, DAN))[3:]],
        "a share fewer": lying(proof_of(ANA, BOB)),
        "another share": lying(other),
        "another share after the sealing": [*story(HONEST)[:3], *resealed[2:]],
        "another share after the draw": [*story(HONEST)[-3:-1], resealed[-1]],
        "another share during the race": [story(HONEST)[-2], *resealed[-2:]],
        "another seat": lying(proof_of(ANA, BOB, MOVED_CID)),
        "another seat of a player who left": [
            *story(HONEST)[:-1],
            ended(HONEST, str(proof_of(ANA, BOB, MOVED_CID)), players=left),
        ],
        "another name": lying(proof_of(ANA, BOB, RENAMED)),
        "a racer without a share": [ended(HONEST, str(proof_of(ANA, BOB)), shares=())],
        "a share that does not fit its hash": as_written(lambda text: text.replace("05" * 32, "06" * 32)),
        "the hash of another draw": [ended(redrawn)],
        "seats that do not rise": [ended(proof_of(BOB, ANA))],
        "a seat twice": [ended(proof_of(ANA, (1, "ana", bytes(32))))],
        "another draw": lying(AGAIN, proof_of(ANA, BOB)),
        "a draw that was not the last": [*story(AGAIN)[:-1], ended(AGAIN, str(proof_of(ANA, BOB)))],
        "a draw without a lost seat": story(replace(AGAIN, lost=())),
        "a lost seat that was not shown": lying(replace(HONEST, lost=LOST)),
        "a lost seat that is left out": lying(HONEST, replace(HONEST, lost=LOST)),
        "a lost seat of another reason": lying(replace(AGAIN, lost=(LOST[0]._replace(reason="silent"),)), AGAIN),
        "a lost seat of a later draw": story(replace(HONEST, lost=(LOST[0]._replace(draw=2),))),
        "lost seats out of order": story(replace(AGAIN, lost=(LOST[0]._replace(draw=2), *LOST))),
        "a draw after the draw": [*story(proof_of(ANA, BOB))[:-1], *story(AGAIN)[3:]],
        "another secret": as_written(lambda text: text.replace(SECRET.hex(), "07" * 32)),
        "another secret with its own deal": lying(
            replace(proof_of(ANA, BOB, CID, secret=bytes(32)), commitment=HONEST.commitment)
        ),
        "another commitment": [state(HONEST, "open", commitment=bytes(32)), *story(HONEST)[1:]],
        "another commitment in the proof": as_written(
            lambda text: text.replace("commitment: ", "commitment: 00", 1)[:-2]
        ),
        "another room": as_written(lambda text: text.replace("friday", "monday")),
        "another game": as_written(lambda text: text.replace("ace-of-hearts", "willow")),
        "another candidate": lying(late),
        "an easy candidate of a hard deal": story(too_easy(), deal="winnable hard"),
        "another number of the candidate": as_written(lambda text: text.replace("candidate: ", "candidate: 1")),
        "a line that stops early": as_written(lambda text: text.rpartition(", ")[0] + "\n"),
        "a line that breaks the rules": as_written(lambda text: re.sub("line: .*", f"line: {UNLAWFUL}", text)),
        "no proof": as_written(lambda _: "<b>fair</b>\n"),
        "a proof cut off": as_written(lambda text: text[: len(text) // 2]),
        "a line twice": as_written(lambda text: text.replace("draw: 1\n", "draw: 1\ndraw: 1\n")),
        "a number in other digits": as_written(lambda text: text.replace("draw: 1", "draw: 01")),
        "a large number": as_written(lambda text: text.replace("budget: 100000", "budget: 1000000000")),
        "a draw too many": as_written(lambda text: text.replace("draw: 1", "draw: 6")),
        "a daily proof": lying(daily_proof()),
        "another daily candidate": story(daily_proof(first=daily_proof().candidate + 1), deal=DAILY),
        "another day": story(daily_proof(), deal="daily 2026-11-22"),
        "a joint proof for a daily deal": story(HONEST, deal=DAILY),
        "a room of the tide left out": lying(with_others(HONEST, BROOK), TIDE),
        "all other rooms left out": lying(HONEST, TIDE),
        "a room that was not shown": lying(TIDE),
        "a player of another room left out": lying(
            with_others(HONEST, other_room(HONEST.terms, "brook", 1, ("eve",)), SHOAL), TIDE
        ),
        "another secret of another room": lying(replace(TIDE, others=(BROOK._replace(secret=SECRET), SHOAL))),
        "rooms mixed in another order": story(in_other_order()),
        "other shares of another room during the race": [
            fixed(TIDE, "racing", rooms=(DealRoom(room="brook", seal=BROOK.seal, digest=bytes(32)),)),
            ended(with_others(HONEST, BROOK)),
        ],
        "a draw of a tide without a lost seat": story(replace(REDRAWN, elsewhere=())),
    }


def test_lies_are_not_fair(tmp_path: Path) -> None:
    found = verdicts(tmp_path, stories := lies())
    assert only(found) == dict.fromkeys(stories, "wrong"), found
    assert [*found["another candidate"][1][-1]] == [False, "It can win an earlier one."]
    assert [ok for ok, _ in found["a line that stops early"][1]] == [True, True, False]
    assert [*found["a line that breaks the rules"][1][-1]] == [False, "The winning line breaks the rules of the game."]


def test_search_that_no_page_makes_is_not_checked(tmp_path: Path) -> None:
    far = proof_of(ANA, BOB, CID, first=1000)
    stories = {
        "a small budget": story(proof_of(ANA, BOB, CID, limits=(1, 2000))),
        "a large budget": story(proof_of(ANA, BOB, CID, limits=(1, 999_999_999))),
        "a difficulty": story(proof_of(ANA, BOB, CID, difficulty="hard")),
        "another difficulty": story(proof_of(ANA, BOB, CID, difficulty="hard"), deal="winnable medium"),
        "no such difficulty": story(HONEST, deal="winnable constructor"),
        "a daily deal with a small budget": story(daily_proof(budget=2000), deal=DAILY),
        "another solver": story(proof_of(ANA, BOB, CID, solver=SOLVER + 1)),
        "a far candidate": story(far),
        "a newer proof": as_written(lambda text: text.replace("deal 3", "deal 5")),
        "an older proof": as_written(lambda text: text.replace("deal 3", "deal 2")),
    }
    found = verdicts(tmp_path, stories)
    assert only(found) == dict.fromkeys(stories, "unsure"), found
    reasons = {name: all_[-1][1] for name, (_, all_) in found.items()}
    assert reasons["a small budget"].startswith("The server looked for one that is won with 1 to 2,000 positions.")
    assert reasons["another solver"] == "That needs version 2 of the solver, and this page has version 1."
    assert reasons["a far candidate"].startswith(f"The proof names candidate {far.candidate:,},")
    assert reasons["a newer proof"] == "The proof of this deal has version 5, which this page cannot check."


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

    reveal, fair = "revealshare", "Your random number is in the deal"
    stories: dict[str, tuple[Story, list[str], str]] = {
        "honest": ([drawing(1), fixed(TIDE)], [reveal, ""], fair),
        "another room later": (
            [drawing(1), drawing(1, others=rooms[:1])],
            [reveal, ""],
            "The server changed the players",
        ),
        "a room left out": ([drawing(1), fixed(HONEST)], [reveal, ""], "The server drew the deal from other"),
        "a seat lost elsewhere": ([drawing(1), drawing(2, (1, "brook"))], [reveal, reveal], fair),
        "in an unknown room": ([drawing(1), drawing(2, (1, "tarn"))], [reveal, ""], "The server draws the deal again"),
        "for nothing": ([drawing(1), drawing(2)], [reveal, ""], "The server draws the deal again"),
        "two draws later": ([drawing(1), drawing(3, (1, "brook"), (2, "tarn"))], [reveal, reveal], fair),
        "a draw that nobody left": (
            [drawing(1), drawing(3, (1, "brook"))],
            [reveal, ""],
            "The server wants your random",
        ),
        "a room more": ([drawing(1, others=rooms[:1]), drawing(2, (1, "brook"))], [reveal, ""], "The server draws"),
    }
    given = [as_json(to_builtins(states, builtin_types=(bytes,))) for states, _, _ in stories.values()]
    for name, (answers, said) in zip(stories, evaluate_with_page(SEAT, given, tmp_path), strict=True):
        _, expected, beginning = stories[name]
        assert (answers, said[: len(beginning)]) == (expected, beginning), name
