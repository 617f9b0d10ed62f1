"""What players read in a race with a window, which each of them races when they have time."""

from __future__ import annotations

from datetime import tzinfo
from typing import Final

from msgspec.structs import replace

from samedeal.protocol.messages import RoomLine, RoomState, Seat
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import options_lines
from samedeal_client.text.player_names import names_text
from samedeal_client.text.qr_code import qr_lines
from samedeal_client.text.spans import Row, Span, wrap
from samedeal_client.text.time_text import day_and_time, duration_text, short_clock_text, weekday_and_time
from samedeal_link.model.model import Model

_WIDTH: Final = 70
"""Number of columns for a sentence over the board."""


def closing_text(room: RoomState, zone: tzinfo | None = None) -> str:
    """Return when the window closes, as ``Sunday 18:00`` in the time zone ``zone``, by default the local one."""
    return _time_text(room, room.ends, zone)


def _time_text(room: RoomState, time: int, zone: tzinfo | None = None) -> str:
    """Return a time of a window. Those of a standing series may be more than a week away."""
    return weekday_and_time(time, zone, dated=bool(room.opens))


def decided_lines(room: RoomState, zone: tzinfo | None = None) -> tuple[tuple[str, str], ...]:
    """Return what was decided about a race, by options or by a window, each as a label with its value in words."""
    lines, options = dict(options_lines(room.options, zone)), room.options
    if not (options.bots or options.hosted or room.tide):  # a race for whoever comes now
        lines["Bots"] = "only the server's, if nobody else comes"
    if room.window:
        lines.pop("Bots", "")
        lines |= {
            "Doors": f"close {_time_text(room, room.doors_close_at, zone)}; if you quit, your seat is kept",
            "Starts": "for each when they have time, once those who are here have drawn the deal",
            **({"Series": f"the {later_text(room, zone)}, with the same seats"} if room.opens[1:] else {}),
            "Ends": f"when all have raced, at the latest {closing_text(room, zone)}",
            "Time": f"{duration_text(options.limit)} for each, from when they begin",
            "Watching": "when all have raced",
        }
    return tuple(lines.items())


def later_text(room: RoomState, zone: tzinfo | None = None) -> str:
    """Return when the next race of a standing series opens, which has to follow."""
    return f"next race opens {_time_text(room, room.opens[1], zone)}"


def doors_sentence(model: Model) -> str:
    """Return a sentence for those who are in a room whose doors are open."""
    room = model.this_room
    at = _time_text(room, room.doors_close_at)
    if model.opens_by_itself:
        return f"One name each: who are they? The race opens {at}, and nobody can enter after that."
    how = "Close the doors with Enter" if model.hosting else "The host closes the doors"
    return f"One name each: who are they? {how}, at the latest {at}."


def closes_text(line: RoomLine) -> str:
    """Return when the doors of a listed race close, or its window does. It is empty without a window that is not over."""
    what = "doors close" if line.phase == "open" else "closes"
    return f"{what} {day_and_time(line.closes)}" if line.closes and line.phase != "finished" else ""


def moving_rows(link: str, width: int, look: Look) -> tuple[Row, ...]:
    """Return a link with which the player goes on with another device, as rows, with its QR code if that fits."""
    told = "Open this link on your other device within ten minutes. It works once, and whoever has it plays as you."
    parts = [link[at : at + width] for at in range(0, len(link), width)]
    rows = (*((Span(line),) for line in wrap(told, width)), (), *((Span(part, "field"),) for part in parts), ())
    code = qr_lines(link)
    return (*rows, *((Span(line, "paper"),) for line in code if not look.ascii and len(line) <= width))


def drawing_sentence(model: Model, look: Look, key: str = "Enter") -> str:
    """Return a sentence about the draw of the deal, once the doors are closed. The host opens them again with ``key``."""
    room = model.this_room
    if room.waits_for_host:
        host = names_text([seat for seat in room.players if seat.player == room.host], look)
        how = f"Open the doors again with {key}" if model.hosting else f"{host} can open the doors again"
        return f"The deal was not drawn, because each time somebody did not answer. {how}."
    drawing = _drawing(model)
    if not drawing:
        return "The deal is drawn by whoever is here. Nobody is yet."
    return f"The deal is drawn by {names_text(drawing, look)}."


def drawn_sentence(model: Model, look: Look) -> str:
    """Return a sentence that tells who drew the deal."""
    drawing = _drawing(model)
    without = "" if any(seat.player == model.me for seat in drawing) else ", without you"
    return f"The deal was drawn by {names_text(drawing, look)}{without}."


def _drawing(model: Model) -> list[Seat]:
    """Return the seats of those who draw the deal, or have drawn it: first the player's own, with the name ``you``."""
    seats = (seat for seat in model.this_room.players if seat.seat in model.this_room.drawing)
    own = (replace(seat, name="you") if seat.player == model.me else seat for seat in seats)
    return sorted(own, key=lambda seat: seat.player != model.me)


def raced_sentence(model: Model, now: int) -> str:
    """Return a sentence for a player whose attempt in an open window is over. It is empty for all others."""
    if not model.has_raced(now):
        return ""
    return f"You have raced. Nobody sees how until all have, at the latest {closing_text(model.this_room)}."


def attempt_rows(model: Model, now: int, look: Look) -> tuple[Row, ...]:
    """Return the rows over the board of a player who has not begun in a race with a window."""
    title: tuple[Row, ...] = ()
    lines = [raced_sentence(model, now) or drawing_sentence(model, look)]
    if model.may_begin:
        ready = f"Your one try: {short_clock_text(model.time_left(now))}, the clock does not stop. Ready?"
        title = ((Span(f"  {ready}  ", "title"),), ())
        later = f"You can also come back later, until {closing_text(model.this_room)}."
        lines = ["Enter: begin", later, drawn_sentence(model, look)]
    return ((), *title, *((Span(f"  {part}  ", "label"),) for line in lines for part in wrap(line, _WIDTH)), ())
