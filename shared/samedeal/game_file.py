"""Files of games: a game as somebody who plays cards writes it down, in TOML.

``samedeal/games/`` has the games of this release. A file is bounded and checked like any input, because a server may
offer games of its own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from samedeal.cards import DECK, Card
from samedeal.data_files import read_data
from samedeal.errors import MalformedGame
from samedeal.policies import AS_FREE_PLACES_ALLOW, IS_DEALT_DOWN, Base, Build, Faces, Kind, Lift
from samedeal.stock import STOCKS, StockPolicy

LONGEST_FILE: Final = 8_000
"""Maximum length of a file, in bytes."""

_GAME_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PILE_NAMES: Final = {
    Kind.COLUMN: "1 2 3 4 5 6 7 8 9 t j q k",
    **dict.fromkeys((Kind.FAN, Kind.RESERVE, Kind.CELL), "q w e r t y u i a s d f g h j k"),
    Kind.FOUNDATION: "01 02 03 04 05 06 07 08",
    Kind.STOCK: "stock",
    Kind.WASTE: "w",
}
"""The names that the piles of each kind may have. PROTOCOL.md, *Moves*, says how they are written in a move.

Other letters stand for commands of the client.
"""

_PLAIN: Final = {
    Kind.CELL: Base.ANY,
    Kind.RESERVE: Base.NOTHING,
    Kind.STOCK: Base.NOTHING,
    Kind.WASTE: Base.NOTHING,
}
"""The kinds of piles that have no other rule than what an empty pile takes."""

FOUNDATIONS: Final = {
    (Base.ACE, Build.UP_SAME_SUIT): 4,
    (Base.COMPLETE_SUIT, Build.DOWN_SAME_SUIT): 4,
    (Base.ACE_OF_HEARTS, Build.UP_AROUND): 1,
}
"""What empty foundations take and how they build, with the number of foundations for a deck."""

_FEWEST_COLUMNS: Final = 3

_MOST_ACROSS: Final = 14
"""Maximum number of columns and fans together, so that boards fit the smallest screen.

Columns that are as many as the foundations stand below them, and need the space of one more.
"""

_MOST_CARDS: Final = 20
"""Maximum number of cards that are dealt to a pile, so that boards fit the smallest screen."""

_CHOICES: Final = {"kind": Kind, "faces": Faces, "build": Build, "empty": Base, "lift": Lift}

_ERRORS: Final = read_data("samedeal", "game_file_errors.toml", dict[str, dict[str, str]])

_CARDS: Final = [str(Card(code)) for code in DECK]

_Line = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[ -~]+\Z")]
_States = Annotated[int, Meta(ge=2, le=99_999)]
_Weight = Annotated[int, Meta(ge=0, le=99)]
_BotWeight = Annotated[float, Meta(ge=0, le=99)]
_FaceDown = Annotated[tuple[Annotated[int, Meta(ge=0, le=_MOST_CARDS)], ...], Meta(max_length=_MOST_ACROSS)]


class Place(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The place of a row of piles on a page: the corner of its first pile, in cards, and the number of piles in a line."""

    x: Annotated[float, Meta(ge=0, le=20)] = 0
    y: Annotated[float, Meta(ge=0, le=10)] = 0
    in_row: Annotated[int, Meta(ge=1, le=16)] = 16


class PileRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Adjacent piles of one kind with the same rules.

    ``keys`` has the names of the piles, and ``cards`` the number of cards dealt to each of them, both with blanks in
    between. The waste and most foundations need no ``cards``, because they are empty when the cards were dealt, and the
    stock gets what is left. If each foundation gets one card, these are the aces, which are taken out of the deck first.
    ``faces`` is a word, or a list with the number of cards of each column that are dealt face down, below all others.
    """

    kind: Kind
    keys: Annotated[str, Meta(min_length=1, max_length=64)]
    cards: Annotated[str, Meta(max_length=64, pattern=r"^([0-9]{1,2}( [0-9]{1,2})*)?\Z")] = ""
    faces: Faces | _FaceDown = Faces.UP
    build: Build = Build.NONE
    empty: Base = Base.NOTHING
    lift: Lift | None = None
    place: Place = Place()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the piles."""
        return tuple(self.keys.split(" "))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cards dealt to each pile. It is empty for the stock, which gets the rest."""
        if self.kind is Kind.STOCK:
            return ()
        return tuple(map(int, self.cards.split())) or (0,) * len(self.names)


class Difficulties(Struct, frozen=True, forbid_unknown_fields=True):
    """The maximum number of states of an easy deal and of a medium deal."""

    easy: _States
    medium: _States


class SearchWeights(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The weights of the costs by which a search of the solver estimates how far a board is from being won.

    ``card`` is the cost of a card in a column or a fan, and ``side_card`` is the cost of a card in the stock, waste,
    reserve or a cell. ``buried`` is added for a card in a column that lies above a card of a lower rank, and
    ``buried_in_fan`` for such a card in a fan. In columns, ``broken`` is added for a card that is not in sequence with
    the card below it, and ``misfit`` if, moreover, the rules would not allow it on that card. ``hidden`` is added for a
    card in a column that lies face down. ``column`` is added for each column that is not empty. If ``by_stock`` is 1 and
    the stock is dealt in rows, boards take turns by the number of cards in their stock.
    """

    card: _Weight
    side_card: _Weight
    buried: _Weight = 0
    buried_in_fan: _Weight = 0
    broken: _Weight = 0
    misfit: _Weight = 0
    hidden: _Weight = 0
    column: _Weight = 0
    by_stock: _Weight = 0


