"""stream-exec-match: 1 (since 2.5)."""

from execnodes.stream.match.v1 import Match

__all__ = ["Match"]
