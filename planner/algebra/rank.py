"""Top-N."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.places import Place
from execnodes.core.types import LogicalType
from planner.algebra.columns import pick
from planner.algebra.keys import Key
from planner.algebra.over import SortKey
from planner.algebra.relation import ALL_CHANGES, UPDATING, PassesTimes, Places, Pruning, places
from planner.algebra.windows import bounds_of

RankFunction = Literal["ROW_NUMBER", "RANK", "DENSE_RANK"]
RANK_FUNCTIONS: tuple[RankFunction, ...] = get_args(RankFunction)


@dataclass(frozen=True)
class Rank(PassesTimes):
    """Keeps the rows of each partition whose rank is between two bounds. Output: the input, then perhaps the rank."""

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    function: RankFunction
    start: int
    end: int | None
    """Lowest and highest rank that is kept, from 1."""
    type: LogicalType
    position: Position | None = None
    end_index: int | None = None
    """Input column that holds the highest rank, where `end` is None; that of a partition's first row counts."""
    place: Place | None = None

    @property
    def numbered(self) -> bool:
        """Whether the rank is a column of the output."""
        return len(self.type.fields) > len(self.input.type.fields)

    @property
    def single(self) -> bool:
        """Whether one row at most is left of a partition."""
        return self.function == "ROW_NUMBER" and self.start == self.end

    @cached_property
    def bounds(self) -> tuple[int, int] | None:
        """Columns of the window that rows are ranked in: PARTITION BY window_start, window_end."""
        return bounds_of(self.input.window_columns, self.partition)

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Rows are pushed out by better ones; those of a window are given out when it is complete."""
        if not self.input.kinds.insert_only:
            return ALL_CHANGES
        return INSERT_ONLY if self.bounds else UPDATING if self.single else ALL_CHANGES

    def updates_without_before(self) -> bool:
        """The rows of a partition tell what is replaced."""
        return True

    def keys_of_rows(self) -> Iterable[Key]:
        """The partition of a single row; else those of the input whose rows stay in one partition, and a row number is
        unique in its partition.
        """
        partition = frozenset(self.partition)
        if self.single:
            yield partition
            return
        yield from (each for each in self.input.upsert_keys if partition <= each)
        if self.function == "ROW_NUMBER" and self.numbered:
            yield partition | {len(self.input.type.fields)}

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Rank, Places]:
        """What is needed, and what decides the rank; the rank itself only if it is needed."""
        width = len(self.input.type.fields)
        decide = {*self.partition, *(key.index for key in self.order)}
        decide |= set() if self.end_index is None else {self.end_index}
        read = sorted({each for each in needed if each < width} | decide)
        below, there = pruning.exactly(self.input, read)
        kept = (*read, width) if self.numbered and width in needed else tuple(read)
        pruned = replace(
            self,
            input=below,
            partition=tuple(there[each] for each in self.partition),
            order=tuple(replace(key, index=there[key.index]) for key in self.order),
            end_index=None if self.end_index is None else there[self.end_index],
            type=pick(self.type, kept),
        )
        return pruned, places(kept)

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True
