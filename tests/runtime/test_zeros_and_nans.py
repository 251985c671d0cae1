"""-0.0 and 0.0 are one value, and so are all NaNs, wherever rows are compared: streams, batch, inside nested values.

One query has all cases as branches of a UNION ALL; a case is a SELECT of texts. See docs/zeros-and-nans.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from pyspark.sql import SparkSession

from execnodes.core.changelog import RowKind
from rekindle.api.table_environment import TableEnvironment

pytestmark = pytest.mark.spark
Mode = Literal["batch", "streaming"]
ROWS = {1: "0.0", 2: "-0.0", 3: "-0.0", 4: "NaN", 5: "NaN", 6: "1.0"}
COLUMNS = {
    "d": ("CAST(s AS DOUBLE)", "%s"),
    "r": ("ROW(CAST(s AS DOUBLE), 'x:-0.0,')", "(%s, x:-0.0,)"),
    "m": ("MAP['k', CAST(s AS DOUBLE)]", "{k=%s}"),
    "n": ("ARRAY[ROW(CAST(s AS FLOAT))]", "[(%s)]"),
}
"""A column's expression, and how it is shown."""
VALUES = {"0": "0.0", "N": "NaN", "1": "1.0"}
PAIRS = ["11", "12", "13", "22", "23", "33", "44", "45", "55", "66"]
GROUPS = ["{0} 3", "{N} 2", "{1} 1"]
_JOINED = "SELECT CAST(10 * l.id + r.id AS STRING) FROM t AS l JOIN t AS r ON l.id <= r.id AND"
_WINDOWED = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
_COUNTED = "SELECT CAST({x} AS STRING) || ' ' || CAST(COUNT(*) AS STRING) FROM"
_SHOWN = "SELECT CAST({x} AS STRING) FROM"
_SOME, _OTHERS = "SELECT {x} FROM t WHERE id IN (1, 4, 6)", "SELECT {x} FROM t WHERE id IN (2, 5)"

