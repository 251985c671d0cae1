"""Kernel of stream-exec-limit: a Top-N without partition."""

from __future__ import annotations

from execnodes.stream.rank.v1_kernel import TopN


class FirstRows(TopN):
    """The first rows to arrive."""
