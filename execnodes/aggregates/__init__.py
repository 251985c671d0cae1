"""Aggregate functions: a family a module, in all versions, and what finds them.

The list: `counting`, `sums`, `extremes`, `arrival`, `lists`, `json_texts`, `percentiles`, `single`, `variance`.
`function` says what a function tells of itself; `registry` finds it, `resolving` gives a call its type,
`state_columns` the accumulators that it keeps, `spark_text` the SQL that computes it in batch or folds rows of streams,
from the parts of `spark_call`; what does in streams stands in `execnodes.kernels.aggregates`.
"""

from execnodes.aggregates.lists import SEPARATOR
from execnodes.aggregates.percentiles import PERCENTAGE
from execnodes.aggregates.registry import (
    BY_INTERNAL_NAME,
    FUNCTIONS,
    WINDOW_FUNCTIONS,
    can_fail,
    function_of,
    is_aggregate,
    mergeable,
    order_dependent,
)
from execnodes.aggregates.resolving import resolve
from execnodes.aggregates.state_columns import (
    RECORD_COUNT,
    accumulator_columns,
    accumulators,
    all_mergeable,
    argument,
    problem,
)

__all__ = [
    "BY_INTERNAL_NAME",
    "FUNCTIONS",
    "PERCENTAGE",
    "RECORD_COUNT",
    "SEPARATOR",
    "WINDOW_FUNCTIONS",
    "accumulator_columns",
    "accumulators",
    "all_mergeable",
    "argument",
    "can_fail",
    "function_of",
    "is_aggregate",
    "mergeable",
    "order_dependent",
    "problem",
    "resolve",
]