BY_COLUMN = {
    "GROUP BY": (f"{_COUNTED} t GROUP BY {{x}}", GROUPS),
    "JOIN": (f"{_JOINED} l.{{x}} = r.{{x}}", PAIRS),
    "COUNT DISTINCT": ("SELECT CAST(COUNT(DISTINCT {x}) AS STRING) FROM t", ["3"]),
}
"""Cases for each column x."""
BY_SOME = {
    "DISTINCT": (f"{_SHOWN} (SELECT DISTINCT {{x}} FROM t)", ["{0}", "{N}", "{1}"]),
    "COUNT DISTINCT of updates": (
        "SELECT CAST(COUNT(DISTINCT {x}) AS STRING) FROM (SELECT id, LAST_VALUE({x}) AS {x} FROM t GROUP BY id)",
        ["3"],
    ),
    "UNION": (f"{_SHOWN} ({_SOME} UNION {_OTHERS})", ["{0}", "{N}", "{1}"]),
    "INTERSECT": (f"{_SHOWN} ({_SOME} INTERSECT {_OTHERS})", ["{0}", "{N}"]),
    "EXCEPT": (f"{_SHOWN} ({_SOME} EXCEPT {_OTHERS})", ["{1}"]),
    "IS NOT DISTINCT FROM": (f"{_JOINED} l.{{x}} IS NOT DISTINCT FROM r.{{x}}", PAIRS),
    "LEFT JOIN": (
        "SELECT CAST(l.id AS STRING) || COALESCE(CAST(r.id AS STRING), '') FROM t AS l"
        " LEFT JOIN (SELECT * FROM t WHERE id IN (2, 5)) AS r ON l.{x} = r.{x}",
        ["12", "22", "32", "45", "55", "6"],
    ),
    "IN": ("SELECT CAST(id AS STRING) FROM t WHERE {x} IN (SELECT {x} FROM t WHERE id = 2)", ["1", "2", "3"]),
    "NOT IN": (f"SELECT CAST(id AS STRING) FROM t WHERE {{x}} NOT IN ({_OTHERS})", ["6"]),
    "Top-N": (
        "SELECT CAST(10 * id + n AS STRING) FROM"
        " (SELECT id, ROW_NUMBER() OVER (PARTITION BY {x} ORDER BY id DESC) AS n FROM t) WHERE n <= 2",
        ["31", "22", "51", "42", "61"],
    ),
    "first rows": (
        "SELECT CAST(id AS STRING) FROM"
        " (SELECT id, ROW_NUMBER() OVER (PARTITION BY {x} ORDER BY ts) AS n FROM t) WHERE n = 1",
        ["1", "4", "6"],
    ),
    "OVER": (
        "SELECT CAST(10 * id + COUNT(*) OVER (PARTITION BY {x} ORDER BY ts) AS STRING) FROM t",
        ["11", "22", "33", "41", "52", "61"],
    ),
    "window": (f"{_COUNTED} {_WINDOWED} GROUP BY window_start, window_end, {{x}}", GROUPS),
}
IN_STREAMS = {
    # Of nested values batch mode gives one of the rows as it is.
    "EXCEPT ALL": (f"{_SHOWN} (SELECT {{x}} FROM t WHERE id IN (1, 2, 6) EXCEPT ALL {_OTHERS})", ["{0}", "{1}"]),
    "interval join": (f"{_JOINED} l.{{x}} = r.{{x}} AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '1' HOUR", PAIRS),
    "window join": (
        f"SELECT CAST(10 * l.id + r.id AS STRING) FROM (SELECT * FROM {_WINDOWED}) AS l"
        f" JOIN (SELECT * FROM {_WINDOWED}) AS r ON l.window_start = r.window_start AND l.window_end = r.window_end"
        " AND l.{x} = r.{x} AND l.id <= r.id",
        PAIRS,
    ),
    "session": (
        f"{_COUNTED} TABLE(SESSION(TABLE t PARTITION BY {{x}}, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
        " GROUP BY window_start, window_end, {x}",
        GROUPS,
    ),
    "DISTINCT OVER": (
        "SELECT CAST(10 * id + COUNT(DISTINCT {x}) OVER (ORDER BY ts) AS STRING) FROM t",
        ["11", "21", "31", "42", "52", "63"],
    ),
}
_EXTREMES = "SELECT CAST(MIN(d) AS STRING) || ' ' || CAST(MAX(d) AS STRING) FROM"
_LAST = "(SELECT id, LAST_VALUE(d) AS d FROM t GROUP BY id)"
ALONE = {
    "COLLECT": ("SELECT CAST(CARDINALITY(COLLECT(r)) AS STRING) FROM t", ["3"]),
    "a joined row stays": (
        "SELECT CAST(l.d AS STRING) || ' ' || CAST(r.d AS STRING) FROM t AS l JOIN t AS r ON l.d = r.d"
        " WHERE l.id = 1 AND r.id = 2",
        ["0.0 -0.0"],
    ),
    "what is no key stays": ("SELECT CAST(r AS STRING) FROM (SELECT LAST_VALUE(r) AS r FROM t WHERE id = 2)",
                             ["(-0.0, x:-0.0,)"]),
    "MIN and MAX": (f"{_EXTREMES} t WHERE id <= 3", ["0.0 0.0"]),
    "MIN and MAX turned": (f"{_EXTREMES} t WHERE id IN (2, 3)", ["-0.0 -0.0"]),
    "MIN and MAX of updates": (f"{_EXTREMES} {_LAST} WHERE id <= 3", ["0.0 0.0"]),
    "MIN and MAX of a NaN": (f"{_EXTREMES} t WHERE id >= 4", ["1.0 NaN"]),
    "MIN and MAX of a NaN among updates": (f"{_EXTREMES} {_LAST} WHERE id >= 4", ["1.0 NaN"]),
    "MIN of NaNs": (f"{_EXTREMES} t WHERE id IN (4, 5)", ["NaN NaN"]),
    "MAX OVER": (
        "SELECT CAST(id AS STRING) || ' ' || CAST(MAX(d) OVER (ORDER BY ts) AS STRING) FROM t WHERE id > 2",
        ["3 -0.0", "4 NaN", "5 NaN", "6 NaN"],
    ),
    "a condition beside keys": (f"{_JOINED} l.id = r.id - 1 AND (l.d < r.d OR l.d <> r.d)", ["34", "45", "56"]),
    "= beside keys": (f"{_JOINED} l.id = r.id - 1 AND (l.d = r.d OR l.d < r.d OR l.d >= r.d)", ["12", "23"]),
}  # fmt: skip
_PLACE = re.compile(r"\{([0N1])\}")


