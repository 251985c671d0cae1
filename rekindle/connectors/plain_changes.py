"""Change records of Debezium whose values are written as their types are, read by Arrow like plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from execnodes.core.changelog import RowKind
from execnodes.core.types import STRING, Field, LogicalType, row
from execnodes.lowering.stream import KIND
from rekindle.connectors.plain_json import NotPlainError, PlainJson

if TYPE_CHECKING:
    import pyarrow as pa


def record_fields(image: LogicalType, *, wrapped: bool) -> tuple[Field, ...]:
    """Fields of a record over rows of the type `image`; `wrapped`: records are below ``payload``."""
    record = (Field("before", image), Field("after", image), Field("op", STRING))
    return (Field("payload", row(*record)),) if wrapped else record


@dataclass(frozen=True)
class PlainChanges:
    """Reads blocks of lines, a record each: the rows that it adds and retracts, with their kinds."""

    fields: tuple[Field, ...]
    """Of a row."""
    iso: bool
    """See `PlainJson`."""
    wrapped: bool
    """See `record_fields`."""

    def parse(self, lines: bytes) -> tuple[Mapping[str, pa.Array], int]:
        """Columns by the names of the fields, then `KIND`, and how many rows there are; NotPlainError.

        An update is a row with `before`, followed by one with `after`.
        """
        import numpy as np
        import pyarrow as pa

        columns, count = self._records.parse(lines)
        if self.wrapped:
            payload = columns["payload"]
            if payload.null_count:
                raise NotPlainError("a record has no payload")
            columns = {name: payload.field(name) for name in ("before", "after", "op")}
        op = columns["op"].to_numpy(zero_copy_only=False)
        updates, deletes = op == "u", op == "d"
        retracts, adds = updates | deletes, updates | (op == "c") | (op == "r")
        if not (retracts | adds).all():
            raise NotPlainError("a line is not a change record")
        # Two places a record, of which the first is for the row that it retracts.
        places = np.flatnonzero(np.column_stack([retracts, adds]))
        record, is_added = places // 2, places % 2
        images = pa.concat_arrays([columns["before"], columns["after"]]).take(pa.array(record + is_added * count))
        if images.null_count:
            raise NotPlainError("a record is without a row")
        retracted = np.where(updates, RowKind.UPDATE_BEFORE, RowKind.DELETE)
        added = np.where(updates, RowKind.UPDATE_AFTER, RowKind.INSERT)
        kinds = np.column_stack([retracted, added]).ravel()[places]
        found = dict(zip((each.name for each in self.fields), images.flatten(), strict=True))
        return {**found, KIND: pa.array(kinds, pa.int8())}, len(places)

    @cached_property
    def _records(self) -> PlainJson:
        return PlainJson(record_fields(row(*self.fields), wrapped=self.wrapped), self.iso)
