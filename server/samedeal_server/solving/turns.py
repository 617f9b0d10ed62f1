"""The order in which waiting candidates are tried. Pure."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


class Turns(Generic[_Item]):
    """Items that wait for their turn, each for a room of an origin.

    Origins take turns, and so do the rooms of each origin. So however many rooms an origin has, another origin waits for
    at most one of their turns.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, OrderedDict[str, list[_Item]]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, origin: str, room: str, item: _Item) -> None:
        """Let an item wait behind the others of its room."""
        self._waiting.setdefault(origin, OrderedDict()).setdefault(room, []).append(item)

    def next(self) -> _Item:
        """Remove the item whose turn it is, and return it. Raise StopIteration if no item waits."""
        origin = next(iter(self._waiting))
        rooms = self._waiting[origin]
        room = next(iter(rooms))
        item = rooms[room].pop(0)
        rooms.move_to_end(room)
        self._waiting.move_to_end(origin)
        self._remove_empty(origin, room)
        return item

    def discard(self, origin: str, room: str, item: _Item) -> None:
        """Remove an item if it still waits."""
        rooms = self._waiting.get(origin)
        if rooms is not None and item in rooms.get(room, ()):
            rooms[room].remove(item)
            self._remove_empty(origin, room)

    def _remove_empty(self, origin: str, room: str) -> None:
        if not self._waiting[origin][room]:
            del self._waiting[origin][room]
        if not self._waiting[origin]:
            del self._waiting[origin]
