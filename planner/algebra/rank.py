"""Top-N."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.types import LogicalType
from planner.algebra.keys import Key
from planner.algebra.over import SortKey
from planner.algebra.relation import ALL_CHANGES, KeepsColumns, PassesTimes

RankFunction = Literal["ROW_NUMBER", "RANK", "DENSE_RANK"]
RANK_FUNCTIONS: tuple[RankFunction, ...] = get_args(RankFunction)


@dataclass(frozen=True)
class Rank(PassesTimes, KeepsColumns):
    """Keeps the rows of each partition that have a rank between two bounds. Output: the input, then the rank."""

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    function: RankFunction
    start: int
    end: int
    """Lowest and highest rank that is kept, from 1."""
    type: LogicalType
    position: Position | None = None

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Rows are pushed out by better ones."""
        return ALL_CHANGES

    def updates_without_before(self) -> bool:
        """The rows of a partition tell what is replaced."""
        return True

    def keys_of_rows(self) -> Iterable[Key]:
        """Those of the input; and a row number is unique in its partition."""
        yield from self.input.upsert_keys
        if self.function == "ROW_NUMBER":
            yield frozenset({*self.partition, len(self.input.type.fields)})

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True
