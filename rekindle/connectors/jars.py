"""Jars that connectors and formats need, and whether Spark has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from execnodes.connectors import connectors, find_format, jars, own_formats
from execnodes.core.connectors import Jar
from execnodes.core.errors import ConnectorError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def require_jars(spark: SparkSession, options: Mapping[str, str], table: str) -> None:
    """ConnectorError for a jar that the connector or a format of a table needs and Spark has not got."""
    missing = [each for each in jars(options) if not has_jar(spark, each)]
    if missing:
        raise ConnectorError(
            f"connector {options.get('connector')!r} needs {' and '.join(each.artifact for each in missing)}, which "
            "Spark has not got",
            where=f"table {table}",
            hint=remedy(missing[0]),
        )


def has_jar(spark: SparkSession, jar: Jar) -> bool:
    """Whether Spark can load the class by which the jar is known."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # it has no stubs

    jvm: Any = spark._jvm
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(jar.has)
    except Py4JJavaError:
        return False
    return True


def remedy(jar: Jar) -> str:
    """How Spark is given a jar."""
    return f"Start with -D spark.jars.packages={jar.artifact}:<version>, or name its file in spark.jars."


def kafka_package() -> str:
    """The package with Spark's Kafka source, for the Spark that is installed."""
    return f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version('pyspark')}"


def needed() -> Iterator[tuple[str, Jar]]:
    """``connector 'kafka'`` or ``format 'avro'`` with each jar that it needs, of all that are known."""
    of_formats = ((f"format {name!r}", find_format(name)) for name in sorted(own_formats()))
    known = [*((f"connector {each.identifier!r}", each) for each in connectors()), *of_formats]
    yield from ((who, jar) for who, each in known if each is not None for jar in each.jars)
