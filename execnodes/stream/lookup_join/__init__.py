"""stream-exec-lookup-join: 1 (since 2.3)."""

from execnodes.stream.lookup_join.v1 import LookupJoin

__all__ = ["LookupJoin"]
