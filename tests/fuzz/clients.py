"""What a server might say, whole and damaged, to what a client knows, tells and draws: it understands, or says that not."""

from __future__ import annotations

from random import Random
from typing import Final

from samedeal.errors import SamedealError
from samedeal.names import printable
from samedeal.protocol.codec import encode
from samedeal_client.board import mini, toprow
from samedeal_client.board.mini import draw_mini
from samedeal_client.board.render import draw_board
from samedeal_client.net.hearing import hear
from samedeal_client.rooms import model
from samedeal_client.rooms.model import Model
from samedeal_client.text.look import Look
from samedeal_client.views import narration, rivals
from samedeal_client.views.narration import Narrator
from tests.fuzz.campaign import Broken, Corpus, Outcome, shown
from tests.fuzz.damage import damaged_bytes, damaged_message
from tests.fuzz.edges import Edges
from tests.fuzz.requests import ANSWERS

_WATCHED: Final = (model, narration, mini, toprow, rivals)
_LOOK: Final = Look()

Said = tuple[bytes, ...]


def fuzz_client(seed: int, inputs: int, *, stop: int = 1) -> Outcome:
    """Try so many conversations; ends after ``stop`` broken promises."""
    rng = Random(seed)
    corpus: Corpus[Said] = Corpus(rng, _make, _damage)
    edges = Edges(_WATCHED)
    outcome = Outcome("client")
    while outcome.inputs < inputs and len(outcome.broken) < stop:
        said = corpus.next()
        outcome.inputs += 1
        try:
            with edges:
                _try(said)
        except Broken as broken:
            outcome.broken.append(f"{broken}: {shown(said)}")
        if edges.take_new():
            corpus.keep(said)
    outcome.kept, outcome.steps = len(corpus.kept), len(edges.seen)
    return outcome


def _make(rng: Random) -> Said:
    return tuple(encode(rng.choice(ANSWERS)) for _ in range(rng.randint(1, 10)))


def _damage(rng: Random, said: Said, others: list[Said]) -> Said:
    frames = list(said)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(frames)) if frames else 0
        match rng.randrange(6):
            case 0 if frames:
                del frames[at]
            case 1:
                frames[at:at] = rng.choice(others)[:3]
            case 2 if frames:
                frames[at] = damaged_bytes(rng, frames[at])
            case _ if frames:
                frames[at] = damaged_message(rng, frames[at])
    return tuple(frames[:20])


def _try(said: Said) -> None:
    known, narrator = Model(), Narrator(_LOOK)
    for frame in said:
        try:
            before, known = known, known.after(hear(frame))
            lines = [*narrator.tell(before, known), narrator.rivals(known)]
            if known.board is not None:
                draw_board(known.board, _LOOK, 100, 40)
                known.board.legal_moves()
            for watched in known.watched.values():
                draw_mini(watched.play.board, _LOOK, 40, 20)
        except SamedealError:
            continue
        except Exception as error:
            raise Broken(f"it stumbled: {error!r}") from error
        for line in lines:
            if printable(line, 10_000) != line:
                raise Broken(f"it would print {line!r}")
