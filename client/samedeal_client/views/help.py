"""How the help looks: a page of keys, and one of rules for each game."""

from __future__ import annotations

from typing import Final

from samedeal.games import GAMES, Game, Kind, Stock
from samedeal_client.board.bindings import Bindings, Command
from samedeal_client.text.look import Look
from samedeal_client.text.rules_text import rules_rows
from samedeal_client.text.spans import Span
from samedeal_client.views.key_help import Where, entry, key_rows, keys_of, move_lines
from samedeal_client.views.page import KeyWord, Link, Page, Piece, View

KEYS_PAGE: Final = "keys"
PAGES: Final = (KEYS_PAGE, *GAMES)

STOCK_WORDS: Final = {
    Stock.DRAW_THREE: "draw three cards, or turn the waste over when the stock is empty",
    Stock.DEAL_ROW: "deal a card to each column",
}
PILE_WORDS: Final = {
    Kind.FAN: "from a fan to column 5, or the other way round",
    Kind.RESERVE: "from the reserve to column 5",
    Kind.WASTE: "from the waste to column 5",
}


def help_keys(look: Look) -> tuple[KeyWord, ...]:
    """The keys that do something."""
    left, down, up = ("<-", "Down", "Up") if look.ascii else ("←", "↓", "↑")
    return (
        KeyWord("left", "page before", left),
        KeyWord("right", "next page", "->" if look.ascii else "→"),
        KeyWord("down", "scroll", down),
        KeyWord("up", "back up", up),
        KeyWord("pagedown", "a screenful"),
        KeyWord("escape", "close the help"),
    )


def help_view(
    name: str, bindings: Bindings, look: Look, width: int, height: int, scroll: int = 0, over: Where = "race"
) -> View:
    """A page of the help by its name, one of ``PAGES``, scrolled by so many rows; ``over`` is what it lies over."""
    page = Page(look, width)
    if name == KEYS_PAGE:
        page.rows(key_rows(bindings, look, width, over))
    else:
        _rules(page, GAMES[name], bindings)
    body = page.view(height - 3, scroll, signed=False)
    head = Page(look, width)
    head.add(*_tabs(name, look))
    head.rule()
    foot = Page(look, width)
    foot.add(*_end(body, look, width))
    areas = (*head.view(2).areas, *(area._replace(y=area.y + 2) for area in body.areas))
    return View((*head.view(2).rows, *body.rows, *foot.view(1).rows), areas, body.scroll, body.beyond)


def _rules(page: Page, game: Game, bindings: Bindings) -> None:
    page.add(Span(f" How to move in {game.title}", "title"))
    two, up, best, _, back = move_lines(bindings)
    lines = [two, up, best, *_piles(game, bindings)]
    if game.piles[game.foundations.start].gives:
        lines.append(back)
    if game.stock is not Stock.NONE:
        lines.append((keys_of(bindings, Command.STOCK), STOCK_WORDS[game.stock]))
    page.rows(row for keys, words in lines for row in entry(page.look.says(keys), words, page.width))
    page.blank()
    page.rows(rules_rows(game, page.look, page.width))


def _piles(game: Game, bindings: Bindings) -> list[tuple[str, str]]:
    """How cards are taken from piles that are no columns: of each kind an example, and all its keys."""
    lines = []
    for kind, words in PILE_WORDS.items():
        keys = [bindings.piles[game.keys[at]][0] for at in game.of_kind(kind)]
        if keys:
            every = f" ({' '.join(keys)})" if len(keys) > 1 else ""
            lines.append((f"{keys[0]} {bindings.piles['5'][0]}", f"{words}{every}"))
    return lines


def _tabs(name: str, look: Look) -> list[Piece]:
    pieces: list[Piece] = [Span(" ")]
    for page in PAGES:
        title = GAMES[page].title if page in GAMES else "Keys"
        chosen = page == name
        text = f"[{title}]" if chosen and not look.colour else f" {title} "
        pieces += [Link(text, "title selected" if chosen else "label", f"page {page}"), Span(" ")]
    return pieces


def _end(body: View, look: Look, width: int) -> list[Piece]:
    """A line across, which says how many lines lie below it."""
    more = f" {body.beyond} more lines below " if body.beyond else " the end "
    rest = look.glyphs.rest
    return [Span(rest * max(width - len(more) - 2, 0), "axis"), Span(more, "label"), Span(rest * 2, "axis")]
