"""Frames of all kinds, valid and damaged, for the decoders of both ends and for the client's model."""

from __future__ import annotations

import re
from random import Random
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]  # it ships no types
from msgspec import Struct

from samedeal import names, options
from samedeal.errors import SamedealError
from samedeal.protocol import codec, messages
from samedeal.protocol.codec import LARGEST_FRAME, decode_to_client, decode_to_server, encode, request_id
from samedeal_link.connection import sanitize
from samedeal_link.connection.sanitize import decode_sanitized
from tests.fuzz.campaign import BrokenPromise, Campaign
from tests.fuzz.coverage import LineCoverage
from tests.fuzz.damage import damaged_bytes, damaged_value, value
from tests.shared.protocol.samples import SAMPLES

_WATCHED: Final = (codec, messages, options, names, sanitize)
_LONGEST: Final = 400
_SAID: Final = re.compile(r"[0-9]+|'[^']*'")
"""The parts of a sentence that vary with the input: numbers, and what is quoted."""


def fuzz_codec(seed: int, inputs: int, *, stop: int = 1) -> Campaign[bytes]:
    """Try a number of frames. Stop after ``stop`` broken promises."""
    campaign = Campaign("codec", seed, _WATCHED, _make, damaged_bytes)
    for frame in campaign.inputs(inputs, stop):
        with campaign.trying(frame):
            _try(frame, campaign.coverage)
    return campaign


def _make(rng: Random) -> bytes:
    sample = rng.choice(SAMPLES)
    match rng.randrange(5):
        case 0:
            return encode(sample)
        case 1:
            return rng.randbytes(rng.choice((0, 1, 5, 40)))
        case 2:
            packed: bytes = msgpack.packb(value(rng), unicode_errors="surrogatepass")
            return packed
        case _:
            pass
    fields = msgpack.unpackb(encode(sample))
    for _ in range(rng.choice((1, 1, 2, 3))):
        fields = damaged_value(rng, fields)
    try:
        packed = msgpack.packb(fields, unicode_errors="surrogatepass")
    except (OverflowError, ValueError):
        return b""
    return packed


def _try(frame: bytes, coverage: LineCoverage) -> None:
    for decode in (decode_to_server, decode_to_client, decode_sanitized):
        try:
            message: Any = decode(frame)
        except SamedealError as error:
            _check_sentence(str(error))
            coverage.note(decode.__name__, _SAID.sub("", str(error)))
        except Exception as error:
            raise BrokenPromise(f"{decode.__name__} raised {error!r}") from error
        else:
            _check_message(decode, message)
            coverage.note(decode.__name__, type(message).__name__)
    if not -1 <= request_id(frame) < 1 << 53:
        raise BrokenPromise("the id of a request is out of its bounds")


def _check_sentence(sentence: str) -> None:
    # ``terminal_text.printable`` replaces other unsafe characters later, when the server sends the sentence.
    if not sentence or len(sentence) > _LONGEST or not sentence.isprintable():
        raise BrokenPromise(f"an unsuitable sentence: {sentence!r}")


def _check_message(decode: Any, message: Any) -> None:
    if not isinstance(message, Struct):
        raise BrokenPromise(f"{decode.__name__} gave {message!r}")
    again = encode(message)  # type: ignore[arg-type]  # a message of one of the unions
    read = decode_to_client if decode is decode_sanitized else decode  # a sentence says once that the server says it
    if len(again) <= LARGEST_FRAME and read(again) != message and "nan" not in repr(message):
        raise BrokenPromise(f"{decode.__name__} decodes {message!r} differently the second time")
