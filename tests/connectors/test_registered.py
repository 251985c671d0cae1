"""Connectors from outside: the one of the documentation, what is refused, and the uids they are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import execnodes.connectors
from execnodes.core.changelog import ChangelogMode
from execnodes.core.connectors import ConnectorDeclaration, SinkAbilities, SourceAbilities, Takes
from execnodes.core.errors import ConnectorError, SqlError
from execnodes.core.types import row
from execnodes.stream.values.v1 import Values
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors import registry
from rekindle.connectors.base import (
    ProviderContext,
    SinkConnector,
    SinkRequest,
    SinkWriter,
    SourceConnector,
    SourceFrame,
    SourceRequest,
)
from rekindle.connectors.blackhole import Blackhole
from rekindle.engine.micro_batch import MicroBatch
from rekindle.engine.program import GraphProgram, Sink
from tests.connectors.helpers import frame_of, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BACKOFF = "restart-strategy.exponential-delay"
PAGE = Path(__file__).parents[2] / "docs" / "connectors.md"


@pytest.fixture(autouse=True)
def _only_own_connectors() -> Iterator[None]:
    yield
    registry._registered.clear()
    execnodes.connectors._declared.clear()
    registry.register_installed.cache_clear()


@pytest.fixture
def lines() -> Any:
    """The classes that the documentation shows, made by running it."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(block.splitlines()) <= 60
    names: dict[str, Any] = {"__name__": "lines"}
    exec(compile(block, str(PAGE), "exec"), names)
    return names["Lines"]


def create(env: TableEnvironment, path: Path) -> None:
    env.execute_sql(f"CREATE TABLE out_t (a INT, b STRING) WITH ('connector' = 'lines', 'path' = '{path}')")


def test_it_is_known_at_compile_time(lines: Any) -> None:
    env = TableEnvironment.create()
    create(env, Path("/out"))
    assert env.compile_plan_sql("INSERT INTO out_t VALUES (1, 'x')").graph.nodes
    with pytest.raises(SqlError, match="out_t"):
        env.compile_plan_sql("INSERT INTO out_t SELECT CAST(COUNT(*) AS INT), 'x' FROM (VALUES (1)) AS t(k)")


KEY = " PRIMARY KEY NOT ENFORCED"


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    ("takes", "key", "mode"),
    [(Takes.CHANGES, "", "I,UB,UA"), (Takes.UPSERTS, KEY, "I,UA"), (Takes.UPSERTS, "", None)],
)
def test_what_it_takes_is_asked_of_the_query(lines: Any, takes: Takes, key: str, mode: str | None, old: bool) -> None:
    if old:
        # As connectors were written for 1.2.
        del lines.declaration
        lines.identifier, lines.takes = "lines", takes
    else:
        without_key = Takes.INSERTS if takes is Takes.UPSERTS else takes
        lines.declaration = ConnectorDeclaration("lines", sink=SinkAbilities(without_key, takes_by_key=takes))
    registry.register(lines)
    env = TableEnvironment.create()
    options = "WITH ('connector' = 'lines', 'path' = '/o')"
    env.execute_sql(f"CREATE TABLE out_t (k INT{key}, n BIGINT) {options}")
    insert = "INSERT INTO out_t SELECT k, COUNT(*) FROM (VALUES (1)) AS t(k) GROUP BY k"
    if mode is None:
        with pytest.raises(SqlError, match="out_t"):
            env.compile_plan_sql(insert)
    else:
        sink = env.compile_plan_sql(insert).graph.nodes[-1]
        assert sink.model_dump()["input_changelog_mode"] == mode


class Twin(Blackhole):
    """Takes an identifier that there is."""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (f"{__name__}:Twin", "'blackhole' exists already"),
        (f"{__name__}:PAGE", "names no class"),
        ("no_such_module:X", "cannot be loaded"),
        (f"{__name__}:Missing", "cannot be loaded"),
    ],
)
def test_broken_packages_are_named(monkeypatch: pytest.MonkeyPatch, value: str, message: str) -> None:
    entry = EntryPoint("mine", value, registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == registry.ENTRY_POINTS else [])
    registry.register_installed.cache_clear()
    with pytest.raises(ConnectorError, match=message):
        TableEnvironment.create()


class Empty(SinkConnector):
    """Does nothing."""

    declaration = ConnectorDeclaration("empty", sink=SinkAbilities())

    def declared(self, options: Any) -> tuple[()]:
        return ()

    def writer(self, spark: SparkSession, request: SinkRequest) -> SinkWriter:
        raise NotImplementedError


