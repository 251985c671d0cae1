"""State for operators that are new: made from what their sources have given up to a savepoint's positions."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode, InputProperty
from execnodes.core.options import Configuration
from execnodes.core.tables import Column, ResolvedTable, Schema, TableReference
from execnodes.stream.sink.v1 import DynamicTableSink, Sink
from plans.codec import encode
from plans.meaning import POSITION
from plans.tables import map_tables, tables_of
from rekindle.connectors.registry import find_source
from rekindle.savepoints.folder import new_folder, refuse_existing
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, Step, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def bootstrap(
    savepoint: Path,
    graph: ExecGraph,
    uids: Sequence[str],
    target: Path,
    configuration: Configuration,
    spark: SparkSession | None = None,
) -> Manifest:
    """Write the savepoint anew with the states of some operators of a plan, as if they had been there all along.

    The part of the plan below the operators runs over the sources up to the savepoint's positions, writes nowhere,
    and leaves a savepoint of its own, whose states are taken. StateError if the savepoint has such states already, or
    if a source can no longer be read up to its position; `graph` has all its tables.
    """
    savepoint, target = savepoint.absolute(), target.absolute()
    refuse_existing(target)
    manifest = read(savepoint)
    nodes = _operators(graph, uids, manifest)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rekindle-bootstrap-") as place:
        made = _run(graph, nodes, manifest, Path(place), configuration, spark)
        _check_positions(made, manifest, savepoint)
        seconds = time.monotonic() - begun
        return _merged(savepoint, manifest, Path(place) / "savepoint", made, uids, target, seconds)


def _operators(graph: ExecGraph, uids: Sequence[str], manifest: Manifest) -> list[ExecNode]:
    owners = {uid: node for node in graph.nodes for uid in node.uids()}
    known = {each.uid for each in manifest.states}
    for uid in uids:
        if uid not in owners or isinstance(owners[uid], Sink):
            possible = [each for each, node in owners.items() if not isinstance(node, Sink) and each not in known]
            raise StateError(
                f"the plan has no operator {uid!r} whose state could be made from its sources",
                hint=f"There is {', '.join(possible)}." if possible else "All its operators have state already.",
            )
        if uid in known:
            hint = "Drop it first (rekindle migrate --drop), if it is to be made anew."
            raise StateError(f"the savepoint has the state of {uid!r} already", hint=hint)
    return list({owners[uid].id: owners[uid] for uid in uids}.values())


def _run(
    graph: ExecGraph,
    nodes: Sequence[ExecNode],
    manifest: Manifest,
    place: Path,
    configuration: Configuration,
    spark: SparkSession | None,
) -> Manifest:
    from rekindle.runtime.job import Job

    job_dir, target = place / "job", place / "savepoint"
    part = _part(graph, nodes, manifest, job_dir)
    options = Configuration(configuration)
    for key in ("execution.state-recovery.path", "execution.state-recovery.drop"):
        options.pop(key, None)
    options.put("execution.job-dir", str(job_dir))
    job = Job(part, encode(part), options, name="bootstrap", spark=spark, savepoint_at_end=target).start()
    job.wait()
    return read(target)


def _part(graph: ExecGraph, nodes: Sequence[ExecNode], manifest: Manifest, job_dir: Path) -> ExecGraph:
    """The operators, all that is below them with sources that end where the savepoint is, and sinks that forget."""
    wanted: set[int] = set()
    left = [each.id for each in nodes]
    while left:
        node = left.pop()
        if node not in wanted:
            wanted.add(node)
            left += graph.inputs[node]
    kept = [_ending(each, manifest, job_dir) for each in graph.nodes if each.id in wanted]
    first = max(graph.by_id) + 1
    sinks = [_forgetting(each, first + at) for at, each in enumerate(nodes)]
    inputs = {**graph.inputs, **{sink.id: (node.id,) for sink, node in zip(sinks, nodes, strict=True)}}
    return ExecGraph.of((*kept, *sinks), inputs, graph.max_parallelism, graph.engine_version)


def _ending(node: ExecNode, manifest: Manifest, job_dir: Path) -> ExecNode:
    """A source that gives what had been read of it; any other node as it is."""
    if not list(tables_of(node)):
        return node
    uid = node.uid("source")

    def bounded(table: TableReference) -> TableReference:
        resolved = table.resolved_table
        if resolved is None or resolved.options is None:
            raise node.fail(f"the table {table.name} is not known", "Create it before.")
        connector = find_source(resolved.options.get("connector", ""), table.name)
        options = connector.until(resolved.options, manifest.positions.get(uid), job_dir, uid, table.name)
        return table.model_copy(update={"resolved_table": resolved.model_copy(update={"options": dict(options)})})

    return map_tables(node, bounded)


def _forgetting(node: ExecNode, id: int) -> Sink:
    columns = tuple(Column(name=each.name, data_type=each.type.regular()) for each in node.output_type.fields)
    table = ResolvedTable(table_schema=Schema(columns=columns), options={"connector": "blackhole"})
    return Sink(
        id=id,
        dynamic_table_sink=DynamicTableSink(table=TableReference(resolved_table=table)),
        input_changelog_mode=node.changelog_mode,
        input_properties=(InputProperty(),),
        output_type=node.output_type,
        changelog_mode=node.changelog_mode,
        description="Sink",
    )


def _check_positions(made: Manifest, manifest: Manifest, savepoint: Path) -> None:
    """What was read must be what the savepoint's job had read."""
    for uid, position in made.positions.items():
        if position != manifest.positions.get(uid, position):
            raise StateError(
                f"{uid}:{POSITION}: what there is up to the savepoint's position is no longer what was read then",
                where=str(savepoint),
                hint="Files or rows have gone or changed; the operator can only start empty.",
            )


def _merged(
    savepoint: Path, manifest: Manifest, other: Path, made: Manifest, uids: Sequence[str], target: Path, seconds: float
) -> Manifest:
    states = [each for each in made.states if each.uid in uids]
    files: Mapping[Path, Path] = {
        **{Path(name): savepoint / name for each in manifest.states for name in each.files},
        **{Path(name): other / name for each in states for name in each.files},
        Path(PLAN): savepoint / PLAN,
    }
    detail = f"from what its sources had given, in {seconds:.1f} s"
    steps = tuple(Step("bootstrap", each.uid, each.name, 0, each.rows, detail) for each in states)
    merged = replace(manifest, states=(*manifest.states, *states), history=(*manifest.history, *steps))
    with new_folder(target) as folder:
        for name, source in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name)
        (folder / NAME).write_text(merged.text(), encoding="utf-8")
    return merged
