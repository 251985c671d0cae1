"""DataFrames as tables of a plan: by uid alone, with columns that must be there again at restore."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import types as t

from execnodes.core.errors import CatalogError, ConnectorError, PlanError, SqlError
from rekindle.api.schema import Schema
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.spark.types import row_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDERS = {"k": t.IntegerType(), "v": t.LongType(), "ts": t.TimestampNTZType()}


class Frame:
    """As much of a DataFrame as compiling looks at."""

    isStreaming = True  # noqa: N815

    def __init__(self, columns: Mapping[str, t.DataType]) -> None:
        self.schema = t.StructType([t.StructField(name, kind) for name, kind in columns.items()])


def frame(**columns: t.DataType) -> Any:
    return Frame(columns or ORDERS)


@pytest.fixture
def env() -> TableEnvironment:
    return TableEnvironment.create()


def source_of(plan: CompiledPlan) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(plan.as_json_string())["nodes"][0]["scanTableSource"]["table"]
    return found


def test_a_plan_holds_the_uid_and_the_columns(env: TableEnvironment) -> None:
    table = source_of(env.from_data_stream(frame(), uid="orders").compile_plan())
    assert list(table) == ["resolvedTable"]
    assert table["resolvedTable"]["options"] == {"connector": "data-stream", "uid": "orders"}
    columns = [(each["name"], each["dataType"]) for each in table["resolvedTable"]["schema"]["columns"]]
    assert columns == [("k", "INT"), ("v", "BIGINT"), ("ts", "TIMESTAMP(6)")]


@pytest.mark.parametrize("objects", ["ALL", "SCHEMA", "IDENTIFIER"])
def test_it_is_in_full_in_every_plan(objects: str) -> None:
    env = TableEnvironment.create({"table.plan.compile.catalog-objects": objects})
    table = source_of(env.from_data_stream(frame(), uid="orders").compile_plan())
    assert table["resolvedTable"]["options"]["uid"] == "orders"


def test_without_a_uid_nothing_can_be_compiled(env: TableEnvironment) -> None:
    table = env.from_data_stream(frame())
    env.execute_sql("CREATE TABLE out_t (k INT) WITH ('connector' = 'print')")
    for run in (table.compile_plan, table.select("k").execute, table.select("k").insert_into("out_t").execute):
        with pytest.raises(PlanError, match=r"without a uid(?s:.*)from_data_stream\(df, uid='orders'\)"):
            run()


def test_sql_reads_it_through_a_view(env: TableEnvironment) -> None:
    env.create_temporary_view("orders", env.from_data_stream(frame(), uid="orders"))
    plan = env.compile_plan_sql("SELECT k, SUM(v) FROM orders GROUP BY k")
    assert source_of(plan)["resolvedTable"]["options"]["uid"] == "orders"
    assert [row[0] for row in env.execute_sql("DESCRIBE orders").rows] == ["k", "v", "ts"]


DECLARED: list[tuple[Schema | str, list[tuple[str, str]]]] = [
    ("v BIGINT, k INT", [("v", "BIGINT"), ("k", "INT")]),
    ("k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts", [("k", "INT"), ("ts", "TIMESTAMP(3) *ROWTIME*")]),
    (
        "e AS CAST(ts AS TIMESTAMP(3)), WATERMARK FOR e AS e - INTERVAL '5' SECOND",
        [("k", "INT"), ("v", "BIGINT"), ("ts", "TIMESTAMP(6)"), ("e", "TIMESTAMP(3) *ROWTIME*")],
    ),
    (
        Schema.new_builder().column("ts", "TIMESTAMP(3)").column_by_expression("m", "MINUTE(ts)").watermark("ts", "ts")
        .build(),
        [("ts", "TIMESTAMP(3) *ROWTIME*"), ("m", "BIGINT")],
    ),
    (
        Schema.new_builder().column("k", "INT NOT NULL").primary_key("k").build(),
        [("k", "INT NOT NULL")],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "columns"), DECLARED)
def test_a_schema_chooses_types_and_computes(
    env: TableEnvironment, schema: Schema | str, columns: list[tuple[str, str]]
) -> None:
    plan = env.from_data_stream(frame(), schema, uid="orders").compile_plan()
    declared = source_of(plan)["resolvedTable"]["schema"]["columns"]
    assert [(each["name"], each["dataType"]) for each in declared] == columns


@pytest.mark.parametrize(
    ("schema", "error", "message"),
    [
        ("k BIGINT", PlanError, "data stream 'orders': column 'k' is INT, not BIGINT"),
        ("id INT", PlanError, "no column 'id'"),
        ("k INT, WATERMARK FOR ts AS ts", SqlError, "names 'ts', which is no column"),
        ("k INT,\nv NONSENSE", SqlError, "line 2, column 3"),
    ],
)
def test_a_schema_that_does_not_fit_is_refused(
    env: TableEnvironment, schema: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        env.from_data_stream(frame(), schema, uid="orders")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, r"uid 'orders' is registered(?s:.*)register_data_stream\(df, 'orders'\)(?s:.*)k INT, v BIGINT"),
        ({"k": t.IntegerType()}, "data stream 'orders': it has no column 'v'"),
        ({**ORDERS, "v": t.IntegerType()}, "column 'v' is INT, not BIGINT"),
    ],
)
def test_restoring_asks_for_the_same_columns(given: dict[str, t.DataType] | None, message: str) -> None:
    text = TableEnvironment.create().from_data_stream(frame(), uid="orders").compile_plan().as_json_string()
    env = TableEnvironment.create()
    if given is not None:
        env.register_data_stream(frame(**given), "orders")
    with pytest.raises(PlanError, match=message):
        env.execute_plan(CompiledPlan.from_json_string(text))


def test_uids_are_unique_until_they_are_forgotten(env: TableEnvironment) -> None:
    first = frame()
    env.register_data_stream(first, "orders")
    env.from_data_stream(first, uid="orders")
    with pytest.raises(CatalogError, match=r"'orders'(?s:.*)unregister_data_streams"):
        env.register_data_stream(frame(), "orders")
    env.unregister_data_streams()
    env.register_data_stream(frame(), "orders")
    with pytest.raises(CatalogError, match="no uid"):
        env.register_data_stream(frame(), " ")


NESTED = t.StructType([t.StructField("a", t.ArrayType(t.ShortType())), t.StructField("b", t.DecimalType(5, 2))])


@pytest.mark.parametrize(
    ("spark_type", "expected"),
    [
        (t.StringType(), "STRING"),
        (t.CharType(3), "CHAR(3)"),
        (t.VarcharType(9), "VARCHAR(9)"),
        (t.BinaryType(), "BYTES"),
        (t.ByteType(), "TINYINT"),
        (t.TimestampType(), "TIMESTAMP_LTZ(6)"),
        (t.MapType(t.StringType(), t.DateType()), "MAP<STRING, DATE>"),
        (NESTED, "ROW<`a` ARRAY<SMALLINT>, `b` DECIMAL(5, 2)>"),
    ],
)
def test_types_of_spark(spark_type: t.DataType, expected: str) -> None:
    (field,) = row_type(t.StructType([t.StructField("x", spark_type, False)]), "here").fields
    assert str(field.type) == expected


@pytest.mark.parametrize("spark_type", [t.DayTimeIntervalType(), t.NullType(), t.VariantType()])
def test_types_that_no_table_has(spark_type: t.DataType) -> None:
    inner = t.StructType([t.StructField("y", spark_type)])
    with pytest.raises(ConnectorError, match=r"'x.y'(?s:.*)Cast"):
        row_type(t.StructType([t.StructField("x", inner)]), "here")


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("k INT, s INT", "column 's' is BIGINT, not INT"),
        ("k INT NOT NULL, s BIGINT", "column 'k' is INT, not INT NOT NULL"),
        ("s BIGINT, k INT", r"the columns are \(k, s\), not \(s, k\)"),
        (None, "changelog=True"),
    ],
)
def test_a_result_of_another_type_is_refused(env: TableEnvironment, schema: str | None, message: str) -> None:
    table = env.from_data_stream(frame(), uid="orders").group_by("k").select("k", "SUM(v) AS s")
    with pytest.raises(PlanError, match=message):
        env.as_data_stream(table, schema)


def test_a_plan_of_an_insert_gives_no_data_stream(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE out_t (k INT) WITH ('connector' = 'print')")
    plan = env.from_data_stream(frame(), uid="orders").select("k").insert_into("out_t").compile_plan()
    with pytest.raises(PlanError, match="out_t"):
        env.as_data_stream(plan)


# -- with Spark

LINES = [
    {"k": 1, "v": 2, "ts": "2024-01-01 00:00:01.123456"},
    {"k": 1, "v": 5, "ts": "2024-01-01 00:00:02"},
    {"k": 2, "v": 5, "ts": "2024-01-01 00:01:02"},
]


@pytest.fixture
def user(spark: SparkSession) -> SparkSession:
    """A session as a program has it: Rekindle's settings do not hold there."""
    own = spark.newSession()
    own.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "false")
    own.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    return own


