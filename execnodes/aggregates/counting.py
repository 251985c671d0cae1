"""COUNT of rows, or of values that are not NULL."""

from __future__ import annotations

from execnodes.aggregates.function import AggregateFunction
from execnodes.core.types import BIGINT

COUNT = AggregateFunction(
    name="COUNT",
    result=lambda t: BIGINT,
    least=0,
    nullable=False,
    hint="Count a ROW of the columns instead.",
    keeps=lambda call, arg, retract: (("count", BIGINT),),
    accumulator="counting:Count",
    spark=lambda call: call.over("count"),
    folds=lambda call: (call.over("count"),),
)
