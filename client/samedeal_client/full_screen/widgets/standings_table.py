"""The table of the final standings of a race."""

from __future__ import annotations

from collections.abc import Sequence

from samedeal.protocol.messages import Standing
from samedeal_client.full_screen.widgets.list_table import ListTable
from samedeal_client.panels.final_standings import HEADINGS, standing_cells
from samedeal_client.text.appearance import Look


class StandingsTable(ListTable):
    """A table with a row for each player. No row can be selected."""

    def __init__(self) -> None:
        super().__init__(HEADINGS, id="standings", show_cursor=False)

    def show_standings(self, standings: Sequence[Standing], total: int, me: str, look: Look, width: int) -> None:
        """Show standings in a window of ``width`` columns. ``total`` is the number of cards, and ``me`` the player's id."""
        self.show_rows(
            {line.player: standing_cells(line, total, look, you=line.player == me, width=width) for line in standings}
        )
        self.styles.height = len(standings) + 1  # an automatic height misses rows added on mounting