@pytest.fixture
def orders(user: SparkSession, tmp_path: Path) -> DataFrame:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    return user.readStream.schema("k int, v bigint, ts timestamp_ntz").json(str(tmp_path / "in"))


@pytest.mark.spark
def test_streams_and_batches_run_from_their_plan(user: SparkSession, orders: DataFrame, tmp_path: Path) -> None:
    compiling = TableEnvironment.create()
    schema = "k INT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    compiling.create_temporary_view("orders", compiling.from_data_stream(orders, schema, uid="orders"))
    names = user.sql("SELECT * FROM VALUES (1, 'one'), (2, 'two') AS t(id, name)")
    compiling.create_temporary_view("names", compiling.from_data_stream(names, uid="names"))
    text = compiling.compile_plan_sql(
        "SELECT name, w, s FROM names JOIN (SELECT k, MAX(ts) AS w, SUM(v) AS s FROM TABLE(TUMBLE(TABLE orders, "
        "DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end) ON id = k"
    ).as_json_string()

    env = TableEnvironment.create(spark=user)
    env.register_data_stream(orders.union(orders), "orders", bounded=True)
    env.register_data_stream(names, "names")
    rows = [
        (name, str(w), s) for _, (name, w, s) in env.execute_plan(CompiledPlan.from_json_string(text)).collect_changes()
    ]
    assert sorted(rows) == [("one", "2024-01-01 00:00:02", 14), ("two", "2024-01-01 00:01:02", 10)]


