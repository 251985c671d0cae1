"""A user's function over the rows of a state: rows in, rows out, a batch at a time."""

from __future__ import annotations

from pathlib import Path

from execnodes.core.errors import StateError
from rekindle.savepoints.file_columns import WRITTEN
from rekindle.savepoints.manifest import SavedState
from rekindle.savepoints.reader import arrow_batches, arrow_schema
from rekindle.savepoints.user_frames import Function, apply, conformed, library_of, name_of
from rekindle.savepoints.verify import fitted
from rekindle.savepoints.workspace import Draft, Workspace, with_rows


def transform(work: Workspace, address: str, function: Function) -> None:
    """Replace the rows of a state by what the function makes of them; they must have the state's columns.

    If the state's new meaning is accepted, they must have the columns that the plan's state has.
    """
    draft = work.draft(address)
    state = work.described(draft.state)
    with work.step("transform", draft, f"by {name_of(function)}") as after:
        file = work.stage()
        _write(draft, state, function, file)
        made = with_rows(state, file)
        fitted(work.connection, state, made.rows)
        work.check_keys(draft, made)
        work.put(made)
        after.append(made)


def _write(draft: Draft, state: SavedState, function: Function, file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(state)
    library = library_of(function)
    begin = 0
    with pq.ParquetWriter(file, schema) as writer:
        for batch in arrow_batches(draft.state, draft.files):
            try:
                rows = apply(function, library, pa.Table.from_batches([batch]))
                writer.write_table(conformed(rows, schema, WRITTEN))
            except StateError as error:
                raise StateError(
                    f"rows {begin:,} to {begin + batch.num_rows - 1:,}: {error.message}",
                    where=state.title,
                    hint=error.hint,
                ) from error
            begin += batch.num_rows