class BotWeights(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The weights of a board's features, and of the moves that lead to a board.

    These features add to the worth of a board:

        - ``foundation``: each card on a foundation
        - ``empty``: each empty column
        - ``king``: each column whose deepest card is a king
        - ``run``: two neighbours that can be lifted together
        - ``pair``: two neighbours that fit but can't be lifted together

    A card is on top of every card below it in the same pile. These features subtract from the worth:

        - ``gap``: two neighbours that don't fit
        - ``face_down``: each card that lies face down
        - ``buried``: each card on top of a face-up card; the lower the rank of the face-up card, the more
        - ``blocked``: each card on top of a card of lower rank
        - ``fan``: each card in a fan
        - ``fan_buried``: as ``buried``, but in a fan
        - ``stock``: each card in stock and waste

    Each move costs ``haste``. A move that turns up cards has the bonus ``reveal``, ``draw`` or ``deal``.
    """

    foundation: _BotWeight = 5.0
    empty: _BotWeight = 4.0
    king: _BotWeight = 1.0
    run: _BotWeight = 1.0
    pair: _BotWeight = 0.3
    gap: _BotWeight = 0.5
    face_down: _BotWeight = 3.0
    buried: _BotWeight = 0.5
    blocked: _BotWeight = 1.4
    fan: _BotWeight = 0.5
    fan_buried: _BotWeight = 1.0
    stock: _BotWeight = 0.5
    haste: _BotWeight = 0.3
    reveal: _BotWeight = 2.0
    draw: _BotWeight = 0.6
    deal: _BotWeight = 0.03


class BotTable(BotWeights, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a file says about bots: their weights, and by what the levels differ.

    ``lure`` multiplies the weights of useful moves for random bots. ``greed`` and ``care`` multiply the numbers of
    boards that greedy and careful bots search. If ``foresight`` is not 0, careful bots make long plans, for which the
    solver reaches this many thousands of states.
    """

    lure: _BotWeight = 1.0
    greed: _BotWeight = 1.0
    care: _BotWeight = 1.0
    foresight: _BotWeight = 0.0


class GameFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a file says about a game.

    ``variant_of`` is the name of the file's first game, and is empty for this game itself. ``blurb`` describes the game
    in a few words. ``height`` is that of the table on a page, in cards; a waste needs 1.7 of them. ``order`` decides
    where lists show the game, and ``default`` marks the game that is chosen at first. ``known`` marks the games that most
    people know, and ``lead`` the one in which a race is opened for those who want to race now, whatever the game.
    ``suits`` says how many suits the decks have (``cards.IN_SUITS``). ``wins`` is the share of random deals that the
    solver wins, as ``make solver`` measures it, and 1 if nobody has. ``demo`` is the number of a deal that a bot wins
    quickly. ``limit`` is the usual time limit, in seconds, and ``pace`` how many thoughts a minute a bot of the house has.
    Each table of ``search`` has weights for one search of the solver. ``rulings`` has the numbers of the
    rulings in RULES.md by what they are about, and ``notes`` the sentences of the rules that do not follow from the
    policies, by section.
    ``variants`` has what is different in each variant.
    """

    title: Annotated[str, Meta(min_length=1, max_length=24, pattern=r"^[ -~]+\Z")] = "?"
    blurb: Annotated[str, Meta(max_length=42, pattern=r"^[ -~]*\Z")] = ""
    height: Annotated[float, Meta(ge=1, le=10)] = 4
    variant_of: Annotated[str, Meta(max_length=24)] = ""
    order: Annotated[int, Meta(ge=1, le=999)] = 999
    default: bool = False
    known: bool = False
    lead: bool = False
    decks: Annotated[int, Meta(ge=1, le=2)] = 1
    suits: Literal[1, 2, 4] = 4
    stock: Annotated[str, Meta(max_length=40)] = "none"
    wins: Annotated[float, Meta(ge=0, le=1)] = 1
    difficulty: Difficulties | None = None
    demo: Annotated[int, Meta(ge=0, le=999_999_999)] = 0
    limit: Annotated[int, Meta(ge=60, le=3600)] = 900
    pace: Annotated[float, Meta(ge=1, le=60)] = 10
    piles: Annotated[tuple[PileRow, ...], Meta(max_length=12)] = ()
    search: Annotated[tuple[SearchWeights, ...], Meta(max_length=4)] = ()
    bots: BotTable = BotTable()
    rulings: Mapping[str, Annotated[int, Meta(ge=1, le=999)]] = {}
    notes: Mapping[str, tuple[_Line, ...]] = {}
    variants: Annotated[Mapping[str, dict[str, Any]], Meta(max_length=8)] = {}

    @property
    def stock_policy(self) -> StockPolicy:
        """The policy of the stock."""
        return STOCKS[self.stock]


def parse_game_file(name: str, text: str) -> dict[str, GameFile]:
    """Return what a file says about its games, by their names: that of the file, and those of its variants.

    A table such as ``[variants.spider-one]`` has what is different in a variant. Raise MalformedGame with the line and
    the reason if there can't be such a game.
    """
    if len(text) > LONGEST_FILE or len(text.encode()) > LONGEST_FILE:
        raise MalformedGame(name, 0, f"It is longer than {LONGEST_FILE} bytes")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise MalformedGame(name, 0, "Its values are nested too deeply") from None
    except ValueError as error:  # a TOMLDecodeError, or a number of thousands of digits
        at = re.search(r" \(at line (\d+).*\)", str(error))
        reason = (
            str(error)
            .partition(" (at ")[0]
            .replace("Invalid value", "This value can't be read. Text needs quotation marks")
        )
        raise MalformedGame(name, int(at[1]) if at else 0, reason) from None
    games = {name: _checked(name, text, name, table)}
    variants = games[name].variants
    if "variant_of" in table or name in variants:
        raise MalformedGame(name, 0, "A variant has a table of its own, and another name than the file")
    table["variants"] = {}
    changed = {variant: {**table, **changes, "variant_of": name} for variant, changes in variants.items()}
    return games | {variant: _checked(name, text, variant, content) for variant, content in changed.items()}


def _checked(name: str, text: str, game: str, content: dict[str, Any]) -> GameFile:
    """Return what a file says about one of its games."""
    header = f"[variants.{game}]"
    if not _GAME_NAME.fullmatch(game) or len(game) > 24:
        raise MalformedGame(name, 0, "The name of a game must be of small letters, digits and hyphens, 24 at most")
    try:
        file = msgspec.convert(content, GameFile)
    except msgspec.ValidationError as error:
        path, reason = _fault_of(error)
        raise MalformedGame(name, _line_of(text, path, header), reason) from None
    for path, reason in _faults(file):
        raise MalformedGame(name, _line_of(text, path, header), reason)
    return file


def _fault_of(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return the path of a value that can't be read, and the reason."""
    reason, _, path = str(error).partition(" - at `$")
    path = path.rstrip("`").replace("[...]", "")
    if unknown := re.fullmatch("Object contains unknown field `(.*)`", reason):
        path += f".{unknown[1]}"
    key = path.rpartition(".")[2].partition("[")[0]
    value, choices = reason.removeprefix("Invalid enum value "), _CHOICES.get(key)
    if choices and value != reason:
        reason = f"This release does not know {value}. Choose one of {', '.join(repr(str(each)) for each in choices)}"
    if key == "faces" and reason.startswith("Expected") and ", got " in reason:
        return path, "'faces' must be one of its words in quotation marks, or a list of whole numbers"
    if wanted := re.fullmatch(r"Expected `(\w+).*`, got `.+`", reason):
        return path, f"'{key}' must be {_ERRORS['types'][wanted[1]]}"
    for pattern, sentence in _ERRORS["sentences"].items():
        if found := re.fullmatch(pattern, reason):
            return path, sentence.format(key, *found.groups())
    return path, reason


def _line_of(text: str, path: str, header: str = "") -> int:
    """Return the number of the line that a path such as ``.piles[1].keys`` leads to, or 0 if it can't be found.

    The lines below ``header``, if the text has it, are searched before the others.
    """
    lines = text.splitlines()
    if header in (below := [line.strip() for line in lines]):
        start = below.index(header) + 1
        end = next((at for at in range(start, len(lines)) if below[at].startswith("[variants.")), len(lines))
        if found := _line_of("\n".join(lines[start:end]), path):
            return start + found
    first = 0
    row = re.match(r"\.(\w+)\[(\d+)\]", path)
    if row:
        tables = [number for number, line in enumerate(lines) if line.strip() == f"[[{row[1]}]]"]
        if int(row[2]) < len(tables):
            first = tables[int(row[2])]
            path = path[row.end() :]
    key = re.match(r"\.(\w+)", path)
    if key:
        for number, line in enumerate(lines[first:], first + 1):
            if re.match(rf"\[*{key[1]}\b", line):
                return number
    return first + 1 if row else 0


def _faults(file: GameFile) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a game, each with the path of the value that is wrong."""
    kinds = [row.kind for row in file.piles]
    if file.stock not in STOCKS:
        yield ".stock", f"{file.stock!r} is not a kind of stock. Choose one of {', '.join(map(repr, STOCKS))}"
        return
    stock = file.stock_policy
    needed = {
        Kind.COLUMN: True,
        Kind.FOUNDATION: True,
        Kind.STOCK: stock.action is not None,
        Kind.WASTE: stock.to_waste,
    }
    for kind, is_needed in needed.items():
        if (kind in kinds) != is_needed:
            yield ".piles", f"With the stock '{file.stock}' there must be {'a' if is_needed else 'no'} {kind}"
    if kinds[:1] != [Kind.COLUMN]:
        yield ".piles", "The columns must come first"
    if Kind.RESERVE in kinds and Kind.CELL in kinds:
        yield ".piles", "There can be a reserve or cells, but not both"
    for number, row in enumerate(file.piles):
        for key, reason in _row_faults(row, file.piles[:number]):
            yield f".piles[{number}].{key}", reason
    dealt, cards = sum(sum(row.sizes) for row in file.piles), 52 * file.decks
    if dealt > cards or (dealt < cards and Kind.STOCK not in kinds):
        yield ".piles", f"{dealt} cards are dealt, of {cards}"
    if file.difficulty and file.difficulty.easy >= file.difficulty.medium:
        yield ".difficulty", "An easy deal must have fewer states than a medium one"
    yield from _number_faults(file)
    yield from _note_faults(file)


def _number_faults(file: GameFile) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the numbers of columns, fans and foundations."""
    numbers = {row.kind: len(row.names) for row in file.piles}
    columns = numbers.get(Kind.COLUMN, 0)
    if columns < _FEWEST_COLUMNS:
        yield ".piles", f"There must be at least {_FEWEST_COLUMNS} columns"
    if columns + numbers.get(Kind.FAN, 0) + (columns == numbers.get(Kind.FOUNDATION)) > _MOST_ACROSS:
        yield ".piles", "A small screen has no room for so many columns and fans beside one another"
    for number, row in enumerate(file.piles):
        if row.kind is Kind.FOUNDATION and FOUNDATIONS.get((row.empty, row.build), 0) * file.decks != len(row.names):
            ways = "; ".join(
                f"{count} for a deck, with '{empty}' and '{build}'" for (empty, build), count in FOUNDATIONS.items()
            )
            yield f".piles[{number}].keys", f"There are these ways to have foundations: {ways}"


def _note_faults(file: GameFile) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the notes."""
    for note in (note for notes in file.notes.values() for note in notes):
        for text in re.findall(r"\{(\w+)\}", note):
            if text not in _CARDS:
                yield ".notes", f"{text!r} is not a card. Write one as in {{TH}}"


def _row_faults(row: PileRow, before: tuple[PileRow, ...]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a row of piles, each with the key that is wrong. ``before`` has the rows above it."""
    if row.kind in {other.kind for other in before}:
        yield "kind", f"The {row.kind} has two tables. Write all piles of a kind in one"
    taken = [name for other in before for name in other.names]
    for at, name in enumerate(row.names):
        if name not in _PILE_NAMES[row.kind].split():
            yield "keys", f"{name!r} can't be the name of a {row.kind}. These can: {_PILE_NAMES[row.kind]}"
        if name in taken or name in row.names[:at]:
            yield "keys", f"Two piles are called {name!r}"
    if row.sizes and len(row.sizes) != len(row.names):
        yield "cards", f"{len(row.names)} piles need {len(row.names)} numbers of cards, not {len(row.sizes)}"
    most = 1 if row.kind in (Kind.RESERVE, Kind.CELL, Kind.FOUNDATION) else _MOST_CARDS
    if max(row.sizes, default=0) > most:
        yield "cards", f"At most {most} can be dealt to a {row.kind}"
    if row.kind is Kind.FOUNDATION and any(row.sizes) and (0 in row.sizes or row.empty is not Base.ACE):
        yield "cards", "Deal a card to none of the foundations, or to each, which then must take only an ace"
    yield from (("faces", reason) for reason in _face_faults(row))
    if row.kind is Kind.FOUNDATION and row.lift not in (None, Lift.NOTHING, Lift.TOP):
        yield "lift", "At most the top card is taken off a foundation"
    if row.kind is not Kind.COLUMN and row.lift in AS_FREE_PLACES_ALLOW:
        yield "lift", "Only from columns can cards be taken as free places allow"
    if row.empty is Base.COMPLETE_SUIT and (row.kind is not Kind.FOUNDATION or row.lift is not None):
        yield "empty", "Only a foundation that keeps its cards takes a complete suit"
    if row.kind in _PLAIN and (row.build, row.empty, row.lift) != (Build.NONE, _PLAIN[row.kind], None):
        yield "kind", f"A {row.kind} has no policies, except that an empty cell takes any card"


def _face_faults(row: PileRow) -> Iterator[str]:
    """Yield what is wrong with the faces of a row of piles."""
    faces, number = row.faces, len(row.names)
    if faces is not Faces.UP and row.kind is not Kind.COLUMN and (faces, row.kind) != (Faces.DOWN, Kind.STOCK):
        yield "Only cards of columns can lie face down"
    elif isinstance(faces, tuple):
        if len(faces) != number:
            yield f"{number} columns need {number} numbers of face-down cards, not {len(faces)}"
        if not any(faces):
            yield "If no card is dealt face down, leave out 'faces'"
        for key, down, size in zip(row.names, faces, row.sizes, strict=False):
            if down and down >= size:
                yield f"Column {key} is dealt {size} cards, so {down} of them can't lie below a face-up card"
    elif row.kind is Kind.COLUMN and any(size and IS_DEALT_DOWN[faces](size - 1, size) for size in row.sizes):
        yield "The top card of a column can't lie face down"