@pytest.mark.spark
def test_a_watermark_of_spark_is_refused(user: SparkSession, orders: DataFrame) -> None:
    env = TableEnvironment.create(spark=user)
    marked = orders.selectExpr("k", "CAST(ts AS TIMESTAMP) AS ts").withWatermark("ts", "1 second")
    with pytest.raises(ConnectorError, match=r"data stream 'orders'(?s:.*)withWatermark"):
        env.from_data_stream(marked, uid="orders").execute()


@pytest.mark.spark
def test_a_result_is_a_frame_to_go_on_with(user: SparkSession, orders: DataFrame, tmp_path: Path) -> None:
    env = TableEnvironment.create({"execution.job-dir": str(tmp_path / "job")}, spark=user)
    table = env.from_data_stream(orders, uid="orders").group_by("k").select("k", "SUM(v) AS s")
    rows: list[tuple[Any, ...]] = []

    def run() -> None:
        stream = env.as_data_stream(table.compile_plan(), "k INT, s BIGINT", changelog=True)
        (
            stream.where("k < 3")
            .writeStream.foreachBatch(lambda batch, _: rows.extend(map(tuple, batch.collect())))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
            .awaitTermination()
        )

    run()
    assert sorted(rows) == [(1, 7, "+I"), (2, 5, "+I")]
    rows.clear()
    (tmp_path / "in" / "b.json").write_text(json.dumps({"k": 1, "v": 1}), encoding="utf-8")
    run()
    assert rows == [(1, 7, "-U"), (1, 8, "+U")]
