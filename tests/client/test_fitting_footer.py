"""Tests of the footer that shows the keys for which there is room."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from samedeal_client.full_screen.widgets.fitting_footer import FittingFooter
from tests.textual_internals import wait_for_screen


class KeysApp(App[None]):
    """An app whose key ``x`` can be pressed while it is ``ready``."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "collect", "collect"), Binding("f1", "help", "help")]
    ready = False

    def compose(self) -> ComposeResult:
        yield FittingFooter(show_command_palette=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.ready if action == "collect" else True

    def shown(self) -> list[str]:
        return [key.description for key in self.query(FooterKey) if key.display]


async def test_key_that_changes_while_a_footer_is_composed_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    app = KeysApp()
    async with app.run_test() as pilot:
        await wait_for_screen(pilot, lambda: app.shown() == ["help"])
        recompose, composed_late = Footer.recompose, asyncio.Event()

        async def recompose_too_late(self: Footer) -> None:
            app.ready = False
            await recompose(self)
            composed_late.set()

        app.ready = True
        with monkeypatch.context() as patch:
            patch.setattr(Footer, "recompose", recompose_too_late)
            app.refresh_bindings()
            await wait_for_screen(pilot, composed_late.is_set)
        assert app.shown() == ["help"]
        app.ready = True
        app.refresh_bindings()
        await wait_for_screen(pilot, lambda: app.shown() == ["collect", "help"])
