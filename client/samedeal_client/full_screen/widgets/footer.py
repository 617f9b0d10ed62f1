"""The two lines at the bottom of a screen: a message or prompt, and the keys that can be pressed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from textual import events
from textual.screen import Screen

from samedeal.terminal_text import columns_of
from samedeal_client.full_screen.widgets.blank_container import PlainContainer
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.input.key_names import key_text
from samedeal_client.panels.footer_key import FooterKey
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, fit_row

_GAP: Final = 2
"""Columns between two key hints."""


class KeyHints(Rows):
    """A line of key hints. A click on a hint presses its key."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        super().__init__(look, id=id)
        self._key_columns: list[tuple[int, int, str]] = []

    def show_keys(self, keys: Sequence[FooterKey], width: int) -> None:
        """Show the keys that fit into ``width`` columns.

        If there is not enough space, Esc and the last two keys are still shown, and as many of the first keys as fit.
        """
        spans = [Span(" ")]
        self._key_columns = []
        x = 1
        for key in self._fitting(keys, width):
            label = self._label(key)
            end = x + columns_of(label) + 1 + columns_of(key.description)
            spans += [Span(label, "title"), Span(f" {key.description}", "label"), Span(" " * _GAP)]
            self._key_columns.append((x, end, key.key))
            x = end + _GAP
        self.show([fit_row(tuple(spans), width)])

    def show_text(self, row: Row, width: int) -> None:
        """Show a row of text instead of hints."""
        self._key_columns = []
        self.show([fit_row(row, width)])

    def _fitting(self, keys: Sequence[FooterKey], width: int) -> list[FooterKey]:
        free = width - 1 + _GAP
        longer = [key._replace(description=key.longer or key.description) for key in keys]
        if sum(map(self._width, longer)) <= free:
            return longer
        always = [key for key in keys if key.key == "escape" or key in keys[-2:]]
        free -= sum(self._width(key) for key in always)
        fitting: list[FooterKey] = []
        for key in keys:
            free -= self._width(key) if key not in always else 0
            if free >= 0 or key in always:
                fitting.append(key)
        return fitting

    def _label(self, key: FooterKey) -> str:
        return key.label or key_text(key.key)

    def _width(self, key: FooterKey) -> int:
        return columns_of(self._label(key)) + 1 + columns_of(key.description) + _GAP

    def on_click(self, event: events.Click) -> None:
        """Press the key of the hint that was clicked."""
        event.stop()
        for start, end, key in self._key_columns:
            if start <= event.x < end:
                self.app.simulate_key(key)


def binding_keys(screen: Screen[Any]) -> list[FooterKey]:
    """Return the keys of a screen's bindings that can be pressed now. Of several keys for one action, it is the first."""
    keys: dict[str, FooterKey] = {}
    for _, binding, enabled, _ in screen.active_bindings.values():
        if binding.show and enabled:
            label = screen.app.get_key_display(binding)
            keys.setdefault(binding.action, FooterKey(binding.key, binding.description, label))
    return list(keys.values())


class ScreenKeys(KeyHints):
    """The keys of the screen's bindings in its last line."""

    DEFAULT_CSS: ClassVar[str] = "ScreenKeys { dock: bottom; height: 1; width: 1fr; }"

    def on_mount(self) -> None:
        """Follow the bindings."""
        self.screen.bindings_updated_signal.subscribe(self, self._update)

    def on_resize(self) -> None:
        """Show the keys that fit into the new width."""
        self._update(self.screen)

    def _update(self, screen: Screen[Any]) -> None:
        self.show_keys(binding_keys(screen), self.size.width)


class MessageAndKeys(PlainContainer):
    """The line for messages above the line of key hints."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002 (Textual's name)
        self._message_line = Rows(look, id="sentence")
        self._keys_line = KeyHints(look, id="keys")
        super().__init__(self._message_line, self._keys_line, id=id)

    def show_lines(self, message: Sequence[Row], keys: Sequence[FooterKey], width: int) -> None:
        """Show a message and the keys. The second line of a long message replaces the keys."""
        first, *rest = message
        self._message_line.show([fit_row(first, width)])
        if rest:
            self._keys_line.show_text(rest[0], width)
        else:
            self._keys_line.show_keys(keys, width)
