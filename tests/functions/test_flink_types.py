"""Types of expressions are those of Flink, nullability included."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from execnodes.core.errors import SqlError
from rekindle.api.table_environment import TableEnvironment
from tests.functions.flink import NESTED, NESTED_ROWS, RESULTS, ROWS, TYPED_COLUMNS, TYPES, Result


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


def test_types_over_columns_of_all_types_are_those_of_flink() -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"})
    env.execute_sql(TYPED_COLUMNS)
    expressions = [expression for expression, _ in TYPES]
    found = dict(zip(expressions, _infer_types(env, expressions), strict=True))
    assert {each: (found[each], t) for each, t in TYPES if found[each] != t} == {}


def _infer_types(env: TableEnvironment, expressions: Sequence[str]) -> list[str]:
    """Types of expressions, a hundred in a query."""
    found: list[str] = []
    for start in range(0, len(expressions), 100):
        columns = ", ".join(expressions[start : start + 100])
        schema = env.sql_query(f"SELECT {columns} FROM T").get_resolved_schema()
        found += [str(each) for each in schema.get_column_data_types()]
    return found


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("ARRAY_CONTAINS(ARRAY[1], 4294967297)", "BIGINT NOT NULL cannot be converted to INT NOT NULL implicitly"),
        ("ARRAY_APPEND(ARRAY[1], 1.25)", r"DECIMAL\(3, 2\) NOT NULL cannot be converted to INT NOT NULL"),
        (
            "ARRAY_PREPEND(ARRAY[CAST('a' AS CHAR(2))], CAST('abcd' AS STRING))",
            "STRING NOT NULL cannot be converted to CHAR",
        ),
        ("ARRAY_REMOVE(ARRAY[CAST(1 AS FLOAT)], 1e0)", "DOUBLE NOT NULL cannot be converted to FLOAT NOT NULL"),
        ("ARRAY_POSITION(ARRAY[TIMESTAMP '2020-01-01 00:00:00'], DATE '2020-01-01')", "DATE NOT NULL cannot be"),
        ("ARRAY_APPEND(ARRAY[ARRAY[1]], ARRAY[CAST(NULL AS INT)])", "ARRAY<INT> NOT NULL cannot be converted"),
    ],
)
def test_members_that_the_type_of_an_array_does_not_hold_are_refused(call: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as raised:
        TableEnvironment.create().sql_query(f"SELECT {call}").get_schema()
    assert raised.value.position is not None
