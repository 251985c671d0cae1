"""stream-exec-interval-join: 1 (since 2.4)."""

from execnodes.stream.interval_join.v1 import IntervalJoin

__all__ = ["IntervalJoin"]
