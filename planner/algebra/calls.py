"""Aggregate calls over columns that move."""

from __future__ import annotations

from collections.abc import Iterable

from execnodes.core.expressions import AggregateCall
from planner.algebra.relation import Places


def columns_read(calls: Iterable[AggregateCall]) -> set[int]:
    """Input columns of arguments and filters."""
    return {at for call in calls for at in (*call.arg_list, call.filter_arg) if at >= 0}


def moved(calls: Iterable[AggregateCall], places: Places) -> tuple[AggregateCall, ...]:
    """The calls over an input whose columns stand elsewhere."""
    return tuple(
        call.model_copy(
            update={
                "arg_list": tuple(places[each] for each in call.arg_list),
                "filter_arg": places[call.filter_arg] if call.filter_arg >= 0 else -1,
            }
        )
        for call in calls
    )
