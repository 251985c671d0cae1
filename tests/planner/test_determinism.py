"""Which statements TRY_RESOLVE refuses: determinism.jsonl has Flink 2.3's verdict on each, and why ours is another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import planner.algebra
from execnodes.core.errors import SqlError
from execnodes.core.graph import ExecGraph
from planner.algebra import Logical, Sink
from planner.bind import build_insert, build_query
from planner.lower import lower
from planner.lower.determinism import STRATEGY, needs
from planner.optimize import optimize
from planner.parse import parse
from planner.statements import Insert, QueryStatement, StatementSet
from plans.format.codec import encode
from rekindle import AggregateFunction, TableEnvironment, udaf, udf, udtf
from rekindle.statements.query_sink import into_collect

VERDICTS = ("accepted", "columns", "condition", "metadata")
WATERMARK = "WATERMARK FOR ts AS ts"
PATH = "path STRING METADATA FROM 'file.path' VIRTUAL"
MADE = "c AS CAST(NOW() AS STRING)"
TABLES = (
    ("t", "json", "", WATERMARK),
    ("cdc", "debezium-json", "k", ""),
    ("bare", "debezium-json", "", ""),
    ("ups", "upserts", "k", ""),
    ("cdcw", "debezium-json", "k", WATERMARK),
    ("barew", "debezium-json", "", WATERMARK),
    ("tagged", "debezium-json", "k", PATH),
    ("loose", "debezium-json", "", PATH),
    ("upstagged", "upserts", "k", PATH),
    ("made", "debezium-json", "k", MADE),
    ("bmade", "debezium-json", "", MADE),
)
"""Sources: name, format, primary key, another column or the watermark."""
SINKS = {"plain": "", "plain2": "", "keyed": "k", "byx": "x", "pair": "k, x"}
"""Primary keys of sinks that take all changes, those with a key as upserts."""
VIEWS = {"dated": "bare", "kdated": "cdc"}


@dataclass(frozen=True)
class Case:
    """A line of the file."""

    sql: str
    flink: str
    """The verdict, and the functions or columns that it names."""
    options: Mapping[str, str] = field(default_factory=dict)
    differs: str = ""
    """Why ours is another one."""

    @property
    def verdict(self) -> str:
        return self.flink.partition(":")[0]

    @property
    def names(self) -> list[str]:
        return [each.removesuffix("_MATERIALIZE") for each in self.flink.partition(": ")[2].split(", ") if each]


CASES = [Case(**json.loads(each)) for each in Path(__file__).with_name("determinism.jsonl").read_text().splitlines()]


class _Adds(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], value: int) -> None:
        accumulator[0] += value

    def retract(self, accumulator: list[int], value: int) -> None:
        accumulator[0] -= value

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]

    def get_accumulator_type(self) -> str:
        return "ROW<n BIGINT>"


class _Guesses(_Adds):
    def is_deterministic(self) -> bool:
        return False


def _one(s: str) -> str:
    return s


def _rows(s: str) -> list[str]:
    return [s]


FUNCTIONS: Mapping[str, Any] = {
    "same": udf(_one, input_types="STRING", result_type="STRING"),
    "varies": udf(_one, input_types="STRING", result_type="STRING", deterministic=False),
    "words": udtf(_rows, input_types="STRING", result_types="STRING"),
    "drawn": udtf(_rows, input_types="STRING", result_types="STRING", deterministic=False),
    "adds": udaf(_Adds(), input_types="BIGINT", result_type="BIGINT"),
    "guesses": udaf(_Guesses(), input_types="BIGINT", result_type="BIGINT"),
}


def _environment(options: Mapping[str, str]) -> TableEnvironment:
    made = TableEnvironment.create(dict(options))
    for name, format, key, more in TABLES:
        connector = f"'filesystem', 'path' = '/nowhere/{name}', 'format' = '{format}'"
        connector = "'upserts'" if format == "upserts" else connector
        columns = ["k STRING NOT NULL, v BIGINT, s STRING, ts TIMESTAMP(3)", *([more] if more else [])]
        made.execute_sql(f"CREATE TABLE {name} ({', '.join(columns)}{_key(key)}) WITH ('connector' = {connector})")
    for name, key in SINKS.items():
        made.execute_sql(
            f"CREATE TABLE {name} (k STRING, x STRING, y STRING{_key(key)}) "
            f"WITH ('connector' = 'duckdb', 'path' = '/nowhere/o.duckdb', 'table' = '{name}')"
        )
    for name, source in VIEWS.items():
        made.execute_sql(f"CREATE VIEW {name} AS SELECT k, v, CAST(CURRENT_TIMESTAMP AS STRING) AS d FROM {source}")
    for name, function in FUNCTIONS.items():
        made.create_temporary_system_function(name, function)
    return made


def _key(columns: str) -> str:
    return f", PRIMARY KEY ({columns}) NOT ENFORCED" if columns else ""


@cache
def _environment_with(options: frozenset[tuple[str, str]]) -> TableEnvironment:
    return _environment(dict(options))


def _plan(sql: str, options: Mapping[str, str]) -> ExecGraph:
    """The plan, whether or not its connectors can run."""
    environment = _environment_with(frozenset(options.items()))
    catalog, configuration = environment.catalog, environment.configuration
    (statement,) = parse(sql)
    if isinstance(statement, QueryStatement):
        sinks = [into_collect(build_query(statement.query, catalog, configuration), statement.position)]
    else:
        assert isinstance(statement, Insert | StatementSet)
        inserts = statement.inserts if isinstance(statement, StatementSet) else (statement,)
        sinks = [build_insert(each, catalog, configuration) for each in inserts]
    return lower(optimize(sinks, configuration), configuration)


def _verdict(case: Case) -> tuple[str, str]:
    """Ours, and what is said."""
    try:
        _plan(case.sql, {STRATEGY: "TRY_RESOLVE", **case.options})
    except SqlError as error:
        for verdict, beginning in (("columns", "column "), ("condition", "a condition "), ("metadata", "metadata ")):
            if error.message.startswith(beginning):
                return verdict, error.message
        return "not supported", error.message
    return "accepted", ""


@pytest.mark.parametrize("case", CASES, ids=[f"{at} {each.sql}" for at, each in enumerate(CASES)])
def test_a_statement_is_judged_as_by_flink(case: Case) -> None:
    verdict, message = _verdict(case)
    if case.differs:
        assert verdict != case.verdict
    else:
        assert verdict == case.verdict, message
        assert all(each in message for each in case.names)


def test_most_are_judged_alike() -> None:
    alike = [each for each in CASES if not each.differs]
    assert len(alike) / len(CASES) > 0.9
    assert {each.verdict for each in alike} == set(VERDICTS)


@pytest.mark.parametrize("case", [each for each in CASES if not each.differs], ids=lambda case: case.sql)
def test_ignore_refuses_none_and_plans_are_the_same(case: Case) -> None:
    ignored = encode(_plan(case.sql, case.options))
    if case.verdict == "accepted":
        assert encode(_plan(case.sql, {STRATEGY: "TRY_RESOLVE", **case.options})) == ignored


@pytest.mark.parametrize(
    "marked",
    [
        "INSERT INTO plain SELECT k, s, CAST(|NOW() AS STRING) FROM bare",
        "INSERT INTO plain\nSELECT k, s,\n  CONCAT(|UUID(), 'a') FROM bare",
        "SELECT k, s FROM bare WHERE v > 1 AND |RAND() < 0.5",
        "SELECT k, |varies(s) FROM bare",
        "SELECT k, w FROM bare, LATERAL TABLE(|drawn(s)) AS l (w)",
        "SELECT k, |guesses(v) FROM t GROUP BY k",
        "SELECT s, MAX(|UUID()) FROM bare GROUP BY s",
        "SELECT |CURRENT_DATE FROM bare",
    ],
)
def test_an_error_has_the_place_of_the_call(marked: str) -> None:
    sql, before = marked.replace("|", "", 1), marked.partition("|")[0]
    with pytest.raises(SqlError) as caught:
        _environment_with(frozenset({(STRATEGY, "TRY_RESOLVE")})).compile_plan_sql(sql)
    found = caught.value.position
    assert found is not None
    assert (found.line, found.column) == (before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
    assert "'IGNORE'" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("INSERT INTO plain SELECT k, d, d FROM dated", r"CURRENT_TIMESTAMP \(view .*dated`, line 1, column 19\)"),
        ("INSERT INTO plain SELECT k, c, c FROM bmade", r"NOW \(CREATE TABLE .*bmade, line 1, column \d+\)"),
    ],
)
def test_a_call_in_another_statement_is_told_with_it(sql: str, told: str) -> None:
    with pytest.raises(SqlError, match=told) as caught:
        _plan(sql, {STRATEGY: "TRY_RESOLVE"})
    assert str(caught.value).startswith("line 1, column 1:")


@pytest.mark.parametrize("sql", ["SELECT k, UUID() FROM bare", "SELECT path FROM loose"])
def test_explain_refuses_what_will_not_run(sql: str) -> None:
    """Flink plans the query without a sink, so that only running it is refused."""
    environment = _environment_with(frozenset({(STRATEGY, "TRY_RESOLVE")}))
    with pytest.raises(SqlError, match=r"another value|may differ"):
        environment.execute_sql(f"EXPLAIN {sql}")


def test_what_udaf_is_told_wins() -> None:
    assert not udaf(_Adds(), input_types="BIGINT", result_type="BIGINT", deterministic=False).definition.deterministic
    assert udaf(_Guesses(), input_types="BIGINT", result_type="BIGINT", deterministic=True).definition.deterministic


def test_columns_of_one_name_are_told_apart() -> None:
    with pytest.raises(SqlError, match="column 'x' is computed by UUID, "):
        _plan("SELECT UUID() AS x, s AS x, k AS x FROM bare", {STRATEGY: "TRY_RESOLVE"})


def test_a_set_of_statements_is_refused_for_one_of_them() -> None:
    inserts = "INSERT INTO plain SELECT k, s, s FROM bare; INSERT INTO plain2 SELECT k, s, UUID() FROM bare;"
    environment = _environment_with(frozenset({(STRATEGY, "TRY_RESOLVE")}))
    with pytest.raises(SqlError, match="computed by UUID"):
        environment.compile_plan_sql(f"EXECUTE STATEMENT SET BEGIN {inserts} END")


def test_batch_mode_asks_for_nothing() -> None:
    made = TableEnvironment.create({STRATEGY: "TRY_RESOLVE", "execution.runtime-mode": "batch"})
    made.compile_plan_sql("SELECT k, COUNT(*), UUID() FROM (VALUES 1) AS t (k) WHERE RAND() < 2 GROUP BY k")


def test_each_operator_says_what_it_needs() -> None:
    """Sinks are where it begins."""
    with_own = {each for each in needs.registry if each is not object}
    concrete = [each for each in vars(planner.algebra).values() if isinstance(each, type) and issubclass(each, Logical)]
    missing = [
        each.__name__ for each in concrete
        if each not in (Logical, Sink) and with_own.isdisjoint(each.__mro__[:-1])
    ]  # fmt: skip
    assert missing == []
