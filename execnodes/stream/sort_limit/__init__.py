"""stream-exec-sort-limit: 1 (since 1.3)."""

from execnodes.stream.sort_limit.v1 import SortLimit

__all__ = ["SortLimit"]
