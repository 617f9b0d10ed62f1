"""A race of Ana's on a joint deal, as her client has seen it."""

from __future__ import annotations

import dataclasses
from typing import Any

from samedeal.board import Board
from samedeal.deal_proof import DealProof
from samedeal.protocol.messages import DrawnShare, Joined, Seat
from samedeal_client.state.draws import Draw, OwnDraws, ShownSeat
from samedeal_client.state.model import Model
from tests.client.race_server import START, RaceServer
from tests.client.server_messages import board_state
from tests.shared.joint_deals import joint_deal

JOINT = joint_deal("phoenix")
OWN, ZOE, ZHANG = JOINT.shares
SEATS = tuple(Seat(player=share.name, name=share.name, seat=share.seat) for share in JOINT.shares)
SHOWN = tuple(ShownSeat(share.seat, share.name, share.commitment) for share in JOINT.shares)
LAST = Draw(JOINT.draw, SHOWN, OWN.share)
FIRST = Draw(1, (*SHOWN[:2], ShownSeat(4, "ben", bytes(32)), SHOWN[2]), bytes(32))


def shares_of(proof: DealProof) -> tuple[DrawnShare, ...]:
    """The shares of a proof, as a room shows them."""
    return tuple(DrawnShare(**share._asdict()) for share in proof.shares)


def drawn(
    proof: DealProof = JOINT,
    *,
    seats: tuple[Seat, ...] = SEATS,
    draws: OwnDraws | None = None,
    shares: tuple[DrawnShare, ...] | None = None,
    board: Board | None = None,
    deal: str = "winnable",
    commitment: bytes = b"",
) -> Model:
    """The model of ana after a race on a joint deal, with the proof that the server gives.

    ``draws`` are those that Ana has revealed in, and ``shares`` are those that the room showed during the race.
    """
    server = RaceServer("phoenix", deal=deal, board=board or JOINT.board())
    shown: dict[str, Any] = {
        "room": "friday",
        "players": seats,
        "commitment": commitment or (proof if proof.public else JOINT).commitment,
        "shares": shares_of(JOINT) if shares is None else shares,
    }
    model = Model("ana", "ana")
    for message in (
        Joined(to=2, room="friday", seat=1, generation=1),
        server.state("countdown", **shown),
        server.state("racing", **shown),
        board_state("friday", server.play),
    ):
        model = model.after(message)
    model, act = model.with_action(server.play.board.legal_moves()[0], 7, START)
    model = model.after(server.answer(act))
    own = OwnDraws((FIRST, LAST)) if draws is None else draws
    return dataclasses.replace(model, draws=own).after(server.state("finished", **shown, proof=str(proof)))
