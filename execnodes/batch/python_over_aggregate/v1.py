"""Version 1 (1.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from execnodes.aggregates.spark_call import sorted_text
from execnodes.common.batch import ARRIVAL, BatchLowering, BatchNode, BatchRows
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex, Number
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Applied, Outputs, applied, widened
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import TIMESTAMPS, LogicalType, Root
from execnodes.user_functions.groups import frames_call, frames_texts
from execnodes.user_functions.mixed import mixed_problem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST = 2**31
"""More rows than a partition can have."""


@exec_node_metadata(
    name="batch-exec-python-over-aggregate",
    version=1,
    produced_operators=["python-over-aggregate"],
    min_plan_version="1.4",
    min_state_version="1.4",
)
class BatchPythonOverAggregate(BatchNode):
    """Aggregate functions of the user OVER (PARTITION BY … ORDER BY …). Output: the input, then a column a call."""

    partition_fields: tuple[ColumnIndex, ...]
    sort_spec: SortSpec
    is_rows: bool
    """ROWS frame, else RANGE."""
    preceding: Number | None = None
    """Where the frame begins: so many rows, milliseconds or units before the current row, behind it if negative; None:
    at the first row."""
    following: Number | None = 0
    """Where the frame ends, counted behind the current row; None: at the last row."""
    agg_calls: tuple[AggregateCall, ...]

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """A list of rows for each partition, which functions of the user go through once, and rows again."""
        from pyspark.sql import functions as spark

        rows, width = inputs[0], len(inputs[0].columns)
        cells = ", ".join(f"'{each}', {each}" for each in ("begin", "end", *rows.columns))
        members = sorted_text(f"collect_list(named_struct('at', {ARRIVAL}, {cells}))")
        keys = [spark.expr(f"c{each} AS k{each}") for each in self.partition_fields]
        partitions = self._framed(rows).groupBy(*keys).agg(spark.expr(f"{members} AS r"))
        results = []
        for at, call in enumerate(self.agg_calls):
            (made,) = self.texts([frames_call(call, rows.type)], frames_texts(call, "r"))
            results.append(f"{made} AS f{at}")
        names = ", ".join(f"f{at}" for at in range(len(results)))
        frame = partitions.selectExpr("r", *results).selectExpr(f"inline(arrays_zip(r, {names}))")
        columns = [f"r.{each} AS {each}" for each in rows.columns]
        frame = frame.selectExpr(*columns, *(f"f{at} AS c{width + at}" for at in range(len(results))))
        return BatchRows(self.output_type, frame)

    @property
    def folds_frames(self) -> bool:
        """Yes."""
        return True

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and a column a call."""
        return widened(inputs[0], (each.type for each in self.agg_calls))

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over frames."""
        for each in applied(self.agg_calls, inputs[0], grouped=True):
            yield replace(each, rows="frame")

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Calls of functions of the user over columns of the input; a RANGE that reaches so far has one column."""
        width = len(inputs[0].fields)
        found = mixed_problem((), self.agg_calls, inputs[0], False)
        read = {*self.partition_fields, *(each.index for each in self.sort_spec.fields)}
        if found is None and max(read, default=0) >= width:
            found = f"it reads a column that its input of {width} columns does not have"
        if found is None and not all(call.user_name for call in self.agg_calls):
            found = "it computes functions of the user alone"
        if found is None and self._by_distance and len(self.sort_spec.fields) != 1:
            found = "a RANGE that reaches so far goes by one column"
        if found is None and len(self.output_type.fields) != width + len(self.agg_calls):
            found = "its output must be the columns of its input, and one for each call"
        if found is not None:
            raise self.fail(found)

    @property
    def _by_distance(self) -> bool:
        return not self.is_rows and any(each not in (None, 0) for each in (self.preceding, self.following))

    def _framed(self, rows: BatchRows) -> DataFrame:
        """Rows with `ARRIVAL`, their place in the partition, and their frames: how many rows stand before the frame,
        and how many before its end.
        """
        placed = rows.numbered().selectExpr(
            *rows.columns, f"row_number() OVER ({self._window(self._order, f'{ARRIVAL} ASC')}) AS {ARRIVAL}"
        )
        if self.is_rows:
            begin = "0L" if self.preceding is None else f"greatest({ARRIVAL} - 1L - {_long(self.preceding)}, 0L)"
            end = f"{_MOST}L" if self.following is None else f"{ARRIVAL} + {_long(self.following)}"
        else:
            frame = f"RANGE BETWEEN {_bound(self.preceding, -1)} AND {_bound(self.following, 1)}"
            window = f"{self._window(self._measured(rows))} {frame}"
            begin = f"coalesce(min({ARRIVAL}) OVER ({window}) - 1L, 0L)"
            end = f"coalesce(max({ARRIVAL}) OVER ({window}), 0)"
        return placed.selectExpr("*", f"CAST({begin} AS BIGINT) AS begin", f"CAST({end} AS BIGINT) AS end")

    @property
    def _order(self) -> list[str]:
        return [each.text for each in self.sort_spec.fields]

    def _measured(self, rows: BatchRows) -> list[str]:
        """The order by which frames are found: that of numbers, where a frame reaches so far."""
        if not self._by_distance:
            return self._order
        (first,) = self.sort_spec.fields
        return [f"{_number(f'c{first.index}', rows.type.fields[first.index].type)} {first.direction}"]

    def _window(self, columns: Sequence[str], *last: str) -> str:
        keys = ", ".join(f"c{each}" for each in self.partition_fields)
        order = [*columns, *last]
        parts = [f"PARTITION BY {keys}" if keys else "", f"ORDER BY {', '.join(order)}" if order else ""]
        return " ".join(part for part in parts if part)


def _long(rows: int) -> str:
    return f"{max(-_MOST, min(rows, _MOST))}L"


def _bound(offset: int | None, direction: int) -> str:
    """A bound of a frame; `direction` is that in which offsets count, and in which it may lie at the last row."""
    if offset == 0:
        return "CURRENT ROW"
    ahead = (1 if offset is None else offset) * direction > 0
    return f"{'UNBOUNDED' if offset is None else abs(offset)} {'FOLLOWING' if ahead else 'PRECEDING'}"


def _number(column: str, t: LogicalType) -> str:
    """What a RANGE is measured in: milliseconds of times, else the column itself."""
    if t.root is Root.DATE:
        return f"(unix_date({column}) * 86400000L)"
    if t.root not in TIMESTAMPS:
        return column
    return f"unix_millis({column if t.root is Root.TIMESTAMP_LTZ else f'CAST({column} AS TIMESTAMP)'})"
