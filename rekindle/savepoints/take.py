"""Taking a savepoint: from the checkpoint of a committed micro-batch, while the job goes on or after it has ended."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import RekindleError, StateError
from execnodes.core.meaning import StateMeaning
from execnodes.core.types import NESTED, LogicalType, Root
from execnodes.core.version import ENGINE_VERSION
from execnodes.lowering.slots import SlotLayout, assign, decode
from execnodes.lowering.stream import quote
from execnodes.state.operator import BUCKET, StateSpec
from execnodes.state.pages.overlay import DIRECTORY, visible
from plans.compatibility.plan_meanings import POSITION, meanings
from rekindle.connectors.registry import find_source
from rekindle.files.job_folder import JobFolder
from rekindle.files.paths import entered, for_spark, for_spark_state
from rekindle.pipeline.failures import explained
from rekindle.pipeline.page_layouts import Conversion, page_layouts, supply_layouts
from rekindle.pipeline.record import OperatorRecord, Record, record
from rekindle.pipeline.state_layout import check_layout, layout_of
from rekindle.pipeline.streams import source_stream, streams
from rekindle.pipeline.ways import plan_ways
from rekindle.savepoints.contents import seal
from rekindle.savepoints.folder import new_file, new_folder, refuse_existing, state_folder
from rekindle.savepoints.manifest import PLAN, Manifest, SavedState, Step, checksum, steps
from rekindle.spark.releases import logged_offsets
from rekindle.spark.session import prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from execnodes.core.graph import ExecGraph

_TRIES = 3
_SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "2000"}
"""A page is a record to Spark; so many are decoded at once, some 40 MB."""
AS_THEMSELVES = (Root.DECIMAL, Root.DATE, Root.TIMESTAMP, Root.TIMESTAMP_LTZ, Root.FLOAT, Root.BOOLEAN)


def take(spark: SparkSession, graph: ExecGraph, plan: str, job: JobFolder, target: Path) -> Manifest:
    """Write a savepoint of the last committed micro-batch; StateError if there is none or `target` exists.

    JobError if another engine laid out the state.
    """
    target = entered(target)
    refuse_existing(target)
    pipeline = record(graph)
    check_layout(job, layout_of(graph, pipeline.steps.values()))
    spark = prepare(spark, 1, _SETTINGS)
    for attempt in range(_TRIES):
        batch = job.checkpointed_batch()
        if batch is None:
            raise StateError("no micro-batch has been committed yet", where=str(job.path), hint="Try again later.")
        try:
            with new_folder(target) as hidden:
                return _write(spark, graph, plan, job, batch, pipeline, hidden)
        except Exception as error:
            # While it was read, the batch may have been cleaned up; then there is a later one.
            if attempt + 1 < _TRIES and job.checkpointed_batch() != batch:
                continue
            if isinstance(error, RekindleError):
                raise
            reason = explained(error)
            raise StateError(
                f"the savepoint cannot be taken: {reason.message}", where=reason.where or str(target), hint=reason.hint
            ) from error
    raise AssertionError("unreachable")


def _write(
    spark: SparkSession, graph: ExecGraph, plan: str, job: JobFolder, batch: int, pipeline: Record, folder: Path
) -> Manifest:
    numbers = {row["operatorId"]: row["operatorProperties"] for row in _metadata(spark, job)}
    meant = {(each.uid, each.name): each for each in meanings(graph)}
    converted = page_layouts(job, graph).conversions
    supply_layouts(pipeline.steps.values(), converted)
    states = []
    for step in pipeline.steps.values():
        if not isinstance(step, OperatorRecord):
            continue
        for spec in step.operator.states:
            if not spec.derived:
                name = f"{step.operator.uid}__{spec.name}"
                number = next((n for n, text in numbers.items() if f'"{name}"' in text), None)
                if number is None:
                    raise StateError(f"the checkpoint has no state {name}", where=str(job.checkpoint))
                meaning = meant[step.operator.uid, spec.name]
                states.append(_dump(spark, job, batch, number, meaning, spec, graph.max_parallelism, folder))
    history = (*steps(job.restored().get("history", ())), *conversions(states, converted))
    positions = _positions(pipeline, job, batch)
    return finish(folder, plan, job.floor(batch), positions, meant, tuple(states), history)


def finish(
    folder: Path,
    plan: str,
    watermark: int,
    positions: Mapping[str, str],
    meant: Mapping[tuple[str, str], StateMeaning],
    states: tuple[SavedState, ...],
    history: Iterable[Step],
) -> Manifest:
    """Write the plan and the manifest of a savepoint whose states are there; `meant` is what the plan says of them."""
    new_file(folder / PLAN, plan)
    manifest = Manifest(
        ENGINE_VERSION,
        hashlib.sha256(plan.encode()).hexdigest(),
        watermark,
        dict(positions),
        {uid: dict(each.parts) for (uid, name), each in meant.items() if name == POSITION},
        states,
        tuple(history),
    )
    return seal(folder, manifest)


def conversions(states: Sequence[SavedState], found: Mapping[str, Sequence[Conversion]]) -> Iterator[Step]:
    """What the job did to its own state, all of which is in today's layout now."""
    for state in states:
        for each in found.get(state.title, ()):
            yield Step("convert", state.uid, state.name, state.rows, state.rows, each.reason, each.schema)


