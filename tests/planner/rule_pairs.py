"""What each rule does, as text: SQL, the plan before the rule, the plan after it.

``python -m tests.planner.rule_pairs`` rewrites the files in ``rules/``.

The plan before is what the earlier rules of its phases make of the SQL, up to the first run of the rule that changes
something.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from execnodes.core.errors import Position
from execnodes.core.expressions import AggregateCall, Call, FieldAccess, InputRef, Literal, digest
from execnodes.core.options import Configuration
from execnodes.core.tables import ResolvedTable
from execnodes.core.types import LogicalType
from planner.algebra import Logical, LookupJoin, OverCall, Scan, Sink, SortKey, Window, WindowProperty
from planner.algebra.tree import Sinks
from planner.bind import build_query
from planner.lower.describe import aggregated
from planner.parse import parse_query
from planner.rules import BATCH_PHASES, PHASES, Rule, rules
from planner.rules.normalize_changelog import normalize_changelog
from rekindle.api.table_environment import TableEnvironment
from rekindle.statements.query_sink import into_collect

FOLDER = Path(__file__).with_name("rules")
TABLES = """
CREATE TABLE t (k STRING, v INT, w INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
CREATE TABLE u (k STRING, v INT, w INT) WITH ('connector' = 'filesystem', 'path' = 'u', 'format' = 'json');
CREATE TABLE flags (k STRING, v INT, w INT, good BOOLEAN NOT NULL)
  WITH ('connector' = 'filesystem', 'path' = 'f', 'format' = 'json');
CREATE TABLE changes (k STRING, v INT, w INT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = 'c', 'format' = 'debezium-json');
CREATE TABLE bags (k STRING, v INT, xs ARRAY<INT>)
  WITH ('connector' = 'filesystem', 'path' = 'b', 'format' = 'json');
CREATE TABLE parts (k STRING, v INT, day STRING) PARTITIONED BY (day)
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'parquet');
CREATE TABLE d (k STRING, v INT, name STRING, loud AS UPPER(name))
  WITH ('connector' = 'duckdb', 'path' = 'd', 'table' = 'd');