def _cases(mode: Mode) -> Iterator[tuple[str, str, list[str]]]:
    """Name, query and texts of its rows."""
    some = BY_SOME if mode == "batch" else {**BY_SOME, **IN_STREAMS}
    # Batch mode has no keys of MAPs.
    every = [column for column in COLUMNS if column != "m" or mode == "streaming"]
    for cases, columns in ((BY_COLUMN, every), (some, ["n"])):
        for name, (query, expected) in cases.items():
            for column in columns:
                form = COLUMNS[column][1]
                rows = [_PLACE.sub(lambda found: form % VALUES[found[1]], each) for each in expected]  # noqa: B023
                yield f"{name} of {column}", query.replace("{x}", column), rows
    for name, (query, expected) in ALONE.items():
        yield name, query, expected


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_zeros_are_one_value_and_nans_another(mode: Mode, spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("".join(f"{id},{s},2024-01-01 00:00:0{id}\n" for id, s in ROWS.items()))
    environment = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
    environment.execute_sql(
        "CREATE TABLE s (id INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH"
        f" ('connector' = 'filesystem', 'path' = '{tmp_path}/t.csv', 'format' = 'csv')"
    )
    columns = ", ".join(f"{text} AS {name}" for name, (text, _) in COLUMNS.items())
    environment.execute_sql(f"CREATE VIEW t AS SELECT id, ts, {columns} FROM s")
    cases = list(_cases(mode))
    named = (f"SELECT {at} AS n, v FROM ({query}) AS q{at} (v)" for at, (_, query, _) in enumerate(cases))
    found = [Counter[str]() for _ in cases]
    for kind, row in environment.execute_sql(" UNION ALL ".join(named)).collect_changes():
        found[row[0]][row[1]] += 1 if kind in (RowKind.INSERT, RowKind.UPDATE_AFTER) else -1
    wrong = [
        f"{name}: {sorted(rows.elements())}, not {sorted(expected)}"
        for (name, _, expected), rows in zip(cases, found, strict=True)
        if +rows != Counter(expected)
    ]
    assert not wrong, "\n".join(wrong)


FUNCTIONS = {
    "LEAST(p, q)": ["-0.0", "-0.0", "-0.0", "0.0", "-0.0", "1.0"],
    "LEAST(CAST(p AS FLOAT), CAST(q AS FLOAT), 7)": ["-0.0", "-0.0", "-0.0", "0.0", "-0.0", "1.0"],
    "GREATEST(p, q)": ["0.0", "0.0", "-0.0", "NaN", "NaN", "NaN"],
    "GREATEST(CAST(p AS FLOAT), CAST(q AS FLOAT), -1)": ["0.0", "0.0", "-0.0", "NaN", "NaN", "NaN"],
    "ARRAY_MAX(ARRAY[p, q])": ["0.0", "-0.0", "-0.0", "NaN", "NaN", "NaN"],
    "ARRAY_MIN(ARRAY[p, q])": ["0.0", "-0.0", "-0.0", "0.0", "-0.0", "1.0"],
    "CARDINALITY(ARRAY_DISTINCT(ARRAY[p, q]))": ["1", "1", "1", "2", "2", "2"],
    "ARRAY_CONTAINS(ARRAY[p], q)": ["TRUE", "TRUE", "TRUE", "FALSE", "FALSE", "FALSE"],
    "ARRAY_POSITION(ARRAY[p], q)": ["1", "1", "1", "0", "0", "0"],
    "CARDINALITY(ARRAY_REMOVE(ARRAY[p], q))": ["0", "0", "0", "1", "1", "1"],
    "CARDINALITY(ARRAY_UNION(ARRAY[p], ARRAY[q]))": ["1", "1", "1", "2", "2", "2"],
    "CARDINALITY(ARRAY_EXCEPT(ARRAY[p], ARRAY[q]))": ["0", "0", "0", "1", "1", "1"],
    "CARDINALITY(ARRAY_INTERSECT(ARRAY[p], ARRAY[q]))": ["1", "1", "1", "0", "0", "0"],
    "MAP[p, 7][q]": ["7", "7", "7", None, None, None],
    "p = q": ["TRUE", "TRUE", "TRUE", "FALSE", "FALSE", "FALSE"],
    "p <= q": ["TRUE", "TRUE", "TRUE", "FALSE", "FALSE", "FALSE"],
    "p IN (q, 5)": ["TRUE", "TRUE", "TRUE", "FALSE", "FALSE", "FALSE"],
    "p IS DISTINCT FROM q": ["FALSE", "FALSE", "FALSE", "TRUE", "TRUE", "TRUE"],
    "ROW(p) = ROW(q)": ["TRUE", "TRUE", "TRUE", "FALSE", "FALSE", "FALSE"],
    "ARRAY[p] = ARRAY[q]": ["TRUE", "TRUE", "TRUE", "FALSE", "FALSE", "FALSE"],
    "MAP['k', p] = MAP['k', q]": ["TRUE", "TRUE", "TRUE", "FALSE", "FALSE", "FALSE"],
    "q = q": ["TRUE", "TRUE", "TRUE", "FALSE", "TRUE", "TRUE"],
    "ARRAY[p] = ARRAY[p]": ["TRUE", "TRUE", "TRUE", "TRUE", "TRUE", "TRUE"],
    "p IS DISTINCT FROM p": ["FALSE", "FALSE", "FALSE", "FALSE", "FALSE", "FALSE"],
    "p + 0": ["0.0", "0.0", "0.0", "0.0", "NaN", "NaN"],
    "-p": ["-0.0", "0.0", "0.0", "-0.0", "NaN", "NaN"],
}
"""Of p and q: 0.0 and -0.0, -0.0 and 0.0, -0.0 twice, 0.0 and NaN, NaN and -0.0, NaN and 1.0."""


def test_functions_find_one_zero(spark: SparkSession) -> None:
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    texts = ", ".join(f"CAST({each} AS STRING)" for each in FUNCTIONS)
    pairs = "(1, '0.0', '-0.0'), (2, '-0.0', '0.0'), (3, '-0.0', '-0.0'), (4, '0.0', 'NaN'), (5, 'NaN', '-0.0'),"
    table = f"(VALUES {pairs} (6, 'NaN', '1.0')) AS v (i, a, b)"
    rows = f"SELECT i, CAST(a AS DOUBLE) AS p, CAST(b AS DOUBLE) AS q FROM {table}"
    result = environment.execute_sql(f"SELECT i, {texts} FROM ({rows}) AS t").collect_changes()
    found = sorted((row for _, row in result), key=lambda row: int(row[0]))
    assert dict(zip(FUNCTIONS, map(list, zip(*(row[1:] for row in found), strict=True)), strict=True)) == FUNCTIONS
