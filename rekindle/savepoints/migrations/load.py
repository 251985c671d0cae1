"""Rows from a file or a frame in place of a state's, or for a state that the plan has and the savepoint has not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from rekindle.savepoints.exchange import reading
from rekindle.savepoints.file_columns import WRITTEN, distinct_names, file_columns
from rekindle.savepoints.reader import arrow_schema
from rekindle.savepoints.user_frames import conformed
from rekindle.savepoints.verify import fitted
from rekindle.savepoints.workspace import Draft, Workspace

if TYPE_CHECKING:
    import pyarrow as pa


def load(work: Workspace, address: str, source: Path | pa.Table) -> None:
    """Columns, types and values must fit those of the state; see `fitted`."""
    draft = _target(work, address)
    state = work.described(draft.state)
    detail = f"from {source}" if isinstance(source, Path) else ""
    with work.step("import", draft, detail) as after:
        if isinstance(source, Path):
            query = reading(source, distinct_names(file_columns(state)))
        else:
            import pyarrow.parquet as pq

            file = work.stage()
            pq.write_table(conformed(source, arrow_schema(state), WRITTEN), file)
            query = Draft(state, (file,)).rows
        made = work.write(state, fitted(work.connection, state, query))
        work.check_keys(draft, made)
        work.put(made)
        after.append(made)


def _target(work: Workspace, address: str) -> Draft:
    if any(address in (each.state.title, uid) for (uid, _), each in work.drafts.items()):
        return work.draft(address)
    planned = [each for each in work.planned.values() if address in (each.title, each.uid)]
    if len(planned) == 1:
        return Draft(planned[0], ())
    known = dict.fromkeys(each.title for each in (*(d.state for d in work.drafts.values()), *work.planned.values()))
    listed = "\n".join(known) or "There is none."
    raise StateError(f"neither savepoint nor plan has the one state {address}", hint=f"States:\n{listed}")
