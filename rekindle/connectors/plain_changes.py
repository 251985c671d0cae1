"""Change records of Debezium whose values are written as their types are, read by Arrow like plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from execnodes.core.changelog import RowKind
from execnodes.core.types import STRING, Field, row
from execnodes.lowering.stream import KIND
from rekindle.connectors.plain_json import NotPlainError, PlainJson

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class PlainChanges:
    """Reads blocks of lines, a record each: the rows that it adds and takes back, with their kinds."""

    fields: tuple[Field, ...]
    """Of a row."""
    iso: bool
    """See `PlainJson`."""
    wrapped: bool
    """Whether records stand under ``payload``."""

    @cached_property
    def _records(self) -> PlainJson:
        image = row(*self.fields)
        record = (Field("before", image), Field("after", image), Field("op", STRING))
        return PlainJson((Field("payload", row(*record)),) if self.wrapped else record, self.iso)

    def parse(self, lines: bytes) -> tuple[Mapping[str, pa.Array], int]:
        """Columns by the names of the fields, then `KIND`, and how many rows there are; NotPlainError.

        An update is a row with `before` and, behind it, one with `after`.
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
        inserts, updates, deletes = (op == "c") | (op == "r"), op == "u", op == "d"
        takes_back = updates | deletes
        for name, wanted in (("before", takes_back), ("after", inserts | updates)):
            if (wanted & columns[name].is_null().to_numpy(zero_copy_only=False)).any():
                raise NotPlainError(f"a record is without '{name}'")
        if not (inserts | takes_back).all():
            raise NotPlainError("a line is not a change record")
        # In the order of lines, and within one the row that is taken back first.
        places = np.arange(count)
        of_before = 2 * places[takes_back]
        of_after = 2 * places[inserts | updates] + 1
        order = np.argsort(np.concatenate([of_before, of_after]), kind="stable")
        rows = np.concatenate([places[takes_back], count + places[inserts | updates]])[order]
        kinds = np.concatenate(
            [
                np.where(deletes, RowKind.DELETE, RowKind.UPDATE_BEFORE)[takes_back],
                np.where(updates, RowKind.UPDATE_AFTER, RowKind.INSERT)[inserts | updates],
            ]
        )[order]
        images = pa.concat_arrays([columns["before"], columns["after"]]).take(pa.array(rows))
        found = dict(zip((each.name for each in self.fields), images.flatten(), strict=True))
        return {**found, KIND: pa.array(kinds, pa.int8())}, len(rows)
