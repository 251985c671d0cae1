"""stream-exec-window-join: 1 (since 2.3)."""

from execnodes.stream.window_join.v1 import WindowJoin

__all__ = ["WindowJoin"]
