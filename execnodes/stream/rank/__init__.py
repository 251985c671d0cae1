"""stream-exec-rank: 1 (since 1.3)."""

from execnodes.stream.rank.v1 import Rank

__all__ = ["Rank"]
