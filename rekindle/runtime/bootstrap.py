"""State for operators that are new: made from what their sources have given up to a savepoint's positions."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from execnodes.core.graph import ExecGraph
from execnodes.core.meaning import StateMeaning
from execnodes.core.node import ExecNode, InputProperty
from execnodes.core.options import Configuration
from execnodes.core.sink_node import SinkNode
from execnodes.core.tables import Column, ResolvedTable, Schema, TableReference
from execnodes.core.version import ENGINE_VERSION
from execnodes.stream.sink import DynamicTableSink, Sink
from execnodes.stream.values import Values
from plans.compatibility.compare import Comparison, compare
from plans.compatibility.counterparts import Address
from plans.compatibility.plan_meanings import POSITION, Meanings, meanings
from plans.evolution.bootstrap import makeable, replaced
from plans.format.codec import encode
from plans.format.node_tables import map_tables, tables_of
from rekindle.files.paths import entered
from rekindle.savepoints.contents import read, seal
from rekindle.savepoints.folder import new_folder, refuse_existing
from rekindle.savepoints.manifest import PLAN, Manifest, SavedState, Step
from rekindle.savepoints.plan import saved_plan
from rekindle.savepoints.planned import planned_states

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
    savepoint, target = entered(savepoint), entered(target)
    refuse_existing(target)
    manifest = read(savepoint)
    before, after = Meanings.of(manifest.meanings, saved_plan(savepoint)), meanings(graph)
    comparison = compare(before, after)
    nodes = _operators(graph, uids, comparison)
    gone = frozenset(replaced(comparison, frozenset(uids), before, after))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rekindle-bootstrap-") as place:
        made = _run(graph, nodes, manifest, Path(place), configuration, spark)
        detail = f"from what its sources had given, in {time.monotonic() - begun:.1f} s"
        states = _described(graph, (each for each in made.states if each.uid in uids))
        whole = _whole(manifest, states, made.watermark, gone, after, detail)
        return _written(savepoint, Path(place) / "savepoint", whole, states, target)


def _operators(graph: ExecGraph, uids: Sequence[str], comparison: Comparison) -> list[ExecNode]:
    owners = {uid: node for node in graph.nodes for uid in node.uids()}
    possible = makeable(comparison)
    for uid in uids:
        if uid in owners and uid not in possible:
            hint = "Drop it first (rekindle migrate --drop), if it is to be made anew."
            raise StateError(f"the savepoint has the state of {uid!r} already", hint=hint)
        if uid not in owners:
            raise StateError(
                f"the plan has no operator {uid!r} whose state could be made from its sources",
                hint=f"There is {', '.join(possible)}." if possible else "All its operators have state already.",
            )
    return list({owners[uid].id: owners[uid] for uid in uids}.values())


def _run(
    graph: ExecGraph,
    nodes: Sequence[ExecNode],
    manifest: Manifest,
    place: Path,
    configuration: Configuration,
    spark: SparkSession | None,
) -> Manifest:
    from rekindle.runtime.stream_job import StreamJob

    job_dir, target = place / "job", place / "savepoint"
    part = _part(graph, nodes, manifest)
    options = Configuration(configuration)
    for key in ("execution.state-recovery.path", "execution.state-recovery.drop"):
        options.pop(key, None)
    options.put("execution.job-dir", str(job_dir))
    job = StreamJob(
        part, encode(part), options,
        name="bootstrap", spark=spark, savepoint_at_end=target, until=manifest.positions,
    )  # fmt: skip
    job.start().wait()
    return read(target)


def _part(graph: ExecGraph, nodes: Sequence[ExecNode], manifest: Manifest) -> ExecGraph:
    """The operators, all that is below them that the savepoint's job has read, and sinks that forget."""
    wanted: set[int] = set()
    left = [each.id for each in nodes]
    while left:
        node = left.pop()
        if node not in wanted:
            wanted.add(node)
            left += graph.inputs[node]
    kept = [_known(each, manifest) for each in graph.nodes if each.id in wanted]
    ends = [each for each in nodes if not isinstance(each, SinkNode)]
    first = max(graph.by_id) + 1
    sinks = [_forgetting(each, first + at) for at, each in enumerate(ends)]
    inputs = {**graph.inputs, **{sink.id: (node.id,) for sink, node in zip(sinks, ends, strict=True)}}
    made = ExecGraph.of((*kept, *sinks), inputs, graph.max_parallelism, graph.engine_version)
    return replace(made, table_aliases=graph.table_aliases)


