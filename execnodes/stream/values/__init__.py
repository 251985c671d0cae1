"""stream-exec-values: 1 (since 1.0)."""

from execnodes.stream.values.v1 import Values

__all__ = ["Values"]
