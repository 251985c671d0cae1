"""stream-exec-temporal-join: 1 (since 2.5)."""

from execnodes.stream.temporal_join.v1 import TemporalJoin

__all__ = ["TemporalJoin"]
