"""The text around the board of a race."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from samedeal.board import Board
from samedeal.cards import DOWN, FACE, HIDDEN, UNSEEN
from samedeal.game import Game, Group
from samedeal.moves import FOUNDATION, Move
from samedeal.policies import Kind
from samedeal.terminal_text import columns_of
from samedeal_client.input.bindings import Bindings, KeyCommand
from samedeal_client.input.intended_move import is_foundation
from samedeal_client.input.key_names import command_text, key_text
from samedeal_client.panels.outcome import finish_headline, personal_best, why_over
from samedeal_client.panels.players_panel import FINAL_SECONDS
from samedeal_client.panels.race_feed import RankedPlayer
from samedeal_client.text import large_digits
from samedeal_client.text.appearance import Look, capitalized
from samedeal_client.text.draw_wording import losses_text, words_text
from samedeal_client.text.option_wording import public_deal_title
from samedeal_client.text.rules_text import short_rules
from samedeal_client.text.spans import Row, Span, counted, row_width, wrap
from samedeal_client.text.time_text import clock_text, ordinal, short_clock_text
from samedeal_link.model.model import Model

WATCH_KEY: Final = "w"
"""The key with which a player who has finished watches others. It no longer stands for a pile."""

PERSON_KEY: Final = "f3"
PERSON_TEXT: Final = f"Somebody is here and wants to race. {PERSON_KEY.upper()} takes you there."
"""The key with which a player who races only bots goes to somebody who wants to race, and the sentence about it."""

LOBBY_KEY: Final = "l"
"""The key with which a player who has finished leaves the room. It no longer stands for a pile."""

AFTER_ROOM: Final = ("lobby", "start screen", "replay")
"""The places to which a player can go after a room."""

SEAT_KEPT: Final = "Your seat and moves are kept while the server runs."
"""The sentence for a player in a room who has lost the connection."""

LAST_MINUTE: Final = 60_000
"""Time left, in milliseconds, below which the clock is highlighted."""

_WHY_ENDING: Final = "Others have ended their race, and nobody has made a move for four minutes."

_MOST_NAMED: Final = 6
_MOST_LOSSES: Final = 3


def place_span(ranking: Sequence[RankedPlayer]) -> tuple[Span, ...]:
    """Return the player's own place for the header. Return an empty tuple before the first card, or without rivals."""
    own = next((player for player in ranking if player.you), None)
    if own is None or len(ranking) < 2 or not any(player.foundation_cards for player in ranking):
        return ()
    tied = sum(player.place == own.place for player in ranking) > 1
    return (Span(f"  {'tied ' if tied else ''}{ordinal(own.place)} of {len(ranking)}", "you"),)


def clock_span(left: int) -> Span:
    """Return the time left, given in milliseconds, for the header."""
    if left <= 0:
        return Span("  TIME'S UP ", "alarm")
    if left <= FINAL_SECONDS:
        return Span(f"  {clock_text(left)} LEFT ", "alarm")
    return Span(f"  {clock_text(left)} left", "notice" if left < LAST_MINUTE else "")


def title_parts(model: Model) -> Row:
    """Return the game with its deal, and the room, for the header. Return an empty row outside a room."""
    room = model.this_room
    title = f"{model.game.title} {public_deal_title(room.deal)}".rstrip()
    return (Span("samedeal", "label"), Span(title, "title"), Span(f"room {room.room}", "label"))


def status_row(model: Model, bindings: Bindings, width: int, after_room: str) -> Row:
    """Return the state of the player's race and the keys that are useful now, in ``width`` columns.

    ``after_room`` is one of ``AFTER_ROOM``. Return an empty row before the deal.
    """
    board, room = model.board, model.room
    if board is None or room is None:
        return ()
    if model.evidence is not None and model.evidence.contradiction:
        return (Span(" NOT fair: the server has contradicted itself.", "bad"),)
    if model.has_finished:
        watch = f"{WATCH_KEY} to watch, " if model.may_watch_others else ""
        text, keys = f" {_outcome(model)}", f" Press {watch}{LOBBY_KEY} for the {after_room}."
        text += keys if columns_of(text + keys) <= width else ""  # the footer has the keys too
        return (Span(text, "you" if board.won else "notice"),)
    if model.own.is_stuck and not model.own.awaiting_face:
        return (Span(f" {stuck_text(model, bindings)}", "notice"),)
    return (Span(f" {_how_to_move(board.game, bindings, width - 1)}", "label"),)


