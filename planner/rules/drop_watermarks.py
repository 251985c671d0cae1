"""Batch mode knows no watermarks: all rows are there, and none comes late."""

from __future__ import annotations

from planner.algebra import Logical, WatermarkAssigner
from planner.algebra.tree import Sinks, rewrite


def drop_watermarks(sinks: Sinks) -> Sinks:
    """Remove all watermark assigners; conditions can then move below them."""
    return rewrite(sinks, _drop)


def _drop(node: Logical) -> Logical:
    return node.input if isinstance(node, WatermarkAssigner) else node
