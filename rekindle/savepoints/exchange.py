"""Rows of a state in files of others: Parquet, CSV, JSON lines."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path

from execnodes.core.errors import StateError
from rekindle.savepoints.columns import literal
from rekindle.savepoints.database import connected, paths, select
from rekindle.savepoints.reader import SavepointReader

_FORMATS: Mapping[str, str] = {
    ".parquet": "FORMAT parquet",
    ".csv": "FORMAT csv, HEADER",
    ".json": "FORMAT json",
    ".jsonl": "FORMAT json",
}


def format_of(path: Path) -> str:
    """DuckDB's options to write a file, by its suffix; StateError for others."""
    found = _FORMATS.get(path.suffix.lower())
    if found is None:
        raise StateError(
            "the file's suffix tells no format", where=str(path), hint=f"Use one of {', '.join(_FORMATS)}."
        )
    return found


def export_state(reader: SavepointReader, address: str, target: Path) -> int:
    """Write a state's rows into a new file, whole or not at all; gives their number.

    Columns are those of the state's files (`rekindle.savepoints.columns.file_columns`). In CSV and JSON bytes
    are escaped; what DuckDB cannot tell apart by name (``a``, ``A``) becomes ``a``, ``A_1``.
    """
    options = format_of(target)
    if target.exists():
        raise StateError("the file exists already", where=str(target), hint="Give a new file.")
    state = reader.state(address)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with connected(reader.folder) as connection:
            rows = select(state, paths(reader.folder, state))
            connection.execute(f"COPY ({rows}) TO {literal(str(temporary))} ({options})")
        temporary.replace(target)
    except OSError as error:
        raise StateError(f"the file cannot be written: {error.strerror}", where=str(target)) from error
    finally:
        temporary.unlink(missing_ok=True)
    return state.rows
