"""For each row of the table of verdicts a history that it decides alone, and an honest one to which it says nothing.

A history is a race, a client, and what happens: a lie, a change of one message, or a trouble with the number of the step
before which it happens. The honest neighbour is the same race without it, unless another one is named.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class History(NamedTuple):
    """A history: the race, the client who judges it, and the lie, change or trouble that happens in it."""

    plan: str
    client: str
    what: str
    trouble_at: int = 0
    neighbour: str = ""


HISTORIES: Final[dict[str, History]] = {
    "other_request": History("joint", "ana", "OtherKind"),
    "other_room": History("joint", "ana", "insert Drawn other room"),
    "changed_terms": History("joint", "ana", "RoomState.terms"),
    "contradicting_terms": History("joint", "ana", "OptionsBesideTerms"),
    "unknown_terms": History("watched", "sue", "UnknownLine"),
    "other_description": History("joint", "ana", "OtherWeights"),
    "other_record_terms": History("random", "ana", "CommittedToOtherTerms"),
    "changed_commitment": History("daily", "ana", "RoomState.commitment"),
    "other_record_commitment": History("random", "ana", "SecretOfRecord"),
    "other_identity": History("joint", "ana", "IAmABot"),
    "seat_vanished": History("resumed", "ana", "insert RoomState without me"),
    "unheard": History("joint", "ana", "SilentAndBack"),
    "new_session": History("undo", "bob", "new session", 2),
    "other_players": History("joint", "ana", "HiddenBots"),
    "replaced_name": History("joint", "ana", "SwappedNames"),
    "no_seat_lost": History("joint", "ana", "SecondDrawOfLost", neighbour="redraw"),
    "went_back": History("joint", "ana", "EarlierDraw", neighbour="redraw"),
    "said_left": History("joint", "ana", "SaidLeft"),
    "missed_draw": History("joint", "bob", "window in draw", 6),
    "without_you": History("apart", "cid", "", neighbour="redraw"),
    "left_out": History("window", "bob", "LeftOut"),
    "other_shares": History("joint", "ana", "OtherTermsOfBob"),
    "other_drawn": History("joint", "ana", "insert Drawn"),
    "other_lost": History("joint", "ana", "InventedLoss", neighbour="redraw"),
    "not_first": History("joint", "ana", "SecondCandidate", neighbour="won"),
    "not_repeated": History("joint", "ana", "TooManyCandidates"),
    "not_checkable": History("joint", "ana", "OtherSolver"),
    "no_first_board": History("joint", "ana", "BoardNeverShown"),
    "other_cards": History("joint", "ana", "OtherFirstBoard"),
    "other_action": History("undo", "ana", "Acked.time"),
    "other_board": History("restarted", "ana", "OtherStockOfAna"),
    "foreign_action": History("joint", "ana", "delay 1000"),
    "refused_move": History("joint", "ana", "RefusedMove"),
    "resigned_for_you": History("undo", "ana", "ResignedInRecord"),
    "stuck_for_you": History("joint", "ana", "FalseStuck", neighbour="resumed"),
    "other_window": History("joint", "bob", "window", 10),
    "other_start": History("joint", "ana", "OtherStartOfRecord"),
    "other_limit": History("joint", "ana", "LaterEnd"),
    "ended_early": History("joint", "bob", "EarlyEnd"),
    "no_record": History("joint", "ana", "NoRecord"),
    "bad_record": History("joint", "ana", "OtherLimits"),
    "changed_record": History("joint", "ana", "TwoRecords"),
    "other_results": History("joint", "ana", "OtherResults"),
    "other_deal": History("joint", "ana", "OtherSeed"),
    "other_counts": History("joint", "ana", "InventedTallies"),
    "told_early": History("window", "ana", "ToldTallies"),
    "other_watched": History("watched", "sue", "OtherWatchedMoves"),
    "other_table": History("series", "ana", "OtherTable"),
    "not_alone": History("again", "ana", "AgainWithBot"),
    "lost_data": History("joint", "ana", "lost for good", 12),
    "out_of_draw": History("left", "cid", ""),
    "unfinished": History("joint", "ana", "kicked", 13),
}
