"""Server messages, valid and damaged, for the client's model, narration and drawing.

The client must process each message, or reject it with a SamedealError.
"""

from __future__ import annotations

from random import Random
from typing import Final

from samedeal.errors import SamedealError
from samedeal.protocol.codec import encode
from samedeal.terminal_text import printable
from samedeal_client.board import mini_board, top_row
from samedeal_client.board.mini_board import draw_mini
from samedeal_client.panels import live_ranking, narration
from samedeal_client.panels.narration import Narrator
from samedeal_client.text.appearance import Look
from samedeal_link.connection.sanitize import decode_sanitized
from samedeal_link.model import model
from samedeal_link.model.model import Model
from tests.fuzz.campaign import BrokenPromise, Campaign
from tests.fuzz.damage import Frames, damaged_frames
from tests.fuzz.requests import ANSWERS

_WATCHED: Final = (model, narration, mini_board, top_row, live_ranking)
_LOOK: Final = Look()


def fuzz_client(seed: int, inputs: int, *, stop: int = 1) -> Campaign[Frames]:
    """Try a number of conversations. Stop after ``stop`` broken promises."""
    campaign = Campaign("client", seed, _WATCHED, _make, damaged_frames)
    for conversation in campaign.inputs(inputs, stop):
        with campaign.trying(conversation):
            _try(conversation)
    return campaign


def _make(rng: Random) -> Frames:
    return tuple(encode(rng.choice(ANSWERS)) for _ in range(rng.randint(1, 10)))


def _try(conversation: Frames) -> None:
    known, narrator = Model(), Narrator(_LOOK)
    for frame in conversation:
        try:
            before, known = known, known.after(decode_sanitized(frame))
            lines = [*narrator.narrate(before, known), narrator.rivals_line(known)]
            if known.board is not None:
                draw_mini(known.board, _LOOK, 100, 40)
                known.board.legal_moves()
            for watched in known.watched.values():
                draw_mini(watched.play.board, _LOOK, 40, 20)
        except SamedealError:
            continue
        except Exception as error:
            raise BrokenPromise(f"the client raised {error!r}") from error
        for line in lines:
            if printable(line, 10_000) != line:
                raise BrokenPromise(f"it would print {line!r}")
