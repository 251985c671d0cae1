"""Functions that get the whole row: map, flat_map, aggregate, lateral joins; functions of pandas for groups."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import FunctionError, SqlError
from rekindle import (
    AggregateFunction,
    DataTypes,
    Row,
    Table,
    TableAggregateFunction,
    TableEnvironment,
    call,
    col,
    lit,
    udaf,
    udf,
    udtaf,
    udtf,
)
from tests.table.compared import environment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAIR = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("total", DataTypes.BIGINT())])
LONGS = DataTypes.ARRAY(DataTypes.BIGINT())


@udtf(result_types=[DataTypes.STRING()])
def words(line: Row) -> Any:
    yield from line[1].split()


@udf(result_type=DataTypes.ROW([DataTypes.FIELD("k", DataTypes.BIGINT()), DataTypes.FIELD("s", DataTypes.STRING())]))
def shout(line: Any) -> Row:
    return Row(line.k, line["s"].upper())


@udf(result_type="BIGINT")
def first(line: Any) -> int:
    return int(line[0])


class CountAndSum(AggregateFunction):
    """With accumulators that are rows, changed by place."""

    def create_accumulator(self) -> Any:
        return Row(0, 0)

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        (line,) = args
        accumulator[0] += 1
        accumulator[1] += line.k

    def merge(self, accumulator: Any, accumulators: Any) -> None:
        for other in accumulators:
            accumulator[0] += other[0]
            accumulator[1] += other[1]

    def get_value(self, accumulator: Any) -> Row:
        return Row(accumulator[0], accumulator[1])

    def get_accumulator_type(self) -> Any:
        return PAIR

    def get_result_type(self) -> Any:
        return PAIR


class Collected(AggregateFunction):
    """With an ARRAY as accumulator."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], value: Any) -> None:
        accumulator.append(value)

    def get_value(self, accumulator: list[int]) -> list[int]:
        return sorted(accumulator)

    def get_accumulator_type(self) -> Any:
        return LONGS

    def get_result_type(self) -> Any:
        return LONGS


class Counts(AggregateFunction):
    """With a MAP as accumulator."""

    def create_accumulator(self) -> dict[str, int]:
        return {}

    def accumulate(self, accumulator: dict[str, int], word: Any) -> None:
        accumulator[word] = accumulator.get(word, 0) + 1

    def get_value(self, accumulator: dict[str, int]) -> int:
        return max(accumulator.values())

    def get_accumulator_type(self) -> Any:
        return "MAP<STRING, BIGINT>"


