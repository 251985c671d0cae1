"""Aggregate functions of the user over a batch: accumulators as columns of state, moved forward in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import polars as pl

from execnodes.core.errors import JobError
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType, Root
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.frame import SIGN
from execnodes.kernels.failing import located
from execnodes.state.kernel_types import Column
from execnodes.state.python_values import from_kernel, to_kernel
from execnodes.state.serializers.make import serializer_of
from execnodes.state.serializers.serializer import TypeSerializer
from execnodes.user_functions.aggregate import AggregateDefinition, AggregateFunction
from execnodes.user_functions.data_views import DataView
from execnodes.user_functions.loading import Definition
from execnodes.user_functions.shipping import Shipped, failed, line, opened, ship

RESULT = "rk_result"
_PANDAS = {
    Root.BOOLEAN: "boolean",
    Root.TINYINT: "Int8",
    Root.SMALLINT: "Int16",
    Root.INT: "Int32",
    Root.BIGINT: "Int64",
    Root.FLOAT: "Float32",
    Root.DOUBLE: "Float64",
}


def state_columns(call: AggregateCall) -> tuple[Column, ...]:
    """Columns of state that hold a call's accumulators, named after the call: ``total$sum``."""
    fields = call.accumulator.type.fields if call.accumulator is not None else ()
    return tuple(Column(f"{call.name}${field.name}", field.type.with_nullable(True)) for field in fields)


def shipped(call: AggregateCall, definition: AggregateDefinition) -> Shipped:
    """The function of a call on its way to workers."""
    parameters = [definition.parameters.at(at) for at in range(len(call.arg_list))]
    hints = [each.hint for each in parameters]
    nulls = [each.takes_null or definition.form == "pandas" for each in parameters]
    vectorised = definition.form == "pandas"
    return ship(definition.name, definition.function, serializer_of(definition), hints, nulls, vectorised)


