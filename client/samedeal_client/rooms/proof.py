"""Whether a race was dealt as the server had promised: checked here, from the seed that it reveals at the end."""

from __future__ import annotations

from dataclasses import dataclass

from samedeal.board import Board
from samedeal.deal import Deal, commitment, shuffled
from samedeal.errors import SamedealError
from samedeal_client.rooms.model import Model


@dataclass(frozen=True)
class Proof:
    """The outcome of the check: whether the deal is proven to be as promised, and a sentence that says so or why not."""

    holds: bool
    sentence: str


def proof(model: Model) -> Proof | None:
    """Check a finished race: seed against commitment, cards against seed. None while the seed is not known.

    The commitment is the one that was there when this client first saw the race. Of the cards every one that this client
    has seen is checked, from the deal on where it was there, and its own moves are played again.
    """
    room = model.room
    if room is None or not room.seed:
        return None
    if commitment(room.seed) != model.commitment:
        return _broken("The seed is NOT the one that the server had committed itself to: the deal was changed")
    deal = Deal.parse(room.deal)
    if deal.public and deal.public_seed() != room.seed:
        return _broken(f"The seed is NOT that of deal {deal}: the cards were others")
    record = model.record()
    if record is not None and model.play is not None:
        if Board.deal(model.game, shuffled(room.seed, model.game.decks)).masked() != model.first:
            return _broken("The cards dealt to you are NOT those of the seed: your deal was another one")
        try:
            end = record.replay()
        except SamedealError as error:
            return _broken(f"The cards that you turned up are NOT those of the seed: {error}")
        if end.board.state_hash() != model.play.board.state_hash():
            return _broken("The cards that you turned up are NOT those of the seed: your deal was another one")
        return _kept("Checked: the seed is the one committed to beforehand, and your cards were dealt from it")
    return _kept("Checked: the seed is the one committed to beforehand")


def _kept(sentence: str) -> Proof:
    return Proof(holds=True, sentence=sentence)


def _broken(sentence: str) -> Proof:
    return Proof(holds=False, sentence=sentence)
