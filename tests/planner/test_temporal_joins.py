"""Which joins FOR SYSTEM_TIME AS OF an event time are taken: as Flink 2.3 has it (asked by EXPLAIN)."""

from __future__ import annotations

import pytest

from execnodes.core.errors import PlanError, SqlError
from execnodes.core.graph import ExecGraph
from execnodes.stream.temporal_join import TemporalJoin
from plans.format.load import load
from rekindle import TableEnvironment

_WITH = "WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = '{}')"
_JSON, _CDC = _WITH.format("json"), _WITH.format("debezium-json")
_NEWEST = (
    "SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {} DESC) AS n FROM nokey{}) WHERE n = 1{}"
)
DDL = f"""
CREATE TABLE t (k STRING, r STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts) {_JSON};
CREATE TABLE u (k STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED, WATERMARK FOR ts AS ts) {_JSON};
CREATE TABLE u2 (k STRING, c STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (k, c) NOT ENFORCED, WATERMARK FOR ts AS ts)
  {_JSON};
CREATE TABLE z (k STRING, v INT, ts TIMESTAMP_LTZ(3), PRIMARY KEY (k) NOT ENFORCED, WATERMARK FOR ts AS ts) {_JSON};
CREATE TABLE nokey (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {_JSON};
CREATE TABLE plain (k STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED) {_JSON};
CREATE TABLE cdc (k STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED, WATERMARK FOR ts AS ts) {_CDC};
CREATE VIEW lasts AS {_NEWEST.format("k, v, ts", "ts", "", "")};
CREATE VIEW firsts AS {_NEWEST.format("k, v, ts", "ts", "", "").replace(" DESC", "")};
CREATE VIEW lasts_of_some AS {_NEWEST.format("k, v, ts", "ts", " WHERE v > 2", "")};
CREATE VIEW some_lasts AS {_NEWEST.format("k, v, ts", "ts", "", " AND v > 2")};
CREATE VIEW keyed_lasts AS {_NEWEST.format("k, v, ts", "ts", "", " AND k <> 'x'")};
CREATE VIEW greatest AS {_NEWEST.format("k, v, ts", "v", "", "")};
CREATE VIEW totals AS SELECT k, SUM(v) AS v, MAX(ts) AS ts FROM nokey GROUP BY k;
CREATE VIEW filtered AS SELECT k, v, ts FROM u WHERE v > 2;
CREATE VIEW renamed AS SELECT ts AS since, LOWER(k) AS low, k AS kk, v * 2 AS twice FROM u;
CREATE VIEW timeless AS SELECT k, v FROM u;
CREATE VIEW united AS SELECT k, v, ts FROM u UNION ALL SELECT k, v, ts FROM u;
CREATE VIEW joined AS SELECT u.k, u.v, u.ts FROM u JOIN plain ON u.k = plain.k;
CREATE VIEW windowed AS SELECT k, SUM(v) AS v, window_time AS ts
  FROM TABLE(TUMBLE(TABLE nokey, DESCRIPTOR(ts), INTERVAL '10' SECOND))
  GROUP BY k, window_start, window_end, window_time;
"""
AS_OF = "FOR SYSTEM_TIME AS OF t.ts AS r ON t.k = r.k"


def graph(query: str, options: dict[str, str] | None = None) -> ExecGraph:
    made = TableEnvironment.create(options or {})
    made.execute_script(DDL)
    return made.compile_plan_sql(query).graph


def joins(query: str) -> list[TemporalJoin]:
    return [each for each in graph(query).nodes if isinstance(each, TemporalJoin)]


