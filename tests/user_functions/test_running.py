"""Functions of the user in running jobs, streaming and batch."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.changelog import RowKind
from execnodes.core.errors import JobError
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.functions import functions_of_spark
from rekindle.spark.session import prepare
from rekindle.udf import AggregateFunction, udf
from tests.user_functions import examples

pytestmark = pytest.mark.spark
ROWS = [(0, None), (1, "x"), (2, "y"), (5, "z")]


class FailingAggregate(AggregateFunction):
    """Fails for any row."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], value: int) -> None:
        accumulator.append(value // 0)

    def get_value(self, accumulator: list[int]) -> int:
        return len(accumulator)


@pytest.fixture(params=["streaming", "batch"])
def environment(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> TableEnvironment:
    """A table t of four rows, and the functions of `examples`."""
    made = TableEnvironment.create({"execution.runtime-mode": request.param}, spark=spark)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "rows.json").write_text("".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in ROWS))
    made.execute_sql(
        f"CREATE TABLE t (a INT, b STRING) WITH ('connector'='filesystem','path'='{folder}','format'='json')"
    )
    made.execute_sql(f"CREATE FUNCTION divide AS '{examples.__name__}:Divide' LANGUAGE PYTHON")
    for name in ("point", "shout", "plus", "or_else"):
        made.create_temporary_function(name, getattr(examples, name))
    return made