"""
SPLIT = (
    "SET 'table.optimizer.distinct-agg.split.enabled' = 'true';"
    " SET 'table.optimizer.distinct-agg.split.bucket-num' = '8';"
)
QUERIES: dict[str, tuple[str, ...]] = {
    "answer_empty_aggregates": (
        "SELECT COUNT(*), SUM(v), AVG(w) FROM u WHERE v > 5 AND v < 1",
        "SELECT MAX(t.v) FROM t JOIN (SELECT k FROM u LIMIT 0) AS u ON t.k = u.k",
        "SELECT COUNT(*), LISTAGG(k) FROM u WHERE FALSE",
        "SELECT COUNT(*) FROM u WHERE FALSE GROUP BY v",
    ),
    "drop_unread_windows": (
        "SELECT k FROM (SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM t)",
        "SELECT s FROM (SELECT SUM(v) OVER (ORDER BY ts) AS s, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS c FROM t)",
        "SELECT k FROM (SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM t) WHERE v > 1",
        "SELECT COUNT(*) FROM (SELECT ts, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM t) "
        "GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
    ),
    "drop_watermarks": ("SELECT k FROM t WHERE v > 1",),
    "expand_grouping_sets": (
        "SELECT k, v, COUNT(*), GROUPING(v) FROM u GROUP BY ROLLUP (k, v)",
        "SELECT GROUPING_ID(k, v), COUNT(*) FROM u GROUP BY GROUPING SETS ((k), (k, v))",
    ),
    "expand_set_operations": (
        "SELECT k FROM u UNION SELECT k FROM t",
        "SELECT k FROM u EXCEPT SELECT k FROM t",
        "SELECT k FROM u UNION ALL (SELECT k FROM t UNION ALL SELECT k FROM changes)",
    ),
    "form_window_aggregates": (
        "SELECT window_start, k, SUM(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
        "GROUP BY window_start, window_end, k",
        "SELECT window_start, COUNT(*) FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, "
        "INTERVAL '5' MINUTE)) GROUP BY window_start",
    ),
    "merge_projects": (
        "SELECT a + 1 FROM (SELECT v + w AS a FROM u)",
        "SELECT a, r FROM (SELECT k AS a, CURRENT_ROW_TIMESTAMP() AS r FROM u)",
        "SELECT k FROM (SELECT k, v FROM u WHERE v > 1) WHERE v < 5",
    ),
    "open_sessions_behind_sets": (
        "SELECT window_start, window_end, k, COUNT(*) FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), "
        "INTERVAL '1' MINUTE)) WHERE v > 1 GROUP BY window_start, window_end, ROLLUP (k)",
    ),
    "order_joins": ("SELECT t.v FROM t, u, changes WHERE t.k = changes.k AND changes.v = u.v",),
    "prune_columns": (
        "SELECT v FROM (SELECT * FROM u WHERE w > 1)",
        "SELECT s FROM (SELECT k, SUM(v) AS s, MAX(w) AS m FROM u GROUP BY k)",
        "SELECT t.v FROM t JOIN u ON t.k = u.k",
        "SELECT v, x FROM bags CROSS JOIN UNNEST(xs) AS m (x)",
    ),
    "push_filters": (
        "SELECT * FROM (SELECT k, v + 1 AS a FROM u) WHERE a > 1",
        "SELECT * FROM u LEFT JOIN changes ON u.k = changes.k WHERE changes.v = 1 AND u.v > 2",
        "SELECT * FROM (SELECT k, COUNT(*) AS n FROM u GROUP BY k) WHERE k = 'a' AND n > 1",
        "SELECT * FROM (SELECT k FROM u UNION ALL SELECT k FROM t) WHERE k = 'a'",
        "SELECT v, x FROM bags LEFT JOIN UNNEST(xs) AS m (x) ON TRUE WHERE v > 1 AND x < v",
    ),
    "push_into_inputs": (
        "SELECT k FROM changes WHERE v > 1 AND CHAR_LENGTH(k) > 2",
        "SELECT k FROM parts WHERE day = 'a' AND CHAR_LENGTH(k) > 2",
        "SELECT k FROM parts WHERE day = 'a' UNION ALL SELECT k FROM parts WHERE v > 1",
    ),
    "push_join_expressions": ("SELECT u.k FROM u JOIN changes ON u.v + 1 = changes.w",),
    "read_through_projects": (
        "SELECT w, SUM(v) FROM (SELECT w, v FROM u WHERE k = 'a') GROUP BY w",
        "SELECT w, SUM(v) FILTER (WHERE good) FROM (SELECT good, w, v FROM flags WHERE k = 'a') GROUP BY w",
    ),
    "recognise_deduplication": (
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM t) WHERE n = 1",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM t) WHERE n = 1",
    ),
    "reject_interval_joins": ("SELECT t.v FROM t JOIN u ON t.k = u.k",),
    "recognise_lookup_joins": (
        "SELECT t.v, d.name FROM (SELECT *, PROCTIME() AS p FROM t) AS t JOIN d FOR SYSTEM_TIME AS OF t.p ON t.k = d.k",
        "SELECT t.v, d.loud FROM (SELECT *, PROCTIME() AS p FROM t) AS t LEFT JOIN d FOR SYSTEM_TIME AS OF t.p "
        "ON UPPER(t.k) = d.k AND d.v > 3 AND t.w < d.v AND t.w > 0",
        "SELECT t.v, d.name FROM (SELECT *, PROCTIME() AS p FROM t) AS t JOIN d FOR SYSTEM_TIME AS OF t.p "
        "ON t.k = d.k AND UPPER(t.k) = d.k WHERE d.k = 'a'",
    ),
    "recognise_rank_columns": (
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM u) WHERE n <= w AND n > 1",
    ),
    "recognise_ranks": (
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM u) WHERE n <= 3",
        "SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v) AS n FROM u) WHERE n BETWEEN 2 AND 2",
        "SELECT k, v FROM (SELECT *, RANK() OVER (PARTITION BY k ORDER BY v) AS n FROM u) WHERE n > 1",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM u) WHERE n > 1 AND n < 4",
    ),
    "reject_temporal_joins": ("SELECT t.v FROM t JOIN u ON t.k = u.k",),
    "reject_texts_as_keys": ("SELECT t.v FROM t JOIN u ON t.k = u.k",),
    "split_distinct_aggregates": (
        "SELECT k, COUNT(DISTINCT v), COUNT(*) FROM u GROUP BY k",
        f"{SPLIT} SELECT k, COUNT(DISTINCT v), AVG(w) FROM u GROUP BY k",
        f"{SPLIT} SELECT COUNT(DISTINCT v), SUM(DISTINCT w) FILTER (WHERE k = 'a'), MAX(w) FROM u",
        f"{SPLIT} SELECT k, COUNT(DISTINCT v), MIN(w) FROM changes GROUP BY k",
        f"{SPLIT} SELECT k, COUNT(DISTINCT v), FIRST_VALUE(w) FROM u GROUP BY k",
        f"{SPLIT} SET 'table.optimizer.incremental-agg-enabled' = 'false';"
        " SELECT k, COUNT(DISTINCT v), SUM(w) FROM u GROUP BY k",
        f"{SPLIT} SET 'table.optimizer.incremental-agg-enabled' = 'false';"
        " SELECT k, COUNT(DISTINCT v), AVG(w) FROM u GROUP BY k",
    ),
    "split_join_conditions": (
        "SELECT u.k FROM u JOIN changes ON u.k = changes.k AND u.v < CHAR_LENGTH(changes.k)",
        "SELECT u.k FROM u LEFT JOIN changes ON u.k = changes.k AND CHAR_LENGTH(u.k || changes.k) > 3",
    ),
}
"""Queries by the name of the rule; some show that it leaves something alone."""
_NOTHING: tuple[object, ...] = (None, (), False, (None, None), frozenset())
BATCH_ONLY = frozenset(("drop_watermarks", "order_joins"))


def known_rules() -> dict[str, Rule]:
    """All rules by name."""
    return {each.__name__: each for each in (*rules(PHASES), *rules(BATCH_PHASES))}


def render(name: str) -> str:
    """The pairs of a rule."""
    return "\n\n".join("\n".join(_pair(name, query)) for query in QUERIES[name]) + "\n"


def _pair(name: str, query: str) -> Iterator[str]:
    sinks = _sinks(query)
    if name not in BATCH_ONLY:
        sinks = normalize_changelog(sinks, duplicates=name == "push_into_inputs")
    before, after = _around(name, sinks, rules(BATCH_PHASES if name in BATCH_ONLY else PHASES, _options(query)))
    yield f"-- {query}"
    yield from _tree(before.input)
    yield "=>" if before != after else "=> the same"
    if before != after:
        yield from _tree(after.input)


def _sinks(query: str) -> Sinks:
    environment = TableEnvironment.create()
    environment.execute_script(TABLES)
    parsed = parse_query(query.rpartition(";")[2])
    return (into_collect(build_query(parsed, environment.catalog, environment.configuration), parsed.position),)


def _options(query: str) -> Configuration:
    """Those that are set in front of a query."""
    environment = TableEnvironment.create()
    environment.execute_script("".join(query.rpartition(";")[:2]))
    return environment.configuration


def _around(wanted: str, plan: Sinks, order: tuple[Rule, ...]) -> tuple[Sink, Sink]:
    """The plan before and after the first run of the rule that changes something; before its last run, else."""
    last = plan
    for rule in order:
        made = rule(plan)
        if rule.__name__ == wanted:
            last = plan
            if made != plan:
                return plan[0], made[0]
        plan = made
    return last[0], last[0]


def _tree(node: Logical, depth: int = 0) -> Iterator[str]:
    own = {field.name: getattr(node, field.name) for field in fields(node) if field.repr}
    told = [f"{name}={_text(value, _names(name, node))}" for name, value in own.items() if _tells(name, value, node)]
    yield f"{'  ' * depth}{type(node).__name__}({', '.join(told)}): {', '.join(f.name for f in node.type.fields)}"
    for each in node.inputs:
        yield from _tree(each, depth + 1)


def _names(field: str, node: Logical) -> tuple[str, ...]:
    """Of the columns that a field of a node is over."""
    over: tuple[Logical, ...] = node.inputs or (node,)
    if isinstance(node, LookupJoin):
        over = {"condition": (node,), "filter": (node.table,), "project": (node.table,)}.get(field, over)
    return tuple(each.name for one in over for each in one.type.fields)


def _tells(name: str, value: object, node: Logical) -> bool:
    """Whether a field says something that the tree does not show already."""
    if any(value is each for each in (*node.inputs, node.inputs)):
        return False
    return not isinstance(value, LogicalType | Position | ResolvedTable) and value not in _NOTHING


def _text(value: object, names: tuple[str, ...]) -> str:
    if isinstance(value, InputRef | Literal | Call | FieldAccess):
        return digest(value, names)
    if isinstance(value, AggregateCall):
        return aggregated(value, names, retract=False)
    if isinstance(value, SortKey):
        return f"{names[value.index]} {'ASC' if value.ascending else 'DESC'}"
    if isinstance(value, OverCall):
        return f"{value.name}({', '.join(digest(each, names) for each in value.args)})"
    if isinstance(value, Window | WindowProperty):
        return ", ".join(str(each) for each in vars(value).values() if each not in _NOTHING)
    if isinstance(value, Scan):
        return f"Scan: {', '.join(each.name for each in value.type.fields)}"
    if isinstance(value, tuple):
        return f"[{', '.join(_text(each, names) for each in value)}]"
    return str(value)


def main() -> None:
    """Write all files."""
    for name in QUERIES:
        (FOLDER / f"{name}.txt").write_text(render(name), encoding="utf-8")


if __name__ == "__main__":
    main()
