"""Optimized logical plan to ExecGraph: a function for each logical operator, found by its class."""

from planner.lower import aggregate, deduplicate, join, rows, sources, unsupported, window
from planner.lower.pipeline import lower

__all__ = ["aggregate", "deduplicate", "join", "lower", "rows", "sources", "unsupported", "window"]
