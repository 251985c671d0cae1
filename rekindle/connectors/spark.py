"""Connector spark: any data source that Spark has, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.spark import CONNECTOR, bounded
from execnodes.core.connectors import ConnectorDeclaration
from execnodes.core.errors import ConnectorError, OptionError, PassingError
from execnodes.core.tables import ResolvedTable
from execnodes.lowering.stream import quote
from rekindle.connectors.base import SinkConnector, SinkRequest, SinkWriter, SourceConnector, SourceFrame, SourceRequest
from rekindle.connectors.jars import kafka_package
from rekindle.connectors.line_text import stream_name
from rekindle.connectors.options import TableOption, TableOptions, is_reference
from rekindle.connectors.secret_references import resolve_secrets
from rekindle.spark.passing import may_pass
from rekindle.spark.releases import named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PREFIX = "spark.options."
OPTIONS = (
    TableOption("spark.format", "text", "", "Short name or class of Spark's data source.", required=True),
    TableOption(f"{_PREFIX}<option>", "text", "", "Handed to the data source as <option>."),
    TableOption(
        "spark.schema", "bool", "false", "Give the table's columns to the data source as its schema.", roles=("source",)
    ),
    TableOption(
        "spark.start-option",
        "text",
        "",
        "Option of the data source that takes a position as Spark's checkpoint has it: with Kafka, startingOffsets.",
        roles=("source",),
    ),
    TableOption("spark.bounded", "bool", "false", "The stream ends by itself.", roles=("source",)),
)


_OVERRIDING = {"kafka": {"startingoffsets": ("startingtimestamp", "startingoffsetsbytimestamp")}}
"""By format and start option: other options, in lower case, that the data source prefers to it."""
_OF_WRITER = ("txnAppId", "txnVersion")
"""Options of each micro-batch that is written, by which Delta writes it once."""


class Spark(SourceConnector, SinkConnector):
    """Columns by name, cast to the declared types; a sink appends."""

    declaration: ClassVar[ConnectorDeclaration] = CONNECTOR

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """The format and its options."""
        return OPTIONS

    def check(self, options: Mapping[str, str], role: str, table: str) -> TableOptions:
        """Validate that each option of the data source has one value, however it is spelled."""
        checked = super().check(options, role, table)
        _reject_contradictions(checked, table)
        if role == "sink":
            _reject_options_of_writer(checked, table)
        return checked

    def opened(self, table: ResolvedTable, role: str, name: str) -> TableOptions:
        """Options for use. Of two spellings in a plan that an earlier release compiled Spark takes the last."""
        options = super().check(resolve_secrets(table.options or {}, name), role, name)
        if role == "sink":
            _reject_options_of_writer(options, name)
        return options

    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        """As a stream, or as a batch where one is asked for."""
        from execnodes.lowering.spark_sql import spark_type
        from rekindle.connectors.whole_file import numbered

        options = self.opened(request.table, "source", request.name)
        name = options.text("spark.format")
        reader = spark.read if request.batch else named(spark.readStream, stream_name(request.uid))
        reader = reader.format(name).options(**handed_to_source(options, request))
        if options.flag("spark.schema"):
            columns = request.table.table_schema.physical
            reader = reader.schema(", ".join(f"{quote(c.name)} {spark_type(c.data_type)}" for c in columns))
        try:
            frame = reader.load()
            cells = [
                f"CAST({quote(c.name)} AS {spark_type(c.data_type)}) AS c{i}" for i, c in enumerate(request.columns)
            ]
            return SourceFrame(numbered(frame, cells, request.ordered), request.batch or bounded(options))
        except _spark_errors() as error:
            raise _refused(error, name, request.name) from error

    def writer(self, spark: SparkSession, request: SinkRequest) -> SinkWriter:
        """Appends each micro-batch."""
        return _Writer(request, self.opened(request.table, "sink", request.name))


def _handed(options: TableOptions) -> dict[str, str]:
    return {key.removeprefix(_PREFIX): value for key, value in options.items() if key.startswith(_PREFIX)}


def _reject_contradictions(options: TableOptions, table: str) -> None:
    spellings = dict[str, str]()
    for key in _handed(options):
        other = spellings.setdefault(key.lower(), key)
        values = {options[_PREFIX + other], options[_PREFIX + key]}
        if len(values) > 1 and not any(map(is_reference, values)):
            raise OptionError(
                f"options '{_PREFIX}{other}' and '{_PREFIX}{key}' have different values, and Spark does not "
                "distinguish upper and lower case",
                where=f"table {table}",
                hint="Remove one of them.",
            )


def _reject_options_of_writer(options: TableOptions, table: str) -> None:
    reserved = [each.lower() for each in _OF_WRITER]
    for key in _handed(options):
        if key.lower() in reserved:
            raise OptionError(
                f"option '{_PREFIX}{key}' cannot be set for a sink: each micro-batch sets its own value",
                where=f"table {table}",
                hint=f"Remove '{_PREFIX}{key}'.",
            )


def handed_to_source(options: TableOptions, request: SourceRequest) -> dict[str, str]:
    """Return the options of the data source; a savepoint's position replaces where the table starts by itself."""
    start = starting(options, request)
    replaced = {each.lower() for each in start}
    for each in start:
        replaced.update(_OVERRIDING.get(options.text("spark.format").lower(), {}).get(each.lower(), ()))
    given = {key: value for key, value in _handed(options).items() if key.lower() not in replaced}
    return {**given, **start}