def _metadata(spark: SparkSession, job: JobFolder) -> list[Any]:
    if not (job.checkpoint / "state").exists():
        return []
    return list(spark.read.format("state-metadata").load(for_spark_state(spark, job.checkpoint)).collect())


def _dump(
    spark: SparkSession,
    job: JobFolder,
    batch: int,
    number: int,
    meaning: StateMeaning,
    spec: StateSpec,
    max_parallelism: int,
    folder: Path,
) -> SavedState:
    from pyspark.sql import Observation
    from pyspark.sql.functions import count, lit

    uid = meaning.uid
    stored = (
        spark.read.format("statestore")
        .option("operatorId", number)
        .option("batchId", batch)
        .option("stateVarName", f"{uid}__{spec.name}")
        .load(for_spark_state(spark, job.checkpoint))
        .selectExpr(
            "CAST(key AS STRING) AS subtask", "user_map_key.page", "user_map_key.segment", "user_map_value.data"
        )
        .where(f"page <> {DIRECTORY}")
    )
    types = [column.type for column in spec.columns]
    ddl = ", ".join(["rk_bucket bigint", "rk_written bigint", *([SlotLayout.of([types]).ddl()] if types else [])])
    slots = stored.mapInArrow(partial(_decoded, spec), ddl)
    texts = [
        f"{readable(t, slot)} AS {quote(column.name)}"
        for column, t, slot in zip(spec.columns, types, assign(types), strict=True)
    ]
    address = [BUCKET] if spec.bucketed else []
    written = ["rk_written"] if spec.ttl_ms else []
    place = state_folder(folder, uid, spec.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    seen = Observation()
    observed = slots.selectExpr(*address, *texts, *written).observe(seen, count(lit(1)).alias("rows"))
    observed.write.parquet(for_spark(spark, place))
    for stray in (*place.glob("_*"), *place.glob(".*")):
        stray.unlink()
    files = sorted(place.glob("*.parquet"))
    import pyarrow.parquet as pq

    rows = sum(pq.read_metadata(each).num_rows for each in files)
    if rows != seen.get["rows"]:
        raise StateError(
            f"{seen.get['rows']:,} rows of {uid}:{spec.name} were written, and {rows:,} are there",
            where=str(place),
            hint="The savepoint is not made. Check whether Spark and this process write to the same disk.",
        )
    return saved(meaning, spec, max_parallelism, folder, files, rows)


def saved(
    meaning: StateMeaning, spec: StateSpec, max_parallelism: int, folder: Path, files: Sequence[Path], rows: int
) -> SavedState:
    """What a manifest says of a state that has been written into files of a savepoint."""
    return SavedState(
        meaning.uid,
        spec.name,
        tuple((column.name, column.type) for column in meaning.columns),
        spec.key,
        spec.bucketed,
        spec.ttl_ms,
        dict(meaning.parts),
        tuple(column.meaning for column in meaning.columns),
        tuple(sorted(meaning.sources)),
        max_parallelism,
        rows,
        sum(each.stat().st_size for each in files),
        {str(each.relative_to(folder)): checksum(each) for each in files},
        meaning.serializers,
    )


def readable(t: LogicalType, slot: str) -> str:
    """Spark SQL text of a state column as any Parquet reader takes it."""
    return slot if t.root in NESTED or t.root not in AS_THEMSELVES else decode(t, slot)


def _decoded(spec: StateSpec, batches: Iterator[Any]) -> Iterator[Any]:
    """Pages to slots; runs in Spark's Python workers."""
    import polars as pl
    import pyarrow as pa

    from execnodes.engine.slot_frames import to_slots
    from execnodes.state.pages.page_format import WRITTEN

    layout = SlotLayout.of([[column.type for column in spec.columns]])
    arrow = {"l": pa.int64(), "d": pa.float64(), "s": pa.string(), "b": pa.binary()}
    hidden = [BUCKET, WRITTEN]
    schema = pa.schema([*((name, pa.int64()) for name in hidden), *((n, arrow[n[0]]) for n in layout.names())])
    entries = (entry for batch in batches for entry in zip(*(each.to_pylist() for each in batch.columns), strict=True))
    for rows in visible(spec, entries):
        absent = [pl.lit(None, pl.Int64).alias(name) for name in hidden if name not in rows.columns]
        slots = to_slots(rows, spec.columns, layout, ())
        head = rows.with_columns(absent).select(hidden)
        yield from head.hstack(slots.get_columns()).to_arrow().cast(schema).to_batches()


def _positions(pipeline: Record, job: JobFolder, batch: int) -> dict[str, str]:
    """Where each source goes on behind a batch; sources that have not begun are left out."""
    offsets = logged_offsets(job.checkpoint, batch, tuple(streams(plan_ways(pipeline))))
    before: dict[str, str] = job.restored().get("positions", {})
    found = dict(before)
    for source in pipeline.sources.values():
        if source_stream(source) not in offsets:
            continue
        if source.table is None:
            found[source.uid] = "done"
            continue
        connector = find_source(source.connector, source.table.name)
        offset, log = offsets[source_stream(source)]
        found[source.uid] = connector.position(offset, log, before.get(source.uid))
    return found
