"""Connector collect: rows kept in the driver's memory, for SELECT results and tests."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from execnodes.connectors.collect import CONNECTOR
from execnodes.core.connectors import ConnectorDeclaration
from rekindle.connectors.arrow import changes
from rekindle.connectors.base import RowsWriter, SinkConnector, SinkRequest, SinkWriter
from rekindle.connectors.options import TableOption

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

OPTIONS = (
    TableOption("name", "text", "", "Name the rows are kept under; the table's name when unset."),
    TableOption("changelog-mode", "text", "all", "`upsert`: the table has no use for -U rows."),
)

Change = tuple[int, tuple[Any, ...]]
"""(row kind, values)."""

_lock = Lock()
_kept: dict[str, dict[tuple[str, int], list[Change]]] = {}


def results(name: str, start: int = 0) -> list[Change]:
    """Rows kept under a name so far, in the order of their batches, from the `start`-th on."""
    found: list[Change] = []
    with _lock:
        for changes in _kept.get(name, {}).values():
            found += changes[start:]
            start = max(0, start - len(changes))
    return found


def clear(name: str | None = None) -> None:
    """Forget the rows of a name, or all."""
    with _lock:
        if name is None:
            _kept.clear()
        else:
            _kept.pop(name, None)


class Collect(SinkConnector):
    """Takes every kind of row."""

    declaration: ClassVar[ConnectorDeclaration] = CONNECTOR

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """The name only."""
        return OPTIONS

    def writer(self, spark: SparkSession, request: SinkRequest) -> SinkWriter:
        """Keeps batches by job and batch id, so that one told twice is kept once."""
        options = self.opened(request.table, "sink", request.name)
        return _Writer(options.text("name") or request.name, request.job_id)


class _Writer(RowsWriter):
    single_pass: ClassVar[bool] = True

    def __init__(self, name: str, job_id: str) -> None:
        self._name = name
        self._job_id = job_id

    def open(self) -> None:
        """An empty result exists from the start."""
        with _lock:
            _kept.setdefault(self._name, {})

    def write_rows(self, rows: pa.Table, batch_id: int) -> None:
        """Keep the rows."""
        given = list(changes(rows))
        with _lock:
            _kept.setdefault(self._name, {})[(self._job_id, batch_id)] = given
