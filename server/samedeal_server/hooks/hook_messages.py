"""What hooks are told: a sentence, and the facts as JSON. Pure."""

from __future__ import annotations

import hmac

import msgspec

from samedeal.games import game_named
from samedeal.protocol.admin import ReportLine
from samedeal_server.config.hook_addresses import HookAddress
from samedeal_server.races.public_facts import RaceNews

# In chat programs, punctuation makes links and mentions of everybody. Names get full-width signs instead.
_INERT = {ord(char): ord(char) + 0xFEE0 for char in '!"#$%&()*+,./:;<=>?@[\\]^_`{|}~'}


def sentence(news: RaceNews | ReportLine) -> str:
    """Return the news that a room has opened, a race has finished or a name was reported, as a sentence for people."""
    if isinstance(news, ReportLine):
        what = f"the name {news.name.translate(_INERT)} ({news.player})" if news.player else "the room"
        return f"A player has reported {what} in room {news.room}."
    room, title = news.room.room, game_named(news.room.game).title
    if news.event == "opened":
        return f"A race in {title} waits for players: room {room}."
    first, others = news.standings[0], len(news.standings) - 1
    name = first.name.translate(_INERT)
    result = f"{name} won in {_clock(first.time)}" if first.time else f"nobody finished, and {name} was ahead"
    against = f", against {others} {'other' if others == 1 else 'others'}" if others else ""
    return f"{title}, room {room}: {result}{against}."


def message(address: HookAddress, news: RaceNews | ReportLine, page: str, secret: str) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of the request that tells a hook the news.

    The JSON has the fields of the news, the address of the room's page as ``link``, and a sentence: as ``text`` for
    Slack and Matrix, and as ``content`` for Discord, which is told to notify nobody. ``page`` is the address of the
    page, or empty if there is none. Without a ``secret`` there is no signature.
    """
    room = news.room if isinstance(news, ReportLine) else news.room.room
    text, link = sentence(news), f"{page}/{room}" if page else ""
    if address.is_text:
        body, headers = text.encode(), {"Content-Type": "text/plain; charset=utf-8", "Title": "Samedeal"}
        if link:
            headers["Click"] = link
    else:
        whole = " ".join(filter(None, (text, link)))
        facts = msgspec.structs.asdict(news) | {"text": whole, "content": whole, "link": link}
        facts["allowed_mentions"] = {"parse": []}
        body, headers = msgspec.json.encode(facts), {"Content-Type": "application/json"}
    if address.authorization:
        headers["Authorization"] = address.authorization
    if secret:
        headers["X-Samedeal-Signature"] = f"sha256={hmac.digest(secret.encode(), body, 'sha256').hex()}"
    return headers, body


def _clock(ms: int) -> str:
    return f"{ms // 60_000}:{ms // 1000 % 60:02}"
