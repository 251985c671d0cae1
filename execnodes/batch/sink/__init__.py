"""batch-exec-sink: 1 (since 1.0)."""

from execnodes.batch.sink.v1 import BatchSink, DynamicTableSink

__all__ = ["BatchSink", "DynamicTableSink"]