@dataclass(frozen=True)
class UserCall:
    """One call, in a worker."""

    call: AggregateCall
    types: tuple[LogicalType, ...]
    """Of its arguments."""
    shipped: Shipped

    def step(self, rows: pl.DataFrame, merged: pl.DataFrame, group: Sequence[str], known: str) -> pl.DataFrame:
        """`merged` (a row a group, `known` is TRUE where state had it) with the accumulators after the batch
        (`frame.new`), and with results before and after under `result_name`.
        """
        return self._changed(merged, known, self._taken_in(rows, merged, group))

    def merge(self, parts: pl.DataFrame, merged: pl.DataFrame, group: Sequence[str], known: str) -> pl.DataFrame:
        """As `step`, from rows of accumulators that were folded elsewhere (`state_columns` under their own names)."""
        function, *_ = opened(self.shipped)
        accumulators = self.accumulators()
        names = [column.name for column in state_columns(self.call)]
        whole = (
            parts.select(*group, pl.struct(names).alias(RESULT)).group_by(list(group), maintain_order=True).agg(RESULT)
        )
        lists = iter(frame.left_join(merged.select(*group), whole, group)[RESULT].to_list())

        def put_together(accumulator: Any) -> Any:
            others = [accumulators.read([each[name] for name in names]) for each in next(lists)]
            with accumulators.failing_in("merge"):
                changed = function.merge(accumulator, others)
            return accumulator if changed is None else changed

        return self._changed(merged, known, put_together)

    def valued(self, groups: pl.DataFrame) -> pl.DataFrame:
        """`groups` (rows of state) with results under `result_name`."""
        accumulators = self.accumulators()
        stored = groups.select(column.name for column in state_columns(self.call)).rows()
        results = [accumulators.result(accumulators.read(each)) for each in stored]
        return groups.with_columns(
            pl.Series(result_name(self.call), results, dtype=Column(RESULT, self.call.type).dtype)
        )

    def fold(self, rows: pl.DataFrame, groups: pl.DataFrame, group: Sequence[str]) -> pl.DataFrame:
        """`groups` (a row a group) with the accumulators of the rows alone, under the names of `frame.delta`."""
        accumulators = self.accumulators()
        take_in = self._taken_in(rows, groups, group)
        found = [accumulators.write(take_in(accumulators.fresh())) for _ in range(groups.height)]
        return groups.with_columns(
            pl.Series(frame.delta(column.name), [each[at] for each in found], dtype=column.dtype)
            for at, column in enumerate(state_columns(self.call))
        )

    def accumulators(self) -> Accumulators:
        """Between Python and columns."""
        function, serializer, *_ = opened(self.shipped)
        return Accumulators(self.call, function, serializer)

    def _taken_in(self, rows: pl.DataFrame, groups: pl.DataFrame, group: Sequence[str]) -> Callable[[Any], Any]:
        """Of the accumulator of each group in turn, before its rows, the one after them."""
        lists = iter(self._lists(rows, groups, group))
        take = self.taker()

        def take_in(accumulator: Any) -> Any:
            signs, *values = next(lists)
            return take(accumulator, signs, values)

        return take_in

    def taker(self) -> Callable[[Any, Sequence[int], Sequence[Sequence[Any]]], Any]:
        """Of an accumulator, and of rows as signs and a list an argument, the accumulator after them."""
        function, _, hints, _, vectorised = opened(self.shipped)
        readers = [from_kernel(t, hint) for t, hint in zip(self.types, hints, strict=True)]
        step = self._by_series if vectorised else self._by_row

        def take(accumulator: Any, signs: Sequence[int], values: Sequence[Sequence[Any]]) -> Any:
            arguments = [
                list(map(read, each)) if read is not None else each for read, each in zip(readers, values, strict=True)
            ]
            return step(function, accumulator, signs, arguments)

        return take

    def adder(self) -> Callable[[Any, int, Sequence[Sequence[Any]]], Any]:
        """Of an accumulator, and of so many rows as a list an argument, the accumulator after them; all as Python has
        it.
        """
        function, _, _, _, vectorised = opened(self.shipped)
        step = self._by_series if vectorised else self._by_row
        return lambda accumulator, rows, arguments: step(function, accumulator, [1] * rows, arguments)

    def takes_null(self) -> list[bool]:
        """For each argument whether the function is given NULLs."""
        _, _, _, nulls, _ = opened(self.shipped)
        return list(nulls)

    def passes(self) -> list[pl.Expr]:
        """What must be TRUE of a row that the function is given."""
        _, _, _, nulls, _ = opened(self.shipped)
        named = zip(self.call.arg_list, nulls, strict=True)
        found = [pl.col(frame.arg(index)).is_not_null() for index, null in named if not null]
        if self.call.filter_arg >= 0:
            found.append(pl.col(frame.arg(self.call.filter_arg)).fill_null(False))
        return found

    def _changed(self, merged: pl.DataFrame, known: str, change: Callable[[Any], Any]) -> pl.DataFrame:
        accumulators = self.accumulators()
        columns = state_columns(self.call)
        olds = zip(*(merged[column.name].to_list() for column in columns), strict=True)
        news: list[Sequence[Any]] = []
        results: list[tuple[Any, Any]] = []
        for old, was in zip(olds, merged[known].to_list(), strict=True):
            accumulator = accumulators.read(old) if was else accumulators.fresh()
            before = accumulators.result(accumulator) if was else None
            accumulator = change(accumulator)
            news.append(accumulators.write(accumulator))
            results.append((before, accumulators.result(accumulator)))
        dtype = Column(RESULT, self.call.type).dtype
        made = [
            pl.Series(f"new:{column.name}", [new[at] for new in news], dtype=column.dtype)
            for at, column in enumerate(columns)
        ]
        name = result_name(self.call)
        made.append(pl.Series(name, [before for before, _ in results], dtype=dtype))
        made.append(pl.Series(f"new:{name}", [after for _, after in results], dtype=dtype))
        return merged.with_columns(made)

    def _lists(self, rows: pl.DataFrame, merged: pl.DataFrame, group: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """For each group of `merged` the signs and the arguments of its rows, in their order."""
        arguments = [frame.arg(index) for index in self.call.arg_list]
        passes = self.passes()
        kept = rows.filter(passes) if passes else rows
        sign = pl.col(SIGN) if SIGN in rows.columns else pl.lit(1, pl.Int64)
        named = [pl.col(name).alias(f"argument:{at}") for at, name in enumerate(arguments)]
        collected = (
            kept.select(*group, sign.alias(SIGN), *named).group_by(list(group), maintain_order=True).agg(pl.all())
        )
        found = frame.left_join(merged.select(*group), collected, group)
        columns = [
            found[name].fill_null([]).to_list() for name in (SIGN, *(f"argument:{at}" for at in range(len(named))))
        ]
        return zip(*columns, strict=True)

    def _by_row(
        self, function: AggregateFunction, accumulator: Any, signs: Sequence[int], arguments: Sequence[Sequence[Any]]
    ) -> Any:
        retract = getattr(function, "retract", None)
        for sign, *row in zip(signs, *arguments, strict=True):
            try:
                step = function.accumulate if sign > 0 or retract is None else retract
                changed = step(accumulator, *row)
            except Exception as error:
                raise located(failed(self.shipped.name, row, error), self.call.place) from error
            accumulator = accumulator if changed is None else changed
        return accumulator

    def _by_series(
        self, function: AggregateFunction, accumulator: Any, signs: Sequence[int], arguments: Sequence[Sequence[Any]]
    ) -> Any:
        import pandas as pd

        retract = getattr(function, "retract", None)
        at = 0
        for sign, run in groupby(signs):
            end = at + len(list(run))
            series = [
                pd.Series(values[at:end], dtype=_PANDAS.get(t.root, "object"))
                for values, t in zip(arguments, self.types, strict=True)
            ]
            try:
                step = function.accumulate if sign > 0 or retract is None else retract
                changed = step(accumulator, *series)
            except Exception as error:
                failure = JobError(f"function {self.shipped.name} failed: {line(error)}")
                raise located(failure, self.call.place) from error
            accumulator, at = accumulator if changed is None else changed, end
        return accumulator


class Accumulators:
    """Accumulators and results of one call in Python and in columns."""

    def __init__(self, call: AggregateCall, function: AggregateFunction, serializer: TypeSerializer) -> None:
        self._call = call
        self._function = function
        self._serializer = serializer
        types = [column.type for column in state_columns(call)]
        self._readers = [from_kernel(t, hint) for t, hint in zip(types, serializer.hints(), strict=True)]
        self._writers = [to_kernel(t) for t in types]
        self._result = to_kernel(call.type)

    def fresh(self) -> Any:
        """Of a group without rows."""
        with self.failing_in("create_accumulator"):
            return self._function.create_accumulator()

    def read(self, row: Sequence[Any]) -> Any:
        """From the columns of state."""
        with self.failing_in("reading its accumulator"):
            values = [value if read is None else read(value) for read, value in zip(self._readers, row, strict=True)]
            for at, view in self._views.items():
                values[at] = view.of_value(values[at])
            return self._serializer.from_row(values)

    @cached_property
    def _views(self) -> dict[int, type[DataView]]:
        """Columns that accumulators have lists or maps with methods in, as a new one shows."""
        values = self._serializer.to_row(self._function.create_accumulator())
        return {at: type(value) for at, value in enumerate(values) if isinstance(value, DataView)}

    def write(self, accumulator: Any) -> list[Any]:
        """To the columns of state."""
        with self.failing_in("writing its accumulator"):
            values = self._serializer.to_row(accumulator)
            return [write(value) for write, value in zip(self._writers, values, strict=True)]

    def result(self, accumulator: Any) -> Any:
        """The value of a group, as kernels have it."""
        with self.failing_in("get_value"):
            return self._result(self._function.get_value(accumulator))

    def value(self, accumulator: Any) -> Any:
        """The value of a group, as the function gives it."""
        with self.failing_in("get_value"):
            return self._function.get_value(accumulator)

    @contextmanager
    def failing_in(self, what: str) -> Iterator[None]:
        """Name the method that a failure comes from."""
        try:
            yield
        except Exception as error:
            failure = JobError(f"function {self._call.title} failed in {what}: {line(error)}")
            raise located(failure, self._call.place) from error


def result_name(call: AggregateCall) -> str:
    """The column of a call's result while a batch is worked on."""
    return f"{call.name}${RESULT}"


class CallsFunctions:
    """An operator (or a kernel) that calls functions of the user: they are supplied before it is sent to workers."""

    def __init__(self, calls: Sequence[AggregateCall], read: tuple[Column, ...]) -> None:
        """All calls of the operator, and the columns that their arguments are among."""
        self.user_calls = tuple(call for call in calls if call.user_name)
        self._read = read
        self._functions: dict[str, Shipped] = {}

    def supply(self, functions: Mapping[str, Definition], parameters: Mapping[str, str] | None = None) -> None:
        """Take in the functions, by their names in the plan; `parameters` are the job's."""
        for call in self.user_calls:
            definition = functions[call.user_name]
            assert isinstance(definition, AggregateDefinition)
            self._functions[call.name] = shipped(call, definition).with_parameters(parameters or {})

    def supplied(self) -> Iterator[UserCall]:
        """The calls, in a worker; JobError if a function was not supplied."""
        for call in self.user_calls:
            if call.name not in self._functions:
                raise JobError(f"function {call.user_name} was not supplied to the operator")
            types = tuple(self._read[index].type for index in call.arg_list)
            yield UserCall(call, types, self._functions[call.name])
