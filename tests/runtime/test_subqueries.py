"""Subqueries inside expressions in streams that are cut by a savepoint: the rows that Flink gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.testing.programs import Program
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.batch.test_subqueries import QUERIES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS: dict[str, tuple[str, str, tuple[tuple[Any, ...], ...]]] = {
    "t": ("id INT, k STRING, v INT, n INT NOT NULL", "id k v n", (
        (1, "a", 10, 1), (2, "a", None, 2), (3, "b", 30, 3), (4, "b", 30, 4), (5, "c", None, 5), (6, "c", 5, 6),
    )),
    "u": ("id INT, w INT, m INT NOT NULL", "id w m", ((1, 10, 1), (2, 20, 2), (3, None, 3), (7, 30, 7))),
}  # fmt: skip
ASKED = ("v NOT IN (SELECT w FROM u) AS", "CASE WHEN EXISTS", "v > ALL", "n <> ANY", "u.id = t.id) OR id = 6",
         "COUNT(*) >= ALL", "(SELECT u.w FROM u", "m < 0)", "v IN (SELECT w FROM u WHERE u.id = t.id) OR",
         "n NOT IN (SELECT COUNT(*) FROM u WHERE u.id", "AS id FROM u WHERE u.id = t.id)", "GROUP BY a")  # fmt: skip


@pytest.mark.spark
def test_rows_are_those_of_flink(spark: SparkSession, tmp_path: Path) -> None:
    tables = []
    for name, (declared, fields, given) in ROWS.items():
        (tmp_path / name).mkdir()
        lines = [json.dumps(dict(zip(fields.split(), row, strict=True))) for row in given]
        (tmp_path / name / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
        path = f"'connector' = 'filesystem', 'path' = '${{dir}}/{name}', 'format' = 'json'"
        tables.append(f"CREATE TABLE {name} ({declared}) WITH ({path});")
    session = TableEnvironment.create({})
    session.execute_script("\n".join(tables))
    asked = [(query, rows) for query, rows in QUERIES if any(each in query for each in ASKED)]
    assert all(any(each in query for query, _ in asked) for each in ASKED)
    sinks, inserts = [], []
    for at, (query, rows) in enumerate(asked):
        (root,) = session.compile_plan_sql(query).graph.roots()
        columns = ", ".join(f"c{i} {field.type.regular()}" for i, field in enumerate(root.output_type.fields))
        sinks.append(f"CREATE TABLE o{at} ({columns}) WITH ('connector' = 'print');")
        inserts.append(f"INSERT INTO o{at} {query};")
        (tmp_path / f"expected.o{at}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    script = [*tables, *sinks, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"]
    (tmp_path / "program.sql").write_text("\n".join(script), encoding="utf-8")
    (result,) = run_programs([Program(tmp_path, "subqueries")], Settings(parallel=1, cut=2), spark=spark)
    assert result.verdict.outcome is Outcome.PASSED, "\n".join(lines_of(result))
