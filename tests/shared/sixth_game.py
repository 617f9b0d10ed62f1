"""Hamlet, a sixth game made of today's policies."""

from __future__ import annotations

from samedeal.games import Base, Build, Faces, Game, Group, Kind, Lift
from samedeal.stock import DRAW_THREE

HAMLET = Game(
    name="hamlet",
    title="Hamlet",
    blurb="5 half-hidden columns, fans and a reserve",
    decks=1,
    stock=DRAW_THREE,
    groups=(
        Group(
            Kind.COLUMN, tuple("12345"), (4,) * 5, Faces.DOWN_UP, Build.DOWN_ANY_SUIT, Base.KING, Lift.ALTERNATING_RUN
        ),
        Group(Kind.FAN, tuple("qw"), (3, 3), build=Build.SAME_RANK),
        Group(Kind.RESERVE, tuple("er"), (1, 1)),
        Group(Kind.FOUNDATION, ("01", "02", "03", "04"), (0,) * 4, build=Build.UP_SAME_SUIT, base=Base.ACE),
        Group(Kind.STOCK, ("stock",), faces=Faces.DOWN, lift=Lift.NOTHING),
        Group(Kind.WASTE, ("s",), (0,)),
    ),
)
