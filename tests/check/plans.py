"""Two tables and the changes of a query that Spark takes for none."""

from __future__ import annotations

from dataclasses import dataclass

from plans.compatibility.compare import Comparison, Judgement, compare
from plans.compatibility.plan_meanings import POSITION, meanings
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment

TABLES = """
CREATE TABLE t (k STRING, k2 STRING, v BIGINT, w BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/t', 'format' = 'json');
CREATE TABLE r (k STRING, v BIGINT, w BIGINT)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/r', 'format' = 'json');
"""


def plan(query: str, **options: str) -> str:
    """Text of the plan of a query; options with ``__`` for ``.`` and ``_`` for ``-``."""
    configuration = {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
    return TableEnvironment.create(configuration).compile_script(TABLES + query).as_json_string()


def compared(old: str, new: str, **options: str) -> Comparison:
    """Two queries."""
    before, after = (meanings(load(plan(query, **options))) for query in (old, new))
    return compare(before, after)


def states(comparison: Comparison) -> list[Judgement]:
    """Fates of states, without those of positions."""
    return [each for each in comparison.judgements if each.state != POSITION]


@dataclass(frozen=True)
class Change:
    """A query and what it is changed to."""

    name: str
    old: str
    new: str
    verdict: str
    reason: str
    """Part of what is said of a state."""


WINDOW = (
    "SELECT window_start, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '{}' MINUTES)) "
    "GROUP BY window_start, window_end, k"
)
DEDUPLICATION = (
    "SELECT k, k2, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY ts) AS n FROM t) WHERE n = 1"
)
JOIN = "SELECT t.k, t.v, {} FROM t JOIN r ON t.k = r.k"
ACCEPTED = (
    Change(
        "sum to max",
        "SELECT k, SUM(v) AS s FROM t GROUP BY k",
        "SELECT k, MAX(v) AS s FROM t GROUP BY k",
        "incompatible",
        "function: SUM(t.v) -> MAX(t.v)",
    ),
    Change(
        "another argument",
        "SELECT k, SUM(v) AS s FROM t GROUP BY k",
        "SELECT k, SUM(w) AS s FROM t GROUP BY k",
        "incompatible",
        "argument: t.v -> t.w",
    ),
    Change(
        "swapped aggregates",
        "SELECT k, SUM(v) AS a, SUM(w) AS b FROM t GROUP BY k",
        "SELECT k, SUM(w) AS a, SUM(v) AS b FROM t GROUP BY k",
        "full",
        "by their meaning: b$sum as a$sum, a$sum as b$sum",
    ),
    Change(
        "another key",
        "SELECT k, SUM(v) AS s FROM t GROUP BY k",
        "SELECT k2, SUM(v) AS s FROM t GROUP BY k2",
        "incompatible",
        "key: t.k -> t.k2",
    ),
    Change(
        "keys in another order",
        "SELECT k, k2, SUM(v) AS s FROM t GROUP BY k, k2",
        "SELECT k, k2, SUM(v) AS s FROM t GROUP BY k2, k",
        "full",
        "by their meaning: k1 as k0, k0 as k1",
    ),
    Change(
        "another window",
        WINDOW.format(10),
        WINDOW.format(5),
        "incompatible",
        "window size: 10 min -> 5 min",
    ),
    Change(
        "another key of a deduplication",
        DEDUPLICATION.format("k"),
        DEDUPLICATION.format("k2"),
        "incompatible",
        "key: t.k -> t.k2",
    ),
    Change("another output of a join", JOIN.format("r.v"), JOIN.format("r.w"), "incompatible", "column w: r.v -> r.w"),
)
"""What Spark goes on with, and answers wrongly."""
