"""A table of the options of a new room. The form, and the arguments of ``samedeal new``, are made from this table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from samedeal.deal import DIFFICULTIES, Deal
from samedeal.games import GAMES, game_named
from samedeal.options import LONGEST_SERIES, Options, StartRule
from samedeal_client.menus.option_parsing import (
    MAX_NEXT_GAMES,
    number_in,
    read_deal,
    read_duration,
    read_games,
    read_room,
)
from samedeal_client.text.option_wording import START_LABELS, UNDO_LABELS, deal_text, title_of
from samedeal_client.text.time_text import duration_text

DEFAULT_DEAL: Final = "winnable"
"""The deal of a new room if the player chooses none. In the protocol, a request without a deal asks for a random deal."""

_DEFAULTS: Final = Options(deal=DEFAULT_DEAL)


@dataclass(frozen=True)
class Field:
    """A field of the form for a new room. ``name`` is the name of the room option.

    If a field has ``choices``, it accepts only these texts, and ``choices`` maps each text to its value. A field with
    ``bounds`` accepts numbers within the bounds. Any other field accepts every text that ``read`` accepts, and completes
    what is typed to a text in ``suggested``. ``default`` is the text of the option's default. ``describe`` returns a
    description of a valid text. ``shown`` maps some of the texts to words that the form shows instead. ``help`` is the
    help text of the command-line argument, or empty if the field has no such argument.
    """

    name: str
    label: str
    describe: Callable[[str], str]
    default: str
    choices: Mapping[str, Any] | None = None
    suggested: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None
    read: Callable[[str], Any] = str
    help: str = ""
    shown: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def value(self, text: str) -> Any:
        """Return the value of a text. Raise ValueError if the field does not accept the text."""
        if self.choices is not None:
            if text not in self.choices:
                raise ValueError(f"Choose one of {', '.join(self.choices)}.")
            return self.choices[text]
        return number_in(*self.bounds)(text) if self.bounds is not None else self.read(text)


def _describe_next_games(text: str) -> str:
    names = read_games(text)
    return (
        ", ".join(title_of(name) for name in names)
        if names
        else f"or several in turn, as in: {' '.join(list(GAMES)[:2])}"
    )


def _text_of(choices: Mapping[str, Any], value: object) -> str:
    return next(text for text, meant in choices.items() if meant == value)


def _number(name: str, label: str, bounds: tuple[int, int], meaning: str, help_text: str = "") -> Field:
    """Return a field for a number."""
    default = str(getattr(_DEFAULTS, name))
    return Field(name, label, lambda _: meaning, default, bounds=bounds, help=help_text or meaning)


def _switch(name: str, label: str, meanings: Mapping[str, str], help_text: str, **shown: str) -> Field:
    """Return a field for an option that is on or off. ``meanings`` describes "yes" and "no", in the order of the form."""
    choices = {text: text == "yes" for text in meanings}
    default = _text_of(choices, getattr(_DEFAULTS, name))
    return Field(name, label, meanings.__getitem__, default, choices, help=help_text, shown=shown)


_UNDO_CHOICES: Final = {name: name for name in ("no-reveal", "free", "off")}
START_CHOICES: Final[Mapping[str, StartRule]] = {
    "by the host": "host",
    "when all are ready": "all-ready",
    "when full": "full",
    "at a time": "at",
}
"""The start rules, by the texts that the form shows for them."""

FIELDS: Final = (
    Field(
        "game",
        "Game",
        lambda name: game_named(name).file.blurb,
        _DEFAULTS.games[0],
        GAMES,
        help="the game; repeat the option for games that alternate in rematches",
    ),
    Field(
        "then",
        "Rematches",
        _describe_next_games,
        "",
        suggested=(*GAMES, ", ".join(list(GAMES)[:MAX_NEXT_GAMES])),
        read=read_games,
        shown={"": "same game"},
    ),
    Field(
        "deal",
        "Deal",
        lambda text: deal_text(Deal.parse(text)),
        _DEFAULTS.deal,
        suggested=("winnable", *(f"winnable {level}" for level in DIFFICULTIES), "random", "daily"),
        read=read_deal,
        help="winnable, 'winnable easy' (or medium or hard), random, daily, or a number",
    ),
    _number("players", "Seats", (1, 16), "how many can race", "number of seats, 1 to 16"),
    Field(
        "limit",
        "Time limit",
        lambda text: f"the race ends after {duration_text(read_duration(text))}",
        duration_text(_DEFAULTS.limit),
        read=read_duration,
        help="maximum length of the race: 15 (minutes), 7:30 or 90s",
    ),
    Field(
        "undo",
        "Undo",
        UNDO_LABELS.__getitem__,
        _text_of(_UNDO_CHOICES, _DEFAULTS.undo),
        _UNDO_CHOICES,
        help="free: undo any move; no-reveal: not past a move that turned up a new card; off: no undo",
        shown={"no-reveal": "to the last new card"},
    ),
    _switch("hints", "Hints", {"no": "no hints", "yes": "? shows a move"}, "players may ask for hints"),
    Field(
        "start",
        "Starts",
        lambda text: START_LABELS[START_CHOICES[text]],
        _text_of(START_CHOICES, _DEFAULTS.start),
        START_CHOICES,
        help="host, all-ready, full, or a time: 20:30, '2026-11-21 20:30', or +10 (minutes from now)",
    ),
    Field("start_at", "At", lambda _: "20:30, 2026-11-21 20:30 or +10 min", "+10"),
    _number("countdown", "Countdown", (0, 60), "seconds before the cards are dealt", "seconds before the start"),
    _switch(
        "first_finish_ends",
        "After a win",
        {"no": "the others play on for 2nd, 3rd ...", "yes": "the first to finish ends the race"},
        "the race ends when the first player finishes",
        no="race goes on",
        yes="race ends",
    ),
    _switch(
        "end_when_settled",
        "All stuck",
        {"yes": "when all people playing are stuck", "no": "until the time is up"},
        "the race ends when all people who still play are stuck, or when only bots still play",
        yes="race ends",
        no="race goes on",
    ),
    Field(
        "series",
        "Series",
        lambda text: "one race" if text == "1" else "races with one table",
        str(_DEFAULTS.series),
        bounds=(1, LONGEST_SERIES),
        help="number of races with one table: the rematches continue it",
    ),
    _switch(
        "repeated",
        "Again",
        {"yes": "later players may get this deal", "no": "the deal is not dealt again"},
        "whether a player for whom nobody comes may get this deal later, and see your results",
    ),
    _switch("spectators", "Watching", {"yes": "others may watch", "no": "nobody may watch"}, "others may watch"),
    _switch("bots", "Bots", {"yes": "bots may join", "no": "bots may not join"}, "bots may join"),
    _number("delay", "Watch delay", (0, 600), "seconds of delay for spectators"),
    Field(
        "room",
        "Room",
        lambda text: "room code, which others need to join" if text else "room code; empty for a random one",
        "",
        read=read_room,
    ),
    Field(
        "passphrase",
        "Passphrase",
        lambda text: "players must know it to join" if text else "leave empty to let anyone join",
        "",
    ),
)
"""The fields in the order of the form."""

FIELD_BY_NAME: Final[Mapping[str, Field]] = MappingProxyType({field.name: field for field in FIELDS})

DEFAULTS: Final[Mapping[str, str]] = MappingProxyType({field.name: field.default for field in FIELDS})
"""The text of each field's default, by the name of the field."""


def unused_fields(values: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the fields that the form does not show.

    They have no effect because of the texts in other fields. The usual text of ``repeated``, which few people change, is
    not shown either: the form fits a window of 24 rows.
    """
    unused = {
        "start_at": START_CHOICES[values["start"]] != "at",
        "delay": values["spectators"] == "no",
        "repeated": values["repeated"] == DEFAULTS["repeated"],
    }
    return frozenset(name for name, is_unused in unused.items() if is_unused)
