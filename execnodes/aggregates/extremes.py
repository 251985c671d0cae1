"""MIN and MAX. Where rows are taken back, all values of a group are counted, so that nothing can be merged before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.aggregates.function import AggregateFunction, comparable, result_alone, same
from execnodes.core.types import INTEGERS, INTERVALS, LONG_DIGITS, TEXTS, TIMESTAMPS, Root

if TYPE_CHECKING:
    from execnodes.aggregates.spark_call import SparkCall

_ALIKE = frozenset((*INTEGERS, *TEXTS, *TIMESTAMPS, *INTERVALS, Root.DATE, Root.TIME))
"""Types whose slots have the order of their values, in Spark as here: no NaN among them."""


def _extreme(name: str) -> AggregateFunction:
    return AggregateFunction(
        name=name,
        result=same,
        takes=comparable,
        as_it_is=True,
        merges_removals=False,
        keeps=result_alone(name.lower()),
        accumulator="extremes:Extreme",
        spark=lambda call: call.over(name.lower()),
        folds=lambda call: _folds(call, name.lower()),
    )


def _folds(call: SparkCall, function: str) -> tuple[str, ...] | None:
    arg = call.arg
    small = arg is not None and arg.root is Root.DECIMAL and arg.precision <= LONG_DIGITS
    return (call.over(function),) if arg is not None and (small or arg.root in _ALIKE) else None


EXTREMES = (_extreme("MIN"), _extreme("MAX"))
