"""Random queries, changes and cuts: where a sink's state goes on whole, its rows are those of a fresh run.

``REKINDLE_EVOLUTIONS`` says how many changes are tried, ``REKINDLE_EVOLUTIONS_SEED`` which; many run in one pipeline.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from plans.compatibility.compare import Comparison, Fate
from plans.compatibility.plan_meanings import POSITION, meanings
from plans.format.node_tables import tables_of
from rekindle.api.table_environment import TableEnvironment
from rekindle.statements.evolution import EvolutionError
from tests.evolution.compiling import ALLOW
from tests.evolution.matrix import TABLES, both
from tests.evolution.random_queries import Types, narrowed, query, rows, types
from tests.evolution.running import Pipeline, less
from tests.evolution.test_upgrades import FULL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rekindle.results.compiled_plan import CompiledPlan

Pair = tuple[str, str]
"""A query, and what it is changed to."""
AT_ONCE = 25
"""Changes of a pipeline: Spark's costs are those of its stages, however many operators each of them hosts."""
CHANGES = int(os.environ.get("REKINDLE_EVOLUTIONS", "500"))
FIRST = int(os.environ.get("REKINDLE_EVOLUTIONS_SEED", "1"))


@pytest.mark.spark
@pytest.mark.long
def test_a_few_whole_states_give_the_rows_of_a_fresh_run(spark: SparkSession, tmp_path: Path) -> None:
    """Those that plain Spark refuses or answers wrongly, and some random ones."""
    random = Random(0)
    pairs = [*FULL.values(), *changes(random, 10)]
    assert tried(spark, tmp_path, random, pairs) == len(pairs)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (CHANGES + 4 * AT_ONCE - 1) // (4 * AT_ONCE)))
