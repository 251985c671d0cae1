"""Columns of saved states as those of types that hold more (`execnodes.core.widening`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from execnodes.core.types import NESTED, LogicalType
from execnodes.state.widened_texts import text_widener
from rekindle.savepoints.file_columns import arrow_type, column_types
from rekindle.savepoints.reader import arrow_batches, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from rekindle.savepoints.manifest import SavedState


WIDER = "rk_wider_"
"""Before the names of columns that are made of those of a savepoint."""


@dataclass(frozen=True, slots=True)
class Retyped:
    """A column that is made of another one."""

    source: str
    """Column of the savepoint."""
    old: LogicalType
    new: LogicalType


def wider(state: SavedState, types: Mapping[str, LogicalType], columns: Mapping[str, str]) -> dict[str, Retyped]:
    """The columns whose values must be written anew, by names that no column of a savepoint has.

    `types`: of the new columns; `columns`: those of the savepoint that they are made of.
    """
    before = column_types(state)
    pairs = {
        name: Retyped(columns[name], before[columns[name]], t)
        for name, t in types.items()
        if columns.get(name, "") in before
    }
    return {f"{WIDER}{name}": each for name, each in pairs.items() if _is_written_otherwise(each.old, each.new)}


def with_wider(state: SavedState, files: Iterable[Path], columns: Mapping[str, Retyped], file: Path) -> SavedState:
    """Write the rows with further columns into a file; gives the state as it then is, `columns` by their names."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = replace(state, schema=(*state.schema, *((name, str(each.new)) for name, each in columns.items())))
    with pq.ParquetWriter(file, arrow_schema(made)) as writer:
        for batch in arrow_batches(state, files):
            there = dict(zip(batch.schema.names, batch.columns, strict=True))
            there |= {name: retyped(state, batch, each) for name, each in columns.items()}
            writer.write_table(pa.table(there).select(arrow_schema(made).names))
    return made


def _is_written_otherwise(old: LogicalType, new: LogicalType) -> bool:
    if old.root in NESTED and new.root in NESTED:
        return text_widener(old, new) is not None
    is_other: bool = arrow_type(old) != arrow_type(new)
    return is_other


def retyped(state: SavedState, rows: pa.RecordBatch, column: Retyped) -> pa.Array:
    """The values of one; StateError if the new type does not hold them."""
    import pyarrow as pa

    values = rows.column(column.source)
    try:
        change = text_widener(column.old, column.new) if column.old.root in NESTED else None
        if change is None:
            return values.cast(arrow_type(column.new))
        texts = (None if each is None else change(each) for each in values.to_pylist())
        return pa.array(texts, pa.string(), size=len(values))
    except (pa.ArrowException, ValueError, LookupError) as error:
        raise StateError(
            f"column {column.source} cannot become {column.new}: {error}",
            where=state.title,
            hint="The savepoint is as it was; go on with the plan that it was taken from.",
        ) from error
