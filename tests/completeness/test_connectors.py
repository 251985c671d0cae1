"""What connectors and formats declare is what they are, and what plans of released versions count on."""

from __future__ import annotations

import subprocess
import sys
from inspect import isabstract
from itertools import product
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import pytest

import rekindle.connectors
import rekindle.connectors.formats
from execnodes.connectors import (
    connectors,
    filterable_columns,
    find_connector,
    find_format,
    own_connectors,
    own_formats,
    sink_changelog_mode,
    source_changelog_mode,
)
from execnodes.core.changelog import INSERT_ONLY, RETRACT, ChangelogMode
from execnodes.core.connectors import ConnectorDeclaration, FormatDeclaration
from execnodes.core.errors import ConnectorError, SqlError
from execnodes.lowering.stream import KIND
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.base import Connector, SinkConnector, SourceConnector
from rekindle.connectors.format import FileFormat, Format, RecordFormat, Wanted
from rekindle.connectors.formats import formats
from rekindle.connectors.lines import spark_schema
from rekindle.connectors.options import TableOptions
from rekindle.connectors.positions import Once
from rekindle.connectors.registry import find_sink, find_source, identifiers
from rekindle.spark.session import prepare
from tests.completeness.tree import ROOT, imports, sources
from tests.connectors.helpers import frame_of, source_request, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = sorted(own_connectors())
FORMATS = sorted(own_formats())


def declared(name: str) -> ConnectorDeclaration:
    found = find_connector(name)
    assert found is not None
    return found


def declared_format(name: str) -> FormatDeclaration:
    found = find_format(name)
    assert found is not None
    return found


def classes(folder: Any, base: type) -> set[str]:
    """Modules of a folder that have a class of that kind."""
    names = {each.name for each in iter_modules(folder.__path__) if not each.ispkg}
    modules = {name: __import__(f"{folder.__name__}.{name}", fromlist=["x"]) for name in names}
    return {
        name
        for name, module in modules.items()
        if any(
            isinstance(each, type)
            and issubclass(each, base)
            and each.__module__ == module.__name__
            and not isabstract(each)
            for each in vars(module).values()
        )
    }


def test_what_declares_does_and_what_does_declares() -> None:
    assert set(own_connectors().values()) == classes(rekindle.connectors, Connector)
    assert set(own_formats().values()) == classes(rekindle.connectors.formats, Format)


@pytest.mark.parametrize("name", NAMES)
def test_connectors_are_what_they_declare(name: str) -> None:
    of_name = declared(name)
    assert of_name.identifier == name
    assert of_name in connectors()
    assert (name in identifiers("source")) == (of_name.source is not None)
    assert (name in identifiers("sink")) == (of_name.sink is not None)
    made: Connector = find_source(name) if of_name.source is not None else find_sink(name)
    assert made.declaration is of_name
    assert isinstance(made, SourceConnector) == (of_name.source is not None)
    assert isinstance(made, SinkConnector) == (of_name.sink is not None)
    takes_formats = any(option.key == "format" for option in made.declared({"connector": name}))
    assert takes_formats == of_name.formats


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_what_they_declare(name: str) -> None:
    made = formats()[name]
    assert made.declaration is declared_format(name)
    assert made.declaration.identifier == name
    # Statistics are of columns that stand in the files under their own names.
    assert made.declaration.columnar == isinstance(made, FileFormat)
    assert isinstance(made, RecordFormat) != isinstance(made, FileFormat)


@pytest.mark.parametrize("path", sources("execnodes/connectors"), ids=lambda path: path.stem)
def test_declarations_are_data(path: Path) -> None:
    assert {name.split(".")[0] for name in imports(path)} <= {
        "__future__", "collections", "functools", "importlib", "pkgutil", "posixpath", "typing", "execnodes",
    }  # fmt: skip