def test_whole_state_of_wider_types_gives_the_rows_of_a_fresh_run(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    """Types change, and mostly the query, too."""
    random = Random(seed)
    before = types(random)
    assert tried(spark, tmp_path, random, changes(random, AT_ONCE, before), before) == AT_ONCE


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (CHANGES + AT_ONCE - 1) // AT_ONCE))
def test_whole_state_gives_the_rows_of_a_fresh_run(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    assert tried(spark, tmp_path, random, changes(random, AT_ONCE)) == AT_ONCE


def tried(spark: SparkSession, folder: Path, random: Random, pairs: Sequence[Pair], before: Types = ()) -> int:
    """Run changes, each table cut at a place of its own; AssertionError names those with other rows than a fresh run.

    `before`: types that columns have in the old plan. How many were judged.
    """
    (old_text, new_text), sinks = statements(pairs), tables(pairs, before)
    upgraded, fresh = (Pipeline(spark, folder / name, tables="") for name in ("upgraded", "fresh"))
    ddl, alone_ddl = (TABLES.replace("${dir}", str(each.folder)) for each in (upgraded, fresh))
    old = upgraded.plan(narrowed(ddl, before) + sinks + old_text)
    new, alone = upgraded.plan(ddl + sinks + new_text, old), fresh.plan(alone_ddl + sinks + new_text)
    assert new.comparison is not None
    judged = whole(new.graph, new.comparison)
    every = rows(random, 12)
    cuts = {table: random.randint(1, 11) for table in every}
    known = {table.name.rpartition(".")[2] for node in old.graph.nodes for table in tables_of(node)}
    # What the old query does not read is new to the upgraded one as to the fresh one.
    for each in (upgraded, fresh):
        each.put({table: of[: cuts[table]] for table, of in every.items() if table in known})
    upgraded.run(old, target=folder / "old")
    first = fresh.run(alone, drains=False)
    for each in (upgraded, fresh):
        each.put({table: of[cuts[table] :] if table in known else of for table, of in every.items()})
    found, expected = upgraded.run(new, savepoint=folder / "old"), less(fresh.run(alone), first)
    wrong = [
        f"{old}\n-> {new}: {found[f'new{at}']} for {expected[f'new{at}']}"
        for at, (old, new) in enumerate(pairs)
        if f"new{at}" in judged and found[f"new{at}"] != expected[f"new{at}"]
    ]
    assert not wrong, "\n".join([f"cut at {cuts}", *wrong])
    return len(judged)


@pytest.mark.parametrize(
    ("seed", "typed"), [*((seed, False) for seed in range(12)), *((seed, True) for seed in range(4))]
)
def test_random_changes_are_judged(seed: int, typed: bool) -> None:
    """Without running anything: what is judged twice is judged alike."""
    random = Random(seed)
    before = types(random) if typed else ()
    pairs = changes(random, 5, before)
    (old_text, new_text), sinks = statements(pairs), tables(pairs, before)
    old = plan(old_text, sinks, before=before)
    new = plan(new_text, sinks, old)
    assert new.comparison is not None
    assert len(whole(new.graph, new.comparison)) == 5
    assert plan(new_text, sinks, old).as_json_string() == new.as_json_string()


def changes(random: Random, number: int, before: Types = ()) -> list[Pair]:
    """Changes whose state goes on whole, also if all of them are in one plan; with types only these may change."""
    pairs: list[Pair] = []
    while len(pairs) < number:
        while len(pairs) < number:
            found = query(random)
            pair = (found.sql, found.sql if before and random.random() < 0.3 else found.changed(random).sql)
            if (before or pair[0] != pair[1]) and accepted(pair, before):
                pairs.append(pair)
        # Two of them may have the same state, which only one can have.
        while not all(going_on := together(pairs, before)):
            pairs = [pair for pair, goes_on in zip(pairs, going_on, strict=True) if goes_on] or pairs[:1]
    return pairs


def statements(pairs: Sequence[Pair]) -> Pair:
    """Statement sets of the queries before and after."""
    return both(*(f"old{at} {old}" for at, (old, _) in enumerate(pairs))), both(
        *(f"new{at} {new}" for at, (_, new) in enumerate(pairs))
    )


def tables(pairs: Sequence[Pair], before: Types = ()) -> str:
    """DDL of sinks for the queries."""
    return "".join(
        f"CREATE TABLE {name}{at} ({columns(sql, at_first)}) WITH ('connector' = 'print');\n"
        for at, pair in enumerate(pairs)
        for name, sql, at_first in zip(("old", "new"), pair, (before, ()), strict=True)
    )


@cache
def accepted(pair: Pair, before: Types) -> bool:
    """Whether all goes on, if nothing else is in the plan."""
    old, new = pair
    try:
        origin = session(before).compile_plan_sql(f"INSERT INTO {sink('old', columns(old, before), before)} {old}")
        after = session(()).compile_plan_sql(f"INSERT INTO {sink('new', columns(new, ()), ())} {new}", from_plan=origin)
    except EvolutionError:
        return False
    assert after.comparison is not None
    return whole(after.graph, after.comparison) != []


@cache
def session(before: Types) -> TableEnvironment:
    """One that knows the tables."""
    made = TableEnvironment.create(ALLOW)
    made.execute_script(narrowed(TABLES, before))
    return made


@cache
def sink(prefix: str, columns: str, before: Types) -> str:
    """A table of the session with these columns."""
    name = f"{prefix}_{abs(hash(columns))}"
    session(before).execute_sql(f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'print')")
    return name


def together(pairs: Sequence[Pair], before: Types = ()) -> list[bool]:
    """Of each change, whether all below its sink goes on."""
    (old, new), sinks = statements(pairs), tables(pairs, before)
    try:
        evolved = plan(new, sinks, plan(old, sinks, before=before))
    except EvolutionError:
        return [False] * len(pairs)
    assert evolved.comparison is not None
    found = whole(evolved.graph, evolved.comparison)
    return [f"new{at}" in found for at in range(len(pairs))]


def plan(text: str, sinks: str, origin: CompiledPlan | None = None, before: Types = ()) -> CompiledPlan:
    script = narrowed(TABLES, before).replace("${dir}", "/nowhere") + sinks + text
    return TableEnvironment.create(ALLOW).compile_script(script, from_plan=origin)


@cache
def columns(sql: str, before: Types) -> str:
    """Columns of a table that takes a query's rows."""
    (root,) = session(before).compile_plan_sql(sql).graph.roots()
    return ", ".join(f"c{at} {each.type.regular()}" for at, each in enumerate(root.output_type.fields))


def whole(graph: ExecGraph, comparison: Comparison) -> list[str]:
    """Sinks below which all goes on, or begins with all of its input."""
    lost = {each.uid for each in comparison.judgements if each.loss or each.fate is Fate.INCOMPATIBLE}
    assert {each.uid for each in meanings(graph) if each.name != POSITION} >= lost - {
        each.uid for each in comparison.judgements if each.fate is Fate.DROP
    }
    return [
        table.name.rpartition(".")[2]
        for node in graph.roots()
        for table in tables_of(node)
        if not lost & {uid for each in below(graph, node) for uid in each.uids()}
    ]


def below(graph: ExecGraph, node: ExecNode) -> list[ExecNode]:
    """A node and all that it gets rows from."""
    return [node, *(each for source in graph.inputs_of(node) for each in below(graph, source))]
