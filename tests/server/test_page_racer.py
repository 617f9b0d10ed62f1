"""The page's model of a racer, run by Node against a scripted server: what it shows, sends again, and gives back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES
from tests.golden.golden_files import assert_answers, values_on
from tests.shared.javascript import answer_of_page, needs_node

pytestmark = needs_node

KLONDIKE = Board.deal(GAMES["klondike"], shuffled(Deal.parse("#7").public_seed(), 1)).masked()
KEPT: dict[str, Any] = {
    "newest": 3,
    "history": [{"id": n, "action": "draw", "time": n} for n in (1, 2, 3)],
    "receipt": [3],
}
BEGUN = {"time": 5, "receipt": [5]}
"""When the player has begun in a race with a window, and the receipt for it, as the page keeps them."""

ONE_COLUMN = [[0x1D, 0x19], [0x2D, 0x29], [0x3D, 0x39], [0x05], [0x15], [0x25], *[[]] * 6]
"""All piles but the first, in which no move changes the order of the cards."""


def board(revision: int, piles: Sequence[Sequence[int]] = KLONDIKE.piles) -> list[Any]:
    return ["board", {"revision": revision, "piles": list(map(list, piles))}]


def sent(kind: str, fields: dict[str, Any]) -> str:
    """A request as the page of answers has it."""
    what = f"{fields['action']!r} with id {fields['id']}" if kind == "act" else kind
    actions = [f"{each['id']} {each['action']}" for each in fields.get("actions", ())]
    return f"{what} at {fields.get('revision', fields.get('time'))}{' of ' * bool(actions)}{', '.join(actions)}"


def test_racer_sends_shows_and_gives_back(tmp_path: Path) -> None:
    """On the page are the requests, what is shown at the end, what the player is told, and what is kept for a reload."""
    steps: dict[str, Any] = {
        "board": board,
        "act": lambda action: ["act", action],
        "answer": lambda **fields: ["answer", fields],
        "refuse": lambda code, **fields: ["refuse", {"code": code, **fields}],
        **{what: [what] for what in ("cut", "enter", "wait")},
        "kept": ["kept", KEPT],
        "begun": lambda count: [
            "kept",
            KEPT | {"newest": count or -1, "history": KEPT["history"][:count], "begun": BEGUN},
        ],
    }
    given = values_on("page_racer", globals(), steps)
    all_steps = [each if isinstance(each, tuple) else (each,) for each in given.values()]
    found = dict(zip(given, answer_of_page("racer.runs", tmp_path, all_steps), strict=True))

    def answer(_: str, question: str) -> str:
        after = found[question]
        told = [", ".join(sent(*request) for request in after["requests"]) or "nothing sent"]
        if after["piles"]:
            first, *_, waste = after["piles"]
            told.append(f"shows {first} and {waste} at {after['revision']}")
        told += [f"{after['pending']} unanswered"] * bool(after["pending"])
        told += ["awaits a card"] * bool(after.get("awaits")) + ["stuck"] * after["stuck"]
        told += [f"told {each}" for each in after["told"]]
        return "; ".join([*told, f"kept up to {after['newest']}"] if "newest" in after else told)

    assert_answers("page_racer", answer)


def test_page_finds_the_moves_of_the_engine(tmp_path: Path) -> None:
    """In each game, on the boards of a random walk."""
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
    for (board, moves), found in zip(walks, answer_of_page("playing.moves", tmp_path, given), strict=True):
        assert found == moves, board


def test_hash_is_sha256(tmp_path: Path) -> None:
    sizes = [0, 1, 55, 56, 63, 64, 119, 120, 5000]
    found = answer_of_page("racer.hashes", tmp_path, sizes)
    assert [bytes(each) for each in found] == [hashlib.sha256(bytes([7]) * size).digest() for size in sizes]


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
    found = dict(zip(given, answer_of_page("racer.hands", tmp_path, list(given.values())), strict=True))

    def answer(_: str, question: str) -> str:
        after = found[question]
        told = [", ".join(after["made"]) or "nothing", *after["said"]]
        if picked := after["picked"]:
            told.append(f"holds {picked['key']} x{picked['size']}, for {', '.join(after['targets'])}")
        return "; ".join(told)

    assert_answers("hand", answer)
