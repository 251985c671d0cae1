"""Compiles the queries of a change."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from plans.compatibility.compare import Comparison
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from tests.evolution.matrix import TABLES

ALLOW = {"table.plan.evolution.consent": "allow"}


def compiled(query: str, origin: CompiledPlan | None = None, folder: Path = Path("/nowhere")) -> CompiledPlan:
    """A query's plan; EvolutionError if it is incompatible with `origin`."""
    script = TABLES.replace("${dir}", str(folder)) + query
    return TableEnvironment.create(ALLOW).compile_script(script, from_plan=origin)


def fates(comparison: Comparison) -> tuple[str, ...]:
    """As `Change.fates` has them."""
    operators = Counter(each.uid for each in comparison.judgements)
    found = []
    for each in comparison.judgements:
        kind = each.uid.partition("_")[2]
        several = operators[each.uid] > 1 and not each.state.endswith("AggregateState")
        found.append(f"{each.fate} {each.state if several else kind}")
    return tuple(found)