@pytest.mark.parametrize(
    ("query", "kind", "keys", "condition", "newest"),
    [
        (f"t JOIN u {AS_OF}", "INNER", "k=k", "", False),
        (f"t LEFT JOIN u {AS_OF}", "LEFT", "k=k", "", False),
        (f"t JOIN u {AS_OF} AND r.v > 2", "INNER", "k=k", "$>$1", False),
        (f"t JOIN u {AS_OF} WHERE r.v > 2", "INNER", "k=k", "$>$1", False),
        (f"t LEFT JOIN u {AS_OF} AND r.v > 2", "LEFT", "k=k", "$>$1", False),
        (f"t LEFT JOIN u {AS_OF} AND t.v > 2", "LEFT", "k=k", "$>$1", False),
        (f"t LEFT JOIN u {AS_OF} AND t.v > r.v", "LEFT", "k=k", "$>$1", False),
        (f"t JOIN u {AS_OF} WHERE t.v > 2", "INNER", "k=k", "", False),
        (f"t JOIN u {AS_OF} AND t.ts >= r.ts", "INNER", "k=k", "$>=$1", False),
        (f"t JOIN u {AS_OF} AND t.r = r.k", "INNER", "k=k, r=k", "", False),
        (f"t JOIN u {AS_OF}".replace("t.k = r.k", "UPPER(t.k) = r.k"), "INNER", "$f5=k", "", False),
        (f"t JOIN u {AS_OF}".replace("=", "IS NOT DISTINCT FROM"), "INNER", "k=k", "", False),
        ("t JOIN u FOR SYSTEM_TIME AS OF t.ts AS r USING (k)", "INNER", "k=k", "", False),
        ("t, u FOR SYSTEM_TIME AS OF t.ts AS r WHERE t.k = r.k", "INNER", "k=k", "", False),
        (f"t JOIN u2 {AS_OF} AND t.k = r.c", "INNER", "k=k, k=c", "", False),
        (f"z AS t JOIN z {AS_OF}", "INNER", "k=k", "", False),
        (f"t JOIN cdc {AS_OF}", "INNER", "k=k", "", False),
        (f"t JOIN lasts {AS_OF}", "INNER", "k=k", "", True),
        (f"t JOIN lasts_of_some {AS_OF}", "INNER", "k=k", "", True),
        (f"t JOIN firsts {AS_OF}", "INNER", "k=k", "", False),
        (f"t JOIN renamed {AS_OF}k", "INNER", "k=kk", "", False),
        # An update may change v, and no row says so: v is compared with the version that is found.
        (f"cdc AS t LEFT JOIN cdc {AS_OF} AND t.v = r.v", "LEFT", "k=k", "$=$1", False),
        (f"t JOIN u {AS_OF} AND t.v = r.v", "INNER", "k=k", "$=$1", False),
        (f"lasts AS t JOIN u {AS_OF}", "INNER", "k=k", "", False),
        (f"windowed AS t JOIN u {AS_OF}", "INNER", "k=k", "", False),
    ],
)
def test_rows_find_versions_by_key_and_time(query: str, kind: str, keys: str, condition: str, newest: bool) -> None:
    (node,) = joins(f"SELECT t.k, r.* FROM {query}")
    spec, (left, right) = node.join_spec, inputs(f"SELECT t.k, r.* FROM {query}")
    assert spec.join_type == kind
    names = zip(spec.left_keys, spec.right_keys, strict=True)
    assert ", ".join(f"{left[mine]}={right[its]}" for mine, its in names) == keys
    assert getattr(spec.non_equi_condition, "internal_name", "") == condition
    assert node.newest_rows_only is newest
    assert left[node.left_time_attribute_index] in ("ts", "window_time")
    assert right[node.right_time_attribute_index] in ("ts", "since")


def inputs(query: str) -> list[list[str]]:
    """Columns of both sides of the join."""
    found = graph(query)
    node = next(each for each in found.nodes if isinstance(each, TemporalJoin))
    return [[field.name for field in each.output_type.fields] for each in found.inputs_of(node)]


def test_versions_are_the_rows_below_the_newest_ones() -> None:
    """A deduplication says once a micro-batch which row is the newest, and the join is to know all."""
    found = {type(each).__name__ for each in graph(f"SELECT t.k, r.v FROM t JOIN lasts {AS_OF}").nodes}
    assert "TemporalJoin" in found
    assert "Deduplicate" not in found


def test_times_of_rows_are_kept_and_those_of_versions_are_not() -> None:
    (node,) = joins(f"SELECT t.ts, r.ts FROM t JOIN u {AS_OF}")
    fields = node.output_type.fields
    assert [each.name for each in fields if each.type.is_time_attribute] == ["ts"]
    window = "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT {}.ts FROM t JOIN u " + AS_OF
    window += "), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
    assert joins(window.format("t"))
    with pytest.raises(SqlError, match="ts"):
        joins(window.format("r"))


def test_rows_are_joined_in_turn() -> None:
    assert (
        len(
            joins(f"SELECT t.k, s.v FROM t JOIN u {AS_OF} LEFT JOIN lasts FOR SYSTEM_TIME AS OF t.ts AS s ON r.k = s.k")
        )
        == 2
    )


