"""Records of races that were never run."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from samedeal.deal import Deal, commitment
from samedeal.options import Options
from samedeal.record import Record, RecordedPlayer
from samedeal.standings import Result, ranked
from samedeal.terms import RoomTerms, description_hash

START = 1_790_000_000_000
"""2026-09-21 14:13:20 UTC."""

Actions = tuple[tuple[int, str], ...]


def described_terms(
    room: str,
    options: Options,
    deal: str,
    *,
    round_number: int = 0,
    private: bool = False,
    tide: int = 0,
    window: int = 0,
) -> RoomTerms:
    """The terms of a race for which this release describes the game."""
    game, options = options.game(round_number), RoomTerms.options_with(options, Deal.parse(deal))
    fixed = room, round_number, game, description_hash(game), Deal.parse(deal), private, tide
    return RoomTerms(*fixed, options, window)


def terms_of(game: str, deal: str, *, round_number: int = 0, room: str = "friday", **options: object) -> RoomTerms:
    """The terms of a race in a room with a deal and with options, which are the usual ones if they are not given."""
    wanted = msgspec.convert({"games": [game], **options}, Options)
    return described_terms(room, wanted, deal, round_number=round_number)


def recorded(
    game: str, deal: str, *plays: tuple[str, Actions], undo: str = "free", limit: int = 900, seed: bytes = b""
) -> Record:
    """Return the record of a race between players. A play is a name and its actions. A name with a star is a bot's."""
    seed = seed or Deal.parse(deal).public_seed()
    terms = terms_of(game, deal, undo=undo, limit=limit)
    players = tuple(
        RecordedPlayer(seat, name.removeprefix("*"), 0, 0, actions, bot=name.startswith("*"))
        for seat, (name, actions) in enumerate(plays, 1)
    )
    last = max((actions[-1][0] for _, actions in plays if actions), default=0)
    unplaced = Record(terms, commitment(terms.digest, seed), START, START + last, seed, len(players), players)
    results = []
    for player in players:
        boards = [play.board for play in unplaced.plays(player)]
        changes = [
            time
            for (time, _), before, after in zip(player.actions, boards, boards[1:], strict=False)
            if before.foundation_cards != after.foundation_cards
        ]
        finish = player.actions[-1][0] if boards[-1].won else 0
        done = replace(player, foundation_cards=boards[-1].foundation_cards, time=finish)
        progress = START + changes[-1] if changes else 0
        results.append((done, Result(player.seat, done.foundation_cards, finish and START + finish, progress)))
    placed = sorted((replace(player, place=place) for place, player in ranked(results)), key=lambda each: each.seat)
    return replace(unplaced, players=tuple(placed))
