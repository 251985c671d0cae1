"""Messages with a key and a value in formats of their own; jars that connectors need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

import execnodes.connectors
from execnodes.connectors import jars, sink_changelog_mode, source_changelog_mode
from execnodes.core.changelog import INSERT_ONLY, RETRACT
from execnodes.core.connectors import ConnectorDeclaration, Jar, SinkAbilities, SourceAbilities
from execnodes.core.errors import ConnectorError, OptionError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors import registry
from rekindle.connectors.base import SinkConnector, SinkRequest, SinkWriter, SourceConnector, SourceFrame, SourceRequest
from rekindle.connectors.jars import has_jar, require_jars
from rekindle.connectors.keyed import Messages, keyed_options
from rekindle.connectors.line_text import stream_name
from rekindle.connectors.options import COMMON, TableOption, TableOptions, check_options
from rekindle.connectors.whole_file import numbered
from rekindle.doctor import check_jars
from rekindle.spark.releases import named
from tests.connectors.helpers import table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = {"k_id": "INT NOT NULL", "k_part": "STRING", "v": "BIGINT", "value": "STRING"}
KEYED = {
    "connector": "queue", "value.format": "json", "key.format": "csv", "key.fields": "k_id;k_part",
    "key.fields-prefix": "k_", "value.fields-include": "EXCEPT_KEY", "key.csv.field-delimiter": "|",
}  # fmt: skip


def messages(options: Mapping[str, str], columns: Mapping[str, str] = COLUMNS) -> Messages:
    checked = check_options(options, (*COMMON, *keyed_options(options)), "source", "t")
    return Messages.of(table(dict(columns), dict(options)), checked, "t")


def without(*keys: str, **more: str) -> dict[str, str]:
    return {key: value for key, value in KEYED.items() if key not in keys} | more


def test_parts_hold_their_columns() -> None:
    made = messages(KEYED)
    assert made.key is not None
    assert (made.key.names, [each.name for each in made.key.columns]) == (("k_id", "k_part"), ["id", "part"])
    assert made.key.options.text("csv.field-delimiter") == "|"
    assert made.value.names == ("v", "value")
    whole = messages(without("key.fields-prefix", "value.fields-include"))
    assert whole.value.names == tuple(COLUMNS)
    assert messages({"connector": "queue", "format": "json"}).key is None


def test_options_are_those_of_the_formats_under_their_prefix() -> None:
    assert messages({"connector": "queue", "format": "json", "json.ignore-parse-errors": "true"})
    assert messages(KEYED | {"value.json.ignore-parse-errors": "true"}).value.options.flag("json.ignore-parse-errors")
    for wrong in ("json.ignore-parse-errors", "key.json.ignore-parse-errors", "value.csv.field-delimiter"):
        with pytest.raises(OptionError, match=f"unknown option '{wrong}'"):
            messages(KEYED | {wrong: "true"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (without("key.format"), "unknown option 'key.csv.field-delimiter'"),
        (without("key.format", "key.csv.field-delimiter"), "key.format and key.fields need each other"),
        (without("key.fields"), "key.format and key.fields need each other"),
        (without("key.fields", "key.format", "key.csv.field-delimiter"), "no meaning without key.fields"),
        (without("value.fields-include"), "key.fields-prefix is of no use"),
        (KEYED | {"key.fields": "k_id;k_x"}, r"no physical column 'k_x'(?s:.*)It has k_id, k_part, v, value"),
        (KEYED | {"key.fields": "k_id;v"}, "'v' does not begin with key.fields-prefix, 'k_'"),
        (KEYED | {"format": "json"}, "format and value.format are both given"),
        (without("value.format"), "the table has no 'format' option"),
        (KEYED | {"value.format": "parquet"}, r"'parquet' has files(?s:.*)Formats of records: canal-json, "),
        (KEYED | {"value.format": "nothing"}, "unknown format 'nothing'"),
        (without("key.csv.field-delimiter") | {"key.format": "debezium-json"}, "cannot be that of a key"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises((ConnectorError, OptionError), match=message) as caught:
        messages(options)
    assert caught.value.where == "table t"


class Queue(SourceConnector, SinkConnector):
    """Messages that lie in a folder, as rows of their bytes."""

    declaration: ClassVar = ConnectorDeclaration("queue", SourceAbilities(), SinkAbilities(), keyed=True)

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        return (TableOption("path", "text", "", "Folder of the messages.", required=True), *keyed_options(options))

    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        options = self.opened(request.table, "source", request.name)
        stored = (
            named(spark.readStream, stream_name(request.uid))
            .schema("key STRING, value STRING")
            .parquet(options.text("path"))
        )
        rows = stored.selectExpr("*", "'queue/0' AS rk_path")
        made = Messages.of(request.table, options, request.name)
        return SourceFrame(numbered_changes(made.decode(rows, request.columns), request), True)

    def writer(self, spark: SparkSession, request: SinkRequest) -> SinkWriter:
        return QueueWriter(request, self.opened(request.table, "sink", request.name))


def numbered_changes(frame: DataFrame, request: SourceRequest) -> DataFrame:
    hidden = [name for name in ("rk_kind",) if name in frame.columns]
    return numbered(frame, [*(f"c{i}" for i in range(len(request.columns))), *hidden], request.ordered)


class QueueWriter(SinkWriter):
    def __init__(self, request: SinkRequest, options: TableOptions) -> None:
        self.messages = Messages.of(request.table, options, request.name)
        self.path = options.text("path")

    def write(self, batch: DataFrame, batch_id: int) -> None:
        self.messages.encode(batch.drop("rk_seq")).write.mode("append").parquet(self.path)


@pytest.fixture
def queue() -> Iterator[type[Queue]]:
    yield registry.register(Queue)
    registry._registered.clear()
    execnodes.connectors._declared.clear()


def test_the_value_tells_changes(queue: type[Queue]) -> None:
    options = {"connector": "queue", "value.format": "debezium-json", "key.format": "json", "key.fields": "a"}
    assert source_changelog_mode(options) == RETRACT
    assert sink_changelog_mode(options, True, RETRACT) == RETRACT
    assert source_changelog_mode({"connector": "queue", "format": "json"}) == INSERT_ONLY
    # Who has no keys has no such option either.
    assert source_changelog_mode({"connector": "filesystem", "value.format": "debezium-json"}) == INSERT_ONLY


@pytest.mark.spark
def test_messages_come_back_as_they_were(queue: type[Queue], spark: SparkSession, tmp_path: Path) -> None:
    rows = "(1, 'a|b', 10, 'x'), (2, CAST(NULL AS STRING), 20, CAST(NULL AS STRING))"
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in (KEYED | {"path": f"{tmp_path}/q"}).items())
    env = TableEnvironment.create({"parallelism.default": "1"}, spark=spark)
    columns = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
    env.execute_sql(f"CREATE TABLE q ({columns}) WITH ({listed}, 'key.csv.null-literal' = 'none')")
    env.execute_sql(f"INSERT INTO q VALUES {rows}").await_()
    stored = {tuple(each) for each in spark.read.parquet(f"{tmp_path}/q").collect()}
    assert stored == {('1|"a|b"', '{"v":10,"value":"x"}'), ("2|none", '{"v":20,"value":null}')}
    found = {values for _, values in env.execute_sql("SELECT `value`, k_part, v, k_id FROM q").collect_changes()}
    assert found == {("x", "a|b", 10, 1), (None, None, 20, 2)}


@pytest.mark.spark
def test_frames(spark: SparkSession) -> None:
    """Changes in the value, columns that both hold, messages without a key."""
    options = {"connector": "queue", "value.format": "debezium-json", "key.format": "json", "key.fields": "id"}
    given = table({"id": "INT", "s": "STRING"}, options)
    made = messages(options, {"id": "INT", "s": "STRING"})
    rows = spark.sql("SELECT * FROM VALUES (1, 'a', 0Y, 7), (1, NULL, 3Y, 8) AS t(id, s, rk_kind, rk_at)")
    sent = made.encode(rows, ("rk_at",))
    assert sent.columns == ["key", "value", "rk_at"]
    assert {each["key"] for each in sent.collect()} == {'{"id":1}'}
    taken = sent.selectExpr("*", "'queue/0' AS rk_path")
    columns = given.table_schema.columns
    back = made.decode(taken, columns[::-1], ("rk_at",))
    assert back.columns == ["c0", "c1", "rk_kind", "rk_at"]
    assert {tuple(each) for each in back.collect()} == {("a", 1, 0, 7), (None, 1, 3, 8)}

    split = {"connector": "queue", "value.format": "json", "key.format": "json", "key.fields": "id"}
    both = messages(split, {"id": "INT", "s": "STRING"})
    apart = messages(split | {"value.fields-include": "EXCEPT_KEY"}, {"id": "INT", "s": "STRING"})
    told = spark.sql(
        """SELECT *, 'queue/0' AS rk_path
        FROM VALUES ('{"id": 1}', '{"id": 2, "s": "a"}'), (NULL, '{"id": 3, "s": "b"}') AS t(key, value)"""
    )
    assert {tuple(each) for each in both.decode(told, columns).collect()} == {(2, "a"), (3, "b")}
    # As in Flink: a message without a key gives no row where the key is read.
    assert {tuple(each) for each in apart.decode(told, columns).collect()} == {(1, "a")}
    assert {tuple(each) for each in apart.decode(told, columns[1:]).collect()} == {("a",), ("b",)}


class NeedsJar(Queue):
    """A connector whose jar nobody has."""

    declaration: ClassVar = ConnectorDeclaration(
        "queue", SourceAbilities(), SinkAbilities(), keyed=True, jars=(Jar("com.example:queue", "com.example.Queue"),)
    )


@pytest.fixture
def needs_jar() -> Iterator[None]:
    registry.register(NeedsJar)
    yield
    registry._registered.clear()
    execnodes.connectors._declared.clear()


@pytest.mark.usefixtures("needs_jar")
def test_the_doctor_names_jars() -> None:
    (found,) = check_jars()
    assert (found.name, found.ok, found.detail) == ("connector 'queue'", True, "needs com.example:queue")
    assert "spark.jars.packages=com.example:queue:<version>" in found.remedy


@pytest.mark.spark
@pytest.mark.usefixtures("needs_jar")
def test_a_jar_that_is_not_there_is_named(spark: SparkSession, tmp_path: Path) -> None:
    assert jars({"connector": "queue", "format": "json"}) == (Jar("com.example:queue", "com.example.Queue"),)
    env = TableEnvironment.create(spark=spark)
    env.execute_sql(f"CREATE TABLE q (a INT) WITH ('connector' = 'queue', 'format' = 'json', 'path' = '{tmp_path}')")
    with pytest.raises(ConnectorError, match=r"'queue' needs com.example:queue, which Spark(?s:.*)spark.jars.packages"):
        env.execute_sql("INSERT INTO q VALUES (1)").await_()
    with pytest.raises(ConnectorError, match=r"needs com\.example:queue"):
        env.execute_sql("SELECT * FROM q").collect_changes()
    assert has_jar(spark, Jar("org.apache.spark:spark-core", "org.apache.spark.SparkContext"))
    require_jars(spark, {"connector": "filesystem", "format": "json"}, "t")


def test_own_connectors_need_no_jars() -> None:
    assert check_jars() == []
