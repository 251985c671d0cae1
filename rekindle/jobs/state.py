"""The state of a job or a savepoint, as rows that people can read."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from execnodes.core.errors import StateError
from execnodes.core.options import Configuration
from rekindle.jobs.home import NoSuchJobError, find_job
from rekindle.jobs.savepoint import take_savepoint
from rekindle.savepoints.manifest import NAME, Manifest, SavedState, read


@contextmanager
def opened(text: str, configuration: Configuration) -> Iterator[tuple[Path, Manifest]]:
    """The savepoint in a folder; for a job, one that is taken now and gone afterwards."""
    folder = Path(text)
    if (folder / NAME).is_file():
        yield folder, read(folder)
        return
    try:
        job = find_job(text, configuration)
    except NoSuchJobError as error:
        raise StateError("this is neither a savepoint nor a job", where=text, hint=error.hint) from None
    place = Path(tempfile.mkdtemp(prefix="rekindle-inspect-"))
    try:
        manifest = take_savepoint(job, place / "savepoint")
        yield place / "savepoint", manifest
    finally:
        shutil.rmtree(place, ignore_errors=True)


def chosen(manifest: Manifest, address: str) -> list[SavedState]:
    """The states of UID or of UID:NAME; StateError if there are none."""
    uid, sign, name = address.rpartition(":")
    found = [each for each in manifest.states if each.title == address or each.uid == address]
    found = found or [each for each in manifest.states if sign and (each.uid, each.name) == (uid, name)]
    if not found:
        known = "\n".join(each.title for each in manifest.states) or "There is none."
        raise StateError(f"there is no state {address}", hint=f"States:\n{known}")
    return found


def rows_of(folder: Path, state: SavedState, limit: int) -> list[dict[str, Any]]:
    """The first rows of a state, in the order of its files."""
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = []
    for name in sorted(state.files):
        for batch in pq.ParquetFile(folder / name).iter_batches(batch_size=max(1, min(limit, 10_000))):
            found = batch.slice(0, limit - len(rows)).to_pylist()
            rows += [{column: _shown(value) for column, value in row.items()} for row in found]
            if len(rows) >= limit:
                return rows
    return rows


def _shown(value: Any) -> Any:
    return f"x'{value.hex()}'" if isinstance(value, bytes) else value