def _how_to_move(game: Game, bindings: Bindings, width: int) -> str:
    """Return instructions for moving cards in a game.

    Give an example for each kind of pile, as far as the ``width`` in columns allows.
    """
    end = "; or drag"
    column, other, foundation = (key_text(bindings.piles[pile][0]) for pile in "350")
    text = f"Type {column} {other} for column 3 to 5, {column} {foundation} for a foundation"
    for name, group in special_sources(game):
        example = f", {key_text(bindings.piles[group.keys[0]][0])} {other} from {name}"
        text += example if columns_of(text + example + end) <= width else ""
    return text + end


def special_sources(game: Game) -> list[tuple[str, Group]]:
    """Return the groups of piles, other than columns and foundations, from which cards can be taken.

    Each group comes with a name for one of its piles, such as "a fan".
    """
    groups = {
        game.piles[at].kind: game.piles[at] for at in game.sources if at not in (*game.columns, *game.foundations)
    }
    return [(f"{'a' if kind in (Kind.FAN, Kind.CELL) else 'the'} {kind}", group) for kind, group in groups.items()]


def stuck_text(model: Model, bindings: Bindings) -> str:
    """Return the notice that no useful move is left. It names the keys for undo, if that is possible, and for resigning."""
    undo, resign = (command_text(bindings, command) for command in (KeyCommand.UNDO, KeyCommand.RESIGN))
    proven = model.seat is not None and model.seat.stuck
    back = f"Undo with {undo}, or " if model.own.may_undo and not proven else ""
    return f"No useful move is left. {back}{'resign' if back else 'Resign'} with {resign}."


def _outcome(model: Model) -> str:
    tally = model.tallies.get(model.me)
    if model.own.play is not None and model.own.play.board.won:
        if model.room is not None and tally is not None and tally.finished_at:
            return f"You finished in {short_clock_text(tally.finished_at - model.began_at(model.me))}!"
        # The server sends the finish time with the next update. Until then, show the time of the last move.
        return (
            f"You finished in {short_clock_text(model.own.actions[-1][0])}!" if model.own.actions else "You finished!"
        )
    if model.seat is not None and model.seat.resigned:
        return "You resigned. Your foundation cards count."
    return "No moves left. Your foundation cards count."


def server_gone_sentences(model: Model) -> tuple[str, ...]:
    """Return the sentences for a player whose server has stopped."""
    has_race = model.phase in ("countdown", "racing")
    return ("The server has stopped.", *(["The race goes on only if it comes back."] if has_race else []))


def return_text(model: Model, command: str, now: int, *, server_gone: bool) -> str:
    """Return the sentences for a player who quits and can return to a seat with ``command``."""
    if server_gone:
        return f"The server has stopped. If it comes back, return with: {command}"
    for_long = "kept" if model.this_room.window else "kept for a short time"
    kept = "kept, and the clock keeps running" if model.phase == "racing" and model.is_racing(now) else for_long
    return f"Your seat is {kept}. Return with: {command}"


def quit_warnings(model: Model, *, lasting: bool, server_gone: bool) -> tuple[str, ...]:
    """Return the sentences for a player who wants to quit during a race.

    ``lasting`` is true if the server keeps running without the player's client. ``server_gone`` is as in ``Lost``.
    """
    if server_gone:
        return server_gone_sentences(model)
    lost = "the race ends for everybody" if model.has_other_people else "you can't return to this race"
    later = "The deal is not drawn yet." if model.this_room.window else "The race is about to start."
    return (
        "The race is still running, and so is the clock." if model.phase == "racing" else later,
        *([] if lasting else [f"If you leave, {lost}."]),
        *(["Today's best try counts. You may try again."] if model.has_daily_deal else []),
    )


