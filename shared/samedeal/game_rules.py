"""The rules of a game as sentences for players, which follow from the policies of its piles.

``{9S}`` in a text is a card. Each point names the rulings of RULES.md that it states: those that hold in all games, and
those whose numbers the game's file has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from samedeal.game import Game, Group
from samedeal.policies import Base, Build, Faces, Kind, Lift

_NUMBERS: Final = tuple(
    "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()  # noqa: SIM905 - easier to read than a list
)


class RulePoint(NamedTuple):
    """One point of the rules, and the rulings of RULES.md that the point states."""

    text: str
    rulings: str = ""


class Section(NamedTuple):
    """A title with the points below it."""

    title: str
    points: tuple[RulePoint, ...]


_BUILDS: Final[dict[Build, str]] = {
    Build.DOWN_ALTERNATING: ": {9S} or {9C} on {TH}, then {8D} or {8H}.",
    Build.DOWN_ANY_SUIT: ": any nine on any ten.",
    Build.DOWN_SAME_SUIT: ": {9H} on {TH}.",
}
"""The ends of the sentences that say how columns build, with examples."""

_RUN: Final = (
    "Each card of a run is one lower than the card that it lies on, {} You can move a run from the top of a "
    "column in one move, all of it or only its topmost cards. The card of highest rank among them must fit the target."
)

_ALTERNATING: Final = _RUN.format("and of the other colour.")
_IN_SUIT: Final = _RUN.format("and of the same suit, as {{9S}} {{8S}} {{7S}}.").replace("{{", "{").replace(
    "}}", "}"
) + (" Cards of mixed suits move one at a time.")

_LIFTS: Final[dict[Lift, str]] = {
    Lift.NOTHING: "Cards in columns never move.",
    Lift.TOP: "Only the top card of a column can be moved.",
    Lift.ALTERNATING_RUN: _ALTERNATING,
    Lift.SUIT_RUN: _IN_SUIT,
    Lift.ANY_SUIT_RUN: _RUN.format("in any suit."),
    Lift.FREE_ALTERNATING_RUN: _ALTERNATING,
    Lift.FREE_SUIT_RUN: _IN_SUIT,
    Lift.ANY: "Any number of cards from the top of a column can move together, whatever their order. Only the bottom card "
    "of the group, the one that the others lie on, must fit the target.",
}

_GROUPS: Final[dict[Lift, str]] = {
    Lift.NOTHING: "",
    Lift.TOP: "",
    Lift.ALTERNATING_RUN: " or any such run,",
    Lift.SUIT_RUN: " or any run in one suit,",
    Lift.ANY_SUIT_RUN: " or any such run,",
    Lift.FREE_ALTERNATING_RUN: " or any such run,",
    Lift.FREE_SUIT_RUN: " or any run in one suit,",
    Lift.ANY: " alone or with any cards on it,",
}
"""What goes to an empty column together, as part of a sentence."""

_FACES: Final[dict[Faces, str]] = {
    Faces.UP: ", all face up.",
    Faces.DOWN: ", all face down.",
    Faces.TOP_UP: ". Only the top card of each column lies face up.",
    Faces.FIVE_UP: ". The top five cards of each column lie face up, and all others face down.",
    Faces.DOWN_UP: ". From the bottom card of a column to its top card: face down, face up, face down, face up.",
}


def sections_of(game: Game) -> tuple[Section, ...]:
    """Return the rules of a game, without those common to all games."""
    sections = (
        ("Aim", _aim),
        ("The deal", _deal),
        ("Columns", _columns),
        ("Fans", _fans),
        ("Reserve", _reserve),
        ("Cells", _cells),
        ("Stock and waste" if game.stock.to_waste else "Stock", _stock),
        ("Foundations" if len(game.foundations) > 1 else "Foundation", _foundations),
    )
    found = ((title, [*points(game), *_notes(game, title)]) for title, points in sections)
    return tuple(Section(title, tuple(points)) for title, points in found if points)


def _notes(game: Game, title: str) -> Iterator[RulePoint]:
    for note in game.file.notes.get(title.lower(), ()):
        yield RulePoint(note)


def _ruling(game: Game, about: str, *general: str) -> str:
    """Return the rulings of a point: general ones, and that of the game about a subject."""
    own = [f"R{game.file.rulings[about]}"] if about in game.file.rulings else []
    return " ".join([*general, *own])


def count_text(number: int) -> str:
    """Return a number as a word, or as digits above sixteen."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _counted(number: int, name: str) -> str:
    return f"{count_text(number)} {name}{'s' * (number != 1)}"


