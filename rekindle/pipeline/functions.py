"""Scalar and table functions of the user as Arrow functions of Spark; in batch aggregate functions, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from execnodes.common.batch import BatchNode
from execnodes.core.async_options import AsyncOptions, defaults, options_of
from execnodes.core.errors import JobError
from execnodes.core.expressions import AggregateCall, Call
from execnodes.core.places import numbered
from execnodes.core.types import LogicalType
from execnodes.core.words import counted
from execnodes.kernels.aggregates.user import CallsFunctions
from execnodes.kernels.aggregates.user_groups import UserGroups, UserPartitions
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.user_calls import operand_types, spark_name
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.arrow_values import Convert, reader, table_writer, writer
from execnodes.user_functions.groups import frames_call, group_call
from execnodes.user_functions.running import running_functions
from execnodes.user_functions.scalar import ScalarDefinition, ScalarFunction
from execnodes.user_functions.shipping import Shipped, failed, line, opened, ship, shortened, shown
from execnodes.user_functions.table import TableDefinition, TableFunction
from execnodes.user_functions.waiting import awaited
from plans.format.calls import user_calls
from rekindle.pipeline.record import OperatorRecord, Step
from rekindle.spark.types import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from execnodes.core.graph import ExecGraph
    from execnodes.user_functions.loading import Definition


def functions_of_spark(
    graph: ExecGraph, functions: Mapping[str, Definition], parameters: Mapping[str, str] | None = None
) -> dict[str, ScalarCall]:
    """The functions of the user that a plan has Spark call, by their `spark_name`; `parameters` are the job's."""
    from pyspark.sql.types import DataType

    found = {}
    for node in graph.nodes:
        options = options_of(node)
        for each in user_calls(node):
            if isinstance(each, AggregateCall) and not isinstance(node, BatchNode):
                continue
            framed = isinstance(node, BatchNode) and node.folds_frames
            call = (
                each if isinstance(each, Call) else _call_of_lists(each, graph.inputs_of(node)[0].output_type, framed)
            )
            if (name := spark_name(call, options)) in found:
                continue
            definition, arrow = functions[call.user_name], arrow_type(DataType.fromDDL(spark_type(call.type)))
            if isinstance(each, AggregateCall):
                assert isinstance(definition, AggregateDefinition)
                found[name] = _folding(definition, each, call, arrow, framed)
            else:
                assert isinstance(definition, ScalarDefinition | TableDefinition)
                found[name] = scalar_call(definition, call, arrow, options)
            found[name] = replace(found[name], function=found[name].function.with_parameters(parameters or {}))
    return found


class ArrowFunction(Protocol):
    """What Spark's workers call with a column that says for which rows (see `ScalarCall`), and others."""

    @property
    def result(self) -> LogicalType:
        """What it gives for a row."""
        ...

    @property
    def deterministic(self) -> bool:
        """Whether it gives the same for the same."""
        ...

    def __call__(self, active: pa.Array, *columns: pa.Array) -> pa.Array:
        """The column of results."""
        ...


def register_functions(spark: SparkSession, functions: Mapping[str, ArrowFunction]) -> None:
    """Make functions known to a session of Spark's that was prepared for them."""
    if not functions:
        return
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # its hints are elsewhere

    make: Callable[..., Any] = arrow_udf
    for name, call in functions.items():
        made = make(_columns(call), returnType=spark_type(call.result))
        spark.udf.register(name, made if call.deterministic else made.asNondeterministic())


def supply_functions(
    steps: Iterable[Step], functions: Mapping[str, Definition], parameters: Mapping[str, str] | None = None
) -> None:
    """Give operators and pre-aggregations the aggregate functions of the user that they call."""
    for step in steps:
        caller = step.operator if isinstance(step, OperatorRecord) else step.kernel
        if isinstance(caller, CallsFunctions):
            caller.supply(functions, parameters)


def scalar_call(
    definition: ScalarDefinition | TableDefinition, call: Call, arrow: pa.DataType, options: AsyncOptions | None = None
) -> ScalarCall:
    """A call of a function; `arrow` is the type of the column it gives, `options` say how it waits if it does."""
    parameters = [definition.parameters.at(index) for index in range(len(call.operands))]
    shipped = ship(definition.name, definition.function, [each.hint for each in parameters])
    nulls = tuple(each.takes_null or definition.form == "pandas" for each in parameters)
    return ScalarCall(
        shipped,
        definition.form == "pandas",
        operand_types(call),
        nulls,
        call.type,
        arrow,
        definition.deterministic,
        isinstance(definition, TableDefinition),
        (options or defaults()) if isinstance(definition, ScalarDefinition) and definition.waits else None,
    )


def _call_of_lists(aggregate: AggregateCall, input: LogicalType, framed: bool) -> Call:
    return (frames_call if framed else group_call)(aggregate, input)


def _folding(
    definition: AggregateDefinition, aggregate: AggregateCall, call: Call, arrow: pa.DataType, framed: bool
) -> ScalarCall:
    """The function that folds groups or frames; `call` is its `_call_of_lists`, the last operands are the lists."""
    types = operand_types(call)
    before = len(types) - len(aggregate.arg_list)
    function = (UserPartitions if framed else UserGroups)(
        aggregate, definition, [each.element for each in types[before:]]
    )
    lists = (list[definition.parameters.at(at).hint] for at in range(len(aggregate.arg_list)))  # type: ignore[misc]  # a value
    hints = [*(Any for _ in range(before)), *lists]
    nulls = tuple(True for _ in types)
    return ScalarCall(ship(definition.name, function, hints), False, types, nulls, call.type, arrow)


