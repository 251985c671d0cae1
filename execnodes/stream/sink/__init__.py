"""stream-exec-sink: 1 (since 1.0), 2 (since 1.3)."""

from execnodes.stream.sink.v1 import DynamicTableSink
from execnodes.stream.sink.v2 import Sink

__all__ = ["DynamicTableSink", "Sink"]
