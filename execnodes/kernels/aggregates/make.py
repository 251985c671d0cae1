"""From an aggregate call to its accumulator, and how it is fed."""

from __future__ import annotations

from enum import Enum
from importlib import import_module

from execnodes.aggregates import function_of, order_dependent
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates.accumulator import Accumulator
from execnodes.kernels.aggregates.collected import Collect, JsonObjectAgg
from execnodes.kernels.aggregates.extremes import Extreme
from execnodes.kernels.aggregates.percentiles import Percentile
from execnodes.kernels.aggregates.single import SingleValue


class Feed(Enum):
    """What an accumulator is made from."""

    ROWS = "rows"
    """The rows of a batch are folded and merged with what there was."""
    COUNTED = "counted"
    """All values of the group, each with how often it occurs."""
    SEQUENCED = "sequenced"
    """All values of the group in order of arrival."""


def make(call: AggregateCall, arg: LogicalType | None, retract: bool) -> Accumulator:
    """The accumulator of a call."""
    module, _, name = function_of(call.internal_name).accumulator.partition(":")
    cls: type[Accumulator] = getattr(import_module(f"{__package__}.{module}"), name)
    return cls(call, arg, retract)


def feed(accumulator: Accumulator) -> Feed:
    """How an accumulator is fed, DISTINCT apart."""
    if isinstance(accumulator, Collect | Percentile) or (isinstance(accumulator, Extreme) and accumulator.retract):
        return Feed.COUNTED
    ordered = order_dependent(accumulator.call.internal_name) and accumulator.retract
    return Feed.SEQUENCED if ordered or isinstance(accumulator, JsonObjectAgg | SingleValue) else Feed.ROWS


def by_transitions(accumulator: Accumulator) -> bool:
    """Whether DISTINCT matters to the function, so that it sees values only as they come first and go last."""
    return accumulator.call.distinct and not isinstance(accumulator, Extreme | Collect | Percentile)
