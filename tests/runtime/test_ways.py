"""The ways of rows in a plan, and the slots that they are in."""

from __future__ import annotations

import pytest

from execnodes.core.graph import ExecGraph
from execnodes.core.types import BIGINT, BOOLEAN, STRING, array, decimal, parse_type
from execnodes.lowering.slots import SlotLayout, assign, decode, encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.record import LocalRecord, record
from rekindle.pipeline.ways import Pipeline, plan_ways

TABLES = """
CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
CREATE VIEW per_key AS SELECT k, COUNT(*) AS c, SUM(v) AS s FROM t GROUP BY k;
CREATE TABLE one (k STRING, c BIGINT, s INT) WITH ('connector' = 'print');
CREATE TABLE two (n BIGINT, s INT, c BIGINT) WITH ('connector' = 'print');
CREATE TABLE raw (k STRING, v INT) WITH ('connector' = 'print');
"""
DIAMOND = """
EXECUTE STATEMENT SET BEGIN
INSERT INTO one SELECT * FROM per_key;
INSERT INTO two SELECT COUNT(k), SUM(s), MAX(c) FROM per_key;
INSERT INTO raw SELECT k, v FROM t;
END;
"""


def compiled(script: str) -> ExecGraph:
    return TableEnvironment.create().compile_script(TABLES + script).graph


def ways_of(graph: ExecGraph) -> Pipeline:
    return plan_ways(record(graph))


def test_rows_of_a_shared_node_leave_it_twice() -> None:
    graph = compiled(DIAMOND)
    pipeline = ways_of(graph)
    assert len(pipeline.record.sources) == 1
    shared = [node for node in graph.nodes if len(graph.consumers_of(node)) > 1 and node.uids()]
    assert len(shared) == 1
    assert len(pipeline.leaving(shared[0].id)) == 2


def test_pre_aggregation_comes_before_the_exchange_unless_it_is_switched_off() -> None:
    insert = "INSERT INTO one SELECT * FROM per_key;"
    two = ways_of(compiled(insert))
    assert [isinstance(step, LocalRecord) for step in two.record.steps.values()] == [True, False]
    one = ways_of(compiled(f"SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE'; {insert}"))
    assert [isinstance(step, LocalRecord) for step in one.record.steps.values()] == [False]


@pytest.mark.parametrize(
    ("uid_format", "uid"),
    [
        (None, "{id}_global-group-aggregate"),
        ("<id>_<type>-<version>_<operator>", "{id}_stream-exec-global-group-aggregate-1_global-group-aggregate"),
    ],
)
def test_uids_are_the_same_in_every_compilation_and_follow_the_format(uid_format: str | None, uid: str) -> None:
    setting = f"SET 'table.exec.uid.format' = '{uid_format}';" if uid_format else ""
    graphs = [compiled(f"{setting} INSERT INTO one SELECT * FROM per_key;") for _ in range(2)]
    found = [[(node.id, node.uids()) for node in graph.nodes if node.uids()] for graph in graphs]
    assert found[0] == found[1]
    ((node_id, uids),) = found[0]
    assert uids == (uid.format(id=node_id),)


def test_slots_are_shared_by_physical_type() -> None:
    narrow, wide = [BIGINT, STRING, BOOLEAN], [STRING, STRING, decimal(30, 2), array(BIGINT)]
    assert assign(narrow) == ("l0", "s0", "l1")
    assert assign(wide) == ("s0", "s1", "s2", "s3")
    layout = SlotLayout.of([narrow, wide])
    assert layout.names() == ("l0", "l1", "s0", "s1", "s2", "s3")
    assert layout.ddl().startswith("l0 bigint, l1 bigint, s0 string")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("type_text", "value"),
    [
        ("BOOLEAN", "true"),
        ("TINYINT", "CAST(-7 AS TINYINT)"),
        ("DECIMAL(10, 2)", "CAST('-12345.67' AS DECIMAL(10, 2))"),
        ("DECIMAL(18, 18)", "CAST('0.123456789012345678' AS DECIMAL(18, 18))"),
        ("DECIMAL(38, 18)", "CAST('-0.000000000000000001' AS DECIMAL(38, 18))"),
        ("DECIMAL(38, 0)", "CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0))"),
        ("DATE", "DATE'0001-01-01'"),
        ("TIMESTAMP(6)", "TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'"),
        ("TIMESTAMP_LTZ(3)", "TIMESTAMP'1900-01-01 00:00:00.001'"),
        ("FLOAT", "CAST('1.1' AS FLOAT)"),
        ("DOUBLE", "CAST('NaN' AS DOUBLE)"),
        ("ARRAY<INT>", "array(1, NULL, 3)"),
        ("MAP<STRING, DECIMAL(30, 3)>", "map('b', CAST('1.500' AS DECIMAL(30, 3)), 'a', NULL)"),
        ("ROW<`a b` INT, `t` TIMESTAMP(3), `r` ROW<`x` STRING>>",
         "named_struct('a b', 1, 't', TIMESTAMP_NTZ'2020-01-01 00:00:00.123456', 'r', named_struct('x', 'ß'))"),
    ],
)  # fmt: skip
def test_values_survive_the_exchange(spark, type_text: str, value: str) -> None:  # type: ignore[no-untyped-def]
    t = parse_type(type_text)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    frame = spark.range(1).selectExpr(f"{value} AS v")
    coded = frame.selectExpr("v", f"{encode(t, 'v')} AS s")
    back = coded.selectExpr("CAST(v AS STRING) AS was", f"CAST({decode(t, 's')} AS STRING) AS now")
    row = back.collect()[0]
    if type_text.startswith("MAP"):
        assert row.now == "{a -> null, b -> 1.500}"
    else:
        assert row.now == row.was
