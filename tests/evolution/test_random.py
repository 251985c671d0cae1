"""Random queries, changes and cuts: where a sink's state goes on whole, its rows are those of a fresh run.

``REKINDLE_EVOLUTIONS`` says how many changes are tried; several at a time run in one pipeline.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from plans.compare import Comparison, Fate
from plans.meaning import POSITION, meanings
from plans.tables import tables_of
from rekindle.evolution import EvolutionError
from tests.evolution.matrix import both
from tests.evolution.random_queries import query, rows
from tests.evolution.running import Pipeline, less

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rekindle.compiled_plan import CompiledPlan

AT_ONCE = 5
CHANGES = int(os.environ.get("REKINDLE_EVOLUTIONS", "20"))
FIRST = int(os.environ.get("REKINDLE_EVOLUTIONS_SEED", "0"))


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (CHANGES + AT_ONCE - 1) // AT_ONCE))
def test_whole_state_gives_the_rows_of_a_fresh_run(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    sinks, old_text, new_text = changes(random)
    upgraded, fresh = (Pipeline(spark, tmp_path / name, sinks) for name in ("upgraded", "fresh"))
    old, new = upgraded.plan(old_text), upgraded.plan(new_text, upgraded.plan(old_text))
    alone = fresh.plan(new_text)
    assert new.comparison is not None
    judged = whole(new.graph, new.comparison)
    every, cut = rows(random, 12), random.randint(1, 11)
    known = {table.name.rpartition(".")[2] for node in old.graph.nodes for table in tables_of(node)}
    # What the old query does not read is new to the upgraded one as to the fresh one.
    for each in (upgraded, fresh):
        each.put({table: of[:cut] for table, of in every.items() if table in known})
    upgraded.run(old, target=tmp_path / "old")
    first = fresh.run(alone, target=tmp_path / "new")
    for each in (upgraded, fresh):
        each.put({table: of[cut:] if table in known else of for table, of in every.items()})
    found, expected = upgraded.run(new, savepoint=tmp_path / "old"), less(fresh.run(alone), first)
    assert judged
    for sink in judged:
        assert found[sink] == expected[sink], f"{sink} of\n{old_text}\n-> {new_text}\ncut at {cut}"


@pytest.mark.parametrize("seed", range(12))
def test_random_changes_are_judged(seed: int) -> None:
    """Without running anything: there is something to run, and what is judged twice is judged alike."""
    sinks, old_text, new_text = changes(Random(seed))
    old = plan(old_text, sinks)
    new = plan(new_text, sinks, old)
    assert new.comparison is not None
    assert whole(new.graph, new.comparison)
    assert plan(new_text, sinks, old).as_json_string() == new.as_json_string()


def changes(random: Random) -> tuple[str, str, str]:
    """DDL of sinks, and two statement sets; some sink goes on whole, and nothing is incompatible."""
    while True:
        olds = [query(random) for _ in range(AT_ONCE)]
        pairs = [(each.sql, each.changed(random).sql) for each in olds]
        sinks = "".join(
            f"CREATE TABLE {name}{at} ({columns(sql)}) WITH ('connector' = 'print');\n"
            for at, pair in enumerate(pairs)
            for name, sql in zip(("old", "new"), pair, strict=True)
        )
        old = both(*(f"old{at} {sql}" for at, (sql, _) in enumerate(pairs)))
        new = both(*(f"new{at} {sql}" for at, (_, sql) in enumerate(pairs)))
        try:
            evolved = plan(new, sinks, plan(old, sinks))
        except EvolutionError:
            continue
        assert evolved.comparison is not None
        if whole(evolved.graph, evolved.comparison):
            return sinks, old, new


def plan(text: str, sinks: str, origin: CompiledPlan | None = None) -> CompiledPlan:
    from tests.evolution.compiling import compiled

    return compiled(sinks + text, origin)


def columns(sql: str) -> str:
    """Columns of a table that takes a query's rows."""
    (root,) = plan(sql, "").graph.roots()
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
