"""Names and texts of programs are never read as SQL; what is refused; sessions, declarations and frames in Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rekindle as r
from execnodes.core.errors import CatalogError, OptionError, SqlError
from rekindle import Over, TableEnvironment, Tumble, col, lit
from tests.table.compared import environment, same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TUMBLE = Tumble.over(lit(10).minutes).on(col("ts")).alias("w")
HOSTILE = [
    "a`b",
    "a'b",
    "x.y",
    "`",
    "``",
    "a\nb",
    "a -- b",
    "a /* b",
    'a") --',
    "select",
    "\\",
    "'; DROP TABLE t",
    "ä €",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_texts(env: TableEnvironment, text: str) -> None:
    table = env.from_path("u").select(col("k2").alias(text), lit(text).alias("t"))
    renamed = table.rename_columns(col(text).alias("again")).add_columns(lit(text).alias(text))
    assert renamed.get_schema().get_field_names() == ["again", "t", text]
    assert renamed.drop_columns(col(text), col("again")).get_schema().get_field_names() == ["t"]
    assert env.from_elements([(text,)], [text]).get_schema().get_field_names() == [text]
    plan = table.where(col("t").in_(text, "x") & (col(text) > 1)).compile_plan()
    assert json.dumps(text, ensure_ascii=False) in plan.as_json_string()
    session = environment()
    name = "`" + text.replace("`", "``") + "`"
    descriptor = r.TableDescriptor.for_connector("datagen").option("number-of-rows", 1).comment(text)
    session.create_table(
        name, descriptor.schema(r.Schema.new_builder().column(text, r.DataTypes.INT()).build()).build()
    )
    session.create_view("seen", session.from_path(name))
    assert session.list_tables() == sorted(["o", "seen", "t", "u", text])
    assert session.from_path("seen").get_schema().get_field_names() == [text]


@given(st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=20))
@settings(max_examples=40, deadline=None)
def test_a_text_is_a_text(text: str) -> None:
    """Names and literals come back as they were given; a type counts UTF-16, as in Flink."""
    table = TableEnvironment.create().from_elements([(text,)], [text])
    found = table.select(col(text), lit(text).alias(f"{text}2")).get_schema()
    assert found.get_column_names() == [text, f"{text}2"]
    assert found.get_column_data_types()[1].length == len(text.encode("utf-16-le")) // 2


def test_a_comment_at_the_end_ends_with_the_line(env: TableEnvironment) -> None:
    table = env.sql_query("SELECT k2 FROM u -- those")
    same(env, table.where(col("k2") > 1).union_all(table), "SELECT k2 FROM u WHERE k2 > 1 UNION ALL SELECT k2 FROM u")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda e: bool(col("k") > 1), "no truth value"),
        (lambda e: lit(object()), "no constant"),
        (lambda e: lit(Decimal("NaN")), "no DECIMAL"),
        (lambda e: lit(1, r.DataTypes.DECIMAL(99, 2)), "DECIMAL"),
        (lambda e: col("k").distinct, "no aggregate"),
        (lambda e: col("k").filter(col("k") > 1), "no aggregate"),
        (lambda e: col("ts").floor("DAY) --"), "no keyword"),
        (lambda e: e.from_path("u").drop_columns(col("z")), "no column 'z'"),
        (lambda e: e.from_path("u").drop_columns(col("k2") + 1), "is no column"),
        (lambda e: e.from_path("u").drop_columns(col("k2"), col("w")), "no column is left"),
        (lambda e: e.from_path("u").rename_columns(col("w")), "no new name"),
        (lambda e: e.from_path("u").alias("a", "b", "c"), "3 names"),
        (lambda e: e.from_path("u").select(col("w").start), "no window is called"),
        (lambda e: e.from_path("t").window(TUMBLE).group_by(col("k")), "leaves out the window"),
        (lambda e: Tumble.over(lit(1).day).alias("w"), "over no time"),
        (lambda e: Tumble.over(r.row_interval(3)), "so many rows"),  # type: ignore[arg-type]  # what is tested
        (lambda e: e.from_path("t").over_window(Over.partition_by(col("k")).alias("w")).select("k"), "no order"),
        (
            lambda e: e.from_path("t").over_window(
                Over.order_by(col("ts")).preceding(r.row_interval(1)).following(r.CURRENT_RANGE).alias("w")
            ).select("k"),
            "begins by ROWS",
        ),
        (lambda e: e.from_path("u").limit(-1), "no number of rows"),
        (lambda e: e.from_path("a..b"), "is no name"),
        (lambda e: e.from_elements([]), "one row at least"),
        (lambda e: e.from_elements([(None,)]), "no type"),
        (lambda e: e.from_elements([(1,), (1, 2)]), "one length"),
        (lambda e: e.from_elements([1, 2]), "elements are rows"),
        (lambda e: e.from_elements([(1,)], r.DataTypes.INT()), "no type of rows"),
        (lambda e: e.from_elements([(1,)], ["a", "b"]), "2 columns"),
        (lambda e: e.create_statement_set().add_insert("o"), "no table"),
    ],
)  # fmt: skip
def test_what_is_refused(env: TableEnvironment, build: Callable[[TableEnvironment], object], message: str) -> None:
    with pytest.raises(SqlError, match=message):
        build(env)


def test_the_session(capsys: pytest.CaptureFixture[str]) -> None:
    env = environment()
    env.execute_sql("CREATE CATALOG c")
    env.execute_sql("CREATE DATABASE d")
    env.create_view("v", env.from_path("u"))
    env.create_temporary_view("x", env.from_path("v"))
    assert env.list_tables() == ["o", "t", "u", "v", "x"]
    assert env.list_views() == ["v", "x"]
    assert env.list_databases() == ["d", "default_database"]
    assert env.list_catalogs() == ["c", "default_catalog"]
    env.create_view("v", env.from_path("t"), ignore_if_exists=True)
    env.from_path("v").print_schema()
    assert capsys.readouterr().out == "(\n  `k2` INT,\n  `w` INT\n)\n"
    env.drop_temporary_view("x")
    env.drop_view("v")
    env.use_database("d")
    assert (env.get_current_catalog(), env.get_current_database(), env.list_tables()) == ("default_catalog", "d", [])
    env.use_catalog("c")
    assert env.get_current_catalog() == "c"
    with pytest.raises(CatalogError, match="nowhere"):
        env.use_catalog("nowhere")
    config = env.get_config().set("table.local-time-zone", "UTC").set_local_timezone("Asia/Tokyo")
    assert config.get("table.local-time-zone") == config.get_local_timezone() == "Asia/Tokyo"
    assert config.get("pipeline.name", "none") == "none"


def test_tables_and_inserts_are_those_of_sql() -> None:
    declared = r.Schema.new_builder().column("k", r.DataTypes.INT().not_null()).column("ts", "TIMESTAMP(3)")
    schema = declared.watermark("ts", col("ts") - lit(5).seconds).primary_key("k").build()
    descriptor = r.TableDescriptor.for_connector("datagen").schema(schema).option("number-of-rows", 3).build()
    env = environment()
    env.create_temporary_table("made", descriptor)
    env.execute_sql(
        "CREATE TEMPORARY TABLE said (k INT NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, "
        "PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'datagen', 'number-of-rows' = '3')"
    )
    made, wanted = (env.compile_plan_sql(f"SELECT * FROM {name}").as_json_string() for name in ("made", "said"))
    assert made.replace("made", "said") == wanted
    statements = (
        env.create_statement_set().add_insert("o", env.from_path("u")).add_insert_sql("INSERT INTO o VALUES (1, 2)")
    )
    others = env.create_statement_set().add_insert_sql("INSERT INTO o SELECT * FROM u")
    others.add_insert_sql("INSERT INTO o VALUES (1, 2)")
    assert statements.compile_plan().as_json_string() == others.compile_plan().as_json_string()


@pytest.mark.spark
def test_frames_go_in_and_out(spark: SparkSession) -> None:
    import pandas as pd

    env = TableEnvironment.create(spark=spark)
    table = env.from_pandas(pd.DataFrame({"k": ["a", "b", "a", None], "v": [1, 2, 3, 4]}))
    found = table.group_by(col("k")).select(col("k"), col("v").sum.alias("n")).to_pandas()
    assert list(found.columns) == ["k", "n"]
    assert dict(zip(found["k"].fillna("none"), found["n"], strict=True)) == {"a": 4, "b": 2, "none": 4}


def test_a_session_of_spark_connect_is_refused() -> None:
    """One is a client: it has neither Spark's driver nor its streams at hand."""
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(OptionError, match="a session of Spark Connect cannot run jobs"):
        TableEnvironment.create(spark=remote)
