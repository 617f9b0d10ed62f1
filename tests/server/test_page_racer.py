"""The page's model of a racer, run by Node against a scripted server: what it shows, sends again, and gives back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES
from tests.golden.golden_files import assert_answers, values_on
from tests.shared.javascript import evaluate_with_page, needs_node

pytestmark = needs_node

PROGRAM = """await (async () => {
    const {Racer} = await import("./racer.js")
    const {boardHash} = await import("./board_hash.js")
    const {played} = await import("./piles.js")
    const {isStuck} = await import("./legal_moves.js")
    const {game, piles, steps} = given
    const [sent, told, shown] = [[], [], []]
    const waiting = []
    const link = {nextId: 1, socket: {}, ask: (type, {...fields}) => new Promise((resolve, reject) => {
        sent.push([type, fields])
        waiting.push({resolve, reject, ...fields})
    })}
    let kept = given.kept ?? {}
    const store = {get: () => kept, set: value => (kept = JSON.parse(JSON.stringify(value)))}
    const on = {changed: () => {}, refused: message => told.push(message), later: seconds => told.push(seconds)}
    const racer = new Racer(link, "friday", store, on)
    racer.rule = "free"
    if (steps[0][0] !== "enter") racer.entered = link.socket
    const settle = () => new Promise(resolve => setTimeout(resolve, 5))
    const bytes = value => Uint8Array.from(value)
    for (const [what, ...more] of steps) {
        if (what === "enter") racer.enter().catch(({code}) => told.push(code ?? "lost"))
        const board = {game, piles: piles.map(bytes), moves: 0, undos: 0, head: [], may_undo: false}
        if (what === "board") racer.receiveBoard({...board, ...more[0]})
        if (what === "act") racer.act(more[0])
        if (what === "answer") {
            const {resolve, action} = waiting.shift()
            const after = action && played(game, racer.board.piles, action, more[0].seen)
            resolve({receipt: [7], time: 5, hash: after && boardHash(game, after), ...more[0]})
        }
        if (what === "refuse") waiting.shift().reject({retry_after: 0, revision: -1, message: more[0].code, ...more[0]})
        if (what === "cut") link.socket = {}
        if (what === "cut") for (const {reject} of waiting.splice(0)) reject(new Error("lost"))
        await settle()
        shown.push([racer.board?.revision, racer.pending.length, racer.awaits])
    }
    const requests = sent.map(([type, {passphrase, room, receipt, ...fields}]) => [type, fields])
    const claim = racer.board && racer.stuckClaim
    return {requests, told, shown, newest: kept.newest, piles: racer.piles, stuck: Boolean(claim) && isStuck(claim)}
})()"""

KLONDIKE = Board.deal(GAMES["klondike"], shuffled(Deal.parse("#7").public_seed(), 1)).masked()
PILES = [list(pile) for pile in KLONDIKE.piles]


def run(folder: Path, *steps: list[Any], **given: Any) -> Any:
    return evaluate_with_page(PROGRAM, {"game": "klondike", "piles": PILES, "steps": steps, **given}, folder)


def test_move_is_shown_at_once_unless_it_turns_up_a_card(tmp_path: Path) -> None:
    found = run(tmp_path, ["board", {"revision": 0}], ["act", "1 0"], ["act", "draw"], ["act", "6 0"])
    assert found["shown"] == [[0, 0, False], [0, 1, False], [0, 2, True], [0, 3, True]]
    assert [fields for _, fields in found["requests"]] == [
        {"id": 1, "revision": 0, "action": "1 0"},
        {"id": 2, "revision": 1, "action": "draw"},
        {"id": 3, "revision": 2, "action": "6 0"},
    ]
    assert found["piles"][0] == []


def test_refused_move_takes_the_later_ones_back(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        ["board", {"revision": 0}],
        *(["act", action] for action in ("1 0", "7 1", "draw")),
        ["answer", {}],
        ["refuse", {"code": "illegal", "revision": 1}],
        ["refuse", {"code": "stale", "revision": 1}],
    )
    assert (found["shown"][-1], found["told"]) == ([1, 0, False], ["illegal"])
    assert [kind for kind, _ in found["requests"]] == ["act"] * 3


def test_unanswered_moves_are_sent_again_with_their_ids(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        ["board", {"revision": 0}],
        ["act", "1 0"],
        ["act", "draw"],
        ["cut"],
        ["enter"],
        ["answer", {"revision": 1, "room": "friday"}],
        ["board", {"revision": 1}],  # the answers lead there
        ["answer", {}],
        ["answer", {"seen": [9]}],
    )
    acts = [fields for kind, fields in found["requests"] if kind == "act"]
    assert acts[:2] == acts[2:]
    assert found["shown"][-1] == [2, 0, False]
    assert found["piles"][-1] == [9]


def test_board_is_asked_for_if_its_hash_differs(tmp_path: Path) -> None:
    other = {"hash": [0] * 8}
    found = run(tmp_path, ["board", {"revision": 0}], ["act", "1 0"], ["answer", other])
    assert found["requests"][-1] == ["join", {"revision": -1}]


@pytest.mark.parametrize("code", ["rate_limited", "unavailable"])
def test_delayed_moves_are_sent_again_in_order(tmp_path: Path, code: str) -> None:
    found = run(
        tmp_path,
        ["board", {"revision": 0}],
        ["act", "1 0"],
        ["act", "draw"],
        ["refuse", {"code": code, "retry_after": 0.002}],
        ["refuse", {"code": "stale", "revision": 0}],
        ["wait"],
    )
    acts = [fields for _, fields in found["requests"]]
    assert acts[:2] == acts[2:]
    assert found["told"] == []


def test_actions_wait_until_the_player_is_back(tmp_path: Path) -> None:
    """Those without an answer are sent again before them. Otherwise the answers would come in another order."""
    steps: list[Any] = [["board", {"revision": 0}], ["act", "1 0"], ["cut"]]
    for more in ([["enter"], ["act", "draw"]], [["act", "draw"], ["enter"]]):
        found = run(tmp_path, *steps, *more, ["answer", {"revision": 0}])
        assert [fields.get("action", kind) for kind, fields in found["requests"]] == ["1 0", "join", "1 0", "draw"]


def test_actions_wait_for_one_that_is_sent_again_later(tmp_path: Path) -> None:
    refusal = {"code": "rate_limited", "retry_after": 0.03}
    steps: list[Any] = [["board", {"revision": 0}], ["act", "1 0"], ["refuse", refusal], ["act", "draw"]]
    found = run(tmp_path, *steps, *[["settle"]] * 10)
    assert [fields["action"] for _, fields in found["requests"]] == ["1 0", "1 0", "draw"]


KEPT = {"newest": 3, "history": [{"id": n, "action": "draw", "time": n} for n in (1, 2, 3)], "receipt": [3]}


def test_lost_moves_are_given_back_after_a_reload(tmp_path: Path) -> None:
    found = run(tmp_path, ["enter"], ["answer", {"revision": 1}], ["answer", {}], ["answer", {}], kept=KEPT)
    assert [kind for kind, _ in found["requests"]] == ["join", "recover", "join"]
    assert found["requests"][1][1] == {
        "revision": 1,
        "actions": [{"id": n, "action": "draw", "time": n} for n in (2, 3)],
    }
    for refusal, told, newest in (
        ({"code": "unavailable", "retry_after": 2}, [2], None),
        ({"code": "bad_receipt"}, 1, -1),
    ):
        found = run(tmp_path, ["enter"], ["answer", {"revision": 1}], ["refuse", refusal], kept=KEPT)
        assert found["told"] == told or len(found["told"]) == told
        assert found["newest"] == (newest if newest is not None else 3)


def test_player_is_stuck_only_with_proof(tmp_path: Path) -> None:
    """One column has all cards that are left, in an order that no move changes."""
    stuck = [[0x0D, 0x01]] + [[0x1D, 0x19], [0x2D, 0x29], [0x3D, 0x39], [0x05], [0x15], [0x25]] + [[]] * 6
    free = [[0x0D, 0x01], *stuck[1:]]
    hidden = [[0xC0, 0x04], *stuck[1:]]
    for piles, expected in ((free, False), (hidden, False), ([[0x0D, 0x07], *stuck[1:]], True)):
        found = run(tmp_path, ["board", {"revision": 0}], piles=piles)
        assert found["stuck"] is expected, piles


def test_page_finds_the_moves_of_the_engine(tmp_path: Path) -> None:
    """In each game, on the boards of a random walk."""
    program = """await (async () => {
        const {movesFrom} = await import("./legal_moves.js")
        return given.map(([game, piles]) => movesFrom(game, piles).map(({move}) => move).sort())
    })()"""
    walks = []
    for game in GAMES.values():
        play = Play(Board.deal(game, shuffled(bytes(32), game.decks)), Undo.FREE)
        for step in range(40):
            moves = sorted(map(str, play.board.legal_moves()))
            walks.append((play.board, [move for move in moves if " " in move]))
            if not moves:
                break
            play = play.act(moves[step * 7 % len(moves)])
    given = [[board.game.name, [list(pile) for pile in board.masked().piles]] for board, _ in walks]
    for (board, moves), found in zip(walks, evaluate_with_page(program, given, tmp_path), strict=True):
        assert found == moves, board


def test_hash_is_sha256(tmp_path: Path) -> None:
    program = """await (async () => {
        const {sha256} = await import("./hash.js")
        return given.map(size => Array.from(sha256(new Uint8Array(size).fill(7))))
    })()"""
    sizes = [0, 1, 55, 56, 63, 64, 119, 120, 5000]
    found = evaluate_with_page(program, sizes, tmp_path)
    assert [bytes(each) for each in found] == [hashlib.sha256(bytes([7]) * size).digest() for size in sizes]


HAND = """await (async () => {
    const {Hand} = await import("./hand.js")
    const {GAMES: games} = await import("./piles.js")
    const {played} = await import("./piles.js")
    return given.map(({game, cards, steps, auto}) => {
        const made = []
        const piles = games[game].piles.map(({key}) => cards[key] ?? [])
        const racer = {game, piles, awaits: false, next: 0, act(action) {
            made.push(action)
            this.next++
            this.piles = played(game, this.piles, action) ?? this.piles
        }}
        const said = []
        const hand = new Hand(racer, sentence => said.push(sentence), () => {})
        hand.auto = auto
        for (const [what, ...more] of steps)
            what === "press" ? hand.press(more[0], () => made.push("undo")) : hand[what](...more)
        return {made, picked: hand.picked, said, targets: hand.targets()}
    })
})()"""
TABLE = {"1": [0x1D, 0x0C], "2": [0x2D], "3": [0x05, 0x1B, 0x0A], "4": [0x02], "01": [0x01], "5": [0x24], "6": [0x34]}


def hand(*steps: list[Any], cards: dict[str, list[int]] = TABLE, auto: bool = True) -> dict[str, Any]:
    """What the hand is given: what the racer does, with which cards in the piles, and whether a tap moves at once."""
    return {"game": "klondike", "cards": cards, "steps": steps, "auto": auto}


def step(what: str) -> Callable[..., list[Any]]:
    return lambda *more: [what, *more]


def test_taps_and_keys_make_moves(tmp_path: Path) -> None:
    """On the page are the moves that the hand sends, what it then holds, and where that can go."""
    steps = {what: step(what) for what in ("tap", "taps", "press", "collect", "lift", "drop")}
    given = values_on("hand", globals(), steps)
    found = dict(zip(given, evaluate_with_page(HAND, list(given.values()), tmp_path), strict=True))

    def answer(_: str, question: str) -> str:
        after = found[question]
        told = [", ".join(after["made"]) or "nothing", *after["said"]]
        if picked := after["picked"]:
            told.append(f"holds {picked['key']} x{picked['size']}, for {', '.join(after['targets'])}")
        return "; ".join(told)

    assert_answers("hand", answer)
