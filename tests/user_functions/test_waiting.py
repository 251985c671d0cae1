"""Functions that wait (`async def`): plans, order, how many wait at a time, attempts and timeouts, without Spark."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.async_options import AsyncOptions, defaults, options_of
from execnodes.core.errors import FunctionError, JobError, OptionError, PlanError
from execnodes.core.expressions import Call
from execnodes.lowering.user_calls import spark_name
from execnodes.user_functions.loading import definition_of
from execnodes.user_functions.waiting import awaited
from plans.format.calls import user_calls
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.udf import AsyncScalarFunction, udf, udtf
from tests.user_functions import examples

PREFIX = "table.exec.async-scalar."
TABLE = "CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '3')"


def environment(**options: str) -> TableEnvironment:
    made = TableEnvironment.create(options)
    made.execute_sql(TABLE)
    made.create_temporary_function("asked", examples.asked)
    made.create_temporary_function("shout", examples.shout)
    return made


def nodes(made: TableEnvironment, query: str) -> list[str]:
    return [str(node.key) for node in made.compile_plan_sql(query).graph.nodes if "calc" in str(node.key)]


@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_the_node_shows_what_it_calls(mode: str) -> None:
    made = environment(**{"execution.runtime-mode": mode})
    prefix = "stream" if mode == "streaming" else "batch"
    for query, kind in (
        ("SELECT a + 1 FROM t", "calc"),
        ("SELECT shout(b) FROM t", "python-calc"),
        ("SELECT a FROM t WHERE shout(b) = 'A'", "python-calc"),
        ("SELECT asked(a) FROM t", "python-async-calc"),
        ("SELECT a FROM t WHERE asked(a) > 1 AND shout(b) = 'A'", "python-async-calc"),
        ("SELECT shout(CAST(asked(a + 1) AS STRING)) FROM t", "python-async-calc"),
        ("SELECT * FROM (VALUES (asked(1))) AS v (x)", "python-async-calc"),
    ):
        assert set(nodes(made, query)) == {f"{prefix}-exec-{kind}_1"}, query


def test_the_plan_holds_the_options_and_old_names_are_read() -> None:
    made = environment()
    made.get_config().set(PREFIX + "buffer-capacity", "7")
    made.get_config().set(PREFIX + "timeout", "2 s")
    made.get_config().set(PREFIX + "retry-strategy", "no_retry")
    text = made.compile_plan_sql("SELECT asked(a) FROM t").as_json_string()
    (node,) = (each for each in CompiledPlan.from_json_string(text).graph.nodes if "async" in str(each.key))
    assert options_of(node) == AsyncOptions(7, 2000, 0, 100)
    assert options_of(node.replaced(configuration={PREFIX + "buffer-capacity": "8"})) == AsyncOptions(
        8, 180_000, 3, 100
    )
    assert defaults() == AsyncOptions(10, 180_000, 3, 100)
    (call,) = user_calls(node)
    assert isinstance(call, Call)
    assert spark_name(call, options_of(node)) != spark_name(call, defaults()) != spark_name(call)
    with pytest.raises(PlanError, match="max-concurrent-operations: 0 is too small"):
        CompiledPlan.from_json_string(
            text.replace('max-concurrent-operations": "7"', 'max-concurrent-operations": "0"')
        )
    made.get_config().set(PREFIX + "max-attempts", "0")
    with pytest.raises((PlanError, OptionError), match="max-attempts: 0 is too small"):
        made.compile_plan_sql("SELECT asked(a) FROM t")


def test_what_a_table_function_takes_is_awaited_below_it() -> None:
    made = environment()
    made.create_temporary_function("words", examples.words)
    tree = made.explain_sql(
        "SELECT w, x FROM t LEFT JOIN LATERAL TABLE(words(CAST(asked(a) AS STRING))) AS r (w, l) ON TRUE, "
        "UNNEST(ARRAY[asked(l), a]) AS u (x) WHERE a > 1"
    )
    shown = [line for line in tree.splitlines() if "asked" in line]
    assert len(shown) == 2
    assert all("PythonAsyncCalc(" in line for line in shown)


@pytest.mark.parametrize("query", ["SELECT shout(b) AS s, COUNT(*) FROM t WHERE shout(b) <> '' GROUP BY shout(b)"])
def test_plans_that_have_such_calls_in_calc_go_on(query: str) -> None:
    """As they are, and compiled anew: the same operators, under the same uids, with their state."""
    made = environment()
    text = made.compile_plan_sql(query).as_json_string()
    old = CompiledPlan.from_json_string(text.replace("stream-exec-python-calc_1", "stream-exec-calc_1"))
    assert "stream-exec-calc_1" in {str(node.key) for node in old.graph.nodes}
    assert made.functions_of(old.graph)
    new = made.compile_plan_sql(query, from_plan=old)
    assert [uid for node in new.graph.nodes for uid in node.uids()] == [
        uid for node in old.graph.nodes for uid in node.uids()
    ]
    assert new.comparison is not None
    assert new.comparison.verdict == "full"


async def _rows_of(a: int) -> list[int]:
    return [a]


class Waits(AsyncScalarFunction):
    async def eval(self, a: int) -> str:
        await asyncio.sleep(0)
        return str(a)


def test_definitions() -> None:
    found = definition_of(Waits, "f")
    assert str(found) == "f(a BIGINT) → STRING"
    assert found.waits  # type: ignore[union-attr]
    assert not definition_of(examples.shout, "f").waits  # type: ignore[union-attr]
    with pytest.raises(FunctionError, match="function asked is an async def, which gets one row at a time"):
        udf(examples.asked.definition.function, func_type="pandas", result_type="INT")
    with pytest.raises(FunctionError, match="function _rows_of is an async def, as only scalar functions may be"):
        udtf(_rows_of)


def run(function: Callable[..., Awaitable[Any]], rows: list[tuple[Any, ...]], **options: int) -> list[Any]:
    given = {"concurrent": 4, "timeout": 0, "retries": 0, "delay": 0} | options
    return awaited("f", function, rows, AsyncOptions(**given))


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 5))
def test_values_come_in_the_order_of_the_rows(waits: list[int], concurrent: int) -> None:
    """Whoever is done first; and no more wait at a time than may."""
    now, most = 0, 0

    async def function(at: int, ticks: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(ticks):
            await asyncio.sleep(0)
        now -= 1
        return at

    found = run(function, list(enumerate(waits)), concurrent=concurrent)
    assert found == list(range(len(waits)))
    assert most <= concurrent
    assert most == min(concurrent, len(waits)) or not all(waits)


def test_rows_wait_together() -> None:
    async def function(a: int) -> int:
        await asyncio.sleep(0.05)
        return a

    began = time.monotonic()
    assert run(function, [(a,) for a in range(40)], concurrent=40) == list(range(40))
    assert time.monotonic() - began < 1


def test_attempts() -> None:
    calls: Counter[int] = Counter()

    async def function(a: int) -> int:
        calls[a] += 1
        if calls[a] <= a:
            raise TimeoutError("not yet")
        return a

    assert run(function, [(0,), (1,), (3,)], retries=3) == [0, 1, 3]
    assert calls == {0: 1, 1: 2, 3: 4}
    with pytest.raises(JobError, match=r"function f failed for \(9\): TimeoutError: not yet \(after 4 attempts\)"):
        run(function, [(9,)], retries=3)
    with pytest.raises(JobError, match=r"function f failed for \(5\): TimeoutError: not yet$"):
        run(function, [(5,)])


def test_timeouts_hold_for_all_attempts() -> None:
    async def slow(a: int) -> int:
        await asyncio.sleep(a)
        return a

    async def fails(a: int) -> int:
        raise ValueError("no")

    with pytest.raises(JobError, match=r"function f failed for \(60\): it took longer than 20 ms") as caught:
        run(slow, [(0,), (60,)], timeout=20)
    assert "async-scalar.timeout" in (caught.value.hint or "")
    with pytest.raises(JobError, match="it took longer than 50 ms"):
        run(fails, [(1,)], timeout=50, retries=10**6, delay=5)


def test_a_failure_ends_the_others_and_the_next_rows_go_on() -> None:
    ended = []

    async def function(a: int) -> int:
        try:
            await asyncio.sleep(a)
        finally:
            ended.append(a)
        raise KeyError(a)

    with pytest.raises(JobError, match=r"for \(0\): KeyError: 0"):
        run(function, [(60,), (0,), (61,)])
    assert sorted(ended) == [0, 60, 61]

    async def cancels(a: int) -> int:
        raise asyncio.CancelledError

    async def hides(a: int) -> int:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise OSError("closed") from None
        return a

    with pytest.raises(JobError, match=r"failed for \(1\): OSError: closed"):
        run(hides, [(1,)], timeout=20, retries=10**6)
    with pytest.raises(JobError, match=r"failed for \(1\): it has cancelled itself"):
        run(cancels, [(1,)])
    assert run(Waits().eval, [(1,)]) == ["1"]
