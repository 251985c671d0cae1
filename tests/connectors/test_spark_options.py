"""Options of connector spark that are given twice: one value is in force, or the statement is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from execnodes.core.errors import OptionError
from execnodes.core.options import Configuration
from execnodes.core.tables import ResolvedTable, Schema
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.base import ProviderContext, SourceRequest
from rekindle.connectors.spark import Spark, handed_to_source
from rekindle.pipeline.record import record
from rekindle.results.compiled_plan import CompiledPlan

KAFKA = {"connector": "spark", "spark.format": "kafka", "spark.start-option": "startingOffsets"}
POSITION = '{"t":{"0":7}}'
SCRIPT = "CREATE TABLE t (v STRING) WITH ({options}); CREATE TABLE o (v STRING) WITH ({sink}); INSERT INTO o {query};"


def handed(given: dict[str, str], start: str | None, folder: Path) -> dict[str, str]:
    """What the data source gets."""
    options = {**KAFKA, **{f"spark.options.{key}": value for key, value in given.items()}}
    (source,) = record(compiled(KAFKA).graph).sources.values()
    table = ResolvedTable(table_schema=Schema(columns=()), options=options)
    request = SourceRequest(
        table, "t", (), "1_source", False, False, Configuration(), folder, start,
        context=ProviderContext(source.node, set()),
    )  # fmt: skip
    return handed_to_source(Spark().opened(table, "source", "t"), request)


def compiled(
    options: dict[str, str], sink: dict[str, str] | None = None, query: str = "SELECT v FROM t"
) -> CompiledPlan:
    texts = [", ".join(f"'{k}' = '{v}'" for k, v in each.items()) for each in (options, sink or {"connector": "print"})]
    return TableEnvironment.create().compile_script(SCRIPT.format(options=texts[0], sink=texts[1], query=query))


@pytest.mark.parametrize(
    "given",
    [
        {"startingOffsets": "earliest"},
        {"startingoffsets": "earliest"},
        {"startingOffsets": "earliest", "STARTINGOFFSETS": "earliest"},
        {"startingOffsets": "earliest", "startingTimestamp": "0"},
        {"startingOffsetsByTimestamp": '{"t":{"0":1}}'},
    ],
)
def test_the_position_of_a_savepoint_replaces_where_a_table_starts(given: dict[str, str], tmp_path: Path) -> None:
    given = {**given, "subscribe": "t"}
    assert handed(given, None, tmp_path) == given
    assert handed(given, POSITION, tmp_path) == {"subscribe": "t", "startingOffsets": POSITION}


def test_two_spellings_of_an_option_have_one_value() -> None:
    one = {**KAFKA, "spark.options.startingOffsets": "earliest"}
    same = compiled({**one, "spark.options.startingoffsets": "earliest"})
    assert same.graph.nodes
    with pytest.raises(OptionError, match=r"'spark.options.startingOffsets' and 'spark.options.startingoffsets'") as e:
        compiled({**one, "spark.options.startingoffsets": "latest"})
    assert "table" in str(e.value)
    assert "Remove one of them." in str(e.value)
    with pytest.raises(OptionError, match="different values"):
        compiled(one, query="SELECT v FROM t /*+ OPTIONS('spark.options.startingoffsets' = 'latest') */")


@pytest.mark.parametrize("key", ["txnAppId", "txnVersion", "TXNVERSION"])
def test_options_of_each_written_batch_are_refused_for_sinks(key: str) -> None:
    sink = {"connector": "spark", "spark.format": "delta", f"spark.options.{key}": "1"}
    with pytest.raises(OptionError, match=f"option 'spark.options.{key}' cannot be set for a sink"):
        compiled(KAFKA, sink)
    assert compiled({**KAFKA, f"spark.options.{key}": "1"}).graph.nodes