def _names(group: Group) -> str:
    return " ".join(group.keys)


def _aim(game: Game) -> Iterator[RulePoint]:
    decks = " of two decks" if game.decks == 2 else ""
    foundations = "one foundation" if len(game.foundations) == 1 else _counted(len(game.foundations), "foundation")
    yield RulePoint(f"Move all {game.cards} cards{decks} to the {foundations}.", "R8")


def _sizes(sizes: tuple[int, ...]) -> str:
    """Return how many cards the piles of a row get, such as "of six cards each"."""
    if len(set(sizes)) == 1:
        return f"of {_counted(sizes[0], 'card')}{' each' * (len(sizes) > 1)}"
    words = [count_text(size) for size in sizes]
    if len(sizes) > 4 and all(size == at for at, size in enumerate(sizes, sizes[0])):
        return f"of {', '.join(words[:3])} and so on to {words[-1]} cards"
    return f"of {', '.join(words[:-1])} and {words[-1]} cards"


_SUITS: Final = {
    1: "All cards are spades: each other card of the decks is replaced by the spade of its rank.",
    2: "The cards are spades and hearts: each club is replaced by the spade of its rank, and each diamond by the heart.",
}


def _deal(game: Game) -> Iterator[RulePoint]:
    ruling = _ruling(game, "deal")
    if game.file.suits < 4:
        yield RulePoint(_SUITS[game.file.suits], _ruling(game, "suits"))
    has_stock, dealt = game.stock_at >= 0, sum(sum(group.sizes) for group in game.groups)
    is_open = all(group.faces is Faces.UP for group in game.groups)
    no_stock = f" There is no stock{': you can see every card from the start' * is_open}."
    open_ = "" if has_stock else no_stock
    last = [group for group in game.groups if sum(group.sizes) and group.kind is not Kind.FOUNDATION][-1]
    if sum(game.piles[game.foundations.start].sizes):
        yield RulePoint("The aces are taken out of the deck first, and lie on the foundations.", ruling)
    for group in game.groups:
        if group.kind is Kind.CELL:
            dealt_to = " ".join(key for key, size in zip(group.keys, group.sizes, strict=True) if size)
            cards = (
                f" The other {count_text(sum(group.sizes))} cards go to {dealt_to}, face up.{open_}" if dealt_to else ""
            )
            yield RulePoint(f"{_counted(len(group.keys), 'cell').capitalize()}, named {_names(group)}.{cards}", ruling)
        if group.kind in (Kind.CELL, Kind.FOUNDATION) or not sum(group.sizes):
            continue
        count = _counted(len(group.keys), group.kind)
        end = open_ if group is last else ""
        if group.kind is Kind.RESERVE:
            cards = count_text(sum(group.sizes))
            yield RulePoint(
                f"The other {cards} cards are the reserve, face up. Their keys are {_names(group)}.{end}", ruling
            )
        else:
            named = f", named {_names(group)}" if group.kind is not Kind.COLUMN else ""
            yield RulePoint(f"{count.capitalize()} {_sizes(group.sizes)}{named}{_FACES[group.faces]}{end}", ruling)
    if has_stock:
        waste = "There is no waste."
        if game.waste_at >= 0:
            waste = f"The waste next to it, {game.keys[game.waste_at]}, is empty at the start."
        yield RulePoint(f"The other {game.cards - dealt} cards are the stock, face down. {waste}", ruling)


def _columns(game: Game) -> Iterator[RulePoint]:
    group = game.piles[game.columns.start]
    ruling = _ruling(game, "columns")
    yield RulePoint(f"A column builds {group.build}{_BUILDS.get(group.build, '.')}", ruling)
    down = " Face-down cards never move." if group.faces is not Faces.UP else ""
    yield RulePoint(_LIFTS[group.lift] + down, _ruling(game, "columns", "R3"))
    if group.needs_places:
        yield from _places(game, group)
    yield RulePoint(_EMPTY_COLUMNS[group.base](group), ruling)
    if group.faces is not Faces.UP:
        yield RulePoint("A face-down card that becomes the top of its column is turned face up at once.", "R4")


