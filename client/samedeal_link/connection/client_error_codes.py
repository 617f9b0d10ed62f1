"""Codes of errors and notices that the client itself makes, in addition to the codes that a server sends."""

from __future__ import annotations

from enum import StrEnum


class ClientCode(StrEnum):
    """A code that the client itself makes: for the end of its link, for a failed request, or for a notice."""

    CLOSED = "closed"
    """The client closed the link."""

    CANNOT_CONNECT = "cannot_connect"
    """No connection is possible, and retrying does not help."""

    BAD_MESSAGE = "bad_message"
    """The server sent a message that this client can't decode or that contradicts the rules."""

    OUT_OF_SYNC = "out_of_sync"
    """Client and server still disagree about the cards after several resyncs."""

    CLIENT_FAULT = "client_fault"
    """The client has a bug."""

    LINK_ENDED = "link_ended"
    """The request has no answer because the link has ended."""

    UNANSWERED = "unanswered"
    """The connection was lost before the server answered a request that must not be repeated."""

    MOVES_LOST = "moves_lost"
    """The server lost moves that it had acknowledged and refuses to restore them."""

    NOT_FAIR = "not_fair"
    """The server deviates from the rules by which a joint deal is drawn."""

    REPEATED = "repeated"
    """Nobody else came to the race, and the client goes on to a room with the deal of an earlier one."""

    OTHER_RACE = "other_race"
    """The room in which the player had a seat was opened anew."""

    OTHER_ENGINE = "other_engine"
    """The server plays another version of the rules."""

    BAD_GAME = "bad_game"
    """The server offers a game that this client can't play."""
