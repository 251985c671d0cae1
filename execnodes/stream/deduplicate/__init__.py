"""stream-exec-deduplicate: 1 (since 1.0), 2 (since 1.1)."""

from execnodes.stream.deduplicate.v2 import Deduplicate

__all__ = ["Deduplicate"]
