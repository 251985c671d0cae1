"""The files of a savepoint: those that the manifest names, whole, and no others."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from rekindle.savepoints.file_columns import file_columns
from rekindle.savepoints.folder import new_file
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, SavedState, checksum, parsed, wrong
from rekindle.savepoints.plan import explained

_STATES = "state"
"""Folder of the states' files."""
_HINT = "The savepoint is not whole; copy it again or use another one."


def seal(folder: Path, manifest: Manifest) -> Manifest:
    """Write the manifest of a folder that has all the rest, and read everything back; StateError if it is not there."""
    new_file(folder / NAME, manifest.text())
    if read(folder) != manifest:
        raise wrong(folder / NAME, "what was read back is not what was written", "Check the disk, and try again.")
    check_files(folder, manifest, count=True)
    return manifest


def read(folder: Path) -> Manifest:
    """The manifest of a whole savepoint; StateError names what is wrong and which file."""
    manifest, is_sealed, has_trees = parsed(folder / NAME)
    check_files(folder, manifest, count=not is_sealed)
    return manifest if has_trees else explained(manifest, folder)


def check_files(folder: Path, manifest: Manifest, *, count: bool) -> None:
    """StateError names the file that is missing, damaged, elsewhere, or nobody's.

    `count`: also the rows, which a seal says already.
    """
    wanted = {PLAN: manifest.plan_sha256}
    for state in manifest.states:
        twice = wanted.keys() & state.files.keys()
        if twice:
            raise wrong(folder / NAME, f"it names a file twice: {min(twice)}", "Use another savepoint.")
        wanted |= dict(state.files)
    for name, expected in wanted.items():
        _check_file(folder, name, expected)
    for place, _, names in os.walk(folder / _STATES):
        for each in names:
            if str(Path(place, each).relative_to(folder)) not in wanted:
                raise wrong(
                    Path(place, each),
                    "the manifest does not name this file",
                    "Remove it, if it is not of the savepoint.",
                )
    if count:
        for state in manifest.states:
            check_rows(state, [folder / name for name in state.files])


def _check_file(folder: Path, name: str, expected: str) -> None:
    path = folder / name
    pure = PurePosixPath(name)
    outside = pure.is_absolute() or ".." in pure.parts or "\0" in name or str(pure) != name
    root = os.path.realpath(folder)
    if outside or os.path.commonpath([os.path.realpath(path), root]) != root:
        raise wrong(folder / NAME, f"it names a file outside the savepoint: {name!r}", "Use another savepoint.")
    try:
        if not path.is_file():
            raise wrong(path, "the file is missing", _HINT)
        if checksum(path) != expected:
            raise wrong(path, "its checksum is wrong", "The file is damaged; copy it again or use another savepoint.")
    except OSError as error:
        raise wrong(path, f"the file cannot be read: {error.strerror}", _HINT) from error


def check_rows(state: SavedState, files: Iterable[Path]) -> None:
    """StateError if files have not the rows and columns that a state says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 0
    for path in files:
        try:
            found = pq.ParquetFile(path)
        except (pa.ArrowException, OSError) as error:
            raise wrong(path, f"the file is no Parquet file: {error}", _HINT) from error
        rows += found.metadata.num_rows
        check_columns(state, path, found.schema_arrow.names)
    if rows != state.rows:
        raise wrong(Path(NAME), f"{state.title} has {rows:,} rows in its files, and not {state.rows:,}", _HINT)


def check_columns(state: SavedState, path: Path, names: Iterable[str]) -> None:
    """StateError if a file has not the columns that a state says: its manifest may have been sealed by anybody."""
    lacking = set(file_columns(state)) - set(names)
    if lacking:
        raise wrong(path, f"the file has no column {', '.join(sorted(lacking))}", _HINT)