def rows(made: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted(row for _, row in made.execute_sql(query).collect_changes())


def test_in_projections_filters_and_joins(environment: TableEnvironment) -> None:
    # The filter stands before the projection: the function must not see the row with 0.
    found = rows(
        environment,
        "SELECT divide(x.a), point(x.a, x.b).label, shout(or_else(y.b, 'none')) "
        "FROM t AS x JOIN t AS y ON plus(x.a, 1) = y.a AND plus(x.a, y.a) < 100 WHERE x.a <> 0",
    )
    assert found == [(1000, "x", "Y!")]


TABLES: dict[str, list[tuple[object, ...]]] = {
    "SELECT x.a, w, l FROM t AS x, LATERAL TABLE(words(REPEAT(b || ' ', x.a))) AS r (w, l)": [
        (1, "x", 1), (2, "y", 1), (2, "y", 1), *[(5, "z", 1)] * 5,
    ],
    "SELECT a, w, p FROM t LEFT JOIN LATERAL TABLE(words(b)) AS r (w, l) ON TRUE "
    "LEFT JOIN LATERAL TABLE(pieces(w || shout(w))) AS q (p) ON TRUE WHERE a < 2": [
        (0, None, None), (1, "x", "x"), (1, "x", "X"), (1, "x", "!"),
    ],
    "SELECT n, w, CAST(NULL AS STRING) FROM (SELECT w, COUNT(*) AS n FROM t LEFT JOIN LATERAL TABLE(words('a b')) "
    "AS r (w, l) ON TRUE GROUP BY w)": [
        (4, "a", None), (4, "b", None),
    ],
    # The filter stands before the function, also where another one reads the same rows.
    "SELECT a, f0, CAST(NULL AS STRING) FROM t, LATERAL TABLE(thousandth(a)) AS r WHERE a > 1": [
        (2, 500, None), (5, 200, None),
    ],
    "SELECT f1, f0, CAST(NULL AS STRING) FROM TABLE(words('it is'))": [(2, "it", None), (2, "is", None)],
}  # fmt: skip


def test_table_functions(environment: TableEnvironment) -> None:
    """All queries as one: each row of the table goes all the ways."""
    parts = [
        f"SELECT {at}, CAST(x AS STRING), CAST(y AS STRING), CAST(z AS STRING) FROM ({query}) AS d (x, y, z)"
        for at, query in enumerate(TABLES)
    ]
    for name in ("words", "thousandth"):
        environment.create_temporary_function(name, getattr(examples, name))
    environment.create_temporary_function("pieces", examples.Pieces)
    expected = [
        (at, *(None if cell is None else str(cell) for cell in row))
        for at, given in enumerate(TABLES.values())
        for row in given
    ]
    assert sorted(final(environment, " UNION ALL ".join(parts)), key=repr) == sorted(expected, key=repr)


def final(made: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    """The rows that are left when all changes are applied."""
    left: Counter[tuple[Any, ...]] = Counter()
    for kind, row in made.execute_sql(query).collect_changes():
        left[row] += 1 if kind in (RowKind.INSERT, RowKind.UPDATE_AFTER) else -1
    return list(left.elements())


AGGREGATES: dict[str, list[tuple[str | None, ...]]] = {
    "SELECT a > 1, latest(b), mean(a, 2), spread(a) FROM t GROUP BY a > 1": [
        ("FALSE", "[NULL, x]", "0.5", "1"), ("TRUE", "[y, z]", "3.5", "3"),
    ],
    # Those of the system beside them, FILTER and DISTINCT.
    "SELECT SUM(a), latest(DISTINCT SUBSTRING(b, 1, 0)), mean(a, 1) FILTER (WHERE b <> 'z'), "
    "spread(a) FILTER (WHERE a > 9) FROM t": [
        ("8", "[NULL, ]", "1.5", None),
    ],
    "SELECT a, latest(b), mean(a, 1), spread(a) FROM t WHERE a < 2 GROUP BY GROUPING SETS ((a), ())": [
        (None, "[NULL, x]", "0.5", "1"), ("0", "[NULL]", "0.0", "0"), ("1", "[x]", "1.0", "0"),
    ],
    "SELECT EXTRACT(DAY FROM window_start), latest(b), mean(a, 1), COUNT(*) "
    "FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '2' DAY)) GROUP BY window_start, window_end": [
        ("1", "[NULL, x]", "0.5", "2"), ("3", "[y]", "2.0", "1"), ("5", "[z]", "5.0", "1"),
    ],
}  # fmt: skip


def test_aggregate_functions(environment: TableEnvironment) -> None:
    """All queries as one."""
    for name, function in {"latest": "Latest", "mean": "WeightedMean", "spread": "Spread"}.items():
        environment.create_temporary_function(name, getattr(examples, function))
    environment.execute_sql(
        "CREATE TABLE e (ts AS TIMESTAMPADD(DAY, a, TIMESTAMP '2020-01-01 00:00:00.000'), WATERMARK FOR ts AS ts) "
        "LIKE t (OVERWRITING WATERMARKS)"
    )
    parts = [
        f"SELECT {at}, {', '.join(f'CAST({each} AS STRING)' for each in 'wxyz')} FROM ({query}) AS d (w, x, y, z)"
        for at, query in enumerate(AGGREGATES)
    ]
    expected = [(at, *row) for at, given in enumerate(AGGREGATES.values()) for row in given]
    assert sorted(final(environment, " UNION ALL ".join(parts)), key=repr) == sorted(expected, key=repr)


def test_an_aggregate_function_over_nothing_in_batch(spark: Any) -> None:
    made = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    made.create_temporary_function("latest", examples.Latest)
    made.create_temporary_function("mean", examples.WeightedMean)
    query = "SELECT latest(s), mean(v, 1), COUNT(*) FROM (VALUES ('a', 1)) AS t (s, v) WHERE v > 1"
    assert [row for _, row in made.execute_sql(query).collect_changes()] == [([], None, 0)]


def test_a_failing_aggregate_function_names_its_place(environment: TableEnvironment) -> None:
    environment.create_temporary_function("failing", FailingAggregate)
    with pytest.raises(JobError, match=r"function failing failed for \(1\): ZeroDivisionError.*") as caught:
        final(environment, "SELECT a,\n  failing(a) FROM t WHERE a = 1 GROUP BY a")
    assert "line 2, column 3" in str(caught.value)


def test_a_failing_table_function_names_its_place(environment: TableEnvironment) -> None:
    environment.create_temporary_function("thousandth", examples.thousandth)
    with pytest.raises(JobError, match=r"function thousandth failed for \(0\): ZeroDivisionError.*") as caught:
        rows(environment, "SELECT f0 FROM t,\n  LATERAL TABLE(thousandth(a))")
    assert "line 2, column 17" in str(caught.value)


def test_a_failure_names_the_function_and_the_row(environment: TableEnvironment) -> None:
    with pytest.raises(JobError, match=r"function divide failed for \(0\): ZeroDivisionError"):
        rows(environment, "SELECT divide(a) FROM t")


def test_types_of_columns(environment: TableEnvironment) -> None:
    for name in ("kinds", "at_noon"):
        environment.create_temporary_function(name, getattr(examples, name))
    texts = ", ".join(f"CAST({each} AS STRING)" for each in ("i", "t", "d", "m['of']", "l > INTERVAL '1' DAY"))
    found = rows(
        environment,
        f"SELECT {texts}, CAST(at_noon(a) AS STRING) FROM t, LATERAL TABLE(kinds(a)) AS r (i, t, d, m, l) WHERE a = 2",
    )
    assert found == [
        ("2020-01-02 00:00:00.000", "02:00:00.0", "2.00", "2", "TRUE", "2020-01-02 12:00:00.000"),
    ]


def test_functions_that_wait(environment: TableEnvironment) -> None:
    """Beside others, inside others, and in filters."""
    environment.create_temporary_function("asked", examples.asked)
    found = rows(
        environment,
        "SELECT a, asked(a), shout(CAST(asked(a + 1) AS STRING)) FROM t "
        "WHERE asked(a) IS NULL OR plus(asked(a), 0) > 1",
    )
    assert found == [(1, None, "3!"), (2, 3, "4!"), (5, 6, "7!")]


def test_a_function_that_waits_in_vain(environment: TableEnvironment) -> None:
    config = environment.get_config()
    config.set("table.exec.async-scalar.max-attempts", "2")
    config.set("table.exec.async-scalar.retry-delay", "1 ms")
    environment.create_temporary_function("refuses", examples.refuses)
    with pytest.raises(JobError, match=r"refuses failed for \(5\): OSError: no \(after 3 attempts\)") as caught:
        rows(environment, "SELECT a\n FROM t WHERE refuses(a) > 0")
    assert "line 2, column 15" in str(caught.value)


def test_jobs_whose_functions_only_have_the_same_name_do_not_share_a_session(spark: Any) -> None:
    def called(add: int) -> Any:
        made = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
        made.create_temporary_function("f", udf(lambda v: v + add, input_types=["INT"], result_type="INT"))
        graph = made.compile_plan_sql("SELECT f(v) FROM (VALUES 1, 2) AS t (v)").graph
        return functions_of_spark(graph, made.functions_of(graph))

    one, other = called(1), called(2)
    assert one.keys() == other.keys()
    first = prepare(spark, 1, {}, one)
    assert prepare(spark, 1, {}, other) is not first
    assert prepare(spark, 1, {}, called(1)) is first
    assert prepare(spark, 1, {}) is first


def test_two_sinks_call_only_for_their_rows(environment: TableEnvironment, tmp_path: Path) -> None:
    for name in ("one", "two"):
        environment.execute_sql(
            f"CREATE TABLE {name} (v BIGINT) WITH ('connector'='filesystem','path'='{tmp_path / name}','format'='json')"
        )
    environment.execute_script(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO one SELECT divide(a) FROM t WHERE a <> 0; "
        "INSERT INTO two SELECT plus(a, 1) FROM t; END"
    )
    written = {
        name: sorted(
            json.loads(line)["v"] for file in (tmp_path / name).rglob("part*") for line in file.read_text().splitlines()
        )
        for name in ("one", "two")
    }
    assert written == {"one": [200, 500, 1000], "two": [1, 2, 3, 6]}
