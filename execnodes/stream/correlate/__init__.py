"""stream-exec-correlate: 1 (since 1.3)."""

from execnodes.stream.correlate.v1 import Correlate

__all__ = ["Correlate"]
