"""The form for a new room."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from samedeal_client.state.new_room_fields import Field
from samedeal_client.state.room_form import RoomForm
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.spans import Span, fit
from samedeal_client.text.text_input import tail
from samedeal_client.views.screen_body import ClickableText, FooterKey, Page, RowPart, View

_LABEL: Final = 11
_VALUE: Final = 19


def form_keys(look: Look) -> tuple[FooterKey, ...]:
    """The keys in force."""
    return (
        FooterKey("enter", "open the room"),
        FooterKey("tab", "next"),
        FooterKey("right", "change", "<- ->" if look.ascii else "← →"),
        FooterKey("f1", "help"),
        FooterKey("escape", "back"),
    )


def new_room_view(form: RoomForm, look: Look, width: int, height: int, now: datetime) -> View:
    """The form. ``now`` is a time with a time zone."""
    page = Page(look, width)
    page.add_rule()
    keys, buttons = ("<- ->", "< >") if look.ascii else ("← →", "‹ ›")
    page.add_row(Span(" New room", "title"), Span(f"    type, or use {keys} or click {buttons}", "label"))
    page.add_blank()
    errors = form.errors(now)
    for field in form.fields:
        _field(page, form, field, errors.get(field.name, ""))
    return page.view(height)


def status_line(form: RoomForm, look: Look, now: datetime) -> Span:
    """The selected field's error or value in full, since the form may be too narrow for it."""
    errors = form.errors(now)
    if form.busy:
        return Span(f"Opening the room {look.glyphs.ellipsis}", "label")
    if error := errors.get(form.focus) or errors.get(""):
        return Span(f"! {error}", "bad")
    current = form.current
    if form.no_match:
        choices = ", ".join(_display_text(current, text) for text in current.steps)
        return Span(f"Nothing starts with {form.search!r}. Choices: {choices}", "notice")
    return Span(f"{current.label}: {current.describe(form.values[current.name])}", "label")


def _display_text(field: Field, text: str) -> str:
    """The text of a field as shown."""
    if field.name == "game":
        return title_of(text)
    return field.shown.get(text, text)


def _field(page: Page, form: RoomForm, field: Field, error: str) -> None:
    look = page.look
    chosen = form.focus == field.name
    text = form.values[field.name]
    shown = _display_text(field, text)
    cursor = "_" if chosen and field.typed else ""
    left, right = ("<", ">") if look.ascii else ("‹", "›")
    value_width = _VALUE + max(0, min(page.width - 80, 12))
    value = fit(tail(look.displayable(shown), value_width - 1) + cursor, value_width)
    parts: list[RowPart] = [
        Span(f" {look.glyphs.pointer if chosen else ' '} {field.label:<{_LABEL}}", "name"),
        ClickableText(f"{left} " if field.steps else "  ", "key", f"step -1 {field.name}"),
        Span(value, "field"),
        ClickableText(f" {right} " if field.steps else "   ", "key", f"step 1 {field.name}"),
        Span(f"! {error}", "bad") if error else Span(field.describe(text), "label"),
    ]
    page.add_row(*parts, action=f"to {field.name}", selected=chosen)
