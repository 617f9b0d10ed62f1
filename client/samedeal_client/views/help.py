"""The help: a page of keys, and a page of rules for each game."""

from __future__ import annotations

from typing import Final

from samedeal.games import GAMES, Build, Game
from samedeal_client.input.bindings import Bindings, KeyCommand
from samedeal_client.text.appearance import Look
from samedeal_client.text.rules_text import rules_rows, short_rules
from samedeal_client.text.spans import Span
from samedeal_client.views.key_help import HelpContext, key_entry, key_rows, keys_of, move_lines
from samedeal_client.views.race import special_sources
from samedeal_client.views.screen_body import ClickableText, FooterKey, Page, RowPart, View

KEYS_PAGE: Final = "keys"
PAGES: Final = (KEYS_PAGE, *GAMES)


def help_keys(look: Look) -> tuple[FooterKey, ...]:
    """The keys in force."""
    left, down, up = ("<-", "Down", "Up") if look.ascii else ("←", "↓", "↑")
    return (
        FooterKey("left", "previous page", left),
        FooterKey("right", "next page", "->" if look.ascii else "→"),
        FooterKey("down", "scroll down", down),
        FooterKey("up", "scroll up", up),
        FooterKey("pagedown", "one screen down"),
        FooterKey("escape", "close the help"),
    )


def help_view(
    name: str, bindings: Bindings, look: Look, width: int, height: int, scroll: int = 0, over: HelpContext = "race"
) -> View:
    """A page of the help, one of ``PAGES``, scrolled by ``scroll`` rows. ``over`` is the screen below the help."""
    page = Page(look, width)
    if name == KEYS_PAGE:
        page.add_rows(key_rows(bindings, look, width, over))
    else:
        _rules(page, GAMES[name], bindings)
    body = page.view(height - 3, scroll, count_below=False)
    head = Page(look, width)
    head.add_row(*_tabs(name, look))
    head.add_rule()
    foot = Page(look, width)
    foot.add_row(*_end(body, look, width))
    areas = (*head.view(2).areas, *(area._replace(y=area.y + 2) for area in body.areas))
    return View((*head.view(2).rows, *body.rows, *foot.view(1).rows), areas, body.scroll, body.rows_below)


def _rules(page: Page, game: Game, bindings: Bindings) -> None:
    page.add_row(Span(f" {game.title} in short", "title"))
    page.add_rows((Span(f"   {line}"),) for line in short_rules(game.name))
    page.add_blank()
    page.add_row(Span(f" How to move in {game.title}", "title"))
    to_column, to_foundation, best, _, from_foundation = move_lines(bindings)
    lines = [to_column, to_foundation, best, *_piles(game, bindings)]
    if game.piles[game.foundations.start].gives:
        lines.append(from_foundation)
    if game.stock.action:
        lines.append((keys_of(bindings, KeyCommand.STOCK), game.stock.instruction))
    page.add_rows(row for keys, text in lines for row in key_entry(page.look.displayable(keys), text, page.width))
    page.add_blank()
    page.add_rows(rules_rows(game, page.look, page.width))


def _piles(game: Game, bindings: Bindings) -> list[tuple[str, str]]:
    """Instructions for piles that are not columns: an example for each kind of pile, with the keys of all its piles."""
    lines = []
    for name, group in special_sources(game):
        keys = [bindings.piles[key][0] for key in group.keys]
        all_keys = f" ({' '.join(keys)})" if len(keys) > 1 else ""
        either_way = ", or the other way round" if group.build is not Build.NONE else ""
        lines.append((f"{keys[0]} {bindings.piles['5'][0]}", f"from {name} to column 5{either_way}{all_keys}"))
    return lines


def _tabs(name: str, look: Look) -> list[RowPart]:
    parts: list[RowPart] = [Span(" ")]
    for page in PAGES:
        title = GAMES[page].title if page in GAMES else "Keys"
        selected = page == name
        text = f"[{title}]" if selected and not look.colour else f" {title} "
        parts += [ClickableText(text, "title selected" if selected else "label", f"page {page}"), Span(" ")]
    return parts


def _end(body: View, look: Look, width: int) -> list[RowPart]:
    """A horizontal line with the number of lines below it."""
    below = body.rows_below
    label = f" {below} more line{'s' if below != 1 else ''} below " if below else " end "
    line = look.glyphs.rest
    return [Span(line * max(width - len(label) - 2, 0), "axis"), Span(label, "label"), Span(line * 2, "axis")]