def test_packages_bring_connectors(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("mine", f"{__name__}:Empty", registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    registry.register_installed.cache_clear()
    TableEnvironment.create()
    TableEnvironment.create()
    assert isinstance(registry.find_sink("empty"), Empty)


def test_a_connector_is_what_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Empty, "declaration", ConnectorDeclaration("empty", source=SourceAbilities()))
    with pytest.raises(
        ConnectorError, match=r"Empty: the connector 'empty' is not what it declares\n(?s:.*)`sink` if it is"
    ):
        registry.register(Empty)


class Forever(SourceConnector):
    """A source as they were written for 1.2."""

    identifier = "forever"
    gives = ChangelogMode.parse("I,UA,D")

    def declared(self, options: Any) -> tuple[()]:
        return ()

    def bounded(self, options: Any) -> bool:
        return options.get("until") is not None

    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        raise NotImplementedError


def test_attributes_of_old_declare() -> None:
    registry.register(Forever)
    given = {"connector": "forever"}
    assert str(execnodes.connectors.source_changelog_mode(given)) == "I,UA,D"
    assert registry.identifiers("source").count("forever") == 1
    registry.require_bounded({**given, "until": "1"}, "t")
    with pytest.raises(ConnectorError, match="no end"):
        registry.require_bounded(given, "t")


@pytest.mark.parametrize(
    ("configuration", "uid"),
    [
        ({}, "13_provider_preprocessor-1"),
        (
            {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
            "13_stream-exec-values-1_provider_preprocessor-1",
        ),
    ],
)
def test_uids(configuration: dict[str, str], uid: str) -> None:
    node = Values(id=13, configuration=configuration, output_type=row(), tuples=(), description="")
    taken = {"7_join"}
    context = ProviderContext(node, taken)
    assert context.generate_uid("preprocessor-1") == uid
    assert taken == {"7_join", uid}
    with pytest.raises(ConnectorError, match=r"taken already(?s:.*)<id>"):
        ProviderContext(node, taken).generate_uid("preprocessor-1")
    with pytest.raises(ConnectorError, match="is no name"):
        context.generate_uid("a/b")


@pytest.mark.spark
def test_its_uids_are_the_same_when_a_job_goes_on(
    lines: Any, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writers are made anew for a query that is started again."""
    write = GraphProgram._write
    failed: list[int] = []

    def fail_once(program: GraphProgram, sink: Sink, build: Any, batch: MicroBatch) -> None:
        write(program, sink, build, batch)
        if not failed:
            failed.append(batch.number)
            raise RuntimeError("Python worker exited unexpectedly (crashed)")

    monkeypatch.setattr(GraphProgram, "_write", fail_once)
    options = {"execution.job-dir": str(tmp_path / "job"), f"{BACKOFF}.initial-backoff": "100 ms"}
    env = TableEnvironment.create(options, spark=spark)
    create(env, tmp_path / "out.txt")
    env.execute_sql("INSERT INTO out_t VALUES (1, 'x'), (2, NULL)").await_()
    assert failed == [0]
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "1, x\n2, None\n"


@pytest.mark.spark
def test_it_writes_each_batch_once(lines: Any, spark: SparkSession, tmp_path: Path) -> None:
    env = TableEnvironment.create({"execution.job-dir": str(tmp_path / "job")}, spark=spark)
    create(env, tmp_path / "out.txt")
    env.execute_sql("INSERT INTO out_t VALUES (1, 'x'), (2, NULL)").await_()
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "1, x\n2, None\n"
    assert [each.name for each in (tmp_path / "job" / "sinks").iterdir()] == ["2_provider_lengths"]

    given = table({"a": "INT", "b": "STRING"}, {"connector": "lines", "path": str(tmp_path / "again.txt")})
    node = Values(id=1, output_type=row(), tuples=(), description="")
    request = SinkRequest(
        given, "t", given.table_schema.columns, (), "job", tmp_path, ChangelogMode.parse("I"),
        env.configuration, context=ProviderContext(node, set()),
    )  # fmt: skip
    writer = lines().writer(spark, request)
    writer.open()
    for batch_id, value in ((0, 1), (1, 2), (1, 3)):
        writer.write(frame_of(spark, f"({value}, 'x', 0Y)", "a, b, rk_kind"), batch_id)
    assert (tmp_path / "again.txt").read_text(encoding="utf-8") == "1, x\n3, x\n"