def _known(node: ExecNode, manifest: Manifest) -> ExecNode:
    """Nothing in place of a source that had not begun, a sink that forgets; any other node as it is."""
    if isinstance(node, SinkNode):
        return map_tables(node, _blackhole)
    unread = any(True for _ in tables_of(node)) and node.uid("source") not in manifest.positions
    if unread or _unread(node, manifest):
        # All its rows are still to come.
        return Values(id=node.id, tuples=(), output_type=node.output_type, description="Values")
    return node


def _unread(node: ExecNode, manifest: Manifest) -> bool:
    """Whether it has inline rows that the savepoint knows nothing of."""
    return "values" in node.metadata.produced_operators and node.uid("values") not in manifest.positions


def _blackhole(table: TableReference) -> TableReference:
    resolved = table.resolved_table or ResolvedTable(table_schema=Schema(columns=()))
    return table.model_copy(
        update={"resolved_table": resolved.model_copy(update={"options": {"connector": "blackhole"}})}
    )


def _forgetting(node: ExecNode, id: int) -> Sink:
    columns = tuple(Column(name=each.name, data_type=each.type.regular()) for each in node.output_type.fields)
    table = _blackhole(TableReference(resolved_table=ResolvedTable(table_schema=Schema(columns=columns))))
    return Sink(
        id=id,
        dynamic_table_sink=DynamicTableSink(table=table),
        input_changelog_mode=node.changelog_mode,
        accepted_changelog_mode=node.changelog_mode,
        input_properties=(InputProperty(),),
        output_type=node.output_type,
        changelog_mode=node.changelog_mode,
        description="Sink",
    )


def _described(graph: ExecGraph, states: Iterable[SavedState]) -> tuple[SavedState, ...]:
    """What the states mean in the plan itself; its part had other sources and sinks."""
    planned = planned_states(graph)

    def described(state: SavedState) -> SavedState:
        there = planned[state.uid, state.name]
        return replace(state, parts=there.parts, meanings=there.meanings, sources=there.sources)

    return tuple(map(described, states))


def _whole(
    manifest: Manifest,
    states: Sequence[SavedState],
    watermark: int,
    gone: frozenset[Address],
    after: Sequence[StateMeaning],
    detail: str,
) -> Manifest:
    """The savepoint with states that were made, without `gone`, which they replace.

    Sources that they alone have are named: they have not begun. `watermark`: where the states stand, which counts if
    the savepoint's job had no watermark.
    """
    made = {each.uid for each in states}
    gone |= {(each.uid, each.name) for each in manifest.states if each.uid in made}
    new = {each.uid: dict(each.parts) for each in after if each.name == POSITION}
    read = {uid for each in states for uid in each.sources}
    lost = [each for each in manifest.states if (each.uid, each.name) in gone]
    return replace(
        manifest,
        engine=ENGINE_VERSION,
        watermark=manifest.watermark or watermark,
        positions={uid: text for uid, text in manifest.positions.items() if (uid, POSITION) not in gone},
        sources={
            **{uid: parts for uid, parts in new.items() if uid in read},
            **{uid: parts for uid, parts in manifest.sources.items() if (uid, POSITION) not in gone},
        },
        states=(*(each for each in manifest.states if each not in lost), *states),
        history=(
            *manifest.history,
            *(Step("drop", each.uid, each.name, each.rows, 0, "as it is replaced") for each in lost),
            *(Step("bootstrap", each.uid, each.name, 0, each.rows, detail) for each in states),
        ),
    )


def _written(savepoint: Path, other: Path, whole: Manifest, made: Sequence[SavedState], target: Path) -> Manifest:
    kept = (each for each in whole.states if each not in made)
    files: Mapping[Path, Path] = {
        **{Path(name): savepoint / name for each in kept for name in each.files},
        **{Path(name): other / name for each in made for name in each.files},
        Path(PLAN): savepoint / PLAN,
    }
    with new_folder(target) as folder:
        for name, source in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name)
        return seal(folder, whole)
