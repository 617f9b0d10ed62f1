"""The stage of a world, on which the rounds of ``tests.chaos`` run as they are: their plans, players and judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.chaos.stage import Stage
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import Transport
from tests.simulation.node import SimulatedNode
from tests.simulation.redis_server import SimulatedRedis


@dataclass(frozen=True)
class Wire:
    """A connection of a node to Redis, which a fault may reset or stall."""

    end: Transport

    def reset(self) -> None:
        """Reset both ends."""
        self.end.abort()

    def stall(self, seconds: float) -> None:
        """Deliver nothing for some seconds, in both directions."""
        for pipe in (self.end.outgoing, self.end.incoming):
            pipe.blocked_until = self.end.loop.time() + seconds


class _ToRedis:
    """The connections of all nodes to Redis."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    @property
    def connections(self) -> list[Wire]:
        """All that are open now."""
        return [Wire(end) for end in self._loop.network.between("node", "redis")]


class SimulatedStage(Stage):
    """Nodes and a Redis of a world. ``options`` are those of the nodes."""

    def __init__(self, loop: SimulatedLoop, *options: str, fails_over: bool) -> None:
        redis = SimulatedRedis(loop)
        super().__init__(redis, redis, _ToRedis(loop), fails_over=fails_over)
        self.redis: SimulatedRedis = redis
        self._loop = loop
        self._options = options

    async def _start_node(self, number: int) -> Any:
        return await SimulatedNode(self._loop, f"node-{number}", self.redis.url, *self._options).started()
