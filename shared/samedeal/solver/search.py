"""The search for a win: it ends when a state is won, when all states were searched, or when a limit is reached.

States that are reached for the first time are counted, stored in a table with the state before them, and put into
buckets by their estimate. The newest state of the lowest bucket is searched next: each of its moves is tried, and the
state after it is *settled*: all safe cards go to foundations, and if the law ``joins_runs`` says so, cards in cells go
onto runs.

A search may have several sets of buckets, which take turns: one for each number of cards that the stock may have left
(``SearchWeights.by_stock``). Otherwise boards with few cards in the stock, whose estimates are lower, would take all turns
before it is known which of the earlier boards is best.

Moves that seldom help are *postponed* (``StateSpace.postpones``): they are tried only when all buckets are empty. If no
state has postponed moves left either, the board can't be won.

The order of the search depends on nothing but the board. The code iterates over tuples, lists and dictionaries in the
order in which they were filled, and never over sets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from samedeal.solver.estimate import Estimate
from samedeal.solver.states import ONE, SideFacts, State, StateSpace, TopsFacts

_Fact = TypeVar("_Fact")


class Facts(dict[bytes, _Fact], Generic[_Fact]):
    """A dictionary from parts of states to facts about them, such as the moves that a part allows, or its cost.

    A fact is computed when it is first looked up.
    """

    def __init__(self, compute: Callable[[bytes], _Fact]) -> None:
        self._compute = compute

    def __missing__(self, part: bytes) -> _Fact:
        fact = self[part] = self._compute(part)
        return fact


class _Buckets:
    """States by their estimates. The newest state of those with the lowest estimate is taken first."""

    def __init__(self, most: int) -> None:
        self._buckets: list[list[State]] = [[] for _ in range(most + 1)]
        self._lowest = 0

    def add(self, state: State, cost: int) -> None:
        """Add a state with its estimate."""
        self._buckets[cost].append(state)
        if cost < self._lowest:
            self._lowest = cost

    def take(self) -> State | None:
        """Remove a state and return it, or return None if there is none."""
        buckets, lowest = self._buckets, self._lowest
        last = len(buckets) - 1
        while not buckets[lowest] and lowest < last:
            lowest += 1
        self._lowest = lowest
        return buckets[lowest].pop() if buckets[lowest] else None


_Child = tuple[bytes, bytes, list[bytes], int]
"""A state that was reached by a move: its tops, side and columns, and its estimate. The columns are not sorted yet."""


class Search:
    """A search of the states that can be reached from a start."""

    def __init__(self, space: StateSpace, estimate: Estimate, start: State) -> None:
        self._space = space
        self._tops = Facts(space.tops_facts)
        self._sides = Facts(space.side_facts)
        self._sides_with = Facts(space.sides_with)
        self._groups = Facts(space.groups)
        self._column_costs = Facts(estimate.column)
        self._side_costs = Facts(estimate.side)
        self._by_stock = bool(estimate.weights.by_stock) and space.game.stock.to_columns
        self._most = space.game.cards * estimate.most
        self._buckets: dict[bytes, _Buckets] = {}
        self._turns: list[_Buckets] = []
        self._turn = 0
        self._postponed: list[State] = []
        self._before: dict[State, State | None] = {}
        self._state: State | None = None
        cost = self._side_costs[start[1]] + sum(map(self._column_costs.__getitem__, start[2:]))
        self._next = [self._settle(start[0], start[1], list(start[2:]), cost)]

    @property
    def states(self) -> int:
        """The number of states reached so far."""
        return len(self._before)

    def nearest(self) -> tuple[State, ...]:
        """Return the states from the start to the reached state with the lowest estimate, the first one of several."""
        costs, sides = self._column_costs, self._side_costs
        return _path(self._before, min(self._before, key=lambda each: sides[each[1]] + sum(costs[i] for i in each[2:])))

    def run(self, limit: int) -> tuple[State, ...] | None:
        """Continue the search until it ends, or has reached more than ``limit`` states in total.

        Return the states from the start to a won board. They are none if all states were searched and none is won. Return
        None if the search has not ended.
        """
        empty_side, rows = self._space.empty_side, self._space.game.stock.to_columns
        before, by_stock, postpones = self._before, self._by_stock, self._space.postpones
        while len(before) <= limit:
            for tops, side, columns, cost in self._next:
                if not rows or side == empty_side:
                    columns.sort()
                child = (tops, side, *columns)
                if child in before:
                    continue
                before[child] = self._state
                if side == empty_side and not any(columns):
                    return _path(before, child)
                part = side[-1:] if by_stock else b""
                if part not in self._buckets:
                    self._buckets[part] = _Buckets(self._most)
                    self._turns.append(self._buckets[part])
                self._buckets[part].add(child, cost)
            if state := self._take():
                self._state = state
                self._next = self._children(state, without_postponed=postpones)
                if postpones:
                    self._postponed.append(state)
            elif self._postponed:
                self._state = state = self._postponed.pop()
                self._next = self._children(state, without_postponed=False)
            else:
                return ()
        return None

    def _take(self) -> State | None:
        """Return the next state to search, from the buckets whose turn it is. Return None if all buckets are empty."""
        for _ in self._turns:
            self._turn = (self._turn + 1) % len(self._turns)
            if state := self._turns[self._turn].take():
                return state
        return None

    def _children(self, state: State, *, without_postponed: bool) -> list[_Child]:
        """Return the states after each move, perhaps without the postponed moves (``StateSpace.postpones``).

        Moves of a whole column to an empty column are left out, unless the columns keep their places
        (``StateSpace.keeps_places``).
        """
        tops, side, *columns = state
        costs = self._column_costs
        from_tops, from_side = self._tops[tops], self._sides[side]
        side_cost = self._side_costs[side]
        cost = side_cost + sum(map(costs.__getitem__, columns))
        takers = self._takers(side, columns)
        settles = from_tops.safe + bytes(from_side.joins)
        found = self._from_columns(
            state, columns, from_tops, from_side, takers, cost, without_postponed=without_postponed
        )
        for card, after_side in from_side.gives:
            given = cost - side_cost + self._side_costs[after_side]
            if card in from_tops.takes and self._space.foundations.takes == 1:
                found.append(self._settle(from_tops.takes[card], after_side, columns.copy(), given))
            for to in takers.get(card, ()):
                target = columns[to]
                after = columns.copy()
                after[to] = filled = target + ONE[card]
                child = tops, after_side, after, given - costs[target] + costs[filled]
                found.append(self._settle(*child) if from_side.from_fans or card in settles else child)
        for after_side in from_side.shifts:
            found.append(
                self._settle(tops, after_side, columns.copy(), cost - side_cost + self._side_costs[after_side])
            )
        for card, after_tops in () if without_postponed else from_tops.gives:
            if card in self._tops[after_tops].safe:
                continue
            for to in takers.get(card, ()):
                target = columns[to]
                after = columns.copy()
                after[to] = filled = target + ONE[card]
                found.append((after_tops, side, after, cost - costs[target] + costs[filled]))
        if from_side.row and (self._space.game.stock.fills_columns or all(columns)):
            after = columns.copy()
            for to, card in enumerate(from_side.row):
                after[to] += ONE[card]
            after_side = from_side.after_row
            found.append((tops, after_side, after, self._side_costs[after_side] + sum(map(costs.__getitem__, after))))
        return found

    def _takers(self, side: bytes, columns: list[bytes]) -> dict[int, list[int]]:
        """Return for each card the places of the columns that accept it.

        Of the empty columns, only the first is included, unless the columns keep their places
        (``StateSpace.keeps_places``).
        """
        space = self._space
        on = space.columns.on
        takers: dict[int, list[int]] = {}
        empty: list[int] = []
        for at, column in enumerate(columns):
            if column:
                for card in on[column[-1]]:
                    if card in takers:
                        takers[card].append(at)
                    else:
                        takers[card] = [at]
            else:
                empty.append(at)
        if empty:
            if not space.keeps_places(side):
                del empty[1:]
            for card in space.columns.on_empty:
                takers[card] = takers[card] + empty if card in takers else empty
        return takers

    def _from_columns(
        self,
        state: State,
        columns: list[bytes],
        from_tops: TopsFacts,
        from_side: SideFacts,
        takers: dict[int, list[int]],
        cost: int,
        *,
        without_postponed: bool,
    ) -> list[_Child]:
        """Return the states after each move that takes cards from a column. ``cost`` is the estimate of ``state``."""
        tops, side = state[0], state[1]
        costs = self._column_costs
        space = self._space
        run, size = space.columns.run, space.foundations.takes
        takes_side, places = space.takes_side, space.keeps_places(side)
        most, most_to_empty = space.most_together(from_side, columns)
        settles = from_tops.safe + bytes(from_side.joins)
        found: list[_Child] = []
        for at, column in enumerate(columns):
            if not column:
                continue
            groups = self._groups[column]
            without = cost - costs[column]
            if len(groups) >= size:
                card, left, _ = groups[size - 1]
                if card in from_tops.takes:
                    after = columns.copy()
                    after[at] = left
                    found.append(self._settle(from_tops.takes[card], side, after, without + costs[left]))
            _, left, group = groups[-1 if space.joins_runs else 0]
            after_sides: tuple[bytes, ...] = (side,) if takes_side else ()
            for code in group:
                after_sides = tuple(after for each in after_sides for after in self._sides_with[each + ONE[code]])
            for after_side in after_sides:
                after = columns.copy()
                after[at] = left
                on_fan = without + costs[left] + self._side_costs[after_side] - self._side_costs[side]
                found.append(self._settle(tops, after_side, after, on_fan))
            for card, left, group in groups:
                if card in takers:
                    splits = without_postponed and group is not groups[-1][2]
                    for to in takers[card]:
                        target = columns[to]
                        if to == at or not (left or target or places):
                            continue
                        if len(group) > (most if target else most_to_empty):
                            continue
                        if splits and not (target and card in run[target[-1]]):
                            continue
                        after = columns.copy()
                        after[at] = left
                        after[to] = filled = target + group
                        moved = without + costs[left] - costs[target] + costs[filled]
                        if left and left[-1] in settles:
                            found.append(self._settle(tops, side, after, moved))
                        else:
                            found.append((tops, side, after, moved))
        return found

    def _settle(self, tops: bytes, side: bytes, columns: list[bytes], cost: int) -> _Child:
        """Settle a state. Return the resulting one. The list ``columns`` is changed."""
        while self._space.has_safe_cards:
            facts, sides = self._tops[tops], self._sides[side]
            after = side
            for at, column in enumerate(columns):
                top = column[-1] if column else 0
                if top in facts.safe:
                    tops, settled = facts.takes[top], self._groups[column][0][1]
                elif top in sides.joins:
                    card, after = sides.joins[top]
                    settled = column + ONE[card]
                else:
                    continue
                columns[at] = settled
                cost += self._column_costs[settled] - self._column_costs[column]
                break
            else:
                cards = [given for given in sides.from_reserve if given[0] in facts.safe]
                cards += [given for given in sides.from_fans if given[0] in facts.safe_from_fan]
                if not cards:
                    break
                card, after = cards[0]
                tops = facts.takes[card]
            cost += self._side_costs[after] - self._side_costs[side]
            side = after
        return tops, side, columns, cost


def _path(before: dict[State, State | None], last: State) -> tuple[State, ...]:
    """Return the states from the start of the search to ``last``. ``before`` has the state before each state."""
    path = []
    state: State | None = last
    while state is not None:
        path.append(state)
        state = before[state]
    return tuple(reversed(path))
