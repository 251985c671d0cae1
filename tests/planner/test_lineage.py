"""Which columns of tables feed the columns of sinks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from planner.algebra.lineage import Lineage
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main

TABLES = """
CREATE TABLE o (id INT, amount INT, price INT, tags ARRAY<STRING>, c INT, ts TIMESTAMP(3), total AS amount * price,
  WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE r (c INT, name STRING) WITH ('connector' = 'datagen');
CREATE TABLE s (a STRING, b BIGINT) WITH ('connector' = 'print');
CREATE VIEW v AS SELECT c AS k, total AS t FROM o WHERE id > 0;
"""


def short(sources: tuple[str, ...]) -> str:
    return " ".join(each.removeprefix("default_catalog.default_database.") for each in sources)


def of(query: str) -> Lineage:
    (found,) = TableEnvironment.create().lineage_of_script(TABLES + query)
    return found


@pytest.mark.parametrize(
    ("query", "columns", "rows"),
    [
        ("SELECT name, c FROM r", ["r.name", "r.c"], ""),
        ("SELECT 'x', 1", ["", ""], ""),
        ("SELECT CAST(k AS STRING), t FROM v", ["o.c", "o.amount o.price"], "o.id"),
        ("SELECT r.name, SUM(o.total) FROM o JOIN r ON o.c = r.c GROUP BY r.name", ["r.name", "o.amount o.price"],
         "o.c r.c r.name"),
        ("SELECT name, COUNT(*) FROM r GROUP BY name", ["r.name", ""], "r.name"),
        ("SELECT name, c FROM r UNION ALL SELECT 'x', id FROM o", ["r.name", "o.id r.c"], ""),
        ("SELECT name, c FROM r UNION SELECT 'x', id FROM o", ["r.name", "o.id r.c"], "o.id r.c r.name"),
        ("SELECT name, c FROM r WHERE c IN (SELECT id FROM o WHERE price > 1)", ["r.name", "r.c"], "o.id o.price r.c"),
        ("SELECT t, c FROM o CROSS JOIN UNNEST(tags) AS x (t)", ["o.tags", "o.c"], ""),
        ("SELECT CAST(window_start AS STRING), SUM(amount) FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), "
         "INTERVAL '1' MINUTE)) GROUP BY window_start, window_end", ["o.ts", "o.amount"], "o.ts"),
        ("SELECT name, n FROM (SELECT name, ROW_NUMBER() OVER (PARTITION BY c ORDER BY name) AS n FROM r) WHERE n < 3",
         ["r.name", "r.c r.name"], "r.c r.name"),
        ("SELECT name, c FROM r ORDER BY c LIMIT 3", ["r.name", "r.c"], "r.c"),
    ],
)  # fmt: skip
def test_lineage(query: str, columns: list[str], rows: str) -> None:
    found = of(f"INSERT INTO s {query}")
    assert [short(sources) for _, sources in found.columns] == columns
    assert short(found.rows) == rows
    assert [name for name, _ in found.columns] == ["a", "b"]


def test_a_query_alone() -> None:
    found = of("SELECT name AS n FROM r")
    assert found.sink == "the query's result"
    assert [(name, short(sources)) for name, sources in found.columns] == [("n", "r.name")]


def test_explain_shows_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "x.sql").write_text(TABLES + "INSERT INTO s SELECT name, c + 1 FROM r WHERE c > 2")
    monkeypatch.setattr(sys, "argv", ["rekindle", "explain", "--lineage", "-f", str(tmp_path / "x.sql")])
    with pytest.raises(SystemExit):
        main.run()
    table = "default_catalog.default_database."
    assert capsys.readouterr().out == f"{table}s\n  a <- {table}r.name\n  b <- {table}r.c\n  rows: {table}r.c\n"
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--json"])
    with pytest.raises(SystemExit):
        main.run()
    (found,) = json.loads(capsys.readouterr().out)
    assert found == {"sink": f"{table}s", "columns": {"a": [f"{table}r.name"], "b": [f"{table}r.c"]},
                     "rows": [f"{table}r.c"]}  # fmt: skip
