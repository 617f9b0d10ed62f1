"""Valid messages to start from: at least one of each type, and a board on which moves can be made."""

from __future__ import annotations

from typing import Final

from samedeal.board import Board
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES
from samedeal.protocol.messages import Acked, BoardState, DelayedBoard, ToClient, ToServer
from tests.shared.protocol.samples import SAMPLES

_GAME: Final = GAMES["willow"]
_BOARD: Final = Board.deal(_GAME, shuffled(Deal.parse("#4821").public_seed(), _GAME.decks)).masked()

REQUESTS: Final[tuple[ToServer, ...]] = tuple(sample for sample in SAMPLES if isinstance(sample, ToServer))
ANSWERS: Final[tuple[ToClient, ...]] = (
    *(sample for sample in SAMPLES if isinstance(sample, ToClient)),
    BoardState(
        room="friday", revision=0, game="willow", piles=_BOARD.piles, hash=_BOARD.state_hash(), moves=0, undos=0
    ),
    Acked(to=11, time=5_000, hash=bytes(8), receipt=bytes(16), piles=_BOARD.piles, may_undo=False),
    DelayedBoard(player="p7k2", revision=3, piles=_BOARD.piles, moves=3, undos=0, time=4_500),
)
