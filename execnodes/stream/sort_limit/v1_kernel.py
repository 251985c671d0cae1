"""Kernel of stream-exec-sort-limit: a Top-N without partition."""

from __future__ import annotations

from execnodes.stream.rank.v1_kernel import TopN


class BestRows(TopN):
    """The first rows in an order."""
