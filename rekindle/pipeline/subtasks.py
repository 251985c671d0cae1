"""Subtasks: the parallel parts of a keyed stage, one call of each operator a subtask and micro-batch.

A key's group is its hash modulo the max parallelism, and a subtask takes a range of key groups, as in Flink. Spark
chooses a row's task by a hash of its own; so the number that stands for a subtask is one that Spark sends to the task
of that subtask, and the tasks of a stage share the operators evenly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from execnodes.engine.inlet import Spread

_SEED = 42
_WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Subtasks:
    """How the keys of a job are spread."""

    tasks: int
    """Shuffle partitions of the checkpoint; they never change."""
    max_parallelism: int
    """Key groups."""

    @property
    def count(self) -> int:
        """Subtasks of each operator."""
        return min(self.tasks, self.max_parallelism)

    def spread(self, tags: Iterable[int]) -> Spread:
        """How rows for some operators are spread over their subtasks."""
        return Spread(self.max_parallelism, {tag: self.numbers(tag) for tag in sorted(tags)})

    def numbers(self, tag: int) -> tuple[int, ...]:
        """The numbers of an operator's subtasks: the least ones that Spark sends to tasks 0, 1 and so on."""
        found: list[int] = []
        number = 0
        while len(found) < self.count:
            if spark_hash(tag, number) % self.tasks == len(found):
                found.append(number)
            number += 1
        return tuple(found)


def spark_hash(*numbers: int) -> int:
    """Spark's hash of integers, by which it shuffles: 32-bit Murmur3 (Appleby), chained; a signed 32-bit integer."""
    seed = _SEED
    for number in numbers:
        mixed = _rotated((number & _WORD) * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
        seed = (_rotated(seed ^ mixed, 13) * 5 + 0xE6546B64) & _WORD
        seed ^= 4
        seed = (seed ^ seed >> 16) * 0x85EBCA6B & _WORD
        seed = (seed ^ seed >> 13) * 0xC2B2AE35 & _WORD
        seed ^= seed >> 16
    return seed - (1 << 32) if seed >> 31 else seed


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _WORD
