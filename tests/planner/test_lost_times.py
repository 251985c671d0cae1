"""What ended a time attribute is named where one is required."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from rekindle.api.table_environment import TableEnvironment

TABLES = """CREATE TABLE t (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE u (id INT, at TIMESTAMP(3)) WITH ('connector' = 'datagen');
CREATE TABLE o (id INT) WITH ('connector' = 'blackhole');
INSERT INTO o """
JOINED = "SELECT t.id, t.ts FROM t\nJOIN u ON t.id = u.id"


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        (
            "SELECT t.id FROM t\nJOIN u ON t.id = u.id ORDER BY t.ts",
            "The join in line 5, column 1 ended the time attribute 't.ts'. Add LIMIT",
        ),
        (f"SELECT id FROM (\n{JOINED}) WHERE id > 1 ORDER BY ts", "The join in line 6, column 1 ended"),
        ("SELECT id FROM (SELECT id, ts FROM t GROUP BY id, ts) ORDER BY ts", "The GROUP BY in line 4"),
        ("SELECT id FROM (SELECT id, CAST(ts AS TIMESTAMP(2)) AS c FROM t) ORDER BY c", "'c' is computed, which ended"),
        ("SELECT id FROM u ORDER BY at", "Add LIMIT"),
        (
            f"SELECT id FROM TABLE(TUMBLE((\n{JOINED}), DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
            "The join in line 6, column 1 ended the time attribute 'ts'. Declare WATERMARK",
        ),
        (
            f"SELECT i FROM (\n{JOINED}) MATCH_RECOGNIZE (ORDER BY ts MEASURES A.id AS i PATTERN (A) DEFINE A AS TRUE)",
            "The join in line 6, column 1 ended the time attribute 'ts'. Order by the column of the WATERMARK first",
        ),
    ],
)
def test_what_ended_a_time_attribute_is_named(query: str, hint: str) -> None:
    with pytest.raises(SqlError) as raised:
        TableEnvironment.create({}).compile_script(TABLES + query)
    assert str(raised.value.hint).startswith(hint), raised.value
