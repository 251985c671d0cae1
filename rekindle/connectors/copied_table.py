"""Lookups in a copy of a whole table, for what has no keys: Arrow files in the job's folder, one a version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rekindle.connectors.arrow import nullable
from rekindle.connectors.base import FOUND_FOR, LookupReader, LookupRequest, LookupTable
from rekindle.connectors.line_text import stream_name
from rekindle.files.atomic_file import write_atomically

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_CURRENT = "current"
"""Names the newest copy, and below it what the table was then."""
_loaded: dict[str, tuple[tuple[str, int, int], pa.Table]] = {}
"""Of this process: the newest copy that it has read, by folder, and which file it was: a folder may begin anew."""


def copied_table(
    request: LookupRequest, version: Callable[[SparkSession], str], read: Callable[[SparkSession], DataFrame]
) -> LookupTable:
    """`version`: a text that is another one when the table has changed; `read`: its columns c0, c1, …."""
    folder = request.source.job_dir / "lookups" / stream_name(request.source.uid)

    def refresh(spark: SparkSession) -> None:
        told = version(spark)
        name, _, before = _current(folder).partition("\n")
        if name and before == told:
            return
        fresh = f"{int(name.partition('.')[0] or 0) + 1}.arrow" if name else "1.arrow"
        _write(nullable(read(spark)).toArrow().cast(request.types), folder / fresh)
        write_atomically(folder / _CURRENT, f"{fresh}\n{told}", replace=True, private=True)
        for each in folder.glob("*.arrow"):
            # A task that was given up may still read the one before.
            if each.name not in (name, fresh):
                each.unlink(missing_ok=True)

    return LookupTable(CopiedTable(str(folder), request.keys), refresh)


def _current(folder: Path) -> str:
    try:
        return (folder / _CURRENT).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def _write(table: pa.Table, path: Path) -> None:
    import pyarrow as pa

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".tmp")
    with pa.OSFile(str(partial), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    partial.replace(path)


@dataclass(frozen=True)
class CopiedTable(LookupReader):
    """The newest copy."""

    folder: str
    keys: tuple[int, ...]
    """Columns that rows are found by."""

    def find(self, keys: pa.Table) -> pa.Table:
        """See LookupReader."""
        import polars as pl
        import pyarrow as pa

        table = self._table()
        wanted = pl.DataFrame(pl.from_arrow(keys)).with_row_index(FOUND_FOR)
        stored = pl.DataFrame(pl.from_arrow(table.select(list(self.keys)))).rename(
            {f"c{column}": f"k{at}" for at, column in enumerate(self.keys)}
        )
        pairs = wanted.join(stored.with_row_index("rk_row"), on=keys.column_names).sort(FOUND_FOR, "rk_row")
        found = table.take(pairs["rk_row"].cast(pl.Int64).to_arrow())
        return found.add_column(0, FOUND_FOR, pa.chunked_array([pairs[FOUND_FOR].cast(pl.Int64).to_arrow()]))

    def _table(self) -> pa.Table:
        import pyarrow as pa

        path = Path(self.folder) / _current(Path(self.folder)).partition("\n")[0]
        found = path.stat()
        copy = (path.name, found.st_ino, found.st_mtime_ns)
        if self.folder not in _loaded or _loaded[self.folder][0] != copy:
            with pa.memory_map(str(path)) as file:
                _loaded[self.folder] = (copy, pa.ipc.open_file(file).read_all())
        return _loaded[self.folder][1]
