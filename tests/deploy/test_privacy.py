"""PRIVACY.md lists every key of the store, and how long it is kept."""

from __future__ import annotations

import re
from typing import Final

from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import WINDOW
from samedeal_server.page import session_cookie
from samedeal_server.store import earlier_races, keys, news, node_registry, sessions, store, tide_store
from tests.deploy.introspection import DEPLOY
from tests.server.pages import cells

PAGE: Final = (DEPLOY / "PRIVACY.md").read_text()
ROWS: Final = {name: row[2] for row in cells(PAGE) for name in re.findall(r"`(\w+)`", row[0])}
"""How long each key is kept."""

DAY: Final = 86_400


def test_page_lists_every_key() -> None:
    about_keys = {"PREFIX", "NODE_COPIES", "room_of", "annotations", "Final"}
    assert ROWS.keys() == {name for name in vars(keys) if not name.startswith("_")} - about_keys


def test_page_says_how_long_keys_are_kept() -> None:
    for name, seconds in {
        "player": node_registry.PLAYER_LIFETIME,
        "guest": sessions.GUEST_LIFETIME,
        "session": sessions.SESSION_LIFETIME,
        "moving": sessions.CODE_LIFETIME,
        "meta": store.LIFETIME,
        "guesses": 2 * WINDOW,
        "record": DAY * Limits().record_days,
        "past": earlier_races.PAST_LIFETIME,
        "earlier": earlier_races.PAST_LIFETIME,
        "tide_claims": tide_store.CLAIMS_LIFETIME,
        "NEWS": DAY * news.NEWS_DAYS,
        "told": news.TOLD_LIFETIME,
        "REPORTS": DAY * news.REPORT_DAYS,
        "reported": news.REPORT_WINDOW,
    }.items():
        units = {"minute": 60, "hour": 3600, "day": DAY}
        found = [int(n) * units[unit] for n, unit in re.findall(r"(\d+) (minute|hour|day)s?", ROWS[name])]
        found += [DAY * int(n) for n in re.findall(r"\((\d+)\)", ROWS[name])]
        assert seconds in found, name


def test_pages_say_how_long_the_cookie_is_kept() -> None:
    (kept,) = re.findall(r"\| a cookie .* \| (\d+) days", PAGE)
    (told,) = re.findall(r"for (\d+) days in a cookie", (DEPLOY.parent / "SECURITY.md").read_text())
    header = session_cookie.set_cookie("token", "", encrypted=True)
    assert f"Max-Age={DAY * int(kept)}; HttpOnly; Secure; SameSite=Lax" in header
    assert kept == told
