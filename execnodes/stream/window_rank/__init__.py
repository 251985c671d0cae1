"""stream-exec-window-rank: 1 (since 1.3)."""

from execnodes.stream.window_rank.v1 import WindowRank

__all__ = ["WindowRank"]