def starting(options: TableOptions, request: SourceRequest) -> dict[str, str]:
    """Options that make the data source go on from a savepoint's position; ConnectorError if it cannot be told."""
    if request.start is None:
        return {}
    option = options.text("spark.start-option")
    if not option:
        raise ConnectorError(
            f"the data source {options.text('spark.format')!r} cannot go on from the savepoint's position",
            where=f"table {request.name}, {request.uid}",
            hint="Name the option that takes a position in 'spark.start-option' (for Kafka: startingOffsets); or give "
            f"starting options in spark.options.* and --allow-drop-state {request.uid}:position.",
        )
    return {option: request.start}


def _spark_errors() -> tuple[type[Exception], ...]:
    """What Spark raises; a missing data source comes as a bare Java exception."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # it has no stubs
    from pyspark.errors import PySparkException

    return (PySparkException, Py4JJavaError)


def _refused(error: Exception, name: str, table: str) -> ConnectorError:
    # A Java exception's own text has its whole stack.
    java = getattr(error, "java_exception", None)
    text = str(java.getMessage()) if java is not None else str(error)
    kind = PassingError if may_pass(str(error)) else ConnectorError
    missing = "DATA_SOURCE_NOT_FOUND" in text or "Failed to find" in text
    return kind(f"Spark's data source {name!r}: {text}", where=f"table {table}", hint=_jar(name) if missing else None)


def _jar(name: str) -> str:
    """How Spark gets a data source that it does not bring."""
    package = kafka_package() if name == "kafka" else "<its package>"
    return f"Start with -D spark.jars.packages={package}, or name its jar in spark.jars."


class _Writer(SinkWriter):
    def __init__(self, request: SinkRequest, options: TableOptions) -> None:
        self._request = request
        self._options = options

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """At least once: after a crash a batch comes again, unless the data source knows Delta's transaction ids."""
        name = self._options.text("spark.format")
        once = {"txnAppId": self._request.job_id, "txnVersion": str(batch_id)}
        columns = [quote(column.name) for column in self._request.columns]
        writer = batch.selectExpr(*columns).write.format(name).mode("append").options(**_handed(self._options), **once)
        try:
            writer.save()
        except _spark_errors() as error:
            raise _refused(error, name, self._request.name) from error
