"""Kernel of stream-exec-window-deduplicate: a Top-1 by time within windows."""

from __future__ import annotations

from execnodes.core.sort_spec import SortField, SortSpec
from execnodes.core.windowing import Windowing
from execnodes.state.kernel_types import Column
from execnodes.stream.window_rank.v1_kernel import WindowTopN


class OneOfWindow(WindowTopN):
    """The first or last row of each key and window; of equal times the last to come is the last."""

    def __init__(
        self,
        uid: str,
        state: str,
        columns: tuple[Column, ...],
        *,
        keys: tuple[int, ...],
        time: int,
        keep_last: bool,
        windowing: Windowing,
        zone: str,
    ) -> None:
        """`state`: its name; `keys`, `time`: indexes of columns."""
        super().__init__(
            uid,
            columns,
            state=state,
            partition=keys,
            order=SortSpec(fields=(SortField(index=time, is_ascending=not keep_last, null_is_last=keep_last),)),
            start=1,
            end=1,
            number=None,
            windowing=windowing,
            zone=zone,
            latest_first=keep_last,
        )
