"""Types of expressions are those of Flink, nullability included."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rekindle.api.table_environment import TableEnvironment
from tests.functions.flink import NESTED, NESTED_ROWS, RESULTS, ROWS, Result


@pytest.mark.parametrize(("rows", "results"), [(ROWS, RESULTS), (NESTED_ROWS, NESTED)], ids=["single", "nested"])
def test_types_are_those_of_flink(rows: str, results: Sequence[Result]) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"})
    env.execute_sql(rows)
    wrong = {}
    for each in results:
        (made,) = env.sql_query(f"SELECT {each.expression} FROM T").get_resolved_schema().get_column_data_types()
        if str(made).replace("`", "") != each.type.replace("`", ""):
            wrong[each.expression] = f"{made}, Flink {each.type}"
    assert wrong == {}
