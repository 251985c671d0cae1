"""stream-exec-join: 1 (since 1.0)."""

from execnodes.stream.join.v1 import Join

__all__ = ["Join"]
