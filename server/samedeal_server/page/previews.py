"""The preview that chat programs show of a pasted link: a title, a sentence and a picture."""

from __future__ import annotations

from html import escape
from typing import Final

from samedeal.games import game_named
from samedeal.protocol.messages import RoomLine

_PICTURE: Final = "preview.png"
_TITLE: Final = "Samedeal"
_SENTENCE: Final = (
    "Race your friends in solitaire: everyone gets the same cards. Open the link, there is nothing to install."
)


def preview_tags(address: str, room: RoomLine | None) -> str:
    """Return the tags of a document that has a preview.

    ``address`` is the address of the page, or empty if it is not known. The preview leads to the link that was pasted.
    ``room`` is the public room that the document shows, if there is one.
    """
    title, sentence = (_TITLE, _SENTENCE) if room is None else _room_texts(room)
    tags = {"type": "website", "site_name": _TITLE, "title": title, "description": sentence}
    if address:
        tags |= {"image": f"{address}/{_PICTURE}", "image:width": "1200", "image:height": "630"}
    return "".join(f'<meta property="og:{name}" content="{escape(text)}">\n' for name, text in tags.items())


def _room_texts(room: RoomLine) -> tuple[str, str]:
    """Return the title and the sentence of a room."""
    match room.phase:
        case "open" if room.players < room.seats:
            sentence = (
                f"{room.seats - room.players} of {room.seats} seats free. "
                "Open the link to take a seat: same cards for everyone, nothing to install."
            )
        case "open":
            sentence = "All seats are taken, and the race is about to start."
        case "countdown":
            sentence = "The race is about to start."
        case "racing":
            sentence = f"The race is on: {room.players} {'player' if room.players == 1 else 'players'}, the same cards."
        case _:
            sentence = "The race is over. Open the link to see how it went."
    return f"{game_named(room.game).title}, room {room.room}", sentence
