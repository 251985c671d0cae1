"""Functions that put values in order, or join texts: what Flink refuses."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from rekindle.api.table_environment import TableEnvironment


@pytest.mark.parametrize(
    "call",
    [
        *(f"{name}(ARRAY[{member}])" for name in ("ARRAY_MIN", "ARRAY_MAX", "ARRAY_SORT")
          for member in ("ROW(1, 2)", "ARRAY[1]", "TRUE", "INTERVAL '1' DAY", "INTERVAL '1' MONTH", "MAP['a', 1]")),
        *(f"ARRAY_JOIN(ARRAY[{member}], ',')" for member in ("1", "TRUE", "DATE '2024-01-01'", "x'01'")),
        *(f"{name}({value}, {value})" for name in ("GREATEST", "LEAST") for value in ("ARRAY[1]", "ROW(1)")),
        *(f"{value} {sign} {value}" for sign in ("<", ">=") for value in ("ARRAY[1]", "ROW(1, 'a')")),
        "ARRAY[1] BETWEEN ARRAY[1] AND ARRAY[2]",
    ],
)  # fmt: skip
def test_what_has_no_order_or_is_no_text_is_refused_as_by_flink(call: str) -> None:
    with pytest.raises(SqlError, match=r"does not compare (members|values) of type|takes an ARRAY of texts"):
        TableEnvironment.create().sql_query(f"SELECT {call}").get_schema()


def test_plans_name_versions_that_were_released() -> None:
    calls = "ARRAY_MIN(ARRAY[x]), ARRAY_SORT(ARRAY[x]), ARRAY_JOIN(ARRAY[s], ','), GREATEST(x, 2), x < 1"
    query = f"SELECT {calls} FROM (VALUES (1, 'a')) AS t (x, s)"
    plan = TableEnvironment.create().compile_plan_sql(query).as_json_string()
    for name in ("ARRAY_MIN", "ARRAY_SORT", "ARRAY_JOIN", "GREATEST", "<"):
        assert f"${name}$1" in plan, name
