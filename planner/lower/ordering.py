"""ORDER BY as plans and descriptions have it."""

from __future__ import annotations

from execnodes.core.sort_spec import SortField, SortSpec
from planner.algebra import SortKey
from planner.lower.describe import listed


def sort_spec(order: tuple[SortKey, ...]) -> SortSpec:
    """The columns by weight."""
    fields = (SortField(index=k.index, is_ascending=k.ascending, null_is_last=k.nulls_last) for k in order)
    return SortSpec(fields=tuple(fields))


def shown(order: tuple[SortKey, ...], names: tuple[str, ...]) -> str:
    """``[v DESC, k ASC]``."""
    return listed(f"{names[key.index]} {'ASC' if key.ascending else 'DESC'}" for key in order)
