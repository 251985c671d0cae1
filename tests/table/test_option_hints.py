"""OPTIONS hints reach the run, whatever a plan keeps of its tables."""

from __future__ import annotations

import pytest

from execnodes.core.errors import PlanError
from plans.format.node_tables import tables_of
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan


@pytest.mark.parametrize("temporary", ["", "TEMPORARY "])
@pytest.mark.parametrize("objects", ["ALL", "SCHEMA", "IDENTIFIER"])
def test_hints_are_in_every_plan(temporary: str, objects: str) -> None:
    env = TableEnvironment.create({"table.plan.compile.catalog-objects": objects})
    env.execute_sql(f"CREATE {temporary}TABLE t (k INT) WITH ('connector' = 'datagen', 'number-of-rows' = '9')")
    plan = env.compile_plan_sql("SELECT k FROM t /*+ OPTIONS('number-of-rows' = '3') */")
    (table,) = tables_of(env.resolved(CompiledPlan.from_json_string(plan.as_json_string())).nodes[0])
    assert table.resolved_table is not None
    assert table.resolved_table.options == {"connector": "datagen", "number-of-rows": "3"}


def test_secrets_in_hints_are_refused() -> None:
    env = TableEnvironment.create({"table.plan.compile.catalog-objects": "IDENTIFIER"})
    env.execute_sql("CREATE TABLE t (k INT) WITH ('connector' = 'spark', 'spark.format' = 'rate')")
    with pytest.raises(PlanError, match="secret"):
        env.compile_plan_sql("SELECT k FROM t /*+ OPTIONS('spark.options.password' = 'x') */")
