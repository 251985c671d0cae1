"""stream-exec-deduplicate: 1 (since 1.0)."""

from execnodes.stream.deduplicate.v1 import Deduplicate

__all__ = ["Deduplicate"]
