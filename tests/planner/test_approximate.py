"""APPROX_COUNT_DISTINCT is computed exactly."""

from rekindle.api.table_environment import TableEnvironment


def test_it_is_compiled_as_the_exact_number() -> None:
    plans = []
    for call in ("APPROX_COUNT_DISTINCT(v)", "COUNT(DISTINCT v)"):
        env = TableEnvironment.create()
        env.execute_sql("CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'datagen')")
        plans.append(env.sql_query(f"SELECT k, {call} AS n FROM t GROUP BY k").compile_plan().as_json_string())
    assert plans[0] == plans[1]
