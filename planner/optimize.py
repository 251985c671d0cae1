"""Logical plan to a logical plan that runs better and means the same."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.options import Configuration
from planner.algebra import Sink
from planner.limits import check_plan
from planner.rules import BATCH_PHASES, PHASES, rules
from planner.rules.normalize_changelog import normalize_changelog
from planner.rules.replace_first_rows import replace_first_rows


def optimize(
    sinks: Sequence[Sink], configuration: Configuration | None = None, *, first_rows_wait: bool = False
) -> tuple[Sink, ...]:
    """All sinks of a pipeline together, so that they can share; SqlError for what no rule can express.

    `first_rows_wait`: for the watermark, in mini-batches too.
    """
    options = configuration or Configuration()
    batch = options.get_option("execution.runtime-mode") == "batch"
    plan = tuple(sinks)
    check_plan(plan)
    if not batch:
        plan = normalize_changelog(plan, options.flag("table.exec.source.cdc-events-duplicate"))
    for rule in rules(BATCH_PHASES if batch else PHASES, options):
        plan = rule(plan)
    if not batch and options.flag("table.exec.mini-batch.enabled") and not first_rows_wait:
        plan = replace_first_rows(plan)
    check_plan(plan)
    return plan
