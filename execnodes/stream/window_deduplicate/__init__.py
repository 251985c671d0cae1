"""stream-exec-window-deduplicate: 1 (since 1.3)."""

from execnodes.stream.window_deduplicate.v1 import WindowDeduplicate

__all__ = ["WindowDeduplicate"]
