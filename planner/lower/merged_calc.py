"""Projections and filters on top of each other as the one Calc that Flink makes of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from execnodes.core.expressions import Expression, InputRef, input_indexes, walk
from planner.algebra import Filter, Logical, Project
from planner.algebra.predicates import conjuncts
from planner.lower.varying_calls import VaryingCall, varying_calls


@dataclass(frozen=True, slots=True)
class Computed:
    """What a value is computed by and from."""

    calls: tuple[VaryingCall, ...]
    """Those that may give another value when they are computed again."""
    reads: frozenset[int]
    """Columns of the source."""


@dataclass(frozen=True, slots=True)
class MergedCalc:
    """Columns over those of a source, of rows that meet conditions."""

    source: Logical
    columns: tuple[Computed, ...]
    conditions: tuple[Computed, ...]


def merge_calc(node: Project | Filter) -> MergedCalc:
    """The operator, with those below it that Flink merges into it: where what varies is read once at most."""
    chain: list[Project | Filter] = [node]
    while isinstance(chain[-1].input, Project | Filter) and _merges(chain, chain[-1].input):
        chain.append(chain[-1].input)
    source = chain[-1].input
    columns = [Computed((), frozenset({at})) for at in range(len(source.type.fields))]
    conditions: list[Computed] = []
    for each in reversed(chain):
        if isinstance(each, Project):
            columns = [_compute(expression, columns) for expression in each.expressions]
        else:
            conditions = [*(_compute(part, columns) for part in conjuncts(each.condition)), *conditions]
    return MergedCalc(source, tuple(columns), tuple(conditions))


def _merges(chain: list[Project | Filter], below: Project | Filter) -> bool:
    """Filters right above a projection read it, too, and its readers are those of the projection above them."""
    if isinstance(below, Filter):
        return True
    readers: list[Expression] = []
    for each in reversed(chain):
        if isinstance(each, Project):
            readers += each.expressions
            break
        readers.append(each.condition)
    else:
        readers += [InputRef(input_index=at, type=field.type) for at, field in enumerate(below.type.fields)]
    uses = Counter(each.input_index for one in readers for each in walk(one) if isinstance(each, InputRef))
    return all(uses[at] <= 1 or not varying_calls(each) for at, each in enumerate(below.expressions))


def _compute(expression: Expression, columns: list[Computed]) -> Computed:
    below = [columns[at] for at in sorted(input_indexes(expression))]
    calls = (*varying_calls(expression), *(call for each in below for call in each.calls))
    return Computed(calls, frozenset[int]().union(*(each.reads for each in below)))
