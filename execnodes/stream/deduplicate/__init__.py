"""stream-exec-deduplicate: 1 (since 1.0), 2 (since 1.1), 3 (since 1.3)."""

from execnodes.stream.deduplicate.v3 import Deduplicate

__all__ = ["Deduplicate"]
