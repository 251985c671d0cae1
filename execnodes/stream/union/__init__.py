"""stream-exec-union: 1 (since 1.0)."""

from execnodes.stream.union.v1 import Union

__all__ = ["Union"]
