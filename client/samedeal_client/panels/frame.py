"""The frame of a screen as rows of text: the header, the banner, the message line."""

from __future__ import annotations

from typing import Final

from samedeal_client.board.layout import Size
from samedeal_client.input.key_names import QUIT_KEY, key_text
from samedeal_client.panels.race import SEAT_KEPT, server_gone_sentences
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, cut, fit, fit_row, row_text, row_width, wrap
from samedeal_link.model.connection_status import ConnectionStatus
from samedeal_link.model.model import Model

_BANNER_ROWS: Final = 3
_MESSAGE_ROWS: Final = 2

_SLOW: Final = 200
"""Time of a round trip, in milliseconds, from which the header tells it."""

_WRAPPED: Final = ("notice", "bad")
"""The styles of prompts that may take two rows. Prompts in other styles are cut to one row."""


def breadcrumbs(*parts: str) -> Row:
    """Return the left part of a header: ``samedeal``, then the ``parts`` from the general to the particular."""
    return (Span("samedeal", "label"), *(Span(part, "label" if at else "title") for at, part in enumerate(parts)))


def header_row(title_parts: Row, right: Row, look: Look, width: int, emphasis: str = "") -> Row:
    """Return the header. ``emphasis`` is a style that covers the whole header, or an empty string.

    In a narrow window, ``title_parts`` in the style ``label`` are left out, beginning with the first one.
    """
    free = width - row_width(right) - 1
    row = fit_row((*_title_row(title_parts, look, max(free, 0)), *right, Span(" ")), width)
    return tuple(Span(span.text, f"{span.style} {emphasis}") for span in row) if emphasis else row


def _title_row(title_parts: Row, look: Look, width: int) -> Row:
    pointer = Span(f" {look.glyphs.pointer} ", "label")
    parts = [part._replace(text=look.displayable(part.text)) for part in title_parts]
    while True:
        row = [Span(" ")]
        for number, part in enumerate(parts):
            row += [pointer, part] if number else [part]
        left_out = next((part for part in parts if part.style == "label"), None)
        if row_width(tuple(row)) <= width or left_out is None:
            return fit_row(tuple(row), width, look.glyphs.ellipsis)
        parts.remove(left_out)


def connection_row(connection: ConnectionStatus, waiting: int, look: Look) -> Row:
    """Return the right end of the header: that the client is connected, with a slow round trip, or that it is not.

    If a move has waited for an answer for ``waiting`` seconds, say so instead.
    """
    if connection.state != "up":
        return (Span("  "), Span(f"{'x' if look.ascii else '○'} disconnected", "notice"))
    if waiting:
        return (Span("  "), Span(f"waiting {waiting} s", "notice"))
    sign = "*" if look.ascii else "●"
    slow = connection.ping is not None and connection.ping >= _SLOW
    return (Span("  "), Span(sign, "bar"), *([Span(f" {connection.ping} ms", "label")] if slow else []))


def connection_text(connection: ConnectionStatus, retry_in: float, model: Model) -> str:
    """Return the sentences about a connection that was lost or has ended. Otherwise return an empty string.

    ``retry_in`` is the number of seconds until the next attempt to reconnect.
    """
    match connection.state:
        case "up":
            return ""
        case "lost":
            retry = f"Retrying in {retry_in:.0f} s." if retry_in >= 1 else "Retrying now."
            if connection.server_gone:
                return f"{' '.join(server_gone_sentences(model))} {retry}"
            seat = f" {SEAT_KEPT}" if model.has_live_seat else ""
            return f"Connection lost. {retry}{seat} {connection.reason}"
        case "ended":
            return f"{connection.reason} {key_text(QUIT_KEY)} closes this window."


def banner_rows(text: str, look: Look, width: int) -> list[Row]:
    """Return the banner with a text. Without a text, the banner has no rows."""
    lines = wrap(look.displayable(text), width - 2)[:_BANNER_ROWS]
    return [(Span(fit(f" {line}", width), "notice found"),) for line in lines]


def fits_message_line(text: str, look: Look, width: int) -> bool:
    """Return whether a text fits into the two rows of the message line."""
    return len(wrap(look.displayable(text), width - 2)) <= _MESSAGE_ROWS


def message_rows(text: str, style: str, look: Look, width: int) -> list[Row]:
    """Return a text in one or two rows. If the text is too long for two rows, it ends with an ellipsis."""
    lines = wrap(text, width - 2)
    if len(lines) > _MESSAGE_ROWS:
        lines[1] = cut(f"{lines[1]} {lines[2]}", width - 2, look.glyphs.ellipsis)
    return [(Span(f" {line}", style),) for line in lines[:_MESSAGE_ROWS]] or [()]


def prompt_rows(prompt: Row, look: Look, width: int) -> list[Row]:
    """Return a prompt in one row. A long prompt in one of the styles ``_WRAPPED`` takes two rows."""
    if row_width(prompt) > width and prompt[-1].style in _WRAPPED:
        return message_rows(row_text(prompt), prompt[-1].style, look, width)
    return [fit_row(prompt, width, look.glyphs.ellipsis)]


def too_small_rows(size: Size, minimum: Size) -> list[Row]:
    """Return the notice that a window of this size is too small."""
    sentence = (
        f"Window too small: {size.width}x{size.height}. Needed: {minimum.width}x{minimum.height}. "
        f"Enlarge it or use a smaller font. {key_text(QUIT_KEY)} quits."
    )
    return [(Span(line, "notice"),) for line in wrap(sentence, max(size.width, 1))]