def _columns(call: ArrowFunction) -> Callable[..., Any]:
    # Spark reads the hints of what it is given; these say nothing.
    return lambda *columns: call(*columns)


@dataclass(frozen=True)
class ScalarCall:
    """A function over columns of given types, as Spark's workers run it."""

    function: Shipped
    vectorised: bool
    types: tuple[LogicalType, ...]
    takes_null: tuple[bool, ...]
    result: LogicalType
    arrow: pa.DataType
    deterministic: bool = True
    table: bool = False
    """What it gives for a row are rows: the column holds arrays of them."""
    options: AsyncOptions | None = None
    """Of a function that waits."""

    def __call__(self, active: pa.Array, *columns: pa.Array) -> pa.Array:
        """The column of results; NULL in rows that are not `active`, or have a NULL that the function does not take.

        `active`: BOOLEAN, or the number of the call's place in the SQL (`places.number`) where it is, else NULL.
        """
        with running_functions():
            return self._placed(active, columns)

    def _placed(self, active: pa.Array, columns: Sequence[pa.Array]) -> pa.Array:
        import pyarrow as pa

        if pa.types.is_boolean(active.type):
            return self._column(active.fill_null(False), columns)
        mask = active.is_valid()
        try:
            return self._column(mask, columns)
        except JobError as error:
            raise JobError(error.message + numbered(active[mask.index(True).as_py()].as_py())) from error

    def _column(self, mask: pa.Array, columns: Sequence[pa.Array]) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        for column, takes_null in zip(columns, self.takes_null, strict=True):
            mask = mask if takes_null or not column.null_count else pc.and_(mask, column.is_valid())
        rows = mask.true_count
        if not rows:
            return pa.nulls(len(mask), self.arrow)
        if rows == len(mask):
            return self._evaluated(columns, rows)
        found = self._evaluated([column.filter(mask) for column in columns], rows)
        places = pc.subtract(pc.cumulative_sum(mask.cast(pa.int64())), 1)
        return found.take(pc.if_else(mask, places, None))

    def _evaluated(self, columns: Sequence[pa.Array], rows: int) -> pa.Array:
        function, hints = opened(self.function)
        function = function.eval if isinstance(function, ScalarFunction | TableFunction) else function
        if self.vectorised:
            return self._vectorised(function, columns, rows)
        import pyarrow as pa

        readers = [reader(t, hint) for t, hint in zip(self.types, hints, strict=True)]
        lists = [
            column.to_pylist() if read is None else [read(each) for each in column.to_pylist()]
            for column, read in zip(columns, readers, strict=True)
        ]
        write, given = self._writer(), list(zip(*lists, strict=True)) if lists else [()] * rows
        if self.options is not None:
            made = awaited(self.function.name, function, given, self.options)
        values = []
        for at, row in enumerate(given):
            try:
                value = function(*row) if self.options is None else made[at]
                values.append(value if write is None else write(value))
            except JobError:
                raise
            except Exception as error:
                raise failed(self.function.name, row, error) from error
        try:
            found = pa.array(values, type=self.arrow)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise self._misfit(lists, values) from None
        if found.null_count and not self.result.nullable:
            raise self._wrong("returned None", self._row(lists, found.is_null().index(True).as_py()))
        return found

    def _vectorised(self, function: Callable[..., Any], columns: Sequence[pa.Array], rows: int) -> pa.Array:
        import pyarrow as pa

        try:
            series = function(*map(to_series, columns))
        except Exception as error:
            raise JobError(f"function {self.function.name} failed: {line(error)}") from error
        if not hasattr(series, "__len__") or len(series) != rows:
            what = counted(len(series), "value") if hasattr(series, "__len__") else f"a {type(series).__name__}"
            raise self._wrong(f"returned {what} for {rows} rows", None)
        write = self._writer()
        try:
            if write is None:
                found = pa.array(series, type=self.arrow, from_pandas=True)
            else:
                # What a Series has for a missing value depends on its type.
                values = (None if _is_missing(each) else each for each in series)
                found = pa.array([write(each) for each in values], type=self.arrow, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise self._wrong(f"returned what is no {self.result}: {line(error)}", None) from error
        return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found

    def _writer(self) -> Convert | None:
        return table_writer(self.result) if self.table else writer(self.result)

    def _misfit(self, lists: Sequence[Sequence[Any]], values: Sequence[Any]) -> JobError:
        """The error for the first result that has not the type."""
        import pyarrow as pa

        for at, value in enumerate(values):
            try:
                pa.array([value], type=self.arrow)
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                what = f"returned {shortened(repr(value))} ({type(value).__name__})"
                return self._wrong(what, self._row(lists, at))
        return self._wrong("returned values that do not fit together", None)

    def _row(self, lists: Sequence[Sequence[Any]], at: int) -> tuple[Any, ...]:
        return tuple(each[at] for each in lists)

    def _wrong(self, what: str, row: tuple[Any, ...] | None) -> JobError:
        behind = "" if row is None else f" for {shown(row)}"
        return JobError(f"function {self.function.name} {what}{behind}; its result is {self.result}")


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def to_series(column: pa.Array) -> Any:
    """A pandas Series with the types of the column, so that integers with NULLs stay integers."""
    import pandas as pd
    import pyarrow as pa

    types = {
        pa.bool_(): pd.BooleanDtype(),
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float32(): pd.Float32Dtype(),
        pa.float64(): pd.Float64Dtype(),
    }
    return column.to_pandas(types_mapper=types.get)
