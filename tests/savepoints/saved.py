"""Savepoints that releases have written, and looks into them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rekindle.savepoints.manifest import SavedState
from rekindle.savepoints.reader import SavepointReader
from tests.restore.program import FIXTURES

SAVEPOINTS = sorted(each.parent for each in FIXTURES.glob("*/*/savepoint/manifest.json"))
AGGREGATES = FIXTURES / "stream-exec-group-aggregate_1/ttl/savepoint"
"""Three aggregates over one source; the second has states of DISTINCT values."""
ONE, TWO, THREE = "4_group-aggregate", "8_group-aggregate", "12_group-aggregate"
STATE = f"{ONE}:groupAggregateState"
TABLE = f'"{ONE}"."groupAggregateState"'
fixtures = pytest.mark.parametrize("folder", SAVEPOINTS, ids=lambda each: f"{each.parts[-3]}/{each.parts[-2]}")


def table(folder: Path, address: str) -> pa.Table:
    """The rows of a state, sorted."""
    found = SavepointReader.read(folder).table(address)
    return found.sort_by([(name, "ascending") for name in found.column_names])


def column(folder: Path, address: str, name: str) -> list[Any]:
    """Values of a column, in the order of `table`."""
    found: list[Any] = table(folder, address)[name].to_pylist()
    return found


def described(state: SavedState) -> SavedState:
    """Without what depends on how the files were written."""
    return replace(state, bytes=0, files={})


def content(folder: Path) -> dict[str, str]:
    """Files to their hashes."""
    files = (each for each in sorted(folder.rglob("*")) if each.is_file())
    return {str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}
