"""Valid messages to start from: at least one of each type, as in real races."""

from __future__ import annotations

from typing import Final

from samedeal.board import Board
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES
from samedeal.options import Options, WantedOptions
from samedeal.protocol.messages import (
    Acked,
    AckedAction,
    Act,
    BoardState,
    CommitShare,
    Create,
    Created,
    DeclareStuck,
    DelayedBoard,
    DelayedMove,
    Done,
    DrawnShare,
    Hello,
    Join,
    Joined,
    KickPlayer,
    Leave,
    ListRecords,
    ListRooms,
    LostSeat,
    Notice,
    Ping,
    Pong,
    ProgressUpdate,
    ReadRecord,
    Ready,
    Recover,
    Refused,
    Rematch,
    Resign,
    RevealShare,
    RoomLine,
    Rooms,
    RoomState,
    Seat,
    Standing,
    Start,
    Tally,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)

REQUESTS: Final[tuple[ToServer, ...]] = (
    Hello(id=1, name="ana", session="", client="fuzz"),
    Ping(id=2),
    ListRooms(id=3),
    ListRecords(id=3),
    ReadRecord(id=3, race="friday", part=1, passphrase="x"),
    Create(id=4, options=WantedOptions(), room="fuzz-1", passphrase=""),
    Create(
        id=5,
        options=WantedOptions(games=("athena", "steve"), deal="daily", players=2, start="all-ready"),
        room="fuzz-2",
    ),
    Create(
        id=6, options=WantedOptions(deal="#7", undo="free", start="at", start_at=1 << 40, delay=0), passphrase="sesam"
    ),
    Join(id=7, room="fuzz-1", passphrase="sesam", revision=3, event=2),
    Watch(id=8, room="fuzz-1"),
    Leave(id=9),
    Ready(id=10, ready=False),
    Start(id=11),
    CommitShare(id=11, draw=1, commitment=b"c" * 32),
    RevealShare(id=11, draw=2, share=b"s" * 32),
    KickPlayer(id=16, player="nobody"),
    Act(id=12, revision=0, action="3 5 x2"),
    Act(id=13, revision=1, action="undo"),
    Recover(id=13, revision=0, actions=(AckedAction(id=12, action="3 5 x2", time=5_000),), receipt=b"r" * 16),
    Resign(id=14),
    DeclareStuck(id=15),
    Rematch(id=15),
)

_GAME: Final = GAMES["willow"]
_BOARD: Final = Board.deal(_GAME, shuffled(Deal.parse("#7").public_seed(), _GAME.decks)).masked()
_TALLY: Final = Tally(player="p1", foundation_cards=3, moves=9, undos=1, acted_at=5_000, last_progress_at=4_000)

ANSWERS: Final[tuple[ToClient, ...]] = (
    Welcome(to=1, session="s" * 43, player="p1", name="ana", time=5_000, server="samedeal 1"),
    Pong(to=2, time=5_001),
    Rooms(
        to=3,
        rooms=(
            RoomLine(
                room="fuzz-1",
                game="willow",
                deal="#7",
                phase="open",
                players=1,
                seats=8,
                private=False,
                spectators=True,
            ),
        ),
    ),
    Created(to=4, room="fuzz-1"),
    Joined(to=7, room="fuzz-1", seat=1, generation=2),
    Watching(to=8, room="fuzz-1", delay=15),
    Done(to=9),
    Acked(to=12, time=5_000, hash=bytes(8), receipt=bytes(16), seen=b"\x2a"),
    Acked(to=13, time=5_000, hash=bytes(8), receipt=bytes(16), piles=_BOARD.piles, may_undo=False),
    Refused(to=12, code="illegal", message="A ten goes on a jack", revision=1),
    Refused(to=7, code="rate_limited", message="Too much", retry_after=1.5),
    RoomState(
        room="fuzz-1",
        event=7,
        phase="racing",
        game="willow",
        deal="#7",
        options=Options(),
        private=False,
        host="p1",
        players=(
            Seat(player="p1", name="ana", seat=1),
            Seat(player="p2", name="bo", seat=2, ready=True, resigned=True),
        ),
        tallies=(_TALLY, Tally(player="p2", connected=False)),
        commitment=bytes(32),
        starts=4_000,
        ends=904_000,
        spectator_count=1,
        standings=(
            Standing(place=1, player="p1", name="ana", foundation_cards=52, time=900, moves=99, undos=0),
            Standing(place=2, player="p2", name="bo", foundation_cards=3, time=0, moves=9, undos=1, resigned=True),
        ),
        seed=bytes(32),
        next="fuzz-2",
        draw=2,
        lost=(LostSeat(draw=1, seat=3, name="cy", reason="silent"),),
        shares=(DrawnShare(seat=1, name="ana", commitment=bytes(32), share=bytes(32)),),
    ),
    BoardState(
        room="fuzz-1", revision=0, game="willow", piles=_BOARD.piles, hash=_BOARD.state_hash(), moves=0, undos=0
    ),
    ProgressUpdate(seat=1, moves=9, undos=1, acted_at=5_000),
    DelayedBoard(player="p1", revision=3, piles=_BOARD.piles, moves=3, undos=0, time=4_500),
    DelayedMove(player="p1", revision=4, action="3 5", seen=b"", time=4_600),
    Notice(code="draining", message="This server is stopping"),
)

SAMPLES: Final[tuple[ToServer | ToClient, ...]] = (*REQUESTS, *ANSWERS)
