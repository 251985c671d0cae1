"""stream-exec-sink: 1 (since 1.0)."""

from execnodes.stream.sink.v1 import DynamicTableSink, Sink

__all__ = ["DynamicTableSink", "Sink"]
