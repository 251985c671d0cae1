"""Which rows a function of the user sees, as texts."""

from __future__ import annotations

from execnodes.lowering.stream import ACTIVE, Branch
from rekindle.pipeline.guards import guard
from rekindle.pipeline.record import record
from tests.user_functions.test_aggregate_plans import registered

QUERY = "SELECT shout(b), c FROM (SELECT b, COUNT(*) AS c FROM t WHERE shout(b) <> 'A!' GROUP BY b) WHERE c > 1"


def test_calls_are_told_for_which_rows_they_are_meant() -> None:
    made = registered("SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE'")
    found = guard(record(made.compile_plan_sql(QUERY).graph))
    (step,) = found.steps.values()
    (above,) = found.sinks[0].rows.branches
    below: Branch = step.inputs[0].rows.branches[0]
    assert below.condition is not None
    assert "((TRUE), " in below.condition
    assert f"if(({above.condition}), " in above.columns[0]
    assert ACTIVE not in f"{above}{below}"
