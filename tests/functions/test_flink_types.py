"""Types of expressions are those of Flink, nullability included."""

from __future__ import annotations

from rekindle.api.table_environment import TableEnvironment
from tests.functions.flink import RESULTS, ROWS


def test_types_are_those_of_flink() -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"})
    env.execute_sql(ROWS)
    wrong = {}
    for each in RESULTS:
        (made,) = env.sql_query(f"SELECT {each.expression} FROM T").get_resolved_schema().get_column_data_types()
        if str(made).replace("`", "") != each.type.replace("`", ""):
            wrong[each.expression] = f"{made}, Flink {each.type}"
    assert wrong == {}
