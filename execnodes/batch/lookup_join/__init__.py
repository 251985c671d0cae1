"""batch-exec-lookup-join: 1 (since 2.3)."""

from execnodes.batch.lookup_join.v1 import BatchLookupJoin

__all__ = ["BatchLookupJoin"]