def test_updates_are_taken_back_as_they_were_given() -> None:
    (node,) = joins(f"SELECT t.k, r.v FROM cdc AS t JOIN u {AS_OF}")
    assert [each.name for each in node.state] == ["leftState", "rightState", "givenState"]
    assert node.changelog_mode.retract
    (node,) = joins(f"SELECT t.k, r.v FROM t JOIN cdc {AS_OF}")
    assert [each.name for each in node.state] == ["leftState", "rightState"]
    assert node.changelog_mode.insert_only


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"t RIGHT JOIN u {AS_OF}", "RIGHT JOIN"),
        (f"t FULL JOIN u {AS_OF}", "FULL JOIN"),
        (f"t JOIN u {AS_OF}".replace("= r.k", "= UPPER(r.k)"), "equalities with a whole key of the versions: k"),
        (f"t JOIN u2 {AS_OF}", "equalities with a whole key of the versions: c, k"),
        (f"t JOIN u2 {AS_OF} AND r.c = 'x'", "equalities with a whole key"),
        (f"t JOIN u2 {AS_OF} AND r.c = r.k", "equalities with a whole key"),
        (f"t JOIN nokey {AS_OF}", "requires a key of the versions"),
        (f"t JOIN united {AS_OF}", "requires a key of the versions"),
        (f"t JOIN u {AS_OF}".replace("t.k = r.k", "t.v = r.v"), "equalities with a whole key"),
        (f"t JOIN u {AS_OF}".replace("t.k = r.k", "t.k > r.k"), "equalities with a whole key"),
        (f"t JOIN u {AS_OF}".replace("t.k = r.k", "TRUE"), "equalities with a whole key"),
        (f"t JOIN plain {AS_OF}", "plain has none"),
        (f"t JOIN timeless {AS_OF}", "timeless has none"),
        (f"t JOIN totals {AS_OF}", "requires an event time on its right side"),
        (f"t JOIN joined {AS_OF}", "requires an event time on its right side"),
        (f"joined AS t JOIN u {AS_OF}", "requires an event time on its left side"),
        (f"t JOIN z {AS_OF}", "times of one type"),
        (f"t JOIN filtered {AS_OF}", "versions that are not filtered"),
        (f"t JOIN some_lasts {AS_OF}", "versions that are not filtered"),
        (f"t JOIN keyed_lasts {AS_OF}", "versions that are not filtered"),
        (f"t JOIN windowed {AS_OF}", "requires a key of the versions"),
        (f"t JOIN greatest {AS_OF}", "all versions one by one"),
        (f"t JOIN lasts {AS_OF} AND t.v = r.v", "the key of the newest rows alone: k"),
        (f"t JOIN u {AS_OF}".replace("t.ts", "t.ts + INTERVAL '1' SECOND"), "requires a time attribute"),
        (f"t JOIN u {AS_OF}".replace("t.ts", "TIMESTAMP '2024-01-01 00:00:00'"), "requires a time attribute"),
        (f"t JOIN u {AS_OF}".replace("t.ts", "t.v"), "requires a time attribute"),
    ],
)
def test_what_has_no_versions_is_refused_with_its_place(query: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        joins(f"SELECT t.k, r.k FROM {query}")
    assert caught.value.position is not None
    assert caught.value.hint


def test_batch_mode_says_where_it_runs() -> None:
    with pytest.raises(SqlError, match="not supported in batch mode") as caught:
        graph(f"SELECT t.k, r.v FROM t JOIN u {AS_OF}", {"execution.runtime-mode": "batch"})
    assert "streaming" in str(caught.value.hint)


def test_a_plan_with_a_wrong_join_is_refused() -> None:
    text = TableEnvironment.create()
    text.execute_script(DDL)
    plan = text.compile_plan_sql(f"SELECT t.k, r.v FROM t JOIN u {AS_OF}").as_json_string()
    for before, after, message in (
        ('"isTemporalFunctionJoin": false', '"isTemporalFunctionJoin": true', "temporal table functions"),
        ('"joinType": "INNER"', '"joinType": "SEMI"', "joined SEMI"),
        ('"rightTimeAttributeIndex": 2', '"rightTimeAttributeIndex": 9', "9"),
        ('"rightTimeAttributeIndex": 2', '"rightTimeAttributeIndex": 0', "not timestamps of one type"),
    ):
        assert before in plan
        with pytest.raises(PlanError, match=message):
            load(plan.replace(before, after))


def test_first_rows_wait_where_they_are_versions() -> None:
    """In mini-batches, too, where they would be given at once and replaced."""
    options = {
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "1 s",
        "table.exec.mini-batch.size": "100",
    }
    found = graph(f"SELECT t.k, r.v FROM t JOIN firsts {AS_OF}", options)
    assert all(each.changelog_mode.insert_only for each in found.nodes)


def test_state_lives_as_long_as_a_hint_says() -> None:
    hint = "/*+ STATE_TTL('t' = '1 d', 'r' = '2 d') */"
    (node,) = joins(f"SELECT {hint} t.k, r.v FROM cdc AS t JOIN u {AS_OF}")
    assert [node.state_ttl(at) for at in range(3)] == ["0 ms", "2 d", "1 d"]
