"""Optimized logical plan to an ExecGraph of batch nodes: a function for each logical operator, found by its class."""

from planner.lower.batch import aggregate, join, rows, sorting, sources, unsupported, window
from planner.lower.batch.context import BatchContext
from planner.lower.batch.sink import lower_sink as lower_batch_sink

__all__ = [
    "BatchContext",
    "aggregate",
    "join",
    "lower_batch_sink",
    "rows",
    "sorting",
    "sources",
    "unsupported",
    "window",
]
