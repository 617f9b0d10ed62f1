"""Random damage to bytes, msgpack values and texts."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]  # it ships no types

NUMBERS: Final = (-1, 600, *((1 << bits) - less for bits in (0, 1, 4, 7, 8, 16, 31, 32, 53, 63) for less in (0, 1)))
TEXTS: Final = (
    *("", " ", "a", "A" * 20, "A" * 200, "名" * 11, "a\x00b", "\x1b[2J", "a\u202eb", "\u200b", "é", "e\u0301" * 9),
    *("random", "#4821", "daily", "daily 2026-02-30", "#" + "9" * 40, "willow", "host", "at", "undo", "3 5", "0", "-1"),
    *("{x}", "..", "/", "'", "%s", "NaN", "1e999", "0x10", "١", "ſ", "\ud7c0", "\U0010ffff"),
)
OTHERS: Final[tuple[Any, ...]] = (None, True, False, 1.5, float("nan"), float("inf"), b"", b"\xff" * 40, [], {}, [[]])


def value(rng: Random, depth: int = 0) -> Any:
    """Return a random value."""
    kind = rng.randrange(8 if depth < 3 else 5)
    match kind:
        case 0 | 1:
            return rng.choice(NUMBERS)
        case 2 | 3:
            return rng.choice(TEXTS)
        case 4 | 5:
            return rng.choice(OTHERS)
        case 6:
            return [value(rng, depth + 1) for _ in range(rng.randrange(5))]
        case _:
            return {rng.choice(TEXTS): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def damaged_value(rng: Random, old: Any) -> Any:
    """Return a value that differs in one place."""
    if isinstance(old, dict) and old and rng.random() < 0.9:
        new = dict(old)
        key = rng.choice(sorted(new, key=str))
        match rng.randrange(6):
            case 0:
                del new[key]
            case 1:
                new[rng.choice((*TEXTS, *new))] = value(rng)
            case _:
                new[key] = damaged_value(rng, new[key])
        return new
    if isinstance(old, list | tuple) and old and rng.random() < 0.8:
        items = list(old)
        at = rng.randrange(len(items))
        match rng.randrange(4):
            case 0:
                del items[at]
            case 1:
                items[at:at] = [items[at]] * rng.choice((1, 2, 300))
            case _:
                items[at] = damaged_value(rng, items[at])
        return items
    if isinstance(old, int) and not isinstance(old, bool) and rng.random() < 0.6:
        return old + rng.choice((-1, 1, 2, -2, 1 << 32))
    if isinstance(old, str) and rng.random() < 0.5:
        return damaged_text(rng, old)
    return value(rng)


def damaged_text(rng: Random, text: str) -> str:
    """Return a text with a piece removed, doubled or replaced."""
    start = rng.randint(0, len(text))
    end = min(len(text), start + rng.choice((0, 1, 1, 2, 8)))
    piece = rng.choice((*TEXTS, "", text[start:end] * 2, chr(rng.choice((rng.randrange(128), rng.randrange(0xD7FF))))))
    return text[:start] + piece + text[end:]


def damaged_bytes(rng: Random, data: bytes) -> bytes:
    """Return bytes with some changed, removed or doubled."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        start = rng.randint(0, len(changed))
        end = min(len(changed), start + rng.choice((0, 1, 1, 2, 4, 16)))
        match rng.randrange(5):
            case 0:
                changed[start:end] = rng.randbytes(rng.choice((0, 1, 2, 4, 9)))
            case 1 if start < len(changed):
                changed[start] ^= 1 << rng.randrange(8)
            case 2 if start < len(changed):
                changed[start] = rng.choice((0, 1, 0x7F, 0x80, 0xC1, 0xDC, 0xDD, 0xDE, 0xDF, 0xFF))
            case 3:
                del changed[start:end]
            case _:
                changed[start:start] = changed[start:end] * rng.choice((1, 2, 50))
    return bytes(changed[:40_000])


def damaged_message(rng: Random, frame: bytes) -> bytes:
    """Return a message that differs in one place. A frame that is not valid msgpack is damaged as bytes."""
    try:
        packed: bytes = msgpack.packb(damaged_value(rng, msgpack.unpackb(frame)), unicode_errors="surrogatepass")
    except Exception:  # noqa: BLE001  # whatever the error, the frame is not a message
        return damaged_bytes(rng, frame)
    return packed
