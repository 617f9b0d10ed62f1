"""How the form of a new room looks."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from samedeal_client.rooms.room_fields import Field
from samedeal_client.rooms.room_form import RoomForm
from samedeal_client.text.entry import end_of
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Span, fit
from samedeal_client.text.words import title_of
from samedeal_client.views.page import KeyWord, Link, Page, Piece, View

_LABEL: Final = 11
_VALUE: Final = 19


def form_keys(look: Look) -> tuple[KeyWord, ...]:
    """The keys that do something."""
    return (
        KeyWord("enter", "open the room"),
        KeyWord("tab", "next"),
        KeyWord("right", "change", "<- ->" if look.ascii else "← →"),
        KeyWord("f1", "help"),
        KeyWord("escape", "back"),
    )


def new_room_view(form: RoomForm, look: Look, width: int, height: int, now: datetime) -> View:
    """The form; ``now`` has its time zone."""
    page = Page(look, width)
    page.rule()
    keys, buttons = ("<- ->", "< >") if look.ascii else ("← →", "‹ ›")
    page.add(Span(" New room", "title"), Span(f"    type, or change with {keys} or by clicks on {buttons}", "label"))
    page.blank()
    errors = form.errors(now)
    for field in form.fields:
        _field(page, form, field, errors.get(field.name, ""))
    return page.view(height)


def said(form: RoomForm, look: Look, now: datetime) -> Span:
    """In full, what the lines may be too narrow for."""
    errors = form.errors(now)
    if form.busy:
        return Span(f"Opening the room {look.glyphs.ellipsis}", "label")
    if wrong := errors.get(form.at) or errors.get(""):
        return Span(f"! {wrong}", "bad")
    current = form.current
    if form.missed:
        choices = ", ".join(_shown(current, text) for text in current.steps)
        return Span(f"Nothing begins with {form.sought!r}: {choices}", "notice")
    return Span(f"{current.label}: {current.tell(form.values[current.name])}", "label")


def _shown(field: Field, text: str) -> str:
    """A text as it is read."""
    return title_of(text) if field.name == "game" else text


def _field(page: Page, form: RoomForm, field: Field, error: str) -> None:
    look = page.look
    chosen = form.at == field.name
    text = form.values[field.name]
    shown = _shown(field, text)
    cursor = "_" if chosen and field.typed else ""
    left, right = ("<", ">") if look.ascii else ("‹", "›")
    wide = _VALUE + max(0, min(page.width - 80, 12))
    value = fit(end_of(look.says(shown), wide - 1) + cursor, wide)
    pieces: list[Piece] = [
        Span(f" {look.glyphs.pointer if chosen else ' '} {field.label:<{_LABEL}}", "name"),
        Link(f"{left} " if field.steps else "  ", "key", f"step -1 {field.name}"),
        Span(value, "field"),
        Link(f" {right} " if field.steps else "   ", "key", f"step 1 {field.name}"),
        Span(f"! {error}", "bad") if error else Span(field.tell(text), "label"),
    ]
    page.add(*pieces, does=f"to {field.name}", chosen=chosen)