def selection_text(board: Board, source: str, size: int, look: Look, partial: int = 0) -> str:
    """Return a text that names the selected cards and asks for the target.

    If a target takes only some of the selected cards, ``partial`` is the number of these cards. Otherwise it is 0.
    """
    if source == FOUNDATION:
        return "from a foundation: which column takes the card?"
    at = board.game.index[source]
    cards = [look.card(card) for card in board.piles[at][-size:]] if size else []
    if len(cards) > _MOST_NAMED:
        cards = [f"{len(cards)} cards", cards[0], ".." if look.ascii else look.glyphs.ellipsis, cards[-1]]
    selected = f"{board.game.piles[at].kind} {source}: {' '.join(cards)}"
    if not any(move.source == source for move in board.legal_moves()):
        return f"{selected} can't move now"
    legend = mark = look.glyphs.marks[1]
    if partial:
        legend = f"{mark}{partial} takes {partial}, {mark}{size} takes {size}"
    elif size > 1:
        legend = f"piles with {mark}{size} take {size}"
    return f"{selected} {look.glyphs.pointer} where to? ({legend})"


def find_prompt(typed: str) -> str:
    """Return the prompt for a card to find. ``typed`` is the text that was typed so far."""
    return f"find which card? {typed}_" if typed != "/" else "find which card? Rank and suit, as in 7h or 10s"


def card_location(board: Board, card: int, look: Look) -> str:
    """Return a sentence that says where a card is and how many cards cover it.

    With two decks, the sentence may name two places. For a card that has not been seen yet, it says where the card may
    be.
    """
    name = capitalized(look.card(card))
    places = [
        _location(board, at, depth)
        for at, pile in enumerate(board.piles)
        for depth, code in enumerate(reversed(pile))
        if code != HIDDEN and code & FACE == card
    ]
    if not places:
        hidden = " or ".join(_hiding_places(board))
        return f"{name} has not been seen yet.{f' It is {hidden}.' if hidden else ''}"
    rest = " The other one has not been seen yet." if len(places) < board.game.decks else ""
    return f"{name} is {'. The other one is '.join(places)}.{rest}"


def _location(board: Board, at: int, depth: int) -> str:
    if at in board.game.foundations and not board.game.piles[at].gives:
        return "on a foundation"
    down = "face down " if board.piles[at][-1 - depth] & DOWN and at in board.game.columns else ""
    pile = board.game.pile_phrase(board.game.keys[at])
    return f"{down}in {pile} under {counted(depth, 'card')}" if depth else f"{down}on top of {pile}"


def _hiding_places(board: Board) -> list[str]:
    down = any(card >= UNSEEN for at in board.game.columns for card in board.piles[at])
    return ["face down in a column"] * down + ["in the stock"] * bool(board.stock)


def hint_text(board: Board, move: Move, bindings: Bindings, look: Look) -> str:
    """Return a move in words: its keys, the cards and their destination."""
    source = FOUNDATION if is_foundation(board.game, move.source) else move.source
    keys = " ".join(key_text(bindings.piles[pile][0]) for pile in (source, move.target))
    return f"Type {keys} (marked {look.glyphs.marks[2]}): {moved_cards_text(board, move, look)}."


def stock_text(board: Board) -> str:
    """Return a text that says what the stock key does next."""
    is_redeal = board.game.stock.is_redeal(board.stock, board.waste)
    return "turn the waste over" if is_redeal else f"{board.stock_action} from the stock"


def moved_cards_text(board: Board, move: Move, look: Look) -> str:
    """Return the cards of a move and their destination, in words."""
    index = board.game.index
    cards = board.piles[index[move.source]][-move.size :]
    on_it = len(cards) - 1
    more = f" with the {on_it} cards on it" if on_it > 1 else " with the card on it" if on_it else ""
    if move.target == FOUNDATION:
        to = "goes to a foundation"
    elif pile := board.piles[index[move.target]]:
        to = f"goes onto {look.card(pile[-1])}"
    else:
        to = f"goes to an empty {board.game.piles[index[move.target]].kind}"
    return f"{look.card(cards[0])}{more} {to}"


