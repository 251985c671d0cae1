"""The documented walk, for each kind of new operator: compile, bootstrap, run, with the rows of a fresh run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.options import Configuration
from plans.compatibility.compare import Verdict
from plans.compatibility.plan_meanings import POSITION
from plans.evolution.bootstrap import makeable
from rekindle.runtime.bootstrap import bootstrap
from rekindle.savepoints.restore import prepare
from rekindle.statements.evolution import EvolutionError
from tests.evolution.matrix import both
from tests.evolution.running import Pipeline, Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

SINKS = """
CREATE TABLE changes (k STRING, v BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/cdc', 'format' = 'debezium-json');
CREATE TABLE numbers (k STRING, v BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '3',
  'fields.k.length' = '1', 'fields.v.kind' = 'sequence', 'fields.v.start' = '1', 'fields.v.end' = '3');
CREATE TABLE materialized (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '${dir}/out.duckdb', 'table' = 'materialized');
""" + "".join(
    f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'print');\n"
    for name, columns in {
        "plain": "k STRING, v BIGINT",
        "counted": "k STRING, n BIGINT",
        "replaced": "k STRING, n BIGINT",
        "joined": "k STRING, v BIGINT, w BIGINT",
        "generated": "k STRING, v BIGINT, w BIGINT",
        "aggregated": "k STRING, n BIGINT",
        "distinct_ones": "k STRING, n BIGINT",
        "firsts": "k STRING, k2 STRING",
        "lasts": "k STRING, v BIGINT",
        "windowed": "start TIMESTAMP(3), k STRING, n BIGINT",
        "normalized": "k STRING, v BIGINT",
        "sourced": "k STRING, v BIGINT",
        "inline": "k STRING, n BIGINT",
    }.items()
)
OLD = both(
    "plain SELECT k, v FROM t",
    "counted SELECT k, COUNT(*) FROM changes GROUP BY k",
    "replaced SELECT k, SUM(v) FROM t GROUP BY k",
)
NEW = both(
    "plain SELECT k, v FROM t",
    "counted SELECT k, COUNT(*) FROM changes GROUP BY k",
    "replaced SELECT k2, SUM(w) FROM t WHERE v > 1 GROUP BY k2",
    "joined SELECT t.k, t.v, x.v FROM t JOIN x ON t.k = x.k",
    "generated SELECT t.k, t.v, n.v FROM t JOIN numbers AS n ON t.v = n.v",
    "aggregated SELECT k, MAX(v) FROM t GROUP BY k",
    "distinct_ones SELECT k, COUNT(DISTINCT k2) FROM t GROUP BY k",
    "firsts SELECT k, k2 FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t) WHERE n = 1",
    "lasts SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM t) WHERE n = 1",
    "windowed SELECT window_start, k, SUM(w) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) "
    "GROUP BY window_start, window_end, k",
    "materialized SELECT k, SUM(v) FROM t GROUP BY k, k2 ON CONFLICT DO DEDUPLICATE",
    "normalized SELECT k, v FROM changes WHERE v > 0",
    "sourced SELECT k, v FROM r",
    "inline SELECT o.k, SUM(o.n) FROM (SELECT k, v AS n FROM t UNION ALL "
    "SELECT * FROM (VALUES ('a', 1000)) AS i(k, n)) AS o GROUP BY o.k",
)


def _t(k: str, k2: str, v: int, w: int, minute: int) -> dict[str, object]:
    return {"k": k, "k2": k2, "v": v, "w": w, "ts": f"2024-01-01 00:{minute:02}:00"}


def _change(op: str, before: object, after: object) -> dict[str, object]:
    return {"op": op, "before": before, "after": after}


BEFORE: Rows = {
    "t": [_t("a", "x", 1, 10, 1), _t("a", "y", 2, 10, 3), _t("b", "y", 2, 20, 12), _t("b", "y", 3, 5, 14)],
    "cdc": [_change("c", None, {"k": "a", "v": 1}), _change("c", None, {"k": "b", "v": 2})],
}
AFTER: Rows = {
    "t": [_t("a", "x", 5, 1, 15), _t("c", "z", 3, 7, 16), _t("b", "z", 2, 9, 45)],
    "cdc": [_change("u", {"k": "a", "v": 1}, {"k": "a", "v": 7}), _change("d", {"k": "b", "v": 2}, None)],
}
UNREAD: Rows = {"x": [{"k": "a", "v": 100, "w": 0}, {"k": "b", "v": 200, "w": 0}], "r": [{"k": "q", "v": 1}]}


KINDS = {
    "changelog-normalize", "deduplicate", "global-group-aggregate", "group-aggregate", "join", "upsert-materializer",
    "window-aggregate",
}  # fmt: skip
EXPECTED: dict[str, dict[str, int]] = {
    "plain": {'["a", 5]': 1, '["c", 3]': 1, '["b", 2]': 1},
    "counted": {'["b", 1]': -1},
    "replaced": {'["x", 1]': 1, '["z", 16]': 1},
    "joined": {'["a", 1, 100]': 1, '["a", 2, 100]': 1, '["a", 5, 100]': 1, '["b", 2, 200]': 2, '["b", 3, 200]': 1},
    "generated": {'["a", 1, 1]': 1, '["a", 2, 2]': 1, '["b", 2, 2]': 2, '["b", 3, 3]': 1, '["c", 3, 3]': 1},
    "aggregated": {'["a", 2]': -1, '["a", 5]': 1, '["c", 3]': 1},
    "distinct_ones": {'["c", 1]': 1, '["b", 1]': -1, '["b", 2]': 1},
    "firsts": {'["c", "z"]': 1},
    "lasts": {'["a", 2]': -1, '["a", 5]': 1, '["c", 3]': 1, '["b", 3]': -1, '["b", 2]': 1},
    "windowed": {
        '["2024-01-01 00:10:00.000", "b", 25]': 1, '["2024-01-01 00:10:00.000", "a", 1]': 1,
        '["2024-01-01 00:10:00.000", "c", 7]': 1, '["2024-01-01 00:40:00.000", "b", 9]': 1,
    },
    "materialized": {'["a", 6]': 1, '["c", 3]': 1, '["b", 2]': 1},
    "normalized": {'["a", 1]': -1, '["a", 7]': 1, '["b", 2]': -1},
    "sourced": {'["q", 1]': 1},
    "inline": {'["a", 3]': -1, '["a", 1008]': 1, '["c", 3]': 1, '["b", 5]': -1, '["b", 7]': 1},
}  # fmt: skip
"""What comes after the savepoint, as if the new query had run from the start; sources that are new have begun then."""


def test_every_kind_of_new_operator(spark: SparkSession, tmp_path: Path) -> None:
    """Operators over sources that are new, too, whatever their connector; nobody is asked for any consent."""
    options = {"table.plan.evolution.consent": "reject", "table.exec.source.cdc-events-duplicate": "true"}
    upgraded = Pipeline(spark, tmp_path, SINKS.replace("${dir}", str(tmp_path)), **options)
    old = upgraded.plan(OLD)
    with pytest.raises(EvolutionError) as refused:
        upgraded.plan(NEW, old)
    uids = makeable(refused.value.comparison)
    assert {uid.partition("_")[2] for uid in uids} == KINDS
    new = upgraded.plan(f"SET 'table.plan.evolution.bootstrap' = '{','.join(uids)}'; {NEW}", old)
    assert new.comparison is not None
    assert new.comparison.verdict is Verdict.FULL
    upgraded.put(BEFORE)
    upgraded.run(old, target=tmp_path / "old")
    upgraded.put({**AFTER, **UNREAD})
    bootstrap(tmp_path / "old", new.graph, uids, tmp_path / "whole", Configuration(), spark)
    restored = prepare(tmp_path / "whole", new.graph, drop_unclaimed=False, drop=frozenset(), consent="reject")
    assert {each.name for each in restored.fates if each.fate != "restored"} == {POSITION}
    assert {sink: dict(net) for sink, net in upgraded.run(new, savepoint=tmp_path / "whole").items()} == EXPECTED
