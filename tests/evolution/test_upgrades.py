"""Changed queries go on from a savepoint of the old ones, and give what a fresh run gives from there on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.options import Configuration
from plans.compatibility.compare import Fate
from rekindle.runtime.bootstrap import bootstrap
from rekindle.statements.evolution import EvolutionError
from tests.evolution.matrix import both
from tests.evolution.running import Pipeline, Rows, less

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SINKS = "".join(
    f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'print');\n"
    for name, columns in {
        "united": "k STRING, n BIGINT",
        "above": "k STRING, n BIGINT",
        "swapped": "k STRING, a BIGINT, b BIGINT",
        "keyed": "k STRING, k2 STRING, s BIGINT",
        "windowed": "start TIMESTAMP(3), k STRING, s BIGINT",
        "firsts": "k STRING, k2 STRING",
        "joined": "k STRING, v BIGINT",
        "more": "k STRING, s BIGINT, c BIGINT",
        "counted": "k STRING, c BIGINT, d BIGINT",
        "nested": "n BIGINT, c BIGINT",
    }.items()
)
WINDOWS = (
    "SELECT window_start, k, SUM(w) AS s{} FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) "
    "GROUP BY window_start, window_end, k"
)
FULL = {
    "united": (
        "SELECT k, SUM(v) FROM r GROUP BY k",
        "SELECT k, SUM(v) FROM (SELECT k, v FROM r UNION ALL SELECT k, v FROM x) GROUP BY k",
    ),
    "above": (
        "SELECT k2, SUM(v) FROM t GROUP BY k2",
        "SELECT UPPER(k2), SUM(v) * 2 FROM t GROUP BY k2 HAVING SUM(v) > 3",
    ),
    "swapped": (
        "SELECT k, SUM(v) AS a, SUM(w) AS b FROM t GROUP BY k",
        "SELECT k, SUM(w) AS a, SUM(v) AS b FROM t GROUP BY k",
    ),
    "keyed": ("SELECT k, k2, SUM(v) FROM t GROUP BY k, k2", "SELECT k, k2, SUM(v) FROM t GROUP BY k2, k"),
    "windowed": (f"SELECT window_start, k, s + m FROM ({WINDOWS.format(', MAX(v) AS m')})", WINDOWS.format("")),
    "firsts": (
        "SELECT k, CONCAT(k2, CAST(w AS STRING)) "
        "FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t) WHERE n = 1",
        "SELECT k, k2 FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t) WHERE n = 1",
    ),
    "joined": (
        "SELECT t.k, t.v + r.w FROM t JOIN r ON t.k = r.k",
        "SELECT t.k, t.v FROM t JOIN r ON t.k = r.k",
    ),
}
"""Sink to the old query and the new one."""
PARTIAL = {
    "more": (
        "SELECT k2, MAX(v) AS s, CAST(NULL AS BIGINT) FROM t GROUP BY k2, w",
        "SELECT k2, MAX(v) AS s, COUNT(*) AS c FROM t GROUP BY k2, w",
    ),
    "counted": (
        "SELECT k, COUNT(DISTINCT v) AS c, CAST(NULL AS BIGINT) FROM t GROUP BY k",
        "SELECT k, COUNT(DISTINCT v) AS c, COUNT(DISTINCT w) AS d FROM t GROUP BY k",
    ),
}
ABOVE = {
    "nested": (
        "SELECT SUM(v), MIN(v) FROM t GROUP BY k",
        "SELECT n, COUNT(*) FROM (SELECT SUM(v) AS n FROM t GROUP BY k) GROUP BY n",
    )
}
QUERIES = FULL | PARTIAL | ABOVE
BEFORE: Rows = {
    "t": [
        {"k": "a", "k2": "x", "v": 1, "w": 10, "ts": "2024-01-01 00:01:00"},
        {"k": "b", "k2": "x", "v": 2, "w": 20, "ts": "2024-01-01 00:02:00"},
        {"k": "a", "k2": "y", "v": 3, "w": 10, "ts": "2024-01-01 00:12:00"},
    ],
    "r": [{"k": "a", "v": 7, "w": 70}],
}
AFTER: Rows = {
    "t": [
        {"k": "a", "k2": "x", "v": 1, "w": 10, "ts": "2024-01-01 00:13:00"},
        {"k": "c", "k2": "x", "v": 5, "w": 20, "ts": "2024-01-01 00:14:00"},
        {"k": "b", "k2": "z", "v": 9, "w": 20, "ts": "2024-01-01 00:31:00"},
    ],
    "r": [{"k": "b", "v": 8, "w": 80}, {"k": "c", "v": 6, "w": 60}],
    "x": [{"k": "a", "v": 100, "w": 0}, {"k": "c", "v": 200, "w": 0}],
}


ONLY_SINCE = {
    "more": {'["x", 1, 1]': 1, '["x", 1, 0]': -1, '["x", 5, 1]': 1, '["x", 2, 0]': -1, '["z", 9, 1]': 1},
    "counted": {'["a", 2, 1]': 1, '["a", 2, 0]': -1, '["c", 1, 1]': 1, '["b", 2, 1]': 1, '["b", 1, 0]': -1},
}
"""What was in a group before is not in the new columns."""
BY_HAND = {
    "united": {'["a", 107]': 1, '["a", 7]': -1, '["b", 8]': 1, '["c", 206]': 1},
    # Two keys had a sum of 2 and 4; then they have 5, 11 and another 5.
    "nested": {'[2, 1]': -1, '[4, 1]': -1, '[5, 2]': 1, '[11, 1]': 1},
    "swapped": {
        '["a", 30, 5]': 1, '["a", 20, 4]': -1, '["b", 40, 11]': 1, '["b", 20, 2]': -1, '["c", 20, 5]': 1,
    },
}  # fmt: skip
"""What a fresh run changes after the savepoint, over few rows."""


def test_state_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    """An input more, columns that have changed places, one that starts empty; and an operator above an operator.

    That one cannot start empty. Its state is made from what the source has given up to the savepoint.
    """
    sinks = ("united", "swapped", "more", "nested")
    upgraded = Pipeline(spark, tmp_path, SINKS)
    old_text, new_text = texts(sinks)
    old = upgraded.plan(old_text)
    with pytest.raises(EvolutionError) as refused:
        upgraded.plan(new_text, old)
    (above,) = (each for each in refused.value.comparison.judgements if each.fate is Fate.INCOMPATIBLE)
    new = upgraded.plan(f"SET 'table.plan.evolution.bootstrap' = '{above.uid}'; {new_text}", old)
    assert new.comparison is not None
    assert [each.empty for each in new.comparison.losses] == [("c$count",)]
    upgraded.put(BEFORE)
    upgraded.run(old, target=tmp_path / "old")
    upgraded.put(AFTER)
    made = bootstrap(tmp_path / "old", new.graph, [above.uid], tmp_path / "whole", Configuration(), spark)
    assert [(each.uid, each.rows) for each in made.states if each.uid == above.uid] == [(above.uid, 2)]
    found = upgraded.run(new, savepoint=tmp_path / "whole")
    assert found == {sink: Counter({**BY_HAND, **ONLY_SINCE}[sink]) for sink in sinks}


@pytest.mark.long
def test_full_gives_the_rows_of_a_fresh_run(spark: SparkSession, tmp_path: Path) -> None:
    """All at once, and with them columns that start empty, which hold what has come since."""
    sinks = tuple(FULL | PARTIAL)
    upgraded, fresh = (Pipeline(spark, tmp_path / name, SINKS) for name in ("upgraded", "fresh"))
    old_text, new_text = texts(sinks)
    old, alone = upgraded.plan(old_text), fresh.plan(new_text)
    new = upgraded.plan(new_text, old)
    for each in (upgraded, fresh):
        each.put(BEFORE)
    upgraded.run(old, target=tmp_path / "old")
    first = fresh.run(alone, target=tmp_path / "new")
    for each in (upgraded, fresh):
        each.put(AFTER)
    found, expected = upgraded.run(new, savepoint=tmp_path / "old"), less(fresh.run(alone), first)
    for sink in sinks:
        assert found[sink] == Counter(ONLY_SINCE.get(sink, expected[sink])), sink


def texts(sinks: tuple[str, ...]) -> tuple[str, str]:
    """Statement sets of the old and of the new queries."""
    old, new = (both(*(f"{sink} {QUERIES[sink][at]}" for sink in sinks)) for at in (0, 1))
    return old, new
