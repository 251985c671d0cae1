"""MIN and MAX. Where rows are taken back, all values of a group are counted, so that nothing can be merged before."""

from __future__ import annotations

from execnodes.aggregates.function import AggregateFunction, comparable, result_alone, same


def _extreme(name: str) -> AggregateFunction:
    return AggregateFunction(
        name=name,
        result=same,
        takes=comparable,
        as_it_is=True,
        merges_removals=False,
        keeps=result_alone(name.lower()),
        accumulator="extremes:Extreme",
        spark=lambda call: call.over(name.lower()),
    )


EXTREMES = (_extreme("MIN"), _extreme("MAX"))
