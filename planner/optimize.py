"""Logical plan to a logical plan that runs better and means the same."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from planner.algebra import Sink
from planner.limits import check_plan
from planner.rules import BATCH_PHASES, PHASES, rules
from planner.rules.normalize_changelog import normalize_changelog
from planner.rules.replace_first_rows import first_rows_waited, replace_first_rows


def optimize(
    sinks: Sequence[Sink], configuration: Configuration | None = None, old: ExecGraph | None = None
) -> tuple[Sink, ...]:
    """All sinks of a pipeline together, so that they can share; SqlError for what no rule can express.

    `old`: the plan that this one is to go on from.
    """
    options = configuration or Configuration()
    batch = options.get_option("execution.runtime-mode") == "batch"
    plan = tuple(sinks)
    check_plan(plan)
    if not batch:
        plan = normalize_changelog(plan, options.flag("table.exec.source.cdc-events-duplicate"))
    for rule in rules(BATCH_PHASES if batch else PHASES):
        plan = rule(plan)
    if not batch and options.flag("table.exec.mini-batch.enabled") and not (old is not None and first_rows_waited(old)):
        plan = replace_first_rows(plan)
    check_plan(plan)
    return plan
