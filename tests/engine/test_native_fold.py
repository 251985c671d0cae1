"""What Spark folds rows to is what the kernel does, for every call and every type that it may fold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from execnodes.aggregates import FUNCTIONS, accumulator_columns, resolve
from execnodes.core.errors import RekindleError
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    Field,
    LogicalType,
    decimal,
    row,
    timestamp,
)
from execnodes.engine.bodies import FrameShape, folded
from execnodes.engine.slot_frames import to_slots
from execnodes.lowering.slots import SlotLayout, assign, decode
from execnodes.lowering.stream import KIND, Branch
from execnodes.state.kernel_types import Column
from execnodes.stream.local_group_aggregate.v1_kernel import LocalGroupAggregateKernel
from rekindle.engine.native_fold import fold_natively, fold_texts
from rekindle.pipeline.columns import projected
from rekindle.pipeline.ways import Arm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BIG = 2**63 - 1
VALUES: dict[LogicalType, list[Any]] = {
    TINYINT: [-128, 127, 0, None],
    SMALLINT: [-32768, 32767, 5, None],
    INT: [-(2**31), 2**31 - 1, 7, None],
    BIGINT: [-_BIG - 1, _BIG, _BIG - 1, -3, None],
    DOUBLE: [0.5, -0.25, 1024.0, None],
    FLOAT: [0.5, -0.25, None],
    decimal(9, 2): [999_999_999, -999_999_999, 1, None],
    decimal(18, 0): [10**18 - 1, -(10**18) + 1, None],
    decimal(18, 18): [10**18 - 1, 1, None],
    decimal(20, 2): [10**20 - 1, None],
    STRING: ["", "a", "ä", "Z", "\U0001f600", "\uffee", "a ", None],
    DATE: [-719_162, 0, 20_000, None],
    timestamp(6): [-1, 0, 1_700_000_000_000_001, None],
    BOOLEAN: [True, False, None],
}
INPUT = row(Field("k", STRING), Field("f", BOOLEAN), *(Field(f"v{at}", t) for at, t in enumerate(VALUES)))
COLUMNS: dict[str, list[Any]] = {
    "k": ["x", "y", "", None],
    "f": [True, False, None],
    **{f"v{at}": values for at, values in enumerate(VALUES.values())},
}


def calls() -> Iterator[AggregateCall]:
    """Each function over each type, also of a part of the rows."""
    for function in FUNCTIONS:
        for at, field in enumerate(INPUT.fields):
            for filtered in (False, True):
                with suppress(RekindleError):
                    name, result = resolve(function, (field.type,), distinct=False, filtered=filtered)
                    yield AggregateCall(
                        name=f"{function}_{at}_{filtered}",
                        internal_name=name,
                        arg_list=(at,),
                        filter_arg=1 if filtered else -1,
                        type=result,
                    )
    yield AggregateCall(name="all", internal_name="$COUNT$1", type=BIGINT.not_null())


def kernel(grouping: tuple[int, ...], *some: AggregateCall) -> LocalGroupAggregateKernel:
    keys = (INPUT.fields[key] for key in grouping)
    output = row(*keys, *accumulator_columns(some, INPUT, False))
    return LocalGroupAggregateKernel(input_type=INPUT, output_type=output, grouping=grouping, calls=some, retract=False)


NATIVE = tuple(each for each in calls() if kernel((0,), each).native is not None)


def test_what_spark_folds() -> None:
    """By function, the types whose values it may not fold."""
    types = {field.type for field in INPUT.fields}
    left: dict[str, set[str]] = {}
    for each in NATIVE:
        of = left.setdefault(each.internal_name, {str(t) for t in types})
        if each.arg_list:
            of.discard(str(INPUT.fields[each.arg_list[0]].type))
    texts = {"STRING", "DATE", "TIMESTAMP(6)", "BOOLEAN"}
    assert left == {
        "$COUNT$1": set(),
        "$SUM$1": {*texts, "FLOAT", "DECIMAL(20, 2)"},
        "$$SUM0$1": {*texts, "FLOAT", "DECIMAL(20, 2)"},
        "$AVG$1": {*texts, "FLOAT", "DECIMAL(20, 2)"},
        "$MIN$1": {"FLOAT", "DOUBLE", "BOOLEAN", "DECIMAL(20, 2)"},
        "$MAX$1": {"FLOAT", "DOUBLE", "BOOLEAN", "DECIMAL(20, 2)"},
    }


@pytest.mark.spark
@pytest.mark.parametrize("grouping", [(0,), (), (0, 2, 13)], ids=str)
@pytest.mark.parametrize("count", [300, 1, 0])
@pytest.mark.parametrize("tasks", [1, 3])
def test_spark_folds_as_the_kernel_does(grouping: tuple[int, ...], count: int, tasks: int, spark: SparkSession) -> None:
    random = Random(count)
    columns = [Column(field.name, field.type) for field in INPUT.fields]
    names = assign(column.type for column in columns)
    values = {each.name: [random.choice(COLUMNS[each.name]) for _ in range(count)] for each in columns}
    rows = pl.DataFrame(values, schema={each.name: each.dtype for each in columns})
    hidden = rows.with_columns(pl.lit(0, pl.Int8).alias(KIND))
    slots = to_slots(hidden, columns, SlotLayout.of([[column.type for column in columns]]), (KIND,))
    fold = kernel(grouping, *NATIVE)
    shape = FrameShape(SlotLayout.of([[column.type for column in fold.output]]), ordered=False, row_watermarks=False)
    branch = Branch(0, tuple(decode(each.type, slot) for each, slot in zip(columns, names, strict=True)))
    arm = Arm(1, 0, branch, tuple(each.type for each in columns), None)
    given = spark.createDataFrame(slots.to_arrow())
    spread = projected(given.repartition(tasks), fold_texts(arm, fold), None)
    found = fold_natively(spread, fold)
    expected = folded(fold, slots, shape)
    wanted = assign(column.type for column in fold.output)
    assert sorted_rows(pl.from_arrow(found.toArrow()), wanted) == sorted_rows(expected, wanted)


def sorted_rows(frame: Any, slots: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return sorted(frame.select(KIND, *slots).rows(), key=repr)