def _places(game: Game, group: Group) -> Iterator[RulePoint]:
    ruling = _ruling(game, "together")
    columns = group.base is Base.ANY
    places = "empty cells and empty columns" if columns else "empty cells"
    yield RulePoint(
        f"A run moves as its cards could move one by one by way of {places}. With no empty cell, one card moves at a time, "
        "with one empty cell two, with two empty cells three, and so on.",
        ruling,
    )
    if columns:
        yield RulePoint(
            "Each empty column doubles this number, except for the column to which the run moves: with two empty cells and "
            "one other empty column, six cards move together.",
            ruling,
        )


def _only_a_king(group: Group) -> str:
    run = _GROUPS[group.lift] if group.lifts_any or not _GROUPS[group.lift] else " alone or with the run on it,"
    return f"Only a king,{run} goes to an empty column." if run else "Only a king goes to an empty column."


def _any_card(group: Group) -> str:
    run = _GROUPS[group.lift]
    return f"Any card,{run} goes to an empty column." if run else "Any card goes to an empty column."


_EMPTY_COLUMNS: Final[dict[Base, Callable[[Group], str]]] = {
    Base.NOTHING: lambda _: "An empty column stays empty.",
    Base.ANY: _any_card,
    Base.KING: _only_a_king,
    Base.ACE: lambda _: "Only an ace goes to an empty column.",
    Base.ACE_OF_HEARTS: lambda _: "Only {AH} goes to an empty column.",
    Base.COMPLETE_SUIT: lambda _: "Only a complete suit goes to an empty column.",
}


def _fans(game: Game) -> Iterator[RulePoint]:
    if not game.fans:
        return
    group, ruling = game.piles[game.fans.start], _ruling(game, "fans")
    yield RulePoint(
        "The top card of a fan can go to a foundation, to a column where it fits, or to an empty column.", ruling
    )
    if group.build is Build.SAME_RANK:
        yield RulePoint(
            "A fan takes a card of the same rank as its top card, in any suit: {JH} on {JC}. Such a card can come from the "
            "top of a column or of another fan, one at a time.",
            ruling,
        )
    elif group.build is not Build.NONE:
        yield RulePoint(f"A fan builds {group.build}, one card at a time.", ruling)
    empty = "stays empty" if group.base is Base.NOTHING else f"takes {group.base}"
    yield RulePoint(f"An empty fan {empty}.", ruling)


def _reserve(game: Game) -> Iterator[RulePoint]:
    if game.reserve:
        ruling = _ruling(game, "reserve")
        yield RulePoint("Any card of the reserve can be moved to a column or a foundation, one at a time.", ruling)
        yield RulePoint("No card ever goes to the reserve: an empty reserve pile stays empty.", ruling)


def _cells(game: Game) -> Iterator[RulePoint]:
    if game.cells:
        ruling = _ruling(game, "cells")
        yield RulePoint(
            "A cell holds one card. An empty cell takes the top card of a column, or of another cell.", ruling
        )
        yield RulePoint(
            "The card of a cell can go to a foundation, to a column where it fits, or to an empty column. "
            "Moving it to another cell changes nothing: it is a null move.",
            ruling,
        )


def _stock(game: Game) -> Iterator[RulePoint]:
    if game.stock.to_waste:
        yield RulePoint(_DRAWS[game.stock.drawn], _ruling(game, "draw"))
        yield RulePoint("Only the top card of the waste can be moved, to a column or a foundation.")
        yield RulePoint(
            "When the stock is empty, the next draw only turns the whole waste over, unshuffled, to become the stock "
            "again. The draw after it turns up cards. The waste can be turned over any number of times."
            if game.stock.redeals
            else "The waste is never turned over: when the stock is empty, there are no more draws.",
            _ruling(game, "redeal"),
        )
    if game.stock.to_columns:
        ruling = _ruling(game, "rows")
        yield RulePoint(
            "A deal puts one card from the stock, face up, on each column from left to right, empty ones too. "
            "You may deal whenever you like."
            if game.stock.fills_columns
            else "A deal puts one card from the stock, face up, on each column from left to right. "
            "You may not deal while a column is empty.",
            ruling,
        )
        columns = len(game.columns)
        rows, rest = divmod(game.cards - sum(sum(group.sizes) for group in game.groups), columns)
        last = f", then one of {count_text(rest)} to the first {count_text(rest)} columns" if rest else ""
        yield RulePoint(
            f"There are {_counted(rows, 'deal')} of {count_text(columns)} cards{last}. After that the stock stays empty.",
            ruling,
        )