class Largest(TableAggregateFunction):
    """Two rows a group at most; takes rows back."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], value: Any) -> None:
        accumulator.append(value)

    def retract(self, accumulator: list[int], value: Any) -> None:
        accumulator.remove(value)

    def emit_value(self, accumulator: list[int]) -> Iterator[Row]:
        for rank, value in enumerate(sorted(accumulator, reverse=True)[:2]):
            yield Row(rank, value)

    def get_accumulator_type(self) -> Any:
        return LONGS

    def get_result_type(self) -> Any:
        return DataTypes.ROW([DataTypes.FIELD("rank", DataTypes.INT()), DataTypes.FIELD("v", DataTypes.BIGINT())])


class Lengths(TableAggregateFunction):
    """One column, of the whole row; closed."""

    def create_accumulator(self) -> Any:
        return []

    def accumulate(self, accumulator: list[int], line: Row) -> None:
        accumulator.extend(map(len, line[1].split()))

    def emit_value(self, accumulator: list[int]) -> list[int]:
        return accumulator

    def close(self) -> None:
        """Nothing to close."""


largest, lengths = udtaf(Largest()), udtaf(Lengths, result_type="INT", accumulator_type=LONGS)
sums, collected, counts = udaf(CountAndSum()), udaf(Collected()), udaf(Counts(), result_type="BIGINT")


@udaf(result_type="DOUBLE", func_type="pandas")
def mean(values: Any) -> Any:
    return values.mean()


@pytest.fixture
def env() -> TableEnvironment:
    return environment()


def lines(env: TableEnvironment) -> Table:
    return env.from_elements([(1, "to be"), (2, "or not"), (4, "to be")], ["k", "s"])


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        (lambda t: t.map(shout), ["k", "s"]),
        (lambda t: t.map(shout.alias("a", "b")), ["a", "b"]),
        (lambda t: t.map(shout.alias("a")), ["a", "s"]),
        (lambda t: t.map(first), ["_c0"]),
        (lambda t: t.map(first.alias("a")), ["a"]),
        (lambda t: t.map(col("k").abs.alias("a")), ["a"]),
        (lambda t: t.flat_map(words), ["f0"]),
        (lambda t: t.flat_map(words).alias("w"), ["w"]),
        (lambda t: t.flat_map(words.alias("w")), ["w"]),
        (lambda t: t.join_lateral(words.alias("w")), ["k", "s", "w"]),
        (lambda t: t.left_outer_join_lateral(words.alias("w")), ["k", "s", "w"]),
        (lambda t: t.aggregate(sums.alias("x", "y")).select(col("y")), ["y"]),
        (lambda t: t.group_by(t.s).aggregate(sums).select(t.s, col("n")), ["s", "n"]),
        (lambda t: t.group_by(t.s).aggregate(collected(t.k).alias("x")).select(col("x")), ["x"]),
        (lambda t: t.group_by(t.s).select(counts(t.s).alias("a"), mean(t.k).alias("b")), ["a", "b"]),
        (lambda t: t.group_by(t.s).flat_aggregate(largest(t.k)).select(col("*")), ["s", "rank", "v"]),
        (lambda t: t.group_by(t.s).flat_aggregate(largest(t.k).alias("a")).select(col("v"), col("a")), ["v", "a"]),
        (lambda t: t.flat_aggregate(lengths).select(col("f0")), ["f0"]),
        (lambda t: t.flat_aggregate(lengths.alias("n")).select(col("*")), ["n"]),
        (lambda t: t.map(shout).select(lit(1).alias("one"), col("s")), ["one", "s"]),
    ],
)
def test_columns_of_functions(env: TableEnvironment, query: Callable[[Table], Table], columns: list[str]) -> None:
    made = query(lines(env))
    assert made.get_schema().get_column_names() == columns
    assert json.loads(made.compile_plan().as_json_string())["nodes"]


def test_one_function_may_get_rows_and_values(env: TableEnvironment) -> None:
    both = udf(lambda x: str(x), result_type="STRING", name="both")
    table = lines(env)
    assert table.select(both(table.k).alias("a")).map(both).get_schema().get_column_names() == ["_c0"]


def test_what_gets_no_row_is_refused(env: TableEnvironment) -> None:
    table = lines(env)
    with pytest.raises(SqlError, match="takes 2 values, and is given one row") as caught:
        table.map(udf(lambda a, b: a, result_type="INT", name="two"))
    assert "two(col('…'))" in str(caught.value.hint)
    with pytest.raises(SqlError, match="columns of pandas"):
        table.map(udf(lambda a: a, result_type="INT", func_type="pandas"))
    with pytest.raises(SqlError, match="3 names for 2 columns"):
        table.map(shout.alias("a", "b", "c"))
    with pytest.raises(FunctionError, match="not an aggregate function") as refused:
        udaf(lambda values: values, result_type="INT")
    assert "func_type='pandas'" in str(refused.value.hint)


def test_flat_aggregate_is_refused_for_other_functions(env: TableEnvironment) -> None:
    table = lines(env)
    with pytest.raises(SqlError, match="needs a function that gives rows, not BIGINT"):
        table.flat_aggregate(counts(table.s)).select(col("*"))
    with pytest.raises(SqlError, match="3 names for 2 columns"):
        table.flat_aggregate(largest(table.k).alias("a", "b", "c")).select(col("*"))
    with pytest.raises(FunctionError, match="the type of its rows is not known"):
        udtaf(Lengths())
    with pytest.raises(FunctionError, match="not a table aggregate function"):
        udtaf(Collected())  # type: ignore[call-overload]


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_table_aggregates_give_rows_of_each_group(spark: SparkSession, mode: str) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
    table = lines(env)
    env.create_temporary_system_function("largest", Largest())
    sums_of_words = table.group_by(table.s).select(table.s, table.k.sum.alias("k"))
    queries = {
        table.group_by(table.s).flat_aggregate(largest(table.k)).select(col("*")): [
            ("or not", 0, 2),
            ("to be", 0, 4),
            ("to be", 1, 1),
        ],
        sums_of_words.flat_aggregate(call("largest", col("k"))).select(col("rank"), col("v")): [(0, 5), (1, 2)],
        table.flat_aggregate(lengths).select(col("f0")): [(2,), (2,), (2,), (2,), (2,), (3,)],
    }
    for query, rows in queries.items():
        assert sorted(tuple(row) for row in query.execute().collect()) == rows


@pytest.mark.spark
def test_rows_of_functions_in_a_stream(spark: SparkSession) -> None:
    env = TableEnvironment.create(spark=spark)
    table = lines(env)
    loud = table.map(shout)
    split = loud.flat_map(words).alias("w").group_by(col("w")).select(col("w"), lit(1).count.alias("n"))
    groups = table.group_by(table.s).select(table.s, collected(table.k).alias("ks"), mean(table.k).alias("m"))
    nested = table.group_by(table.s).aggregate(sums.alias("n", "t")).select(col("s"), col("n"), col("t"))
    both = groups.join(nested.rename_columns(col("s").alias("s2")), col("s") == col("s2"))
    counted = table.select(counts(table.s).alias("most"))
    whole = both.select(col("s"), col("ks"), col("m"), col("n"), col("t")).join(counted)
    view = env.execute_sql(f"SELECT * FROM {whole}")
    rows = [tuple(row) for row in view.collect()]
    assert sorted(rows[-2:]) == [("or not", [2], 2.0, 1, 2, 2), ("to be", [1, 4], 2.5, 2, 5, 2)]
    assert sorted(tuple(row) for row in split.execute().collect()) == [("BE", 2), ("NOT", 1), ("OR", 1), ("TO", 2)]
