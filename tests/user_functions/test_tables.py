"""Table functions: definitions, calls in SQL, and the rows they give, all without Spark."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.errors import FunctionError, JobError, PlanError, SqlError
from execnodes.core.expressions import InputRef
from execnodes.core.types import parse_type
from execnodes.user_functions.calls import bind
from execnodes.user_functions.loading import definition_of, load
from execnodes.user_functions.table import TableDefinition, TableFunction, udtf
from rekindle import call, col
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.functions import scalar_call
from rekindle.results.compiled_plan import CompiledPlan
from tests.user_functions import examples

TABLE = "CREATE TABLE t (a INT, b STRING, m MAP<STRING, INT>) WITH ('connector' = 'datagen', 'number-of-rows' = '3')"


def table(function: Any) -> TableDefinition:
    found = definition_of(function, "f")
    assert isinstance(found, TableDefinition)
    return found


@dataclass
class Word:
    text: str
    size: int


def _tuples(a: int) -> Iterator[tuple[str, int]]:
    yield "x", a


def _values(a: int) -> Iterable[str | None]:
    return [None]


def _objects(a: int) -> Generator[Word, None, None]:
    yield Word("x", a)


def _lists(a: int) -> list[list[int]]:
    return [[a]]


def _one(a: int) -> tuple[int, Annotated[Decimal, "DECIMAL(4, 1)"]] | None:
    return (a, Decimal(1))


def _maybe(a: int) -> Iterator[Word] | None:
    return None


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (udtf(_tuples), "f(a BIGINT) → TABLE<`f0` STRING, `f1` BIGINT> NOT NULL"),
        (udtf(_values), "f(a BIGINT) → TABLE<`f0` STRING> NOT NULL"),
        (udtf(_objects), "f(a BIGINT) → TABLE<`text` STRING, `size` BIGINT> NOT NULL"),
        (udtf(_lists), "f(a BIGINT) → TABLE<`f0` ARRAY<BIGINT>> NOT NULL"),
        (udtf(_one), "f(a BIGINT) → TABLE<`f0` BIGINT, `f1` DECIMAL(4, 1)> NOT NULL"),
        (udtf(_maybe), "f(a BIGINT) → TABLE<`text` STRING, `size` BIGINT> NOT NULL"),
        (udtf(_tuples, result_types="INT"), "f(a BIGINT) → TABLE<`f0` INT> NOT NULL"),
        (udtf(_tuples, result_types=["INT", "DATE"]), "f(a BIGINT) → TABLE<`f0` INT, `f1` DATE> NOT NULL"),
        (udtf(_tuples, result_types="ROW<n INT>"), "f(a BIGINT) → TABLE<`n` INT> NOT NULL"),
        (udtf(_tuples, result_types=["ROW<n INT>"]), "f(a BIGINT) → TABLE<`f0` ROW<`n` INT>> NOT NULL"),
        (examples.Pieces, "f(text STRING) → TABLE<`f0` STRING> NOT NULL"),
        (udtf(lambda a: a, input_types="DATE", result_types=["INT"]), "f(a DATE) → TABLE<`f0` INT> NOT NULL"),
    ],
)
def test_what_functions_say(function: Any, shown: str) -> None:
    assert str(table(function)) == shown


def _untyped(a):  # type: ignore[no-untyped-def]
    return a


def _bare_list(a: int) -> list:  # type: ignore[type-arg]
    return [a]


def _any_length(a: int) -> Iterator[tuple[int, ...]]:
    yield (a,)


class NoEval(TableFunction):
    pass


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: udtf(_untyped), "the types of its columns are not known"),
        (lambda: udtf(_bare_list), "the hint list does not tell an SQL type"),
        (lambda: udtf(_any_length), "a tuple of any length tells no columns"),
        (lambda: udtf(_tuples, result_types=[]), "it has no columns"),
        (lambda: udtf(_tuples, result_types="ROW<a INT, a INT>"), "named 'a'"),
        (lambda: udtf(_tuples, result_types=["NUMBER"]), "NUMBER"),
        (lambda: udtf(_tuples, func_type="arrow"), "func_type of _tuples is 'arrow'"),  # type: ignore[call-overload]
        (lambda: udtf(7), "7 is no function|int is no function"),  # type: ignore[call-overload]
        (lambda: definition_of(NoEval, "f"), "has no method eval"),
    ],
)
def test_a_function_that_says_too_little(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(FunctionError, match=message):
        make()


def test_by_class_name_and_still_functions() -> None:
    assert str(load(f"{examples.__name__}:Pieces", "p")) == "p(text STRING) → TABLE<`f0` STRING> NOT NULL"
    assert list(examples.words("a bb")) == [("a", 1), ("bb", 2)]
    assert list(udtf(examples.Pieces)("ab")) == ["a", "b"]


_ARROW = {"BIGINT": pa.int64(), "STRING": pa.string(), "DATE": pa.date32(), "ARRAY<BIGINT>": pa.list_(pa.int64())}


def run(function: Any, types: Sequence[str], *values: Sequence[Any]) -> Any:
    """The function over columns, as Spark calls it."""
    definition = table(function)
    operands = [InputRef(input_index=at, type=parse_type(t)) for at, t in enumerate(types)]
    call = bind(definition, operands, None, system_name="f")
    fields = [(field.name, _arrow(str(field.type.with_nullable(True)))) for field in call.type.element.fields]
    arrays = [pa.array(each, _arrow(t)) for each, t in zip(values, types, strict=True)]
    active = pa.array([True] * len(arrays[0]), pa.bool_())
    return scalar_call(definition, call, pa.list_(pa.struct(fields)))(active, *arrays).to_pylist()


def _arrow(text: str) -> pa.DataType:
    known = {"TIME(3)": pa.int32(), "MAP<STRING, BIGINT>": pa.map_(pa.string(), pa.int64())}
    if text.startswith("ROW"):
        return pa.struct([(field.name, _arrow(str(field.type))) for field in parse_type(text).fields])
    return (_ARROW | known)[text]


def _gives(value: Any, types: Any) -> Any:
    return udtf(lambda a: value, input_types="BIGINT", result_types=types)


@pytest.mark.parametrize(
    ("value", "types", "expected"),
    [
        (None, "BIGINT", []),
        ([], "BIGINT", []),
        (5, "BIGINT", [{"f0": 5}]),
        ("ab", "STRING", [{"f0": "ab"}]),
        ([1, None], "BIGINT", [{"f0": 1}, {"f0": None}]),
        ([(1,), 2], "BIGINT", [{"f0": 1}, {"f0": 2}]),
        (range(2), "BIGINT", [{"f0": 0}, {"f0": 1}]),
        ((1, "a"), ["BIGINT", "STRING"], [{"f0": 1, "f1": "a"}]),
        ([(1, "a"), {"f1": "b"}], ["BIGINT", "STRING"], [{"f0": 1, "f1": "a"}, {"f0": None, "f1": "b"}]),
        ([Word("a", 1)], "ROW<size BIGINT, text STRING>", [{"size": 1, "text": "a"}]),
        ([Word("a", 1)], "ROW<size BIGINT>", [{"size": 1}]),
        ([{"f0": 1}], "BIGINT", [{"f0": 1}]),
        ([{"k": 1}], "MAP<STRING, BIGINT>", [{"f0": [("k", 1)]}]),
        ([(1, "a")], ["ROW<n BIGINT, t STRING>"], [{"f0": {"n": 1, "t": "a"}}]),
        ([[1, 2], [3]], "ARRAY<BIGINT>", [{"f0": [1, 2]}, {"f0": [3]}]),
        ([datetime.time(1)], "TIME(3)", [{"f0": 3_600_000}]),
    ],
)
def test_what_is_a_row(value: Any, types: Any, expected: list[dict[str, Any]]) -> None:
    assert run(_gives(value, types), ["BIGINT"], [0, 1]) == [expected, expected]


def test_a_null_that_the_function_does_not_take_gives_no_rows() -> None:
    assert run(examples.words, ["STRING"], ["a", None]) == [[{"f0": "a", "f1": 1}], None]


def test_whole_columns_at_once() -> None:
    pieces = udtf(lambda texts: texts.str.split("-"), result_types="STRING", func_type="pandas")
    assert run(pieces, ["STRING"], ["a-b", None, ""]) == [[{"f0": "a"}, {"f0": "b"}], [], [{"f0": ""}]]
    pairs = udtf(
        lambda ns: pd.Series([[(n, str(n))] * n for n in ns]), result_types=["BIGINT", "STRING"], func_type="pandas"
    )
    assert run(pairs, ["BIGINT"], [2, 0]) == [[{"f0": 2, "f1": "2"}] * 2, []]
    short = udtf(lambda ns: ns[:1], result_types=["BIGINT"], func_type="pandas")
    with pytest.raises(JobError, match="function f returned 1 value for 2 rows"):
        run(short, ["BIGINT"], [1, 2])


@given(st.lists(st.none() | st.lists(st.tuples(st.integers(-9, 9), st.none() | st.text(max_size=3)), max_size=4)))
def test_rows_come_in_their_order(tables: list[list[tuple[int, str | None]] | None]) -> None:
    """Whatever there is of them, and for whichever row."""
    function = udtf(lambda at: tables[at], input_types="BIGINT", result_types=["BIGINT", "STRING"])
    expected = [[{"f0": n, "f1": t} for n, t in each or []] for each in tables]
    assert run(function, ["BIGINT"], list(range(len(tables)))) == expected


def _fails(a: int) -> Iterator[int]:
    yield a
    raise KeyError("no")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (udtf(_fails), r"function f failed for \(7\): KeyError: 'no'"),
        (_gives([(1, 2, 3)], ["BIGINT", "STRING"]), "3 values for the 2 fields of a ROW"),
        (_gives([1], ["BIGINT", "STRING"]), "1 is no row of 2 columns"),
        (_gives([None], ["BIGINT", "STRING"]), "None is no row of 2 columns"),
        (_gives([{"x": 1}], ["BIGINT", "STRING"]), "a ROW has no field x"),
        (_gives([None], "BIGINT NOT NULL"), "the column f0 takes no NULL"),
        (_gives(["x"], "BIGINT"), "returned .*; its result is ARRAY<ROW<`f0` BIGINT>"),
    ],
)
def test_failures_name_the_function_and_the_row(function: Any, message: str) -> None:
    with pytest.raises(JobError, match=message):
        run(function, ["BIGINT"], [7])


def environment(**options: str) -> TableEnvironment:
    made = TableEnvironment.create(options)
    made.execute_sql(TABLE)
    made.execute_sql(f"CREATE FUNCTION words AS '{examples.__name__}:words' LANGUAGE PYTHON")
    made.create_temporary_function("pieces", examples.Pieces)
    made.create_temporary_function("shout", examples.shout)
    made.create_temporary_function("mean", examples.WeightedMean)
    return made


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ("SELECT w FROM t, LATERAL TABLE(words(b)) AS r (w)", "1 column name for 2 columns", ""),
        ("SELECT * FROM t, LATERAL TABLE(word(b))", "unknown table function word", "Did you mean words"),
        ("SELECT * FROM t, LATERAL TABLE(nothing_like_it(b))", "unknown table function", "Register what udtf gives"),
        ("SELECT * FROM t, LATERAL TABLE(shout(b))", "shout is a scalar function", "what udtf gives"),
        ("SELECT * FROM t, LATERAL TABLE(mean(a, a))", "mean is an aggregate function", ""),
        ("SELECT * FROM t, LATERAL TABLE(UPPER(b))", "UPPER is a function of the system", ""),
        ("SELECT * FROM t, LATERAL TABLE(SUM(a))", "SUM is a function of the system", ""),
        ("SELECT words(b) FROM t", "the table function words may not stand here", r"LATERAL TABLE\(words"),
        ("SELECT a FROM t WHERE words(b) IS NULL", "may not stand here", "FROM"),
        ("SELECT a FROM t GROUP BY words(b)", "may not stand here", "FROM"),
        ("SELECT * FROM t, LATERAL TABLE(words(a))", r"words does not take \(INT\)", r"It takes words\(text STRING\)"),
        ("SELECT * FROM t, LATERAL TABLE(words())", r"words does not take \(\)", ""),
        ("SELECT * FROM t, LATERAL TABLE(words(c))", "Column 'c' not found", ""),
        ("SELECT * FROM LATERAL TABLE(words(b)), t", "Column 'b' not found", ""),
        ("SELECT * FROM t RIGHT JOIN LATERAL TABLE(words(b)) ON TRUE", "RIGHT JOIN of LATERAL TABLE", "CROSS or LEFT"),
        ("SELECT * FROM t JOIN LATERAL TABLE(words(b)) USING (a)", "JOIN … USING of LATERAL TABLE", ""),
        ("SELECT * FROM t LEFT JOIN LATERAL TABLE(words(b)) AS r (w, l) ON l > 1", "takes only ON TRUE", "WHERE"),
        ("SELECT * FROM t LEFT JOIN LATERAL TABLE(words(b))", "expected ON or USING", ""),
        ("SELECT * FROM t, LATERAL TABLE(words(TABLE t))", "a table is no operand", ""),
        ("SELECT * FROM t, LATERAL TABLE(words(text => b))", "have no names", "in order"),
        ("SELECT * FROM t, LATERAL TABLE(words(SUM(a)))", "SUM may not stand in an operand of a table function", ""),
        ("SELECT * FROM t, LATERAL TABLE(words(b)) AS t (w, l)", "two relations are named 't'", "an alias"),
        ("SELECT * FROM t, UNNEST(m) AS t (k, v)", "two relations are named 't'", "an alias"),
        ("SELECT * FROM t, LATERAL words", "expected UNNEST, TABLE", ""),
    ],
)  # fmt: skip
def test_what_is_refused(query: str, message: str, hint: str) -> None:
    with pytest.raises(SqlError) as caught:
        environment().compile_plan_sql(query)
    assert re.search(message, caught.value.message), caught.value.message
    assert re.search(hint, caught.value.hint or ""), caught.value.hint
    assert caught.value.position is not None


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_plans(mode: str) -> None:
    """The node, its names; unused columns are not carried, and conditions stand below."""
    made = environment(**{"execution.runtime-mode": mode})
    plan = made.compile_plan_sql("SELECT a, w FROM t LEFT JOIN LATERAL TABLE(words(b)) AS r (w, l) ON TRUE WHERE a > 1")
    prefix = "stream" if mode == "streaming" else "batch"
    (node,) = (each for each in plan.graph.nodes if "correlate" in str(each.metadata.key))
    assert str(node.metadata.key) == f"{prefix}-exec-python-correlate_1"
    assert [field.name for field in node.output_type.fields] == ["a", "b", "w", "l"]
    assert "PythonCorrelate(invocation=[words(b)], select=[a, b, w, l], joinType=[LEFT])" in node.description
    (below,) = plan.graph.inputs[node.id]
    assert next("a > 1" in each.description for each in plan.graph.nodes if each.id == below)
    again = CompiledPlan.from_json_string(plan.as_json_string())
    assert made.functions_of(again.graph).keys() == {"`default_catalog`.`default_database`.`words`"}


def test_a_function_of_the_system_of_that_name_is_not_meant() -> None:
    made = environment()
    made.create_temporary_function("split", examples.words)
    explained = made.explain_sql("SELECT SPLIT(b, 'x')[1], w FROM t, LATERAL TABLE(split(b)) AS r (w, l)")
    assert "PythonCorrelate(invocation=[split(b)]" in explained


def test_what_stands_behind_commas_and_joins_sees_what_is_in_front() -> None:
    made = environment()
    one, two = (
        made.explain_sql(f"SELECT * FROM {text} ON u.b = r.w")
        for text in (
            "t, LATERAL TABLE(words(t.b)) AS r (w, l) JOIN t AS u",
            "t CROSS JOIN LATERAL TABLE(words(t.b)) AS r (w, l) JOIN t AS u",
        )
    )
    assert one == two


def test_plans_that_do_not_fit() -> None:
    made = environment()
    text = made.compile_plan_sql("SELECT w FROM t, LATERAL TABLE(words(b)) AS r (w, l)").as_json_string()
    unnest = made.compile_plan_sql("SELECT k FROM t, UNNEST(m) AS r (k, v)").as_json_string()
    with pytest.raises(PlanError, match="which is no function of the user"):
        CompiledPlan.from_json_string(unnest.replace("stream-exec-correlate_2", "stream-exec-python-correlate_1"))
    for type_ in ("DECIMAL(38, 38)", "ARRAY<INT>", "ROW<`f0` STRING, `f1` BIGINT>", "MAP<INT, INT>"):
        with pytest.raises(PlanError, match="must be an ARRAY of ROWs"):
            CompiledPlan.from_json_string(text.replace("ARRAY<ROW<`f0` STRING, `f1` BIGINT> NOT NULL>", type_))
    made.create_temporary_function("words", examples.shout)
    with pytest.raises(PlanError, match=r"function .*words` has changed: the plan calls"):
        made.functions_of(CompiledPlan.from_json_string(text).graph)
    made.drop_temporary_function("words")
    made.create_temporary_function("words", udtf(examples.words.definition.function, deterministic=False))
    with pytest.raises(PlanError, match="not deterministic"):
        made.functions_of(CompiledPlan.from_json_string(text).graph)


def test_in_the_table_api() -> None:
    made = environment()
    t = made.from_path("t")
    function = call("words", col("b")).alias("w", "l")
    for table_, query in (
        (t.join_lateral(function), "SELECT * FROM t CROSS JOIN LATERAL TABLE(words(b)) AS r (w, l)"),
        (t.join_lateral(function, col("l") > 1), "SELECT * FROM t, LATERAL TABLE(words(b)) AS r (w, l) WHERE l > 1"),
        (t.left_outer_join_lateral(function), "SELECT * FROM t LEFT JOIN LATERAL TABLE(words(b)) AS r (w, l) ON TRUE"),
        (
            t.left_outer_join_lateral(call("words", "b c")),
            "SELECT * FROM t LEFT JOIN LATERAL TABLE(words('b c')) ON TRUE",
        ),
    ):
        assert table_.explain() == made.explain_sql(query)
