"""The stages of a move in a node, each timed alone: what the interpreter spends on it when nothing else runs.

The rest of a move's price is in tasks, the event loop and the system calls that read and write.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from websockets.utils import apply_mask

from samedeal.action_chain import next_head
from samedeal.board_history import Play, Undo
from samedeal.games import GAMES
from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import Acked, Act
from samedeal.race.progress import MoveCommitted
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import Pace, Quotas
from samedeal_server.connections.client_socket import framed
from samedeal_server.races.signed_receipts import receipt
from samedeal_server.store.events import encode_event
from tests.shared.playouts import playout

_BOARDS: Final = 100
_MOVES: Final = 40
"""Number of moves by which the boards are played at most before they are used."""


def microseconds(work: Callable[[], object], calls: int, tries: int = 5) -> float:
    """Return the mean duration of a call in the fastest of several ``tries``, in microseconds."""
    best = float("inf")
    for _ in range(tries):
        started = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, time.perf_counter() - started)
    return best / calls * 1e6


def stage_times(tries: int = 5) -> dict[str, float]:
    """Return the mean time of each stage, in microseconds, over boards of all games."""
    cases = [_case(number) for number in range(_BOARDS)]
    mask = b"mask"
    frames = [apply_mask(encode(Act(id=1, revision=play.revision, action=action)), mask) for play, action in cases]
    boards = [play.act(action).board for play, action in cases]
    pace, quotas = Pace(Limits(rate=1e9, burst=10**9), 0.0), Quotas(Limits(address_rate=1e9, address_burst=10**9))
    event = MoveCommitted("player", 7, "1-2", b"", 3, 7, 0, finished=False, no_moves_left=False)
    ack = Acked(to=1, time=1 << 40, hash=bytes(8), receipt=bytes(16))

    def admit() -> float:
        quotas.requests.take(("192.0.2.1",), 0.0, 1)
        return pace.admit(0.0, 1)

    work: dict[str, Callable[[], object]] = {
        "frame": lambda: [decode_to_server(apply_mask(frame, mask)) for frame in frames],
        "limits": lambda: [admit() for _ in cases],
        "engine": lambda: [play.act(action) for play, action in cases],
        "hash": lambda: [board.state_hash() for board in boards],
        "receipt": lambda: [receipt(bytes(32), next_head(bytes(32), 7, 1 << 40, "1-2")) for _ in cases],
        "event": lambda: [encode_event(event) for _ in cases],
        "ack": lambda: [framed(ack) for _ in cases],
    }
    return {name: microseconds(each, 4 * tries, tries) / _BOARDS for name, each in work.items()}


def _case(number: int) -> tuple[Play, str]:
    """Return a play and a legal move on its board."""
    game = list(GAMES.values())[number % len(GAMES)]
    *_, (board, move) = playout(game, number, 1 + number % _MOVES)
    return Play(board, Undo.FREE), str(move)
