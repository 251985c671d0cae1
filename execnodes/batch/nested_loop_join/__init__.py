"""batch-exec-nested-loop-join: 1 (since 1.0)."""

from execnodes.batch.nested_loop_join.v1 import BatchNestedLoopJoin

__all__ = ["BatchNestedLoopJoin"]
