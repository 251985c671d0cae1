"""What an aggregate function tells of itself, before any row is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from execnodes.core.expressions import AggregateCall
from execnodes.core.types import INTEGERS, NESTED, NUMERICS, TEXTS, LogicalType, Root

if TYPE_CHECKING:
    from execnodes.aggregates.spark_call import SparkCall

Parts = tuple[tuple[str, LogicalType], ...]
"""Names and types of what a call keeps for a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateFunction:
    """One version of a function. Result types are Flink's."""

    name: str
    version: int = 1
    aliases: tuple[str, ...] = ()
    """Other names that SQL has for it."""
    result: Callable[[LogicalType], LogicalType]
    """Result type from the (first) argument's; its nullability is decided by `nullable`."""
    takes: Callable[[LogicalType], bool] = lambda t: True
    """Of the first argument's type."""
    takes_further: Callable[[LogicalType], bool] = lambda t: True
    """Of the types of those behind it."""
    least: int = 1
    most: int = 1
    """Fewest and most arguments."""
    nullable: bool | None = None
    """Of the result; None: as the argument, and nullable where a group may have no value."""
    as_it_is: bool = False
    """Whether a time attribute is taken as one, and not as its plain type."""
    distinct: bool = True
    """Whether DISTINCT may stand with it."""
    hint: str | None = None
    """What to write instead of another number of arguments."""
    mergeable: bool = True
    """Partial results can be made before the exchange."""
    merges_removals: bool = True
    """As `mergeable`, where rows are also taken back."""
    order_dependent: bool = False
    """The order of rows decides the result."""
    can_fail: bool = False
    """Some values fail the job."""
    keeps: Callable[[AggregateCall, LogicalType | None, bool], Parts]
    """Its accumulator: of a call, the type of the first argument, and whether rows are also taken back."""
    accumulator: str
    """``module:class`` in `execnodes.kernels.aggregates` that computes it in streams."""
    spark: Callable[[SparkCall], str]
    """Spark SQL that computes it in batch."""
    folds: Callable[[SparkCall], tuple[str, ...] | None] = lambda call: None
    """Spark SQL of what it keeps of rows that are never taken back, see `native_folds`; None if Spark's is another."""

    @property
    def internal_name(self) -> str:
        """``$SUM$1``, as in plans."""
        return f"${self.name}${self.version}"


def result_alone(part: str) -> Callable[[AggregateCall, LogicalType | None, bool], Parts]:
    """The accumulator that is the result so far, NULL before the first value."""

    def keeps(call: AggregateCall, arg: LogicalType | None, retract: bool) -> Parts:
        return ((part, call.type.with_nullable(True).regular()),)

    return keeps


def same(t: LogicalType) -> LogicalType:
    """The argument's type."""
    return t


def numeric(t: LogicalType) -> bool:
    """Numbers of any type."""
    return t.root in NUMERICS


def whole(t: LogicalType) -> bool:
    """Numbers without fractions, DECIMALs apart."""
    return t.root in INTEGERS


def comparable(t: LogicalType) -> bool:
    """Types whose values have an order."""
    return t.root not in NESTED


def without_maps(t: LogicalType) -> bool:
    """Types that have no MAP or MULTISET in them: Spark compares none, so their values are keys of nothing in it."""
    inside = (*t.children, *(field.type for field in t.fields))
    return t.root not in (Root.MAP, Root.MULTISET) and all(map(without_maps, inside))


def text(t: LogicalType) -> bool:
    """CHAR and VARCHAR."""
    return t.root in TEXTS
