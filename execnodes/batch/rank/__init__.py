"""batch-exec-rank: 1 (since 1.0)."""

from execnodes.batch.rank.v1 import BatchRank

__all__ = ["BatchRank"]
