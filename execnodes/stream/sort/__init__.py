"""stream-exec-sort: 1 (since 1.3)."""

from execnodes.stream.sort.v1 import Sort

__all__ = ["Sort"]
