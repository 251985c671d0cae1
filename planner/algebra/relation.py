"""What every relational operator says of itself; nothing of it is guessed by those who ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Protocol, Self

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode, RowKind
from execnodes.core.types import LogicalType
from planner.algebra.keys import Key, fewest
from planner.algebra.windows import WindowColumn

UPDATING = ChangelogMode({RowKind.INSERT, RowKind.UPDATE_AFTER})
ALL_CHANGES = ChangelogMode({RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE})
Places = dict[int, int]
"""Old column index to new."""


class Trend(Enum):
    """How updates move the value of a column; NULL is the lowest value."""

    FALLING = "falling"
    CONSTANT = "constant"
    RISING = "rising"


class Pruning(Protocol):
    """What the rule that prunes columns offers to operators (`planner.rules.prune_columns`)."""

    def visit(self, node: Logical, columns: Iterable[int]) -> tuple[Logical, Places]:
        """The node with at least these columns, and where each is now."""
        ...

    def exactly(self, node: Logical, columns: Iterable[int]) -> tuple[Logical, Places]:
        """The node with these columns only, in this order."""
        ...

    def shared(self, node: Logical, needed: frozenset[int]) -> list[int]:
        """The columns that any reader of an equal stream needs."""
        ...


@dataclass(frozen=True)
class Logical(ABC):
    """A relational operator: immutable, over typed expressions that refer to input columns by index."""

    if TYPE_CHECKING:

        @property
        def type(self) -> LogicalType:
            """A ROW: what it gives."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Logical, ...]:
        """What it reads."""

    @abstractmethod
    def over(self, inputs: Sequence[Logical]) -> Self:
        """The same operator over other inputs."""

    @property
    @abstractmethod
    def kinds(self) -> ChangelogMode:
        """INSERT, UPDATE_AFTER (for updates) and DELETE, as it may emit them; -U depends on the consumer."""

    @abstractmethod
    def updates_without_before(self) -> bool:
        """Whether its updates need no -U for a consumer that finds rows by key; asked of operators with updates."""

    @abstractmethod
    def keys_of_rows(self) -> Iterable[Key]:
        """Sets of columns by which updates can be applied, since a row and its successor agree on them; such a key is
        also unique among the rows that live at one time. Rules are those of Flink's `FlinkRelMdUpsertKeys`.
        """

    @property
    @abstractmethod
    def event_times(self) -> frozenset[int]:
        """Columns that are event-time attributes."""

    @property
    @abstractmethod
    def window_columns(self) -> dict[int, WindowColumn]:
        """Columns that tell something of the window a row is in."""

    @abstractmethod
    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Logical, Places]:
        """The operator with at least these columns over inputs that carry no more than it reads, and where each
        column is now.
        """

    @property
    @abstractmethod
    def parts(self) -> int:
        """Calls, columns and constants of its own expressions, as they would be written out."""

    @property
    @abstractmethod
    def keeps_state(self) -> bool:
        """Whether rows meet in it; else each row passes alone."""

    @property
    def copies(self) -> int:
        """How many rows it makes of one, at most."""
        return 1

    @property
    def trends(self) -> dict[int, Trend]:
        """Columns of which it is known how updates move them, of rows that are found by an upsert key."""
        return {}

    @cached_property
    def can_omit_update_before(self) -> bool:
        """Whether it can emit its updates without -U, for a consumer that finds rows by key."""
        return not self.kinds.has_updates or self.updates_without_before()

    @cached_property
    def upsert_keys(self) -> frozenset[Key]:
        """Minimal keys; none if rows can only be found by all their columns, or may occur twice."""
        return fewest(self.keys_of_rows())

    def mode(self, update_before: bool) -> ChangelogMode:
        """What it emits for a consumer that asks for -U or does without."""
        return (
            self.kinds.with_kinds({RowKind.UPDATE_BEFORE}) if update_before and self.kinds.has_updates else self.kinds
        )


class Leaf(Logical):
    """Reads no other operator."""

    @property
    def inputs(self) -> tuple[Logical, ...]:
        """None."""
        return ()

    def over(self, inputs: Sequence[Logical]) -> Self:
        """Itself."""
        return self


@dataclass(frozen=True)
class Unary(Logical):
    """Reads one other operator."""

    input: Logical

    @property
    def inputs(self) -> tuple[Logical, ...]:
        """The one."""
        return (self.input,)

    def over(self, inputs: Sequence[Logical]) -> Self:
        """The same operator over another input."""
        changed: dict[str, Any] = {"input": inputs[0]}
        return replace(self, **changed)


class PassesChanges(Unary):
    """Looks at each row alone and gives it, or what it makes of it, with its kind."""

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Those of the input."""
        return self.input.kinds

    def updates_without_before(self) -> bool:
        """If the input can."""
        return self.input.can_omit_update_before


class PassesKeys(Unary):
    """What identifies a row of the input identifies it still."""

    def keys_of_rows(self) -> Iterable[Key]:
        """Those of the input."""
        return self.input.upsert_keys


class PassesTimes(Unary):
    """Columns of the input stand where they stood and are what they were; its own, if any, come behind."""

    @cached_property
    def event_times(self) -> frozenset[int]:
        """Those of the input."""
        return self.input.event_times

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """Those of the input."""
        return self.input.window_columns


class WithoutTimes(Logical):
    """No column of it is an event time or tells of a window."""

    @cached_property
    def event_times(self) -> frozenset[int]:
        """None."""
        return frozenset()

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """None."""
        return {}


class KeepsColumns(Logical):
    """Gives all its columns whatever is needed of them, and reads all of its inputs."""

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Logical, Places]:
        """Everything stays."""
        below = [pruning.exactly(each, range(len(each.type.fields)))[0] for each in self.inputs]
        return over(self, below), places(range(len(self.type.fields)))


def kinds_of(inputs: Iterable[Logical]) -> ChangelogMode:
    """Every kind that any input emits: an operator that looks at each row alone emits these."""
    return reduce(lambda mine, other: mine.with_kinds(other.kinds), inputs, INSERT_ONLY)


def over(node: Logical, inputs: Sequence[Logical]) -> Logical:
    """The operator over these inputs; the very operator if they are its own."""
    return node if all(mine is other for mine, other in zip(node.inputs, inputs, strict=True)) else node.over(inputs)


def places(kept: Iterable[int]) -> Places:
    """Where columns are when only these are left, in this order."""
    return {old: new for new, old in enumerate(kept)}
