"""Textual's footer without the keys for which there is no space."""

from __future__ import annotations

from typing import Any, Final

from textual.app import ComposeResult
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from samedeal.terminal_text import columns_of

ALWAYS: Final = 3
"""Number of keys at the end that are always shown: back, help and quit."""

_GAP: Final = 2
"""Columns between two keys, as in the style sheet."""


class FittingFooter(Footer):
    """A compact footer. In a narrow window it leaves out whole keys, but never the last ``ALWAYS`` keys."""

    def __init__(self, **options: Any) -> None:
        super().__init__(compact=True, show_command_palette=False, **options)
        self._bindings_shown: list[tuple[str, str, bool]] = []

    def on_resize(self) -> None:
        """Show the keys that fit into the new width."""
        keys = list(self.query(FooterKey))
        free = self.size.width + _GAP - sum(map(_width, keys[-ALWAYS:]))
        for key in keys[:-ALWAYS]:
            free -= _width(key)
            key.display = free >= 0

    def compose(self) -> ComposeResult:
        """Yield the keys that can be pressed now."""
        now, keys = self._bindings_now(), list(super().compose())
        self._bindings_shown = now if keys else []  # Textual composes nothing before the screen is ready
        yield from keys

    async def recompose(self) -> None:
        """Show the keys that can be pressed now, as far as they fit.

        If the keys are the same as before, their widgets stay, so that a click at this moment does not miss them.
        """
        if self.is_attached and self._bindings_now() != self._bindings_shown:
            await super().recompose()
            self.on_resize()

    def _bindings_now(self) -> list[tuple[str, str, bool]]:
        return [
            (binding.key, binding.description, enabled)
            for _, binding, enabled, _ in self.screen.active_bindings.values()
            if binding.show
        ]


def _width(key: FooterKey) -> int:
    return columns_of(key.key_display) + columns_of(key.description) + 1 + _GAP