def test_planning_loads_no_connector() -> None:
    """All declarations are read, and nothing that reads or writes."""
    code = (
        "import sys; from execnodes.connectors import connectors, find_format, own_formats; import planner.lower; "
        "assert connectors() and all(map(find_format, own_formats())); "
        "print([m for m in sys.modules if m.split('.')[0] in ('rekindle', 'pyspark', 'pyarrow', 'polars', 'duckdb')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_one_connector_is_loaded_for_one_table() -> None:
    code = (
        "import sys; from rekindle.connectors.registry import validate; "
        "validate({'connector': 'datagen', 'number-of-rows': '1'}, 'source', 't'); "
        "print(sorted(m for m in sys.modules if m.startswith('rekindle.connectors.') and m.split('.')[2] in "
        f"{list(own_connectors().values())!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['rekindle.connectors.datagen']"


REQUIRED = {"path": "/nowhere", "table": "t", "spark.format": "x", "uid": "u", "spark.schema": "true"}
QUERIES = {
    "I": "SELECT k FROM one",
    "I,UB,UA": "SELECT CAST(COUNT(*) AS INT) FROM one",
    "I,UB,UA,D": "SELECT DISTINCT n FROM (SELECT CAST(COUNT(*) AS INT) AS n FROM one GROUP BY k)",
}
"""Kinds of row to a query that gives them."""


def stored_mode(env: TableEnvironment, insert: str) -> str:
    """What the plan says that the sink is given."""
    return str(env.compile_plan_sql(insert).graph.nodes[-1].model_dump()["input_changelog_mode"])


def with_options(name: str, role: str, given: str = "json") -> dict[str, str]:
    """What a table of the connector needs."""
    find = find_source if role == "source" else find_sink
    keys = {option.key for option in find(name).declared({"connector": name})}
    chosen = {key: value for key, value in REQUIRED.items() if key in keys and (key, role) != ("uid", "sink")}
    return {"connector": name, **chosen, **({"format": given} if declared(name).formats else {})}


def listed(options: dict[str, str]) -> str:
    return ", ".join(f"'{key}' = '{value}'" for key, value in options.items())


@pytest.mark.parametrize("name", identifiers("sink"))
def test_the_planner_goes_by_what_sinks_declare(name: str) -> None:
    env = TableEnvironment.create({"table.exec.sink.upsert-materialize": "NONE"})
    env.execute_sql("CREATE TABLE one (k INT) WITH ('connector' = 'datagen')")
    for number, (given, keyed) in enumerate(product(FORMATS if declared(name).formats else ["json"], [False, True])):
        options = with_options(name, "sink", given)
        key = " PRIMARY KEY NOT ENFORCED" if keyed else ""
        env.execute_sql(f"CREATE TABLE t{number} (k INT{key}) WITH ({listed(options)})")
        for mode, query in QUERIES.items():
            accepted = sink_changelog_mode(options, keyed, ChangelogMode.parse(mode))
            insert = f"INSERT INTO t{number} {query}"
            if accepted is None:
                with pytest.raises(SqlError, match="takes inserts only"):
                    env.compile_plan_sql(insert)
            else:
                # The query's own operator may need its -U to find the row that goes.
                assert stored_mode(env, insert) in (str(accepted), mode), (options, keyed, mode)


@pytest.mark.parametrize("name", identifiers("source"))
def test_the_planner_goes_by_what_sources_declare(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Which columns a connector has is not asked: nexmark has others.
    monkeypatch.setattr("rekindle.statements.compile.validate_table", lambda *_: None)
    of_name = declared(name)
    assert of_name.source is not None
    for given in FORMATS if of_name.formats else ["json"]:
        options = with_options(name, "source", given)
        env = TableEnvironment.create()
        env.execute_sql(f"CREATE TABLE t (a INT, b INT) PARTITIONED BY (b) WITH ({listed(options)})")
        env.execute_sql("CREATE TABLE p WITH ('connector' = 'print') LIKE t (EXCLUDING ALL)")
        graph = env.compile_plan_sql("INSERT INTO p SELECT a, b FROM t WHERE a > 1 AND b > 2").graph
        scan = graph.nodes[0]
        assert scan.changelog_mode == source_changelog_mode(options)
        abilities = scan.model_dump()["scan_table_source"]["abilities"]
        pushed = {each["input_index"] for each in _inputs(abilities)}
        assert {("a", "b")[each] for each in pushed} == filterable_columns(options, ("a", "b"), ("b",))


def _inputs(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value] if "input_index" in value else [found for each in value.values() for found in _inputs(each)]
    return [found for each in value for found in _inputs(each)] if isinstance(value, list | tuple) else []


RELEASED = {
    "blackhole": "upserts upserts", "collect": "changes changes", "duckdb": "changes upserts",
    "filesystem": "inserts inserts", "print": "changes changes", "spark": "inserts inserts",
}  # fmt: skip
"""What the connectors of 1.2 take of tables without and with a primary key.

A sink of version 1 asks for it when its plan runs: it leaves out -U where rows are found by a key that is not the
query's. So it may not change under such plans, while later versions store what they were told
(tests/plans/test_abilities.py); what a connector learns needs an option of its table as long as version 1 is read.
"""


@pytest.mark.parametrize("name", RELEASED)
def test_what_stored_plans_count_on_stays(name: str) -> None:
    sink = declared(name).sink
    assert sink is not None
    assert f"{sink.of({}, False)} {sink.of({}, True)}" == RELEASED[name]
    of_formats = {each: str(declared_format(each).takes) for each in FORMATS if declared_format(each).changelog}
    assert of_formats == {"canal-json": "changes", "debezium-json": "changes"}


@pytest.mark.spark
def test_rows_have_the_kinds_that_are_declared(spark: SparkSession, tmp_path: Path) -> None:
    given = table({"a": "INT"}, {})
    columns = given.table_schema.columns
    for made in formats().values():
        options = TableOptions({}, made.options)
        read = spark.createDataFrame([], spark_schema(made, columns)).selectExpr("*", "'' AS rk_path")
        decoded = made.decode(read, options, Wanted(columns, columns, ()))
        assert (KIND in decoded.columns) == (made.declaration.gives == RETRACT)
    # Spark refuses a data source in every other session once the one it was started with has it.
    own = prepare(spark, 2, {})
    for given_options in (
        {"connector": "datagen"},
        {"connector": "datagen", "number-of-rows": "2"},
        {"connector": "datagen", "fields.a.kind": "sequence", "fields.a.start": "1", "fields.a.end": "3"},
    ):
        frame = find_source("datagen").read(own, source_request(table({"a": "INT"}, given_options), tmp_path))
        of_name = declared("datagen").source
        assert of_name is not None
        assert frame.bounded == of_name.bounded(given_options), given_options
        assert (KIND in frame.frame.columns) == (of_name.gives != INSERT_ONLY)


@pytest.mark.spark
def test_records_need_no_files(spark: SparkSession) -> None:
    """Bytes from anywhere become rows, and rows become bytes."""
    columns = table({"a": "INT", "s": "STRING"}, {}).table_schema.columns
    for name, made in formats().items():
        if isinstance(made, RecordFormat):
            options = TableOptions({}, made.options)
            rows = frame_of(
                spark, "(1, 'ä, \"b', 0Y), (2, NULL, 3Y)" if made.changelog else "(1, 'ä, \"b', 0Y)", "a, s, rk_kind"
            )
            sent = made.encode(rows, columns, options, ()).selectExpr("CAST(value AS BINARY) AS value")
            taken = sent.selectExpr("CAST(value AS STRING) AS value", "'queue/0' AS rk_path")
            decoded = made.decode(taken, options, Wanted(columns, columns, ()))
            kinds = ["rk_kind"] if made.changelog else ["0Y AS rk_kind"]
            found = sorted(decoded.selectExpr(*kinds, "c0", "c1").collect())
            assert [tuple(each) for each in found] == [(0, 1, 'ä, "b'), *([(3, 2, None)] if made.changelog else [])], (
                name
            )


@pytest.mark.parametrize("name", NAMES)
def test_what_can_be_read_again_says_so(name: str) -> None:
    """`again` stands where the connector can read a source up to a position, and nowhere else."""
    abilities = declared(name).source
    if abilities is not None:
        by_position = type(find_source(name, "t")).positions is not SourceConnector.positions
        # The rows of a database's table, or of a program's DataFrame, may be others by now.
        assert abilities.again is (by_position and name not in ("duckdb", "data-stream"))


def test_what_a_database_had_is_not_known_any_more() -> None:
    with pytest.raises(ConnectorError, match="cannot be read up to a position") as refused:
        Once({"done": True}, "shop.orders").until("{}")
    assert "table shop.orders" in str(refused.value)