_DRAWS: Final = {
    1: "A draw turns one card from the stock onto the waste.",
    3: "A draw turns three cards from the stock onto the waste, one after another, so that the third is on top. "
    "If fewer than three are left, it turns all of them.",
}


def _foundations(game: Game) -> Iterator[RulePoint]:
    group = game.piles[game.foundations.start]
    count, one_at_a_time = len(game.foundations), "Cards go to a foundation one at a time"
    if group.base is Base.COMPLETE_SUIT:
        yield RulePoint(
            "Each foundation takes a complete suit: thirteen cards of one suit, from the king to the ace, that lie in this "
            "order at the top of a column. They go to the first empty foundation in one move, and never leave it.",
            _ruling(game, "foundations"),
        )
        yield RulePoint("You may leave a complete suit in its column: no cards move by themselves.", "R8")
        return
    if group.build is Build.UP_AROUND:
        times = count_text(game.cards // 13)
        yield RulePoint(
            "The ace of hearts starts it. Then come a two, a three and so on up to a king, each of any suit, and then an "
            f"ace again. The foundation runs from ace to king {times} times.",
            _ruling(game, "foundations"),
        )
        one_at_a_time = "Cards go to the foundation from the tops of columns, one at a time"
    elif count > 4:
        yield RulePoint(
            f"There are {count_text(count)} foundations, {count_text(count // 4)} for each suit. An ace goes to the first "
            "empty one, followed by the two, the three and so on to the king of the same suit. If both foundations of a "
            "suit need a card, the first gets it.",
            _ruling(game, "foundations"),
        )
    else:
        yield RulePoint(
            "There is one foundation for each suit. Its ace starts it, followed by the two, the three and so on to the "
            "king of the same suit: {2S} on {AS}, {3S} on {2S}."
        )
    if not group.gives:
        yield RulePoint(f"{one_at_a_time}, and never leave it.", _ruling(game, "to-foundation", "R5"))
        return
    yield RulePoint(f"{one_at_a_time}.", "R5")
    yield RulePoint(
        "The top card of a foundation may move back to a column where it fits, or to an empty column, but not to another "
        f"foundation. The foundations are named {group.keys[0]} to {group.keys[-1]}. Type 0 for any of them; if several "
        "have a card that fits, you are asked which one.",
        _ruling(game, "take-back"),
    )


_SHORT_BUILDS: Final[dict[Build, str]] = {
    Build.DOWN_ALTERNATING: "down, alternating colours",
    Build.DOWN_ANY_SUIT: "down in any suit",
    Build.DOWN_SAME_SUIT: "down in one suit",
}


def rules_in_short(game: Game) -> tuple[str, ...]:
    """Return the rules of a game in three lines of at most 54 columns."""
    columns, foundations = game.piles[game.columns.start], game.piles[game.foundations.start]
    up = "Foundations: up in one suit, from ace to king."
    if foundations.build is Build.UP_AROUND:
        up = "The foundation: ace of hearts, any two, any three ..."
    if foundations.base is Base.COMPLETE_SUIT:
        up = "Foundations: complete suits, from king to ace."
    build = _SHORT_BUILDS.get(columns.build, str(columns.build))
    runs = columns.lift in (Lift.SUIT_RUN, Lift.FREE_SUIT_RUN)
    empty = "runs of one suit move" if runs else f"{columns.base.removeprefix('only ')} if empty"
    return (up, f"Columns: {build}; {empty}.", _what_else(game, columns))


def _what_else(game: Game, columns: Group) -> str:
    """Return the third line of the rules in short: what a game has besides columns and foundations."""
    if game.fans:
        return "Fans: move the top card, or put the same rank on it."
    if game.cells:
        return "Cells: each holds any one card, to be played later."
    if game.reserve:
        return "The reserve: play any of its cards at any time."
    if game.stock.to_waste:
        return f"A draw turns {_counted(game.stock.drawn, 'card')}; play the top of the waste."
    if columns.lift is Lift.ANY:
        return f"Any card moves with all cards on it{'; the stock deals' * game.stock.to_columns}."
    if not game.stock.fills_columns:
        return "The stock deals a card onto each column, none empty."
    return "The stock deals a card onto each column."