def countdown_rows(model: Model, seconds: int, look: Look, *, explained: bool = False) -> tuple[Row, ...]:
    """Return the seconds until the deal in large digits. All rows have the same width.

    Below them are the words of the deal, once they are known, and who lost the seat while it was drawn. If ``explained``
    is true, a few more rows say how the game is played.
    """
    number = large_digits.large_number(seconds, look) if seconds else ()
    word = f"{model.game.title}: the same cards for everybody" if seconds else "Shuffling ..."
    losses = losses_text(None, model.this_room)[-_MOST_LOSSES:]
    about: list[Row] = [(Span(word, "label"),), *((Span(sentence, "notice"),) for sentence in losses)]
    about += [(Span(words, "label"),)] if (words := words_text(model.deal_words)) else []
    rules = [(Span(line),) for line in (short_rules(model.game.name) if explained else ())]
    width = max(row_width(row) + 4 for row in (*number, *about, *rules))
    below = [*about, *([(), *rules] if rules else [])]
    return ((), *(_centred(row, width) for row in number), (), *(_centred(row, width) for row in below), ())


def finish_rows(
    model: Model, ranking: Sequence[RankedPlayer], best: int | None, look: Look, width: int
) -> tuple[Row, ...]:
    """Return rows with the player's place, and the player's time against the best time.

    All rows have the same width, at most ``width``. Return no rows before the player finishes or after the race ends.
    ``best`` is as in ``personal_best``.
    """
    own = next((player for player in ranking if player.you), None)
    if not model.has_finished or own is None or model.board is None or not model.board.won:
        return ()
    first, rest = finish_headline(own, ranking, look)
    time = own.time or model.own.actions[-1][0]
    lines = [
        (Span(f"{look.glyphs.star}  {first}!  {look.glyphs.star}", "good title"),),
        *((Span(line, "title"),) for line in wrap(rest, width - 4)),
        *((Span(line, "label"),) for line in wrap(personal_best(time, best, model.game.title), width - 4)),
    ]
    number = (*large_digits.large_number(own.place, look, "good"), ()) if len(ranking) > 1 else ()
    return _framed((*number, *lines), look, "good")


def end_rows(model: Model, look: Look, width: int) -> tuple[Row, ...]:
    """Return a block of at most ``width`` columns about a race that has ended while the player was still playing."""
    lines = [
        (Span("The race is over.", "notice title"),),
        *((Span(line, "notice"),) for line in wrap(why_over(model.this_room), width - 4)),
        (Span("Enter: results", "label"),),
    ]
    return _framed(lines, look)


def idle_rows(model: Model, left: int, look: Look, width: int) -> tuple[Row, ...]:
    """Return a block of at most ``width`` columns that asks a player who has made no move for long to make one.

    ``left`` is the time until the race ends without a move, in milliseconds. Return no rows if the player's race is over.
    """
    if model.has_finished or model.this_room.phase != "racing" or not model.has_live_seat:
        return ()
    lines = [
        (Span("Are you still playing?", "alarm"),),
        *((Span(line, "notice"),) for line in wrap(_WHY_ENDING, width - 4)),
        (Span(f"Make a move within {max(left, 0) // 1000} s, or undo one, and it goes on.", "title"),),
    ]
    return _framed(lines, look)


def _framed(lines: Sequence[Row], look: Look, style: str = "notice") -> tuple[Row, ...]:
    """Return a block of centred lines between two edges in ``style``."""
    width = max(row_width(row) for row in lines) + 4
    edge = (Span(look.glyphs.rest * width, style),)
    return (edge, *(_centred(row, width) for row in ((), *lines, ())), edge)


def _centred(row: Row, width: int) -> Row:
    gap = max(width - row_width(row), 0)
    return (Span(" " * (gap // 2)), *row, Span(" " * (gap - gap // 2)))
