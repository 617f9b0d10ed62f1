"""What a server shows a spectator of a joint deal, from the first state of the room to the last, and a server that does."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from msgspec.structs import replace
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.typing import Subprotocol

from samedeal.deal_proof import DealProof
from samedeal.joint_deal import share_commitment
from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Drawn,
    DrawnShare,
    Hello,
    LostSeat,
    Phase,
    RoomState,
    Seat,
    ToClient,
    Watch,
    Watching,
    Welcome,
)
from samedeal_server.page.files import PageFiles
from tests.client.server_messages import room_state
from tests.shared.drawn_deals import ROOM, drawn_terms
from tests.shared.joint_deals import race_terms

Story = list[RoomState | Drawn]


def state(of: DealProof, phase: Phase, draw: int = 0, deal: str = "winnable", **changes: Any) -> RoomState:
    """A state of the room, with the players who have shares in the deal."""
    terms = race_terms(str(of.terms.game), deal) if of.public else drawn_terms(deal)
    players = tuple(Seat(player=f"p{each.seat}", seat=each.seat, name=each.name) for each in of.shares)
    known = {"phase": phase, "game": str(of.terms.game), "deal": deal, "round": terms.round, "terms": str(terms)}
    known |= {"event": 0, "tallies": (), "commitment": of.commitment, "draw": draw}
    return replace(room_state(ROOM, terms.options, players, **known), **changes)


def lost_before(of: DealProof, draw: int) -> tuple[LostSeat, ...]:
    """The players who lost their seats before a draw."""
    return tuple(LostSeat(**each._asdict()) for each in of.lost if each.draw < draw)


def sealed(of: DealProof, draw: int, **changes: Any) -> RoomState:
    """The state in which all players have committed to their shares."""
    seats = tuple(
        Seat(
            player=f"p{each.seat}",
            seat=each.seat,
            name=each.name,
            share_commitment=share_commitment(of.digest, of.commitment, each.seat, each.name, draw, each.share),
        )
        for each in of.shares
    )
    return replace(state(of, "countdown", draw, players=seats), **changes)


def fixed(of: DealProof, phase: Phase = "countdown", **changes: Any) -> RoomState:
    """The state in which all players have revealed their shares."""
    lost = tuple(LostSeat(**each._asdict()) for each in of.lost)
    return state(of, phase, of.draw, **({"lost": lost} | changes))


def drawn(of: DealProof) -> Drawn:
    """The message with the shares of all players."""
    return Drawn(room=ROOM, draw=of.draw, shares=tuple(DrawnShare(**each._asdict()) for each in of.shares))


def ended(of: DealProof, text: str = "", **changes: Any) -> RoomState:
    """The state after the race, with a proof."""
    return fixed(of, "finished", **({"proof": text or str(of)} | changes))


def story(of: DealProof, deal: str = "winnable") -> Story:
    """All states that a spectator is shown of an honest draw and race."""
    if of.public:
        waiting = [state(of, phase, deal=deal) for phase in cast("list[Phase]", ["open", "countdown", "racing"])]
        return [*waiting, state(of, "finished", deal=deal, proof=str(of))]
    draws = []
    for draw in range(1, of.draw + 1):
        lost = lost_before(of, draw)
        draws += [state(of, "countdown", draw, deal, lost=lost), sealed(of, draw, lost=lost, deal=deal)]
    return [
        state(of, "open", deal=deal),
        *draws,
        drawn(of),
        fixed(of, deal=deal),
        fixed(of, "racing", deal=deal),
        ended(of, deal=deal),
    ]


class ScriptedRoom:
    """A room whose states a test decides. A spectator who enters gets the newest one."""

    def __init__(self) -> None:
        self.url = ""
        self._messages: list[ToClient] = []
        self._spectators: set[ServerConnection] = set()

    def show(self, *messages: ToClient) -> None:
        """Send messages, and to those who enter later the newest state and what came after it."""
        for message in messages:
            kept = [each for each in self._messages if isinstance(each, Drawn)]
            self._messages = [*(kept if isinstance(message, RoomState) else self._messages), message]
            broadcast(self._spectators, encode(message))

    async def handle(self, socket: ServerConnection) -> None:
        """Answer the requests of a spectator."""
        async for frame in socket:
            request = decode_to_server(cast("bytes", frame))
            if isinstance(request, Hello):
                await socket.send(encode(Welcome(request.id, "", "p", "spectator", time.time_ns() // 1_000_000, "", 1)))
            elif isinstance(request, Watch):
                await socket.send(encode(Watching(request.id, ROOM, 0)))
                for message in self._messages:
                    await socket.send(encode(message))
                self._spectators.add(socket)
        self._spectators.discard(socket)


@asynccontextmanager
async def scripted_room(states: Sequence[ToClient] = ()) -> AsyncIterator[ScriptedRoom]:
    """A server that has the page, and one room."""
    page, room = PageFiles(), ScriptedRoom()
    room.show(*states)
    async with serve(
        room.handle,
        "127.0.0.1",
        process_request=lambda _, request: page.respond(request),
        subprotocols=[Subprotocol(SUBPROTOCOL)],
    ) as server:
        room.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield room
