"""Runs restore programs: whole, up to a savepoint, or from one."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from execnodes.core.changelog import RowKind
from execnodes.core.errors import JobError, PlanError, StateError
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from execnodes.core.tables import Schema
from plans.compatibility.restore import Mode, resolve_tables
from plans.format.node_tables import tables_of
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.results.json_values import row_to_json
from rekindle.testing.materialize import Message, Row, materialize
from rekindle.testing.redirect import Redirected, redirect
from rekindle.testing.restore_program import Files, RestoreProgram

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Changes = dict[str, list[tuple[int, Row]]]
"""Sink to changes, each the row kind and the row."""
_TIMEOUT = 300
"""Seconds."""


@dataclass(frozen=True)
class Compiled:
    """A program's plan of today, and the session that knows its tables."""

    environment: TableEnvironment
    plan: CompiledPlan
    mode: Mode = "ALL"
    """Where tables come from."""


def compiled(program: RestoreProgram, folder: Path, part: int = 1, old: CompiledPlan | None = None) -> Compiled:
    """Create the tables and compile; the plan holds schemas alone, so it knows no folder. `part`: see `numbers`.

    `old`: what it is compiled from, as `COMPILE PLAN … FROM` does. A program with a plan has the tables of the plan
    replaced by its own.
    """
    settings = {"table.plan.compile.catalog-objects": "SCHEMA", **program.configuration}
    environment = TableEnvironment.create(settings)
    sql = program.sql.replace("${dir}", str(folder)).replace("${rows}", str(program.numbers[part]))
    plan = _plan(program, environment, sql, old)
    for before, after in program.edits:
        if before not in plan.as_json_string():
            raise PlanError(f"the plan has no text {before!r} to be edited", where=str(program), hint="Change `edits`.")
        plan = CompiledPlan.from_json_string(plan.as_json_string().replace(before, after), executor=environment)
    return Compiled(environment, plan, "IDENTIFIER" if program.plan else "ALL")


def _plan(program: RestoreProgram, environment: TableEnvironment, sql: str, old: CompiledPlan | None) -> CompiledPlan:
    if program.plan is not None:
        environment.execute_script(sql)
        return CompiledPlan.from_file(program.plan, executor=environment)
    if program.queries:
        return _of_queries(program, environment, sql, old)
    return environment.compile_script(sql, from_plan=old)


def _of_queries(
    program: RestoreProgram, environment: TableEnvironment, sql: str, old: CompiledPlan | None
) -> CompiledPlan:
    environment.execute_script(sql)
    inserts = []
    for sink, query in program.queries.items():
        if f"TABLE {sink} " not in sql:
            environment.execute_sql(_like_query(environment, sink, query))
        inserts.append(f"INSERT INTO {sink} {query};")
    return environment.compile_plan_sql(f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END", from_plan=old)


def _like_query(environment: TableEnvironment, sink: str, query: str) -> str:
    (root,) = environment.compile_plan_sql(query).graph.roots()
    columns = ", ".join(f"`{each.name}` {each.type.regular()}" for each in root.output_type.fields)
    return f"CREATE TABLE {sink} ({columns}) WITH ('connector' = 'print')"


def put(files: Files, folder: Path, at: int) -> None:
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
    """Run a plan to the end of the files that are there, and give the changes that reached the sinks.

    All state of `savepoint` must go on, else StateError.
    """
    from rekindle.connectors.collect import clear, results
    from rekindle.runtime.stream_job import StreamJob

    redirected = _redirected(program, compiled, graph)
    resized = ExecGraph.of(redirected.graph.nodes, redirected.graph.inputs, groups, graph.engine_version)
    options = Configuration(compiled.environment.configuration)
    options.put("parallelism.default", str(parallelism))
    options.put("execution.state-recovery.path", str(savepoint or ""))
    functions = compiled.environment.functions_of(resized)
    job = StreamJob(
        resized, compiled.plan.as_json_string(), options, spark=spark, functions=functions, savepoint_at_end=target
    ).start()
    try:
        if not job.wait(_TIMEOUT):
            raise JobError(f"it does not end within {_TIMEOUT} s", where=str(program), hint="Are its sources bounded?")
        lost = [str(each) for each in job.fates if each.fate != "restored"]
        if lost:
            raise StateError(f"not all state goes on: {'; '.join(lost)}", where=str(program))
        found = {each.table: _changes(each.schema, results(each.collected)) for each in redirected.sinks}
        return {**found, **_landed(program, folder)}
    finally:
        for each in redirected.sinks:
            clear(each.collected)


def _redirected(program: RestoreProgram, compiled: Compiled, graph: ExecGraph) -> Redirected:
    if not program.landed:
        return redirect(graph, compiled.environment.tables, f"restore-{uuid.uuid4().hex}", compiled.mode)
    return Redirected(resolve_tables(graph, compiled.environment.tables, compiled.mode), ())


def _landed(program: RestoreProgram, folder: Path) -> Changes:
    with duckdb.connect() as connection:
        answers = {
            name: connection.execute(query.replace("${dir}", str(folder))).fetchall()
            for name, query in program.landed.items()
        }
    return {name: [(int(RowKind.INSERT), list(row)) for row in answer] for name, answer in answers.items()}


def _changes(schema: Schema, found: list[tuple[int, tuple[object, ...]]]) -> list[tuple[int, Row]]:
    types = [column.data_type for column in schema.writable]
    return [(kind, row_to_json(row, types)) for kind, row in found]


def rows(compiled: Compiled, changes: Changes) -> dict[str, list[Row]]:
    """What changes leave in each sink, sorted; JobError if they take away what is not there."""
    keys = _keys(compiled)
    found = {}
    for sink, messages in changes.items():
        left = materialize([Message(RowKind(kind), row) for kind, row in messages], keys.get(sink))
        if left.missing:
            raise JobError(f"rows are taken back that are not there: {left.missing[:3]}", where=f"sink {sink}")
        found[sink] = sorted(left.rows, key=lambda row: json.dumps(row, ensure_ascii=False))
    return found


def _keys(compiled: Compiled) -> Mapping[str, list[int]]:
    """Columns of each sink's key; what has landed has none."""
    found = {}
    for node in resolve_tables(compiled.plan.graph, compiled.environment.tables, compiled.mode).roots():
        for table in tables_of(node):
            schema = table.resolved_table.table_schema if table.resolved_table else None
            if schema is not None and schema.primary_key is not None:
                names = [column.name for column in schema.writable]
                found[table.name.rpartition(".")[2]] = [names.index(name) for name in schema.primary_key.columns]
    return found
