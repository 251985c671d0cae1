"""Runs restore programs: whole, up to a savepoint, or from one."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from execnodes.core.changelog import RowKind
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from execnodes.core.tables import Schema
from plans.load import load
from rekindle.compiled_plan import CompiledPlan
from rekindle.table_environment import TableEnvironment
from rekindle.testing.materialize import Message, materialize
from rekindle.testing.redirect import Redirected, redirect
from rekindle.testing.values import Json, row_to_json
from tests.restore.program import RestoreProgram

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAN, SAVEPOINT, BEFORE, EXPECTED = "plan.json", "savepoint", "before.json", "expected.json"
Changes = dict[str, list[list[Json]]]
"""Sink to changes, each the row kind and the row."""


@dataclass(frozen=True)
class Compiled:
    """A program's plan of today, and the session that knows its tables."""

    environment: TableEnvironment
    plan: CompiledPlan


def compiled(program: RestoreProgram, folder: Path, part: int = 1) -> Compiled:
    """Create the tables and compile; the plan holds schemas alone, so it knows no folder. `part`: see `numbers`."""
    settings = {"table.plan.compile.catalog-objects": "SCHEMA", **program.configuration}
    environment = TableEnvironment.create(settings)
    tables = program.tables.replace("${dir}", str(folder)).replace("${rows}", str(program.numbers[part]))
    environment.execute_script(tables)
    inserts = []
    for sink, query in program.queries.items():
        if f"TABLE {sink} " not in program.tables:
            environment.execute_sql(_like_query(environment, sink, query))
        inserts.append(f"INSERT INTO {sink} {query};")
    text = environment.compile_plan_sql(f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END").as_json_string()
    for old, new in program.edits:
        assert old in text
        text = text.replace(old, new)
    return Compiled(environment, CompiledPlan.from_json_string(text, executor=environment))


def _like_query(environment: TableEnvironment, sink: str, query: str) -> str:
    (root,) = environment.compile_plan_sql(query).graph.roots()
    columns = ", ".join(f"`{each.name}` {each.type.regular()}" for each in root.output_type.fields)
    return f"CREATE TABLE {sink} ({columns}) WITH ('connector' = 'print')"


def put(files: Mapping[str, str], folder: Path, at: int) -> None:
    """Write files whose times tell their order; a database is written as the SQL that makes it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".duckdb":
            with duckdb.connect(path) as database:
                database.execute(content)
            continue
        path.write_text(content, encoding="utf-8")
        time = 1_700_000_000 + at * 86_400
        os.utime(path, (time, time))


def run(
    spark: SparkSession,
    program: RestoreProgram,
    compiled: Compiled,
    graph: ExecGraph,
    *,
    folder: Path,
    savepoint: Path | None = None,
    target: Path | None = None,
    parallelism: int = 1,
    groups: int = 8,
) -> Changes:
    """Run a plan to the end of the files that are there, and give the changes that reached the sinks."""
    from rekindle.connectors.collect import clear, results
    from rekindle.runtime.job import Job

    redirected = _redirected(program, compiled, graph)
    resized = ExecGraph.of(redirected.graph.nodes, redirected.graph.inputs, groups, graph.engine_version)
    options = Configuration(compiled.environment.configuration)
    options.put("parallelism.default", str(parallelism))
    options.put("execution.state-recovery.path", str(savepoint or ""))
    job = Job(resized, compiled.plan.as_json_string(), options, spark=spark, savepoint_at_end=target).start()
    try:
        assert job.wait(300), "it does not end"
        assert {fate.fate for fate in job.fates} <= {"restored"}, job.fates
        found = {each.table: _changes(each.schema, results(each.collected)) for each in redirected.sinks}
        return {**found, **_landed(program, folder)}
    finally:
        for each in redirected.sinks:
            clear(each.collected)


def _redirected(program: RestoreProgram, compiled: Compiled, graph: ExecGraph) -> Redirected:
    if not program.landed:
        return redirect(graph, compiled.environment.tables, f"restore-{uuid.uuid4().hex}")
    from plans.restore import resolve_tables

    return Redirected(resolve_tables(graph, compiled.environment.tables), ())


def _landed(program: RestoreProgram, folder: Path) -> Changes:
    with duckdb.connect() as connection:
        answers = {
            name: connection.execute(query.replace("${dir}", str(folder))).fetchall()
            for name, query in program.landed.items()
        }
    return {name: [[int(RowKind.INSERT), list(row)] for row in answer] for name, answer in answers.items()}


def _changes(schema: Schema, found: list[tuple[int, tuple[object, ...]]]) -> list[list[Json]]:
    types = [column.data_type for column in schema.writable]
    return [[kind, row_to_json(row, types)] for kind, row in found]


def rows(compiled: Compiled, changes: Changes) -> dict[str, list[list[Json]]]:
    """What changes leave in each sink, sorted."""
    found = {}
    for sink, messages in changes.items():
        indexes = _key(compiled, sink)
        left = materialize([Message(RowKind(int(str(kind))), row) for kind, row in messages], indexes)  # type: ignore[arg-type]  # a row is a list
        assert not left.missing, (sink, left.missing)
        found[sink] = sorted(left.rows, key=lambda row: json.dumps(row, ensure_ascii=False))
    return found


def _key(compiled: Compiled, sink: str) -> list[int]:
    """Columns of a sink's key; what has landed has none."""
    entry = compiled.environment.tables.lookup(("default_catalog", "default_database", sink))
    if entry is None or entry.table.table_schema.primary_key is None:
        return []
    names = [column.name for column in entry.table.table_schema.writable]
    return [names.index(name) for name in entry.table.table_schema.primary_key.columns]


def stored(program: RestoreProgram) -> ExecGraph:
    """The plan of the fixture."""
    path = program.fixture / PLAN
    return load(path.read_text(encoding="utf-8"), source=str(path))


def unpacked(program: RestoreProgram, folder: Path) -> Path:
    """A copy of the fixture's savepoint whose positions name the files in `folder`."""
    target = folder / "savepoint-before"
    shutil.copytree(program.fixture / SAVEPOINT, target)
    manifest = target / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("${dir}", str(folder)), encoding="utf-8")
    return target
