"""stream-exec-correlate: 1 (since 1.3), 2 (since 1.4)."""

from execnodes.stream.correlate.v1 import Correlate as AnyCorrelate
from execnodes.stream.correlate.v2 import Correlate

__all__ = ["AnyCorrelate", "Correlate"]
