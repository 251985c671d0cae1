"""stream-exec-temporal-sort: 1 (since 1.3)."""

from execnodes.stream.temporal_sort.v1 import TemporalSort

__all__ = ["TemporalSort"]
