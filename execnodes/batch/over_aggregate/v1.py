"""Version 1 (1.0)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from execnodes.aggregates import WINDOW_FUNCTIONS, argument, order_dependent
from execnodes.aggregates.spark_text import spark_text
from execnodes.common.batch import ARRIVAL, BatchLowering, BatchNode, BatchRows
from execnodes.core.expressions import AggregateCall, Expression, InputRef, Value, input_indexes
from execnodes.core.indexes import ColumnIndex, Number
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import PlanModel
from execnodes.core.outputs import Applied, Outputs, widened
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import TIMESTAMPS, LogicalType, Root
from execnodes.lowering.spark_sql import spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class OverCall(PlanModel):
    """A function over a window of rows."""

    internal_name: str
    operands: tuple[Expression, ...] = ()
    """Over the input; behind a column, offset and default of LAG as literals."""
    distinct: bool = False
    type: LogicalType

    @property
    def given(self) -> Mapping[str, Value]:
        """Constants it needs beside its operands."""
        return {}


@exec_node_metadata(
    name="batch-exec-over-aggregate",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["over-aggregate"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchOverAggregate(BatchNode):
    """Functions OVER (PARTITION BY … ORDER BY …). Output: the input, then a column a call."""

    BY_ROW: ClassVar[tuple[str, ...]] = ("$ROW_NUMBER$1", "$LAG$1")
    """Functions that tell rows apart that sort alike: by the order in which they came."""

    partition_fields: tuple[ColumnIndex, ...]
    sort_spec: SortSpec
    is_rows: bool
    """ROWS frame, else RANGE."""
    preceding: Number | None = None
    """Where the frame begins: so many rows, or milliseconds, before the current row; None: at the first row."""
    calls: tuple[OverCall, ...]

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """Spark's window functions."""
        rows = inputs[0]
        given = [*rows.columns, *(self._text(call, rows) for call in self.calls)]
        return BatchRows(rows.type, self._placed(rows)).project(self.output_type, given)

    def _placed(self, rows: BatchRows) -> DataFrame:
        """Rows with `ARRIVAL`: where a frame's first and last row matter, their place in the window."""
        frame = rows.numbered()
        aggregates = (each.internal_name for each in self.calls if each.internal_name[1:-2] not in WINDOW_FUNCTIONS)
        if not any(map(order_dependent, aggregates)):
            return frame
        # By arrival only among those that the order of the window does not tell apart.
        place = f"row_number() OVER ({self._window(rows, by_row=True)}) AS {ARRIVAL}"
        return frame.selectExpr(*rows.columns, place)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and a column a call."""
        return widened(inputs[0], (each.type for each in self.calls))

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls."""
        for at, each in enumerate(self.calls):
            yield Applied(
                path=f"calls[{at}]",
                name=each.internal_name,
                title=each.internal_name,
                operands=each.operands,
                type=each.type,
                distinct=each.distinct,
                options=each.given,
                rows="frame",
            )

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Columns exist; DISTINCT needs all rows of a window at once, which Spark's windows do not have."""
        width = len(inputs[0].fields)
        read = {each.index for each in self.sort_spec.fields} | set(self.partition_fields)
        read |= {index for call in self.calls for each in call.operands for index in input_indexes(each)}
        if max(read, default=0) >= width:
            raise self.fail(f"it reads a column that its input of {width} columns does not have")
        if any(call.distinct for call in self.calls):
            raise self.fail("DISTINCT with OVER cannot be computed")
        if len(self.output_type.fields) != width + len(self.calls):
            raise self.fail("its output must be the columns of its input, and one for each call")

    def _text(self, call: OverCall, rows: BatchRows) -> str:
        window = self._window(rows, by_row=call.internal_name in self.BY_ROW)
        name = call.internal_name[1:-2]
        if name in WINDOW_FUNCTIONS:
            texts = self.texts(call.operands, rows.columns)
            return f"CAST({name}({', '.join(texts)}) OVER ({window}) AS {spark_type(call.type)})"
        columns = tuple(each.input_index for each in call.operands if isinstance(each, InputRef))
        made = AggregateCall(
            name="", internal_name=call.internal_name, arg_list=columns, type=call.type, options=dict(call.given)
        )
        return spark_text(made, argument(made, rows.type), f"{window} {self._frame}")

    def _window(self, rows: BatchRows, *, by_row: bool) -> str:
        keys = ", ".join(f"c{each}" for each in self.partition_fields)
        order = [each.text for each in self.sort_spec.fields]
        if self.preceding is not None and not self.is_rows:
            time = self.sort_spec.fields[0]
            order = [time.text.replace(f"c{time.index}", _millis(f"c{time.index}", rows.type.fields[time.index].type))]
        if by_row or self.is_rows:
            order.append(f"{ARRIVAL} ASC")
        return f"{'PARTITION BY ' + keys + ' ' if keys else ''}ORDER BY {', '.join(order)}"

    @property
    def _frame(self) -> str:
        start = "UNBOUNDED" if self.preceding is None else str(self.preceding)
        return f"{'ROWS' if self.is_rows else 'RANGE'} BETWEEN {start} PRECEDING AND CURRENT ROW"


def _millis(time: str, t: LogicalType) -> str:
    if t.root not in TIMESTAMPS:
        return time
    return f"unix_millis({time if t.root is Root.TIMESTAMP_LTZ else f'CAST({time} AS TIMESTAMP)'})"
