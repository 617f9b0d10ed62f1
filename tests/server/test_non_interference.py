"""Invariant: hidden stays hidden, as one property of the whole server. Its output does not depend on unseen cards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from hashlib import blake2b
from random import Random
from types import FrameType
from typing import Any

import prometheus_client
import pytest
from msgspec.structs import replace

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.cards import DECK, FACE, HIDDEN, UNSEEN, Card
from samedeal.deal import Deal, commitment
from samedeal.errors import CannotUndo, PlayError, RuleReason
from samedeal.game import Game
from samedeal.games import GAMES
from samedeal.move_refusals import refusal_sentence
from samedeal.moves import Move
from samedeal.protocol.messages import Acked, Notice, Recover, RoomState, ToClient
from samedeal_server.races.race import Race
from samedeal_server.rooms import moves, room_creation
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.store.store import RoomSecret, Store
from samedeal_server.telemetry.events import LogEvent, get_logger
from samedeal_server.telemetry.metrics import Metrics
from tests.server.noninterference import CASES, compare, first_deck, hidden_places, other_deck
from tests.shared.playouts import COVERING

STEPS = 30
SOME_CASES = {game: dealt for game, dealt in CASES if game.name in COVERING}
"""Games that together have every policy, dealt if they have face-down cards. ``make worlds`` has all cases."""


@pytest.mark.parametrize(("game", "dealt"), SOME_CASES.items(), ids=str)
async def test_hidden_cards_change_nothing_that_is_sent(redis_url: str, game: Game, dealt: bool) -> None:
    assert await compare(redis_url, game, "suite", STEPS, dealt=dealt) == ""


async def test_search_for_a_joint_deal_changes_nothing_that_is_sent(redis_url: str) -> None:
    assert await compare(redis_url, GAMES["willow"], "joint", STEPS // 2, dealt=False, joint=True) == ""


async def test_slow_redis_changes_nothing_that_is_sent(redis_url: str) -> None:
    """Redis answers each time after another delay, so that nothing may depend on which of two answers comes first."""
    assert await compare(redis_url, GAMES["athena"], "slow", STEPS // 2, dealt=True, slow=True) == ""


Break = Callable[[pytest.MonkeyPatch], None]


def a_hash_of_the_real_cards(patch: pytest.MonkeyPatch) -> None:
    real = Board.state_hash
    patch.setattr(Board, "state_hash", lambda board: real(Board(board.game, tuple(map(_faces, board.piles)))))


def a_refusal_that_names_the_card(patch: pytest.MonkeyPatch) -> None:
    def revealing(board: Board, move: Move, reason: RuleReason) -> str:
        return refusal_sentence(board, move, reason) + f" {Card(DECK[_knows(board) % 52])}"

    patch.setattr("samedeal.board.refusal_sentence", revealing)


def a_refusal_whose_length_tells(patch: pytest.MonkeyPatch) -> None:
    def revealing(board: Board, move: Move, reason: RuleReason) -> str:
        return refusal_sentence(board, move, reason) + "." * (_knows(board) % 50)

    patch.setattr("samedeal.board.refusal_sentence", revealing)


def a_move_that_is_refused_for_what_it_would_turn_up(patch: pytest.MonkeyPatch) -> None:
    play = Play.act

    def choosy(self: Play, *arguments: Any, **more: Any) -> Play:
        after = play(self, *arguments, **more)
        if HIDDEN not in b"".join(after.board.piles) and _knows(after.board) % 3 == 0:
            raise CannotUndo("not now")
        return after

    patch.setattr(Play, "act", choosy)


def a_log_line_with_the_board(patch: pytest.MonkeyPatch) -> None:
    acked = moves.acked

    def logging(message: Any, hub: Any, play: Any, *more: Any) -> Any:
        get_logger().debug(LogEvent.REQUEST_REFUSED, board=str(play.board))
        return acked(message, hub, play, *more)

    patch.setattr(moves, "acked", logging)


def a_log_line_with_the_recovered_board(patch: pytest.MonkeyPatch) -> None:
    recover = moves.MoveService.recover

    async def logging(self: moves.MoveService, connection: PlayerConnection, message: Recover) -> None:
        await recover(self, connection, message)
        _, seat = connection.require_seat()
        get_logger().debug(LogEvent.MOVES_RECOVERED, board=str(seat.play and seat.play.board))

    patch.setattr(moves.MoveService, "recover", logging)


def a_metric_with_the_next_card(patch: pytest.MonkeyPatch) -> None:
    acked = moves.acked

    def counting(message: Any, hub: Any, play: Play, *more: Any) -> Acked:
        COUNTED.labels(_knows(play.board)).inc()
        return acked(message, hub, play, *more)

    patch.setattr(moves, "acked", counting)
    made = Metrics.__init__

    def making(self: Metrics) -> None:
        made(self)
        self.registry.register(COUNTED)

    patch.setattr(Metrics, "__init__", making)


COUNTED = prometheus_client.Counter("lucky_acks", "Acks by what comes next.", ["next"], registry=None)


def a_log_line_with_the_seed(patch: pytest.MonkeyPatch) -> None:
    opened = Store.create_room

    async def logging(self: Store, race: Race, secret: RoomSecret) -> bool:
        get_logger().info(LogEvent.ROOM_CREATED, seed=secret.deal.seed.hex())
        return await opened(self, race, secret)

    patch.setattr(Store, "create_room", logging)


def a_number_of_spectators_that_tells(patch: pytest.MonkeyPatch) -> None:
    state = Hub.state

    def telling(hub: Hub) -> RoomState:
        found = state(hub)
        boards = [seat.play.board for seat, _ in hub.audience.seats.values() if seat.play]
        return replace(found, spectator_count=_knows(boards[0])) if boards else found

    patch.setattr(Hub, "state", telling)


def a_message_more(patch: pytest.MonkeyPatch) -> None:
    tell = PlayerConnection.send

    def telling(self: PlayerConnection, message: ToClient, *more: Any) -> None:
        tell(self, message, *more)
        if self.seat and self.seat.play and _knows(self.seat.play.board) % 3 == 0:
            tell(self, Notice(code="luck", message="You will like your next card"))

    patch.setattr(PlayerConnection, "send", telling)


def _knows(board: Board) -> int:
    """Return a number that depends on the unseen cards."""
    return blake2b(bytes(card for pile in board.piles for card in pile if card >= UNSEEN)).digest()[0]


def _faces(pile: bytes) -> bytes:
    return bytes(card & FACE for card in pile)


LEAKS: dict[Break, int] = {
    a_hash_of_the_real_cards: 4,
    a_refusal_that_names_the_card: 8,
    a_refusal_whose_length_tells: 8,
    a_move_that_is_refused_for_what_it_would_turn_up: 20,
    a_log_line_with_the_board: 4,
    a_log_line_with_the_recovered_board: 18,
    a_metric_with_the_next_card: 4,
    a_log_line_with_the_seed: 4,
    a_number_of_spectators_that_tells: 4,
    a_message_more: 4,
}
"""Servers that leak, with the number of steps that show it."""


@pytest.mark.parametrize(("broken", "steps"), LEAKS.items())
async def test_server_that_leaks_is_detected(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, broken: Break, steps: int
) -> None:
    broken(monkeypatch)
    assert await compare(redis_url, GAMES["athena"], "broken", steps, dealt=True) != ""


@pytest.mark.parametrize("game", [game for game, dealt in CASES if dealt], ids=str)
def test_hidden_cards_change_no_executed_instruction(game: Game) -> None:
    """This bounds the difference in time: the rules do the same for a move or a refusal, whatever is hidden."""
    deck = first_deck(game, 7)
    one = Board.deal(game, deck.cards)
    other = Board.deal(game, other_deck(game, deck, hidden_places(one.masked())).cards)
    assert one != other
    rng = Random(7)
    keys = [*game.keys, "0"]
    for _ in range(25):
        for move in [Move(rng.choice(keys), rng.choice(keys), rng.randint(1, 6)) for _ in range(5)]:
            assert instructions(outcome, one, move) == instructions(outcome, other, move)
        assert instructions(told, one) == instructions(told, other)
        quiet = [move for move in one.legal_moves() if not one.turns_up(move)]
        if not quiet:
            break
        move = rng.choice(quiet)
        one, other = one.play(move).board, other.play(move).board


def outcome(board: Board, move: Move) -> object:
    try:
        return board.play(move)
    except PlayError as error:
        return str(error)


def told(board: Board) -> object:
    return list(board.legal_moves()), board.stuck, board.state_hash(), board.masked(), board.foundation_cards


def instructions(work: Callable[..., object], *given: object) -> list[tuple[str, int]]:
    """Return the bytecode of the core that some work executes the third time.

    The first time may fill caches. In the second time Python 3.12 may report only some instructions.
    """
    work(*given)
    _traced(work, *given)
    return _traced(work, *given)


def _traced(work: Callable[..., object], *given: object) -> list[tuple[str, int]]:
    executed: list[tuple[str, int]] = []

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_globals.get("__name__", "").startswith("samedeal."):
            return None  # functions that the garbage collector calls in between
        frame.f_trace_opcodes = True
        executed.append((frame.f_code.co_qualname, frame.f_lasti))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work(*given)
    finally:
        sys.settrace(before)
    return executed


def test_commitment_depends_on_the_whole_seed() -> None:
    """Finding the cards from the commitment means guessing 256 random bits. Nothing shorter is ever hashed."""
    seeds = [room_creation.new_seed(Deal.parse("random")) for _ in range(64)]
    assert {len(seed) for seed in seeds} == {32}
    assert len(set(seeds)) == len(seeds)
    ones = [sum(seed[bit // 8] >> bit % 8 & 1 for seed in seeds) for bit in range(256)]
    assert min(ones) > 0
    assert max(ones) < len(seeds)
    for seed in seeds[:2]:
        flipped = {
            commitment(bytes([*seed[:at], seed[at] ^ 1 << bit, *seed[at + 1 :]]))
            for at in range(32)
            for bit in range(8)
        }
        assert len(flipped | {commitment(seed)}) == 257
