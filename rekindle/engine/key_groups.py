"""Key groups spread over subtasks, as Flink's are, and the state of several subtasks as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from execnodes.lowering.stream import HASH
from execnodes.state.operator import State

_SUBTASK = "rk_subtask"


@dataclass(frozen=True, slots=True)
class KeyGroups:
    """How hashes of keys are spread: a subtask takes a range of key groups."""

    subtasks: int
    max_parallelism: int

    def subtask(self, rk_hash: str) -> str:
        """Spark SQL of the subtask of a hash."""
        return f"CAST(pmod({rk_hash}, {self.max_parallelism}L) * {self.subtasks}L DIV {self.max_parallelism}L AS INT)"

    def of(self, rows: pl.DataFrame) -> frozenset[int]:
        """Subtasks that rows with a hash belong to."""
        return frozenset(self._numbers(rows).unique().to_list())

    def split(self, rows: pl.DataFrame) -> Mapping[int, pl.DataFrame]:
        """Rows with a hash by subtask, in their order."""
        subtasks = self._numbers(rows)
        if subtasks.n_unique() == 1:
            return {int(subtasks[0]): rows}
        marked = rows.with_columns(subtasks)
        parts = marked.partition_by(_SUBTASK, as_dict=True, include_key=False, maintain_order=True)
        return {int(key[0]): part for key, part in parts.items()}

    def _numbers(self, rows: pl.DataFrame) -> pl.Series:
        groups = np.mod(rows[HASH].to_numpy(), self.max_parallelism)
        return pl.Series(_SUBTASK, groups * self.subtasks // self.max_parallelism, dtype=pl.Int32)


class StateOfSeveral:
    """See `State`: that of some subtasks, which one task works on together."""

    def __init__(self, states: Mapping[int, State], groups: KeyGroups) -> None:
        """`states` by subtask."""
        self._states, self._groups = states, groups
        self._asked: frozenset[int] = frozenset()
        """Subtasks that the last read was of."""

    def read(self, addresses: pl.DataFrame) -> pl.DataFrame:
        """See State."""
        parts = self._groups.split(addresses)
        self._asked = frozenset(parts)
        found = [self._states[subtask].read(part) for subtask, part in parts.items()]
        return pl.concat(found) if found else next(iter(self._states.values())).read(addresses)

    def write(self, rows: pl.DataFrame) -> None:
        """See State."""
        parts, asked, self._asked = self._groups.split(rows), self._asked, frozenset()
        for subtask in sorted(asked | parts.keys()):
            part = parts.get(subtask, rows.clear())
            if subtask in asked:
                self._states[subtask].write(part)
            else:
                # Its own last read may be older, and is not what these rows are for.
                self._states[subtask].append(part)

    def append(self, rows: pl.DataFrame) -> None:
        """See State."""
        for subtask, part in self._groups.split(rows).items():
            self._states[subtask].append(part)

    def expire(self, until: int) -> pl.DataFrame:
        """See State."""
        return pl.concat([each.expire(until) for each in self._states.values()])

    def scan(self) -> pl.DataFrame:
        """See State."""
        return pl.concat([each.scan() for each in self._states.values()])

    def buckets(self) -> Sequence[int]:
        """See State."""
        return sorted({bucket for each in self._states.values() for bucket in each.buckets()})


def one_of(states: Mapping[int, State], groups: KeyGroups) -> State:
    """States of subtasks as one."""
    return next(iter(states.values())) if len(states) == 1 else StateOfSeveral(states, groups)
