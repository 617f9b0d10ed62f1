"""Boards without moves: the piles of a game, and their text form.

::

    athena
    1: [9S] 4H [KD] QC
    ...
    01: AS-5S
    stock: [2C] (3D) ??
    w: 9H KS

The first line names the game. Each other line is a pile, from its deepest card to its top. Cards are written as
``Card`` writes them: ``TH`` face up, ``(TH)`` face down but seen before, ``[TH]`` face down and never seen,
``??`` face down and unknown to the reader. Empty piles may be left out. Blank lines and everything after a ``;`` are
ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Final, Self

from samedeal.cards import DECK, DOWN, FACE, HIDDEN, HIDE, UNSEEN, Card, parse_pile, pile_text
from samedeal.errors import BadArgument, MalformedBoard, MalformedText
from samedeal.game import Game, Group
from samedeal.games import game_named
from samedeal.policies import Faces, Kind

_CODES: Final = frozenset(card | lying for card in DECK for lying in (0, DOWN, UNSEEN)) | {HIDDEN}

_BETWEEN_PILES: Final = b"\xff"
_HIDE_JOINED: Final = HIDE[:0xFF] + _BETWEEN_PILES
"""The table that masks several piles which are joined into one. This is faster than masking them one by one."""


@dataclass(frozen=True, slots=True)
class Position:
    """The piles of a game, in the order of ``Game.piles``.

    A pile is ``bytes``, with one byte for each card and the top card last.
    """

    game: Game
    piles: tuple[bytes, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the board that a text describes.

        Raise MalformedText if the text can't be read, UnknownGame if it names no game, and MalformedBoard if such a
        board cannot exist.
        """
        lines = [line for raw in text.splitlines() if (line := raw.partition(";")[0].strip())]
        if not lines:
            raise MalformedText("A board starts with the name of its game. Write it on the first line.")
        game = game_named(lines[0])
        piles = [b""] * len(game.piles)
        written: set[str] = set()
        for line in lines[1:]:
            key, colon, cards = (part.strip() for part in line.partition(":"))
            if not colon or key not in game.index:
                raise MalformedText(
                    f"{line[:40]!r} is not a pile of {game.title}. Write its name, a colon and its cards."
                )
            if key in written:
                raise MalformedText(f"Pile {key} is written twice. Write all its cards on one line.")
            written.add(key)
            piles[game.index[key]] = parse_pile(cards)
        return cls(game, tuple(piles)).check()

    def __str__(self) -> str:
        piles = [f"{key}: {pile_text(pile)}" for key, pile in zip(self.game.keys, self.piles, strict=True) if pile]
        return "\n".join([self.game.name, *piles]) + "\n"

    def __repr__(self) -> str:
        return f"{type(self).__name__}.parse({str(self)!r})"

    def _repr_svg_(self) -> str:
        """Return the drawing that a notebook shows."""
        from samedeal.board_svg import board_svg

        return board_svg(self)

    def cards(self, key: str) -> tuple[Card, ...]:
        """Return the cards of the pile with a name, the top card last. Raise BadArgument if the game has no such pile."""
        if key not in self.game.index:
            raise BadArgument(f"{self.game.title} has no pile {key[:20]!r}. Its piles are {', '.join(self.game.keys)}.")
        return tuple(map(Card, self.piles[self.game.index[key]]))

    @property
    def stock(self) -> bytes:
        """The cards of the stock, or empty bytes in a game without a stock."""
        at = self.game.stock_at
        return self.piles[at] if at >= 0 else b""

    @property
    def waste(self) -> bytes:
        """The cards of the waste, or empty bytes in a game without a waste."""
        at = self.game.waste_at
        return self.piles[at] if at >= 0 else b""

    @property
    def foundation_cards(self) -> int:
        """The number of cards on the foundations (RULES.md, ruling R9)."""
        foundations = self.game.foundations
        return len(b"".join(self.piles[foundations.start : foundations.stop]))

    @property
    def won(self) -> bool:
        """Whether every card is on a foundation (RULES.md, ruling R8)."""
        return self.foundation_cards == self.game.cards

    def masked(self) -> Self:
        """Return the board as its player may see it. Each card that was never seen becomes ``HIDDEN``."""
        return type(self)(self.game, tuple(pile.translate(HIDE) for pile in self.piles))

    def state_hash(self) -> bytes:
        """Return the hash of the masked board, in 8 bytes. PROTOCOL.md, *Hashes*, specifies it.

        A board and its masked copy have the same hash.
        """
        view = _BETWEEN_PILES.join(self.piles).translate(_HIDE_JOINED)
        return blake2b(view, digest_size=8, key=self.game.name.encode()).digest()

    def check(self) -> Self:
        """Return the board unchanged if it can exist. Raise MalformedBoard with the reason if it cannot.

        A board can exist if it has exactly the cards of the game and each pile can hold its cards. A hidden card stands
        for any card that the board does not show.
        """
        game = self.game
        if len(self.piles) != len(game.piles):
            raise MalformedBoard(f"{game.title} has {len(game.piles)} piles, not {len(self.piles)}.")
        self._check_cards(b"".join(self.piles))
        for key, group, pile in zip(game.keys, game.piles, self.piles, strict=True):
            name = game.pile_phrase(key)
            _check_faces(name, group, pile)
            if group.kind in (Kind.RESERVE, Kind.CELL) and len(pile) > 1:
                raise MalformedBoard(f"{name.capitalize()} can't hold more than one card.")
            if group.kind is Kind.FOUNDATION and (len(pile) % group.takes or not _builds(group, pile)):
                raise MalformedBoard(f"Foundation {key} can't hold these cards. It builds {group.build}.")
        return self

    def _check_cards(self, cards: bytes) -> None:
        game = self.game
        if strays := set(cards) - _CODES:
            raise MalformedBoard(f"There is no card with the code {min(strays)}.")
        named = [card & FACE for card in cards if card != HIDDEN]
        for card in DECK:
            if named.count(card) > game.deck.count(card):
                raise MalformedBoard(
                    f"{Card(card)} occurs {_times(named.count(card))}, not {_times(game.deck.count(card))} as in "
                    f"{game.title}."
                )
        if len(cards) != game.cards:
            missing = [str(Card(card)) for card in DECK for _ in range(game.deck.count(card) - named.count(card))]
            rest = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
            names = f" Missing: {' '.join(missing[:8])}{rest}." if len(cards) < game.cards else ""
            raise MalformedBoard(f"{game.title} has {game.cards} cards, not {len(cards)}.{names}")


def _check_faces(name: str, group: Group, pile: bytes) -> None:
    if group.kind is Kind.STOCK:
        if any(card < DOWN for card in pile):
            raise MalformedBoard(f"A card of {name} can't lie face up.")
    elif group.kind is Kind.COLUMN and group.faces is not Faces.UP:
        if pile and pile[-1] >= DOWN:
            raise MalformedBoard(f"The top card of {name} can't lie face down.")
    elif any(card >= DOWN for card in pile):
        raise MalformedBoard(f"A card of {name} can't lie face down.")


def _builds(group: Group, pile: bytes) -> bool:
    """Return whether a pile is empty, or its cards could have been put on it one after another."""
    if not pile:
        return True
    return pile[0] in group.on_empty and all(over in group.on[under] for under, over in pairwise(pile))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
