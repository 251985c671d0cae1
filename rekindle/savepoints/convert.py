"""State serializer migration: rows of a savepoint as today's functions and types have them, before a job begins."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import StateError
from execnodes.core.types import LogicalType, Root
from execnodes.state.python_values import from_kernel, to_kernel
from execnodes.state.serializers.column_migration import UnreadColumn, converted
from execnodes.state.serializers.migrate import AccumulatorChange, migrate
from execnodes.user_functions.arrow_values import Convert, reader, writer
from rekindle.savepoints.file_columns import arrow_type
from rekindle.savepoints.folder import state_folder
from rekindle.savepoints.manifest import SavedState
from rekindle.savepoints.reader import arrow_batches
from rekindle.savepoints.widen import Retyped, retyped

if TYPE_CHECKING:
    import pyarrow as pa

NOTHING: Mapping[str, Retyped] = MappingProxyType({})
_log = logging.getLogger("rekindle.savepoints")
_TYPED = (Root.DECIMAL, Root.DATE, Root.TIMESTAMP, Root.TIMESTAMP_LTZ, Root.FLOAT, Root.BOOLEAN)
"""Types that files hold as such; of others they hold what kernels do."""


def convert(
    state: SavedState,
    files: Sequence[Path],
    changes: Sequence[AccumulatorChange],
    scratch: Path,
    wider: Mapping[str, Retyped] = NOTHING,
) -> list[Path]:
    """Write the rows of a state anew, with the new columns of its accumulators instead of the old ones.

    `wider`: names of further columns to what they are made of.

    StateError names the accumulator that a serializer fails on. What an earlier start has left is written anew.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    began = time.monotonic()
    target = state_folder(scratch, state.uid, state.name)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    rows, written = 0, []
    for number, batch in enumerate(arrow_batches(state, files)):
        rows += batch.num_rows
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for change in changes:
            columns = {name: column for name, column in columns.items() if name not in change.olds.values()} | _changed(
                change, batch
            )
        columns |= {name: retyped(state, batch, each) for name, each in wider.items()}
        written.append(target / f"part-{number:05}.parquet")
        pq.write_table(pa.table(columns), written[-1])
    told = [f"accumulator of {each.title} converted ({each.reason})" for each in changes]
    told += [f"{each.source} converted ({each.old} -> {each.new})" for each in wider.values()]
    for each in told:
        _log.info("%s: %s, %s rows in %.1f s", state.title, each, f"{rows:,}", time.monotonic() - began)
    return written


def _changed(change: AccumulatorChange, batch: pa.RecordBatch) -> dict[str, Any]:
    types = {field.name: field.type for field in change.before.type.fields}
    columns = {
        name: UnreadColumn(batch.column(column), partial(_read, _from_file(types[name])))
        for name, column in change.olds.items()
    }
    try:
        found = migrate(change.before, change.after, columns, batch.num_rows)
        return {change.news[field.name]: _written(found[field.name], field.type) for field in change.after.type.fields}
    except Exception as error:
        raise StateError(
            f"the accumulator of {change.title} cannot be converted: {type(error).__name__}: {error}",
            hint="Mend the serializer and start again; the savepoint is as it was.",
        ) from error


def _read(convert: Convert | None, column: pa.Array) -> Sequence[Any]:
    return converted(convert, column.to_pylist())


def _written(values: Sequence[Any], t: LogicalType) -> pa.Array:
    import pyarrow as pa

    wanted = arrow_type(t)
    if isinstance(values, UnreadColumn) and values.source.type == wanted:
        return values.source
    return pa.array(converted(_to_file(t), values), type=wanted)


def _from_file(t: LogicalType) -> Convert | None:
    return reader(t) if t.root in _TYPED else from_kernel(t)


def _to_file(t: LogicalType) -> Convert | None:
    return writer(t) if t.root in _TYPED else to_kernel(t)
