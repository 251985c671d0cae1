"""Functions of the user that are called with columns: expressions, also where nobody has registered them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import FunctionError, SqlError
from execnodes.user_functions.running import running_functions
from rekindle import AggregateFunction, Table, TableEnvironment, TableFunction, call, col, lit, udaf, udf, udtf
from rekindle.api.windows import Over
from tests.table.compared import environment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def env() -> TableEnvironment:
    """A session of its own for each test: functions stay registered in it."""
    return environment()


zero = udf(lambda x: 0 if x is None else x, result_type="INT")


@udf
def add(a: int, b: int) -> int:
    return a + b


def plain(a: int, b: int) -> int:
    return a + b


class Words(TableFunction):
    def eval(self, text: str) -> Any:
        yield from text.split()


class Longest(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], text: str) -> None:
        accumulator[0] = max(accumulator[0], len(text))

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


class Times:
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __call__(self, x: int) -> int:
        return self.factor * x


@udf
def one() -> int:
    return 1


@udtf(result_types=["INT"])
def many() -> Iterator[int]:
    yield 1
    yield 2


words, longest = udtf(Words(), result_types=["STRING"]), udaf(Longest())


def called(table: Table) -> list[str]:
    """Names of the user's functions in the plan of a query, in the order of its nodes."""

    def names(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            if str(value.get("systemName", "")).startswith(("inline$", "mine")):
                yield value["systemName"]
            yield from (name for each in value.values() for name in names(each))
        elif isinstance(value, list):
            yield from (name for each in value for name in names(each))

    return list(names(json.loads(table.compile_plan().as_json_string())))


def source(env: TableEnvironment) -> Table:
    return env.from_path("t")


def test_calls_with_columns_are_expressions_and_with_values_values() -> None:
    assert zero(None) == 0
    assert add(1, 2) == 3
    assert list(words("a b")) == ["a", "b"]
    assert "add" in repr(add(col("a"), 1))
    assert "one" in repr(one())
    assert "many" in repr(many())
    with running_functions():
        # A function calls another one for a row.
        assert (one(), list(many())) == (1, [1, 2])
    with pytest.raises(FunctionError, match="aggregate function Longest is called with values"):
        longest("a")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (lambda t: t.select(add(t.k, 1).alias("n")), ["inline$add"]),
        (lambda t: t.select(add(add(t.k, t.v), lit(2))), ["inline$add", "inline$add"]),
        (lambda t: t.where(add(t.k, 1) > 1).add_columns(col("k").alias("n")), ["inline$add"]),
        (lambda t: t.add_or_replace_columns(add(t.k, 1).alias("k")), ["inline$add"]),
        (lambda t: t.join_lateral(words(t.s).alias("w")).select(col("w")), ["inline$words"]),
        (lambda t: t.left_outer_join_lateral(words(t.s).alias("w")), ["inline$words"]),
        (lambda t: t.group_by(t.k).select(t.k, longest(t.s).alias("n")), ["inline$longest"]),
        (lambda t: t.group_by(t.k).select(longest(t.s).distinct, longest(t.s).filter(t.v > 1)), ["inline$longest"] * 2),
        (lambda t: t.group_by(add(t.k, 1)).select(add(t.k, 1).alias("n")), ["inline$add"]),
        (lambda t: t.select(call(add, t.k, 1)), ["inline$add"]),
        (lambda t: t.select((one() + t.k).alias("n")).where(one() > 0), ["inline$one"] * 2),
        (lambda t: t.join_lateral(many().alias("w")).select(col("w")), ["inline$many"]),
        (lambda t: t.select(call(udf(Times(3)), t.k)), ["inline$times"]),
        (lambda t: t.select(call(Times(3), t.k)), ["inline$times"]),
        (lambda t: t.select(udf(partial(plain, 3), result_type="BIGINT")(t.k)), ["inline$plain"]),
        (lambda t: t.select(udf(lambda x: x, result_type="INT", name="Mine")(t.k)), ["inline$mine"]),
    ],
)
def test_calls_in_each_method(env: TableEnvironment, query: Callable[[Table], Table], names: list[str]) -> None:
    assert called(query(source(env))) == names


def test_functions_that_are_registered_are_called_by_their_names(env: TableEnvironment) -> None:
    doubled = udf(lambda x: 2 * x, result_type="INT")
    env.create_temporary_system_function("mine", doubled)
    assert called(source(env).select(doubled(col("k")))) == ["mine"]


def test_names_are_the_same_in_every_session_and_whatever_was_called_before(env: TableEnvironment) -> None:
    table = source(env)
    first = udf(lambda x: x + 1, result_type="INT")
    same = udf(lambda x: x + 1, result_type="INT")
    other = udf(lambda x: x + 2, result_type="INT")
    names = called(table.select(first(col("k")), same(col("k")), other(col("k"))))
    assert names[0] == names[1] != names[2]
    assert all(name.startswith("inline$lambda$") for name in names)


def test_functions_of_one_name_are_told_apart_by_what_is_in_them(env: TableEnvironment) -> None:
    def make(factor: int) -> Any:
        def times(x: int) -> int:
            return factor * x

        return udf(times)

    table = source(env)
    names = called(table.select(make(2)(col("k")), make(3)(col("k")), make(2)(col("k"))))
    assert names[0] == names[2] == "inline$times"
    assert names[1].startswith("inline$times$")


def test_functions_that_cannot_be_told_apart_are_refused(env: TableEnvironment) -> None:
    def make(secret: object) -> Any:
        def opaque(x: int) -> int:
            return hash(secret) + x

        return udf(opaque)

    table = source(env).select(make(iter(()))(col("k")))
    with pytest.raises(FunctionError, match="another function opaque") as caught:
        table.select(make(iter(()))(col("k")))
    assert "name='f2'" in str(caught.value.hint)


def test_calls_where_no_session_is_known_are_refused() -> None:
    with pytest.raises(SqlError, match="is called without a name") as caught:
        Over.partition_by(add(col("k"), 1))
    assert "create_temporary_system_function" in str(caught.value.hint)


@pytest.mark.parametrize(("given", "message"), [(len, "type of its result is not known"), (5, "5 is no function")])
def test_what_is_no_function_is_refused(given: object, message: str) -> None:
    with pytest.raises(FunctionError, match=message):
        call(given, col("s"))


def test_results_of_functions_are_no_columns(env: TableEnvironment) -> None:
    with pytest.raises(SqlError, match="3 is not an expression") as caught:
        source(env).select(add(1, 2))
    assert "call(f)" in str(caught.value.hint)


@pytest.mark.spark
def test_rows_of_inline_calls(spark: SparkSession) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    table = env.from_elements([(1, "a bc"), (None, "d")], ["k", "s"])
    each = table.select(zero(table.k).alias("z"), udf(Times(3))(table.k).alias("n"), table.s)
    split = each.join_lateral(words(col("s")).alias("w")).where(add(col("z"), 1) >= 1)
    result = split.group_by(col("z"), col("n")).select(col("z"), col("n"), longest(col("w")).alias("most")).execute()
    assert sorted(tuple(row) for row in result.collect()) == [(0, None, 1), (1, 3, 2)]
