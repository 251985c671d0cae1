"""Optimized logical plan to an ExecGraph of batch nodes: a function for each logical operator, found by its class."""

from planner.lower.batch import aggregate, join, rows, sorting, sources, unsupported, window
from planner.lower.batch.pipeline import lower_batch

__all__ = ["aggregate", "join", "lower_batch", "rows", "sorting", "sources", "unsupported", "window"]
