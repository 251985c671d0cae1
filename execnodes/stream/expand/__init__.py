"""stream-exec-expand: 1 (since 1.0)."""

from execnodes.stream.expand.v1 import Expand

__all__ = ["Expand"]
