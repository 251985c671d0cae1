"""stream-exec-limit: 1 (since 1.3)."""

from execnodes.stream.limit.v1 import Limit

__all__ = ["Limit"]
